/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "reclaim.h"

#include <stdlib.h>
#include <sys/wait.h>

#include "conf/base/clock.h"
#include "conf/base/rest.h"
#include "conf/base/scope.h"
#include "runner/cell/pids.h"
#include "runner/cell/probe.h"

/* An APU's jobs live in the machine's memory, which is used and freed in the same way. */
static int64_t used_of(const struct probe_card *card)
{
	if (card->vram_used_bytes < 0 || (card->apu && card->gtt_used_bytes < 0))
		return -1;
	return card->vram_used_bytes + (card->apu ? card->gtt_used_bytes : 0);
}

static int64_t held_of(const struct probe_card *card, const struct probe_card_use *use)
{
	if (use->vram_bytes < 0 || (card->apu && use->gtt_bytes < 0))
		return -1;
	return use->vram_bytes + (card->apu ? use->gtt_bytes : 0);
}

void reclaim_plan(const struct probe_cards *cards, const struct probe_use *job, struct reclaim *ret_reclaim)
{
	*ret_reclaim = (struct reclaim){ 0 };
	for (int i = 0; i < job->card_count && ret_reclaim->count < RECLAIM_CARDS; i++) {
		const struct probe_card *card = probe_cards_find(cards, job->cards[i].pci, job->cards[i].driver);
		int64_t used = card ? used_of(card) : -1, held = card ? held_of(card, &job->cards[i]) : -1;
		if (card == NULL || card->pci == PROBE_NO_PCI || used < 0 || held <= 0)
			continue;
		/* Buffers that several clients share count in each: then the sum may be more than there is. */
		ret_reclaim->cards[ret_reclaim->count].pci = card->pci;
		ret_reclaim->cards[ret_reclaim->count].held_bytes = held < used ? held : used;
		ret_reclaim->cards[ret_reclaim->count++].floor_bytes = held < used ? used - held : 0;
	}
}

int64_t reclaim_left(const struct reclaim *reclaim, const struct probe_cards *now)
{
	int64_t left = 0;

	for (int i = 0; i < reclaim->count; i++) {
		const struct probe_card *card = probe_cards_find(now, reclaim->cards[i].pci, "");
		int64_t used = card ? used_of(card) : -1, slack = reclaim->cards[i].held_bytes / 8;
		int64_t above = used < 0 ? 0 : used - reclaim->cards[i].floor_bytes;
		left += above > (slack < RECLAIM_SLACK ? slack : RECLAIM_SLACK) ? above : 0;
	}
	return left;
}

struct waiting {
	struct probe probe;
	struct member *member;
	struct signals *signals;
	const struct reclaim *reclaim;
	int64_t left_bytes; /* by the last look */
	pid_t holder;	    /* one that has a card open still; 0: none */
	int64_t until_ns, tick_ns;
	bool asked; /* to end */
};

static pid_t first_holder(const struct reclaim *reclaim, const struct probe_sample *sample)
{
	for (int i = 0; i < reclaim->holder_count; i++) {
		uint32_t at = probe_find_process(sample, reclaim->holders[i].pid);
		if (at != PROBE_NOBODY && !sample->processes[at].shut &&
		    sample->processes[at].start == reclaim->holders[i].start)
			return reclaim->holders[i].pid;
	}
	return 0;
}

/* True while there is something to wait for. */
static bool look(struct waiting *waiting)
{
	const struct reclaim *reclaim = waiting->reclaim;
	struct pids pids = { 0 };
	SCOPE_SAMPLE struct probe_sample sample = { 0 };
	struct err ignored = ERR_NONE;

	for (int i = 0; i < reclaim->holder_count; i++)
		pids_add(reclaim->holders[i].pid, &pids);
	struct probe_set holders = pids_set(&pids);
	int taken = probe_sample(&waiting->probe, &holders, &sample, &ignored);
	free(pids.list);
	waiting->left_bytes = taken < 0 ? 0 : reclaim_left(reclaim, &sample.cards);
	waiting->holder = taken < 0 ? 0 : first_holder(reclaim, &sample);
	return waiting->left_bytes > 0 || waiting->holder;
}

/* For `queue` and `status`: why the lane does not go on. */
static void note(struct waiting *waiting)
{
	struct entry *job = &waiting->member->job;
	struct err ignored = ERR_NONE;

	if ((job->settling_bytes || job->settling_pid) && job->settling_pid == waiting->holder)
		return;
	job->state = ENTRY_COMPLETING;
	job->settling_bytes = waiting->left_bytes;
	job->settling_pid = waiting->holder;
	seat_update(&waiting->member->lane, job, &ignored);
}

static void heed_signals(struct waiting *waiting)
{
	for (int sig; (sig = signals_next(waiting->signals));) {
		switch (sig) {
		case SIGCHLD:
			while (waitpid(-1, NULL, WNOHANG) > 0)
				;
			break;
		case SIGURG: member_settle_begun(waiting->member); break;
		case SIGINT:
		case SIGQUIT:
		case SIGTERM:
		case SIGHUP: waiting->asked = true; break;
		default: break;
		}
	}
}

/* Whoever has a lane also serves the line. */
static void sleep_once(struct waiting *waiting)
{
	struct member *member = waiting->member;
	struct pollfd polls[MEMBER_POLL + 1];
	int timeout_ms, count = member_poll_fill(member, polls, &timeout_ms);

	polls[count] = (struct pollfd){ .fd = waiting->signals->fd, .events = POLLIN };
	if (timeout_ms < 0 || timeout_ms > RECLAIM_STEP_MS)
		timeout_ms = RECLAIM_STEP_MS;
	if (rest_poll(polls, count + 1, timeout_ms) < 0)
		return;
	/* First: a signal may make it settle, and what is opened then has the number of what was polled. */
	int news = member_poll_done(member, polls, count);
	if (polls[count].revents)
		heed_signals(waiting);
	if (news)
		member_settle_begun(member);
	if (clock_awake_ns() < waiting->tick_ns)
		return;
	waiting->tick_ns = clock_awake_ns() + NS_PER_S;
	if (member->watch_needed && member_tick(member))
		member_settle_begun(member);
}

void reclaim_wait(struct member *member, struct signals *signals, const struct reclaim *reclaim)
{
	SCOPE_FREE struct waiting *waiting =
		reclaim->count || reclaim->holder_count ? calloc(1, sizeof *waiting) : NULL;

	/* Without memory the lane goes on as it always could. */
	if (!waiting || member->lane.fd < 0)
		return;
	int64_t now = clock_awake_ns();
	waiting->member = member;
	waiting->signals = signals;
	waiting->reclaim = reclaim;
	waiting->until_ns = now + member->line->conf.vram_settle_ns;
	waiting->tick_ns = now + NS_PER_S;
	probe_open(&waiting->probe);
	while (clock_awake_ns() < waiting->until_ns && !waiting->asked && look(waiting)) {
		note(waiting);
		sleep_once(waiting);
	}
	probe_close(&waiting->probe);
	member->job.settling_bytes = 0;
	member->job.settling_pid = 0;
}
