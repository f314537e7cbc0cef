/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "probe_account.h"

#include <stdlib.h>
#include <string.h>

enum { ACCOUNT_MAX = 1 << 16 };

struct adding {
	struct probe_account *account;
	struct probe_step *step;
	const struct probe_client *client; /* of the sample */
};

static void doubts(struct probe_step *step, enum probe_doubt doubt)
{
	if (step->doubt == PROBE_KNOWN)
		step->doubt = doubt;
}

static struct probe_account_client *find(const struct probe_account *account, const struct probe_client *client)
{
	for (size_t i = 0; i < account->list.count; i++) {
		if (probe_client_same(&account->clients[i].client, client))
			return &account->clients[i];
	}
	return NULL;
}

static struct probe_engine *engine_of(struct probe_client *client, const char *name)
{
	for (int i = 0; i < client->engine_count; i++) {
		if (strcmp(client->engines[i].name, name) == 0)
			return &client->engines[i];
	}
	return NULL;
}

static void add_busy(struct probe_step *step, const struct probe_busy *more)
{
	int at = 0;

	if (more->busy_ns <= 0)
		return;
	while (at < step->engine_count &&
	       (step->engines[at].pci != more->pci || strcmp(step->engines[at].engine, more->engine) != 0 ||
		strcmp(step->engines[at].driver, more->driver) != 0))
		at++;
	if (at == PROBE_BUSIES) {
		doubts(step, PROBE_UNREAD);
	} else if (at == step->engine_count) {
		step->engines[step->engine_count++] = *more;
	} else if (__builtin_add_overflow(step->engines[at].busy_ns, more->busy_ns, &step->engines[at].busy_ns)) {
		step->engines[at].busy_ns = INT64_MAX;
	}
	if (__builtin_add_overflow(step->busy_ns, more->busy_ns, &step->busy_ns))
		step->busy_ns = INT64_MAX;
}

/* The growth of a counter; what went back is no growth. */
static int64_t growth(struct probe_step *step, int64_t before, int64_t now)
{
	if (now < before)
		doubts(step, PROBE_BACKWARD);
	return now > before ? now - before : 0;
}

/* a * b / c, at most INT64_MAX. */
static int64_t scale(int64_t a, int64_t b, int64_t c)
{
	__int128 scaled = (__int128)a * b / c;

	return scaled > INT64_MAX ? INT64_MAX : (int64_t)scaled;
}

/* How far the clock of an engine had come at the sample before: all clients of a card have the same. -1: unknown. */
static int64_t clock_before(const struct adding *adding, const char *name)
{
	for (size_t i = 0; i < adding->account->list.count; i++) {
		struct probe_account_client *one = &adding->account->clients[i];
		struct probe_engine *engine = engine_of(&one->client, name);
		if (engine && one->client.pci == adding->client->pci && engine->total_cycles >= 0 &&
		    one->sample + 1 == adding->account->samples)
			return engine->total_cycles;
	}
	return -1;
}

/* Time of a new client's engine counts in full: it began since the sample before. */
static int64_t engine_busy(const struct adding *adding, const struct probe_engine *before,
			   const struct probe_engine *now)
{
	struct probe_step *step = adding->step;
	int64_t clock;

	if (now->time_ns >= 0)
		return growth(step, before && before->time_ns > 0 ? before->time_ns : 0, now->time_ns);
	if (now->cycles < 0)
		return 0;
	int64_t cycles = growth(step, before && before->cycles > 0 ? before->cycles : 0, now->cycles);
	if (cycles == 0)
		return 0;
	if (now->total_cycles < 0)
		return now->max_hz > 0 ? scale(cycles, 1000000000, now->max_hz) : 0;
	clock = before && before->total_cycles >= 0 ? before->total_cycles : clock_before(adding, now->name);
	if (clock < 0 || now->total_cycles <= clock) {
		doubts(step, clock < 0 ? PROBE_FIRST : PROBE_BACKWARD);
		return 0;
	}
	return scale(cycles, step->wall_ns, now->total_cycles - clock);
}

static void larger(int64_t *kept, int64_t now)
{
	if (now > *kept)
		*kept = now;
}

static void keep_engine(struct probe_client *client, const struct probe_engine *now)
{
	struct probe_engine *kept = engine_of(client, now->name);

	if (!kept && client->engine_count < PROBE_ENGINES) {
		client->engines[client->engine_count++] = *now;
	} else if (kept) {
		larger(&kept->time_ns, now->time_ns);
		larger(&kept->cycles, now->cycles);
		larger(&kept->total_cycles, now->total_cycles);
	}
}

