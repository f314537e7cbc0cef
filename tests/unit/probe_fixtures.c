/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Each tree in tests/fixtures gives the totals that its file `expected` states; what is "unavailable" there is unknown.
 */
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "runner/cell/probe.h"
#include "runner/cell/probe_account.h"
#include "runner/cell/probe_foreign.h"
#include "runner/cell/probe_use.h"

enum { UNAVAILABLE = -1, PIDS = 64 };

struct fixture {
	char root[PATH_MAX];
	struct probe probe;
	struct probe_sample sample;
	pid_t job_pids[PIDS], other_pids[PIDS];
	struct probe_set job, others;
};

/* The value of `key` in the file `expected`; false when it has none. */
static bool find_expected(const struct fixture *fixture, const char *key, char *value, size_t size)
{
	char path[PATH_MAX + 16], line[512];
	size_t length = strlen(key);
	bool found = false;

	snprintf(path, sizeof path, "%s/expected", fixture->root);
	FILE *file = fopen(path, "r");
	assert_non_null(file);
	while (!found && fgets(line, sizeof line, file)) {
		found = strncmp(line, key, length) == 0 && line[length] == '=';
		if (found)
			snprintf(value, size, "%.*s", (int)strcspn(line + length + 1, "\n"), line + length + 1);
	}
	fclose(file);
	return found;
}

static int64_t expected(const struct fixture *fixture, const char *key)
{
	char value[256];

	if (!find_expected(fixture, key, value, sizeof value))
		fail_msg("%s has no %s", fixture->root, key);
	return strcmp(value, "unavailable") == 0 ? UNAVAILABLE : strtoll(value, NULL, 10);
}

static void name_pids(struct fixture *fixture)
{
	char text[256];

	if (find_expected(fixture, "job_pids", text, sizeof text) ||
	    find_expected(fixture, "job_pids_readable", text, sizeof text)) {
		for (char *word = strtok(text, " "); word; word = strtok(NULL, " "))
			fixture->job_pids[fixture->job.count++] = atoi(word);
	}
	fixture->job.pids = fixture->job_pids;
	for (size_t i = 0; i < fixture->sample.process_list.count; i++) {
		pid_t pid = fixture->sample.processes[i].pid;
		if (!probe_set_has(&fixture->job, pid))
			fixture->other_pids[fixture->others.count++] = pid;
	}
	fixture->others.count = probe_set_sort(fixture->other_pids, fixture->others.count);
	fixture->others.pids = fixture->other_pids;
}

static void open_fixture(const char *name, struct fixture *fixture)
{
	char folder[PATH_MAX], proc[PATH_MAX + 16], sys[PATH_MAX + 16];

	memset(fixture, 0, sizeof *fixture);
	snprintf(folder, sizeof folder, "tests/fixtures/%s", name);
	assert_non_null(realpath(folder, fixture->root));
	snprintf(proc, sizeof proc, "%s/proc", fixture->root);
	snprintf(sys, sizeof sys, "%s/sys", fixture->root);
	setenv("PGPU_PROCFS", proc, 1);
	setenv("PGPU_SYSFS", sys, 1);
	probe_open(&fixture->probe);
	assert_int_equal(probe_sample(&fixture->probe, NULL, &fixture->sample, NULL), 0);
	name_pids(fixture);
}

static void close_fixture(struct fixture *fixture)
{
	probe_sample_free(&fixture->sample);
	probe_close(&fixture->probe);
}

/* ---- sums over the clients of a set ---- */

enum what { TIME, CYCLES, CAPACITY, RESIDENT, TOTAL, SHARED };

static int64_t engine_figure(const struct probe_client *client, enum what what, const char *name)
{
	for (int i = 0; i < client->engine_count; i++) {
		const struct probe_engine *engine = &client->engines[i];
		if (strcmp(engine->name, name) == 0)
			return what == TIME ? engine->time_ns : what == CYCLES ? engine->cycles : engine->capacity;
	}
	return -1;
}

