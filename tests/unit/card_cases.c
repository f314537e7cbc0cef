/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What went wrong for users of other tools with cards, each by its number; the trees are tests/fixtures/case-NUMBER. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <limits.h>
#include <unistd.h>

#include <cmocka.h>

#include "conf/base/clock.h"
#include "runner/cell/probe.h"
#include "runner/cell/probe_account.h"
#include "runner/cell/probe_foreign.h"

static struct probe_account account;
static struct probe_sample sample;
static struct probe_step step;
static const pid_t job_pid = 100;
static const struct probe_set job = { &job_pid, 1 }, nobody = { NULL, 0 };

static int tear_down(void **state)
{
	(void)state;
	probe_account_free(&account);
	probe_sample_free(&sample);
	account = PROBE_ACCOUNT_NONE;
	return 0;
}

static void begin(int64_t at_ns)
{
	probe_sample_free(&sample);
	sample.at_ns = at_ns;
	probe_add_process(&sample, &(struct probe_process){ .pid = job_pid, .start = 1 });
}

static void parse(const char *driver, int id, const char *lines, struct probe_client *client)
{
	char text[1024];

	snprintf(text, sizeof text, "drm-driver:\t%s\ndrm-client-id:\t%d\ndrm-pdev:\t0000:03:00.0\n%s", driver, id,
		 lines);
	assert_int_equal(probe_drm_parse((struct probe_span){ text, strlen(text) }, client), PROBE_DRM_CLIENT);
}

static void has_client(const char *driver, int id, const char *lines)
{
	struct probe_client client;

	parse(driver, id, lines, &client);
	probe_add_client(&sample, &client, 0);
}

static void add(void)
{
	assert_int_equal(probe_account_add(&account, &sample, &job, &step, NULL), 0);
}

static const struct probe_busy *busy_of(const char *engine)
{
	for (int i = 0; i < step.engine_count; i++) {
		if (strcmp(step.engines[i].engine, engine) == 0)
			return &step.engines[i];
	}
	fail_msg("%s did nothing", engine);
	return NULL;
}

static void C057_engines_have_any_name_cycles_and_a_capacity(void **state)
{
	(void)state;
	begin(0);
	has_client("amdgpu", 1, "drm-memory-vram:\t1 KiB\ndrm-engine-gfx:\t0 ns\ndrm-engine-compute:\t0 ns\n");
	has_client("i915", 2, "drm-engine-vcs:\t0 ns\ndrm-engine-capacity-vcs:\t2\n");
	has_client("xe", 3, "drm-cycles-rcs:\t0\ndrm-total-cycles-rcs:\t1000\n");
	add();
	begin(NS_PER_S);
	has_client("amdgpu", 1,
		   "drm-memory-vram:\t1 KiB\ndrm-engine-gfx:\t250000000 ns\ndrm-engine-compute:\t100000000 ns\n");
	has_client("i915", 2, "drm-engine-vcs:\t1000000000 ns\ndrm-engine-capacity-vcs:\t2\n");
	has_client("xe", 3, "drm-cycles-rcs:\t400\ndrm-total-cycles-rcs:\t2000\n");
	add();
	assert_int_equal(step.doubt, PROBE_KNOWN);
	assert_int_equal(busy_of("gfx")->permille, 250);
	assert_int_equal(busy_of("compute")->permille, 100);
	assert_int_equal(busy_of("vcs")->permille, 500);
	assert_int_equal(busy_of("rcs")->permille, 400);
}

static void C057_without_engines_it_is_unknown_and_not_idle(void **state)
{
	(void)state;
	for (int second = 0; second < 2; second++) {
		begin(second * NS_PER_S);
		has_client("i915", 1, "drm-resident-system0:\t1 KiB\n");
		add();
	}
	assert_int_equal(step.doubt, PROBE_UNTOLD);
	assert_int_equal(step.permille, -1);
}

static int64_t vram_of(const char *lines)
{
	struct probe_client client;

	parse("amdgpu", 1, lines, &client);
	return probe_client_bytes(&client, PROBE_VRAM);
}

static void C083_each_unit_is_read_and_each_buffer_counts_once(void **state)
{
	(void)state;
	assert_int_equal(vram_of("drm-resident-vram:\t1048576\n"), 1 << 20);
	assert_int_equal(vram_of("drm-resident-vram:\t1024 KiB\n"), 1 << 20);
	assert_int_equal(vram_of("drm-resident-vram:\t1 MiB\n"), 1 << 20);
	assert_int_equal(vram_of("drm-memory-vram:\t2 MiB\ndrm-resident-vram:\t1 MiB\ndrm-total-vram:\t9 MiB\n"
				 "drm-shared-vram:\t512 KiB\n"),
			 1 << 20);
	assert_int_equal(vram_of("drm-memory-vram:\t1 MiB\n"), 1 << 20);
	/* Another unit, and a region of another kind, are not added up. */
	assert_int_equal(vram_of("drm-resident-vram:\t1 MB\n"), -1);
	assert_int_equal(vram_of("drm-resident-vram:\t1 MiB\ndrm-resident-doorbell:\t8 MiB\ndrm-total-memory:\t0\n"),
			 1 << 20);
	/* One client behind two descriptors. */
	begin(0);
	has_client("amdgpu", 1, "drm-resident-vram:\t1 MiB\n");
	has_client("amdgpu", 1, "drm-resident-vram:\t1 MiB\n");
	struct probe_use use;
	probe_use_of(&sample, &job, &use);
	assert_int_equal(use.cards[0].vram_bytes, 1 << 20);
}