static bool went_back(struct probe_client *kept, const struct probe_client *now)
{
	for (int i = 0; i < now->engine_count; i++) {
		struct probe_engine *before = engine_of(kept, now->engines[i].name);
		if (before && (now->engines[i].time_ns < before->time_ns || now->engines[i].cycles < before->cycles))
			return true;
	}
	return false;
}

/* Its account up to now; NULL: it is new, or has gone and come back with less, which is another of the same number. */
static struct probe_account_client *known(const struct adding *adding)
{
	struct probe_account_client *kept = find(adding->account, adding->client);

	return kept && (kept->sample + 1 >= adding->account->samples || !went_back(&kept->client, adding->client))
		       ? kept
		       : NULL;
}

static void measure(const struct adding *adding)
{
	struct probe_account_client *kept = known(adding);

	for (int i = 0; i < adding->client->engine_count; i++) {
		const struct probe_engine *now = &adding->client->engines[i];
		struct probe_busy busy = { .pci = adding->client->pci, .capacity = now->capacity };
		busy.busy_ns = engine_busy(adding, kept ? engine_of(&kept->client, now->name) : NULL, now);
		memcpy(busy.driver, adding->client->driver, sizeof busy.driver);
		memcpy(busy.engine, now->name, sizeof busy.engine);
		add_busy(adding->step, &busy);
	}
}

static bool keep_client(const struct adding *adding)
{
	struct probe_account *account = adding->account;
	struct probe_account_client *kept = find(account, adding->client);
	bool fresh = !known(adding);

	if (!kept) {
		struct probe_account_client *more =
			probe_grow(account->clients, &account->list, sizeof *more, ACCOUNT_MAX);
		if (!more)
			return false;
		account->clients = more;
		kept = &more[account->list.count++];
	}
	if (fresh)
		kept->client = *adding->client;
	for (int i = 0; i < adding->client->engine_count; i++)
		keep_engine(&kept->client, &adding->client->engines[i]);
	kept->sample = account->samples;
	return true;
}

static void add_nvidia(const struct probe_sample *sample, const struct probe_set *set, struct probe_step *step)
{
	for (size_t i = 0; i < sample->share_list.count; i++) {
		const struct probe_share *share = &sample->shares[i];
		struct probe_busy busy = { .pci = share->pci, .driver = "nvidia", .engine = "sm" };
		if (share->busy_percent < 0 || sample->abroad ||
		    !probe_set_has(set, sample->processes[share->process].pid))
			continue;
		busy.busy_ns = scale(step->wall_ns, share->busy_percent, 100);
		add_busy(step, &busy);
	}
}

static void divide(struct probe_step *step)
{
	step->permille = step->doubt == PROBE_KNOWN || step->busy_ns > 0 ? 0 : -1;
	for (int i = 0; i < step->engine_count; i++) {
		struct probe_busy *busy = &step->engines[i];
		int64_t permille = scale(busy->busy_ns, 1000, step->wall_ns) / (busy->capacity ? busy->capacity : 1);
		busy->permille = permille > 1000 ? 1000 : (int)permille;
		if (busy->permille > step->permille)
			step->permille = busy->permille;
	}
}

int probe_account_add(struct probe_account *account, const struct probe_sample *sample, const struct probe_set *set,
		      struct probe_step *ret_step, struct err *err)
{
	struct probe_step *step = ret_step;
	struct adding adding = { account, step, NULL };
	struct probe_use use;

	probe_use_of(sample, set, &use);
	*step = (struct probe_step){ .doubt = use.doubt, .holds = use.holds, .permille = -1 };
	bool first = account->samples++ == 0;
	step->wall_ns = first ? 0 : sample->at_ns - account->at_ns;
	/* All are measured against the sample before, then all are kept. */
	for (int keep = 0; keep < 2; keep++) {
		for (size_t i = 0; i < sample->client_list.count; i++) {
			adding.client = &sample->clients[i];
			if (!probe_use_owns(sample, set, adding.client))
				continue;
			if (!keep)
				measure(&adding);
			else if (!keep_client(&adding))
				return err_sys(err, "cannot keep account of the cards");
		}
	}
	account->at_ns = sample->at_ns;
	if (step->wall_ns > 0)
		add_nvidia(sample, set, step);
	if (__builtin_add_overflow(account->busy_ns, step->busy_ns, &account->busy_ns))
		account->busy_ns = INT64_MAX;
	/* What a job without a card did is known at once. */
	if (step->wall_ns > 0) {
		divide(step);
	} else {
		step->busy_ns = step->engine_count = 0;
		if (use.holds)
			doubts(step, PROBE_FIRST);
	}
	return 0;
}

void probe_account_free(struct probe_account *account)
{
	free(account->clients);
	*account = PROBE_ACCOUNT_NONE;
}