static int64_t region_figure(const struct probe_client *client, enum what what, const char *name)
{
	for (int i = 0; i < client->region_count; i++) {
		const struct probe_region *region = &client->regions[i];
		if (strcmp(region->name, name) == 0)
			return what == RESIDENT ? region->resident : what == TOTAL ? region->total : region->shared;
	}
	return -1;
}

/* -1: no client of the set has it. */
static int64_t sum(const struct probe_sample *sample, const struct probe_set *set, enum what what, const char *name)
{
	int64_t sum = -1;

	for (size_t i = 0; i < sample->client_list.count; i++) {
		const struct probe_client *client = &sample->clients[i];
		int64_t figure =
			what <= CAPACITY ? engine_figure(client, what, name) : region_figure(client, what, name);
		if (figure >= 0 && probe_use_owns(sample, set, client))
			sum = (sum < 0 ? 0 : sum) + figure;
	}
	return sum;
}

static void check_engine(const struct fixture *fixture, const struct probe_set *set, const char *key, const char *name)
{
	assert_int_equal(sum(&fixture->sample, set, TIME, name), expected(fixture, key));
}

/* The sums that every fixture of amdgpu's has. */
static void check_set(const struct fixture *fixture, const struct probe_set *set, const char *who, int64_t clients)
{
	struct probe_use use;
	char key[64];
	int64_t vram = 0, gtt = 0;

	probe_use_of(&fixture->sample, set, &use);
	assert_int_equal(use.doubt, PROBE_KNOWN);
	assert_true(use.holds);
	assert_int_equal(use.clients, clients);
	snprintf(key, sizeof key, "%s_engine_total_ns", who);
	assert_int_equal(use.time_ns, expected(fixture, key));
	for (int i = 0; i < use.card_count; i++) {
		vram += use.cards[i].vram_bytes;
		gtt += use.cards[i].gtt_bytes;
	}
	snprintf(key, sizeof key, "%s_vram_bytes", who);
	assert_int_equal(vram, expected(fixture, key));
	snprintf(key, sizeof key, "%s_gtt_bytes", who);
	assert_int_equal(gtt, expected(fixture, key));
}

static void check_only_card(const struct fixture *fixture)
{
	const struct probe_card *card = &fixture->sample.cards.list[0];

	assert_int_equal(fixture->sample.cards.count, expected(fixture, "cards"));
	assert_int_equal(card->busy_percent, expected(fixture, "gpu_busy_percent"));
	assert_int_equal(card->vram_total_bytes, expected(fixture, "vram_total_bytes"));
	if (card->vram_total_bytes >= 0)
		assert_int_equal(card->vram_used_bytes, expected(fixture, "vram_used_bytes"));
}

/* ---- the trees ---- */

static void a_job_of_four_processes_and_a_desktop(void **state)
{
	struct fixture fixture;

	(void)state;
	open_fixture("amdgpu-rx9060xt", &fixture);
	check_only_card(&fixture);
	assert_string_equal(fixture.sample.cards.list[0].name, "card1");
	assert_string_equal(fixture.sample.cards.list[0].render, "renderD128");
	assert_false(fixture.sample.cards.list[0].apu);
	check_set(&fixture, &fixture.job, "job", expected(&fixture, "job_clients"));
	check_set(&fixture, &fixture.others, "foreign", expected(&fixture, "foreign_clients"));
	check_engine(&fixture, &fixture.job, "job_engine_compute_ns", "compute");
	check_engine(&fixture, &fixture.job, "job_engine_dma_ns", "dma");
	check_engine(&fixture, &fixture.job, "job_engine_enc_ns", "enc");
	check_engine(&fixture, &fixture.job, "job_engine_gfx_ns", "gfx");
	check_engine(&fixture, &fixture.job, "job_engine_jpeg_ns", "jpeg");
	check_engine(&fixture, &fixture.others, "foreign_engine_gfx_ns", "gfx");
	close_fixture(&fixture);
}