static void C125_a_counter_that_goes_back_is_nothing_done(void **state)
{
	(void)state;
	begin(0);
	has_client("amdgpu", 1, "drm-memory-vram:\t1 KiB\ndrm-engine-gfx:\t5000000 ns\n");
	add();
	begin(1000000);
	has_client("amdgpu", 1, "drm-memory-vram:\t1 KiB\ndrm-engine-gfx:\t4000000 ns\n");
	add();
	assert_int_equal(step.busy_ns, 0);
	assert_true(step.permille <= 0);
	/* No time has passed: nothing is divided by it. */
	begin(1000000);
	has_client("amdgpu", 1, "drm-memory-vram:\t1 KiB\ndrm-engine-gfx:\t9000000 ns\n");
	add();
	assert_int_equal(step.permille, -1);
	/* It went, and another has its number. */
	begin(2000000);
	add();
	begin(3000000);
	has_client("amdgpu", 1, "drm-memory-vram:\t1 KiB\ndrm-engine-gfx:\t10 ns\n");
	add();
	assert_int_equal(step.busy_ns, 10);
	assert_int_equal(account.busy_ns, 9000010);
	/* Never more than all of it. */
	begin(4000000);
	has_client("amdgpu", 1, "drm-memory-vram:\t1 KiB\ndrm-engine-gfx:\t9000000000 ns\n");
	add();
	assert_int_equal(step.permille, 1000);
}

/* ---- trees ---- */

static void look_at(const char *name)
{
	static struct probe probe;
	char root[PATH_MAX], path[PATH_MAX + 8];

	snprintf(path, sizeof path, "tests/fixtures/%s", name);
	assert_non_null(realpath(path, root));
	snprintf(path, sizeof path, "%s/proc", root);
	setenv("PGPU_PROCFS", path, 1);
	snprintf(path, sizeof path, "%s/sys", root);
	setenv("PGPU_SYSFS", path, 1);
	probe_sample_free(&sample);
	probe_open(&probe);
	assert_int_equal(probe_sample(&probe, NULL, &sample, NULL), 0);
	probe_close(&probe);
}

static void C093_a_dead_pid_holds_nothing_a_zombie_does_and_a_new_process_is_not_blamed(void **state)
{
	struct probe_foreign *list;
	size_t count;

	(void)state;
	look_at("case-C093");
	assert_int_equal(probe_foreign_list(&sample, &nobody, &list, &count, NULL), 0);
	assert_int_equal(count, 2);
	assert_int_equal(list[0].pid, 4243);
	assert_int_equal(list[0].vram_bytes, 536870912);
	assert_int_equal(list[1].pid, 4245);
	assert_int_equal(list[1].vram_bytes, 134217728);
	free(list);
}

static void C109_behind_bridges_the_address_is_the_cards_own_with_its_domain(void **state)
{
	const pid_t pid = 6100;
	struct probe_use use;

	(void)state;
	look_at("case-C109");
	assert_int_equal(sample.cards.count, 3);
	probe_use_of(&sample, &(struct probe_set){ &pid, 1 }, &use);
	assert_int_equal(use.card_count, 1);
	assert_int_equal(use.cards[0].vram_bytes, INT64_C(5368709120));
	const struct probe_card *card = probe_cards_find(&sample.cards, use.cards[0].pci, "amdgpu");
	assert_non_null(card);
	assert_string_equal(card->name, "card1");
	assert_int_equal(card->vram_used_bytes, INT64_C(6442450944));
	card = probe_cards_find(&sample.cards, pci_parse("0000:03:00.0", 12), "amdgpu");
	assert_string_equal(card->name, "card0");
	assert_int_equal(card->vram_used_bytes, 1 << 30);
	/* No bridge is a card. */
	assert_null(probe_cards_find(&sample.cards, pci_parse("0000:00:01.1", 12), "pcieport"));
}

static void C115_of_an_apu_the_machines_memory_counts(void **state)
{
	struct probe_foreign *list;
	size_t count;

	(void)state;
	look_at("case-C115");
	assert_true(sample.cards.list[0].apu);
	assert_int_equal(sample.cards.list[0].gtt_used_bytes, INT64_C(41) << 30);
	assert_int_equal(probe_foreign_list(&sample, &nobody, &list, &count, NULL), 0);
	assert_int_equal(count, 1);
	assert_int_equal(list[0].vram_bytes, (INT64_C(40) << 30) + (8 << 20));
	free(list);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(C057_engines_have_any_name_cycles_and_a_capacity, tear_down),
		cmocka_unit_test_teardown(C057_without_engines_it_is_unknown_and_not_idle, tear_down),
		cmocka_unit_test_teardown(C083_each_unit_is_read_and_each_buffer_counts_once, tear_down),
		cmocka_unit_test_teardown(C093_a_dead_pid_holds_nothing_a_zombie_does_and_a_new_process_is_not_blamed,
					  tear_down),
		cmocka_unit_test_teardown(C109_behind_bridges_the_address_is_the_cards_own_with_its_domain, tear_down),
		cmocka_unit_test_teardown(C115_of_an_apu_the_machines_memory_counts, tear_down),
		cmocka_unit_test_teardown(C125_a_counter_that_goes_back_is_nothing_done, tear_down),
	};

	return cmocka_run_group_tests_name("card_cases", tests, NULL, NULL);
}