static void ten_seconds_later_nothing_counts_that_went_back_and_nothing_is_forgotten(void **state)
{
	struct probe_account account = PROBE_ACCOUNT_NONE;
	static struct probe_step step;
	struct fixture before, after;

	(void)state;
	open_fixture("amdgpu-rx9060xt", &before);
	open_fixture("amdgpu-rx9060xt-t10s", &after);
	check_only_card(&after);
	check_set(&after, &after.job, "job", expected(&after, "job_clients"));
	assert_int_equal(probe_account_add(&account, &before.sample, &before.job, &step, NULL), 0);
	assert_int_equal(step.doubt, PROBE_FIRST);
	after.sample.at_ns = before.sample.at_ns + expected(&after, "interval_ns");
	assert_int_equal(probe_account_add(&account, &after.sample, &after.job, &step, NULL), 0);
	assert_int_equal(step.doubt, PROBE_BACKWARD);
	assert_int_equal(step.busy_ns, expected(&after, "delta_engine_total_ns"));
	assert_int_equal(step.engine_count, 2);
	assert_string_equal(step.engines[0].engine, "compute");
	assert_int_equal(step.engines[0].busy_ns, expected(&after, "delta_engine_compute_ns"));
	assert_int_equal(step.engines[0].permille, 995);
	assert_int_equal(account.busy_ns, expected(&after, "accounted_engine_total_ns"));
	probe_account_free(&account);
	close_fixture(&before);
	close_fixture(&after);
}

static void keys_of_older_kernels(void **state)
{
	struct fixture fixture;

	(void)state;
	open_fixture("amdgpu-old-kernel", &fixture);
	check_only_card(&fixture);
	check_set(&fixture, &fixture.job, "job", expected(&fixture, "job_clients"));
	check_engine(&fixture, &fixture.job, "job_engine_compute_ns", "compute");
	close_fixture(&fixture);
	open_fixture("amdgpu-dupkeys", &fixture);
	check_only_card(&fixture);
	check_set(&fixture, &fixture.job, "job", expected(&fixture, "job_clients"));
	assert_int_equal(fixture.sample.clients[0].id, 428);
	assert_int_equal(fixture.sample.clients[1].id, 431);
	close_fixture(&fixture);
}

static void a_dialect_without_ids_and_times(void **state)
{
	struct probe_use use;
	struct fixture fixture;
	const pid_t pids[] = { 4728, 4729 };

	(void)state;
	open_fixture("amdgpu-5.15", &fixture);
	check_only_card(&fixture);
	assert_true(fixture.sample.cards.list[0].apu);
	for (int i = 0; i < 2; i++) {
		char key[32];
		snprintf(key, sizeof key, "old_vram_bytes_pid_%d", pids[i]);
		probe_use_of(&fixture.sample, &(struct probe_set){ &pids[i], 1 }, &use);
		assert_int_equal(use.doubt, PROBE_UNTOLD);
		assert_int_equal(use.time_ns, UNAVAILABLE);
		assert_int_equal(use.cards[0].vram_bytes, expected(&fixture, key));
	}
	probe_use_of(&fixture.sample, NULL, &use);
	assert_int_equal(use.cards[0].vram_bytes, expected(&fixture, "old_vram_bytes_total"));
	assert_int_equal(use.cards[0].gtt_bytes, expected(&fixture, "old_gtt_bytes_total"));
	close_fixture(&fixture);
}

static void a_sleeping_card_is_idle(void **state)
{
	struct fixture fixture;
	const struct probe_card *card = &fixture.sample.cards.list[0];

	(void)state;
	open_fixture("amdgpu-asleep", &fixture);
	assert_int_equal(fixture.sample.cards.count, 1);
	assert_true(card->asleep);
	assert_int_equal(card->busy_percent, 0);
	assert_int_equal(card->vram_total_bytes - card->vram_used_bytes, expected(&fixture, "vram_free_bytes"));
	assert_int_equal(fixture.sample.client_list.count, 0);
	close_fixture(&fixture);
}

static void one_id_on_two_cards_is_two_clients(void **state)
{
	struct fixture fixture;
	struct probe_use use;

	(void)state;
	open_fixture("two-cards", &fixture);
	assert_int_equal(fixture.sample.cards.count, 2);
	for (int i = 0; i < 2; i++) {
		const struct probe_card *card = &fixture.sample.cards.list[i];
		char key[64];
		probe_use_of(&fixture.sample, &fixture.job, &use);
		const struct probe_card_use *mine = probe_use_card(&use, card->pci);
		snprintf(key, sizeof key, "%s_busy", card->name);
		assert_int_equal(card->busy_percent, expected(&fixture, key));
		snprintf(key, sizeof key, "%s_vram_free_bytes", card->name);
		assert_int_equal(card->vram_total_bytes - card->vram_used_bytes, expected(&fixture, key));
		snprintf(key, sizeof key, "job_%s_clients", card->name);
		assert_int_equal(mine->clients, expected(&fixture, key));
		snprintf(key, sizeof key, "job_%s_vram_bytes", card->name);
		assert_int_equal(mine->vram_bytes, expected(&fixture, key));
		snprintf(key, sizeof key, "job_%s_gtt_bytes", card->name);
		assert_int_equal(mine->gtt_bytes, expected(&fixture, key));
		assert_int_equal(card->apu, strcmp(card->name, "card0") == 0);
	}
	assert_int_equal(use.time_ns, expected(&fixture, "job_all_engine_total_ns"));
	assert_int_equal(use.clients, expected(&fixture, "job_all_clients"));
	check_set(&fixture, &fixture.others, "foreign_card0", expected(&fixture, "foreign_card0_clients"));
	close_fixture(&fixture);
}

static void intel_integrated_has_no_load_and_a_capacity(void **state)
{
	struct fixture fixture;
	struct probe_use use;
	const struct probe_set *job = &fixture.job;

	(void)state;
	open_fixture("i915", &fixture);
	check_only_card(&fixture);
	probe_use_of(&fixture.sample, job, &use);
	assert_int_equal(use.doubt, PROBE_KNOWN);
	assert_int_equal(use.clients, expected(&fixture, "job_clients"));
	assert_int_equal(use.time_ns, expected(&fixture, "job_engine_total_ns"));
	check_engine(&fixture, job, "job_engine_copy_ns", "copy");
	check_engine(&fixture, job, "job_engine_render_ns", "render");
	check_engine(&fixture, job, "job_engine_video_ns", "video");
	check_engine(&fixture, job, "job_engine_video_enhance_ns", "video-enhance");
	assert_int_equal(sum(&fixture.sample, job, RESIDENT, "system0"),
			 expected(&fixture, "job_resident_system0_bytes"));
	assert_int_equal(sum(&fixture.sample, job, TOTAL, "system0"), expected(&fixture, "job_total_system0_bytes"));
	assert_int_equal(use.cards[0].system_bytes, expected(&fixture, "job_resident_system0_bytes"));
	assert_int_equal(use.cards[0].vram_bytes, 0);
	assert_int_equal(engine_figure(&fixture.sample.clients[0], CAPACITY, "video"),
			 expected(&fixture, "capacity_video"));
	close_fixture(&fixture);
}

static const struct probe_busy *busy_of(const struct probe_step *step, const char *engine)
{
	for (int i = 0; i < step->engine_count; i++) {
		if (strcmp(step->engines[i].engine, engine) == 0)
			return &step->engines[i];
	}
	fail_msg("%s did nothing", engine);
	return NULL;
}

static void cycles_become_time_by_their_own_clock(void **state)
{
	static const char engines[][4] = { "rcs", "ccs", "bcs" };
	struct probe_account account = PROBE_ACCOUNT_NONE;
	static struct probe_step step;
	struct fixture before, after;
	struct probe_use use;

	(void)state;
	open_fixture("xe", &before);
	open_fixture("xe-t10s", &after);
	check_only_card(&before);
	probe_use_of(&before.sample, &before.job, &use);
	assert_int_equal(use.doubt, PROBE_KNOWN);
	assert_int_equal(use.time_ns, UNAVAILABLE);
	assert_int_equal(use.clients, expected(&before, "job_clients"));
	assert_int_equal(use.cards[0].vram_bytes, expected(&before, "job_resident_vram0_bytes"));
	assert_int_equal(use.cards[0].gtt_bytes, expected(&before, "job_resident_gtt_bytes"));
	assert_int_equal(sum(&before.sample, &before.job, SHARED, "vram0"),
			 expected(&before, "job_shared_vram0_bytes"));
	probe_account_add(&account, &before.sample, &before.job, &step, NULL);
	assert_int_equal(step.doubt, PROBE_FIRST);
	after.sample.at_ns = before.sample.at_ns + expected(&after, "interval_ns");
	probe_account_add(&account, &after.sample, &after.job, &step, NULL);
	assert_int_equal(step.doubt, PROBE_KNOWN);
	for (int i = 0; i < 3; i++) {
		char key[64];
		snprintf(key, sizeof key, "delta_busy_ns_%s", engines[i]);
		assert_int_equal(busy_of(&step, engines[i])->busy_ns, expected(&after, key));
		snprintf(key, sizeof key, "job_cycles_%s", engines[i]);
		assert_int_equal(sum(&after.sample, &after.job, CYCLES, engines[i]), expected(&after, key));
		snprintf(key, sizeof key, "util_percent_%s_of_class", engines[i]);
		assert_int_equal(busy_of(&step, engines[i])->permille, 10 * expected(&after, key));
	}
	assert_int_equal(busy_of(&step, "ccs")->capacity, expected(&after, "capacity_ccs"));
	assert_int_equal(step.permille, 500);
	probe_account_free(&account);
	close_fixture(&before);
	close_fixture(&after);
}

static void nothing_to_see_is_unknown(void **state)
{
	struct fixture fixture;
	struct probe_use use;

	(void)state;
	open_fixture("nvidia-none", &fixture);
	assert_int_equal(fixture.sample.cards.count, 0);
	assert_int_equal(fixture.probe.looked, 0);
	probe_sample_free(&fixture.sample);
	probe_sample(&fixture.probe, &fixture.job, &fixture.sample, NULL);
	assert_int_equal(fixture.probe.looked, fixture.job.count);
	probe_use_of(&fixture.sample, &fixture.job, &use);
	assert_int_equal(use.clients, 0);
	assert_int_equal(use.time_ns, UNAVAILABLE);
	assert_int_equal(fixture.sample.share_list.count, 0);
	close_fixture(&fixture);
	open_fixture("nouveau", &fixture);
	check_only_card(&fixture);
	probe_use_of(&fixture.sample, &fixture.job, &use);
	assert_int_equal(use.clients, 0);
	assert_int_equal(use.time_ns, UNAVAILABLE);
	close_fixture(&fixture);
}

static int64_t shares_of(const struct fixture *fixture, pid_t pid, uint64_t pci)
{
	int64_t sum = 0;

	for (size_t i = 0; i < fixture->sample.share_list.count; i++) {
		const struct probe_share *share = &fixture->sample.shares[i];
		if (share->pci == pci && fixture->sample.processes[share->process].pid == pid)
			sum += share->vram_bytes;
	}
	return sum;
}

static void computing_through_the_kfd(void **state)
{
	const uint64_t near = probe_pci_parse((struct probe_span){ "0000:03:00.0", 12 });
	const uint64_t far = probe_pci_parse((struct probe_span){ "0000:83:00.0", 12 });
	struct fixture fixture;
	struct probe_use use;
	uint32_t dead;

	(void)state;
	open_fixture("kfd", &fixture);
	assert_int_equal(fixture.sample.cards.count, 2);
	assert_int_equal(shares_of(&fixture, 7001, near), expected(&fixture, "job_kfd_vram_bytes_15209"));
	assert_int_equal(shares_of(&fixture, 7001, far), expected(&fixture, "job_kfd_vram_bytes_51023"));
	assert_int_equal(shares_of(&fixture, 7002, far), expected(&fixture, "foreign_kfd_vram_bytes_51023"));
	assert_int_equal(shares_of(&fixture, 7004, near),
			 expected(&fixture, "foreign_kfd_vram_bytes_15209_alive_with_contexts"));
	assert_int_equal(shares_of(&fixture, 7003, near), 0);
	dead = probe_find_process(&fixture.sample, 7999);
	assert_int_not_equal(dead, PROBE_NOBODY);
	assert_true(fixture.sample.processes[dead].gone);
	probe_use_of(&fixture.sample, &fixture.job, &use);
	assert_int_equal(use.clients, expected(&fixture, "job_fdinfo_clients"));
	assert_int_equal(use.doubt, PROBE_QUEUES);
	assert_int_equal(probe_use_card(&use, near)->vram_bytes, expected(&fixture, "job_fdinfo_vram_bytes_card1"));
	close_fixture(&fixture);
}

static void whose_a_leaked_descriptor_is(void **state)
{
	struct fixture fixture;
	struct probe_use use;

	(void)state;
	open_fixture("leaked-fd", &fixture);
	probe_use_of(&fixture.sample, &fixture.job, &use);
	assert_int_equal(use.clients, expected(&fixture, "job_clients_not_held_outside"));
	assert_int_equal(use.time_ns, expected(&fixture, "job_engine_total_ns_not_held_outside"));
	assert_int_equal(use.cards[0].vram_bytes, expected(&fixture, "job_vram_bytes_not_held_outside"));
	probe_sample_free(&fixture.sample);
	/* A look at the job alone does not know the compositor. */
	assert_int_equal(probe_sample(&fixture.probe, &fixture.job, &fixture.sample, NULL), 0);
	probe_use_of(&fixture.sample, &fixture.job, &use);
	assert_int_equal(use.clients, expected(&fixture, "job_clients_all"));
	assert_int_equal(use.time_ns, expected(&fixture, "job_engine_total_ns_all"));
	close_fixture(&fixture);
}

static void drivers_of_small_machines(void **state)
{
	struct fixture fixture;
	struct probe_use use;

	(void)state;
	open_fixture("other-drivers", &fixture);
	assert_int_equal(fixture.sample.cards.count, 1);
	assert_true(fixture.sample.cards.list[0].pci == PROBE_NO_PCI);
	for (pid_t pid = 31; pid <= 34; pid++) {
		struct probe_set one = { &pid, 1 };
		char key[64];
		probe_use_of(&fixture.sample, &one, &use);
		snprintf(key, sizeof key, "pid%d_engine_total_ns", pid);
		assert_int_equal(use.time_ns, expected(&fixture, key));
		assert_int_equal(use.doubt, use.time_ns < 0 ? PROBE_UNTOLD : PROBE_KNOWN);
		snprintf(key, sizeof key, "pid%d_resident_memory_bytes", pid);
		if (pid < 34)
			assert_int_equal(sum(&fixture.sample, &one, RESIDENT, "memory"), expected(&fixture, key));
		assert_int_equal(use.cards[0].system_bytes, pid == 34 ? 4 << 20 : expected(&fixture, key));
	}
	close_fixture(&fixture);
}

static void check_listed(const struct fixture *fixture, const char *key, const char *word, bool listed)
{
	char value[256], *found = NULL;
	size_t length = strlen(word);

	assert_true(find_expected(fixture, key, value, sizeof value));
	for (char *at = value; !found && (at = strstr(at, word)); at += length) {
		if ((at == value || at[-1] == ' ') && (at[length] == '\0' || at[length] == ' '))
			found = at;
	}
	if (!found != !listed)
		fail_msg("%s of %s", word, key);
}

static void broken_cards_are_unknown(void **state)
{
	struct fixture fixture;

	(void)state;
	open_fixture("broken", &fixture);
	assert_int_equal(fixture.sample.cards.count, 11);
	for (int i = 0; i < fixture.sample.cards.count; i++) {
		const struct probe_card *card = &fixture.sample.cards.list[i];
		char busy[32];
		snprintf(busy, sizeof busy, "%s=%d", card->name, card->busy_percent);
		check_listed(&fixture, "drm_cards", card->name, true);
		check_listed(&fixture, "cards_with_valid_busy", busy, card->busy_percent >= 0);
		check_listed(&fixture, "cards_with_unavailable_busy", card->name, card->busy_percent < 0);
		check_listed(&fixture, "cards_with_valid_vram", card->name, card->vram_used_bytes >= 0);
		check_listed(&fixture, "cards_with_unavailable_vram", card->name, card->vram_used_bytes < 0);
	}
	close_fixture(&fixture);
}

static void broken_descriptors_are_unknown(void **state)
{
	struct fixture fixture;
	struct probe_use use;
	int64_t vram = 0, time_ns = 0;
	int worked = 0, readable = 0, shares = 0;

	(void)state;
	open_fixture("broken", &fixture);
	assert_int_equal(fixture.sample.client_list.count, expected(&fixture, "job_clients_with_valid_id"));
	for (size_t i = 0; i < fixture.sample.client_list.count; i++) {
		const struct probe_client *client = &fixture.sample.clients[i];
		int64_t bytes = probe_client_bytes(client, PROBE_VRAM);
		vram += bytes > 0 ? bytes : 0;
		time_ns += probe_client_time_ns(client) > 0 ? probe_client_time_ns(client) : 0;
		worked += probe_client_worked(client);
		if (client->partial != (client->id != 5 && client->id != 6))
			fail_msg("client %d", (int)client->id);
	}
	assert_int_equal(vram, expected(&fixture, "job_vram_bytes"));
	assert_int_equal(time_ns, expected(&fixture, "job_engine_total_ns"));
	assert_int_equal(worked, expected(&fixture, "job_clients_with_any_valid_engine_value"));
	probe_use_of(&fixture.sample, &fixture.job, &use);
	assert_int_equal(use.doubt, PROBE_SHUT);
	assert_int_equal(use.cards[0].vram_bytes, UNAVAILABLE);
	/* One of three figures of the KFD's is one. */
	for (size_t i = 0; i < fixture.sample.share_list.count; i++) {
		const struct probe_share *share = &fixture.sample.shares[i];
		assert_int_equal(fixture.sample.processes[share->process].pid, expected(&fixture, "kfd_pids"));
		assert_true(share->vram_bytes == 4096 || share->vram_bytes < 0);
		shares += share->via == PROBE_KFD;
		readable += share->vram_bytes == 4096;
	}
	assert_int_equal(shares, 3);
	assert_int_equal(readable, 1);
	close_fixture(&fixture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_job_of_four_processes_and_a_desktop),
		cmocka_unit_test(ten_seconds_later_nothing_counts_that_went_back_and_nothing_is_forgotten),
		cmocka_unit_test(keys_of_older_kernels),
		cmocka_unit_test(a_dialect_without_ids_and_times),
		cmocka_unit_test(a_sleeping_card_is_idle),
		cmocka_unit_test(one_id_on_two_cards_is_two_clients),
		cmocka_unit_test(intel_integrated_has_no_load_and_a_capacity),
		cmocka_unit_test(cycles_become_time_by_their_own_clock),
		cmocka_unit_test(nothing_to_see_is_unknown),
		cmocka_unit_test(computing_through_the_kfd),
		cmocka_unit_test(whose_a_leaked_descriptor_is),
		cmocka_unit_test(drivers_of_small_machines),
		cmocka_unit_test(broken_cards_are_unknown),
		cmocka_unit_test(broken_descriptors_are_unknown),
	};

	return cmocka_run_group_tests_name("probe_fixtures", tests, NULL, NULL);
}
