/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a job did between two samples: growth of counters, what is not known, and no division by nothing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "conf/base/clock.h"
#include "runner/cell/probe_account.h"

static const pid_t job_pid = 10;
static const struct probe_set job = { &job_pid, 1 };
static struct probe_account account;
static struct probe_sample sample;
static struct probe_step step;

static int set_up(void **state)
{
	(void)state;
	account = PROBE_ACCOUNT_NONE;
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	probe_account_free(&account);
	probe_sample_free(&sample);
	return 0;
}

/* A new sample, `at_s` seconds after the beginning, with the job's process. */
static void begin(int64_t at_s)
{
	probe_sample_free(&sample);
	sample.at_ns = at_s * NS_PER_S;
	probe_add_process(&sample, &(struct probe_process){ .pid = job_pid, .start = 1 });
}

/* A client of the process of that index; `lines` are what it prints beside its name. */
static void has_client(uint32_t process, const char *driver, int id, const char *lines)
{
	struct probe_client client;
	char text[1024];

	snprintf(text, sizeof text, "drm-driver:\t%s\ndrm-client-id:\t%d\ndrm-pdev:\t0000:03:00.0\n%s", driver, id,
		 lines);
	assert_int_equal(probe_drm_parse((struct probe_span){ text, strlen(text) }, &client), PROBE_DRM_CLIENT);
	probe_add_client(&sample, &client, process);
}

static void has_gfx(int id, long long time_ns)
{
	char line[96];

	snprintf(line, sizeof line, "drm-memory-vram:\t1 KiB\ndrm-engine-gfx:\t%lld ns\n", time_ns);
	has_client(0, "amdgpu", id, line);
}

static void add(void)
{
	assert_int_equal(probe_account_add(&account, &sample, &job, &step, NULL), 0);
}

static void a_job_without_a_card_is_known_to_do_nothing(void **state)
{
	(void)state;
	begin(0);
	add();
	assert_false(step.holds);
	assert_int_equal(step.doubt, PROBE_KNOWN);
	begin(5);
	add();
	assert_int_equal(step.doubt, PROBE_KNOWN);
	assert_int_equal(step.busy_ns, 0);
	assert_int_equal(step.permille, 0);
}

static void growth_is_work_and_none_is_none(void **state)
{
	(void)state;
	begin(0);
	has_gfx(1, 100);
	add();
	assert_true(step.holds);
	assert_int_equal(step.doubt, PROBE_FIRST);
	assert_int_equal(step.permille, -1);
	assert_int_equal(account.busy_ns, 100);
	begin(10);
	has_gfx(1, 100 + NS_PER_S);
	add();
	assert_int_equal(step.doubt, PROBE_KNOWN);
	assert_int_equal(step.busy_ns, NS_PER_S);
	assert_int_equal(step.permille, 100);
	begin(20);
	has_gfx(1, 100 + NS_PER_S);
	add();
	assert_int_equal(step.doubt, PROBE_KNOWN);
	assert_int_equal(step.busy_ns, 0);
	assert_int_equal(step.permille, 0);
	assert_int_equal(account.busy_ns, 100 + NS_PER_S);
}

static void a_counter_that_went_back_is_a_doubt_until_it_has_passed_again(void **state)
{
	(void)state;
	begin(0);
	has_gfx(1, 5000000);
	add();
	begin(1);
	has_gfx(1, 4000000);
	add();
	assert_int_equal(step.doubt, PROBE_BACKWARD);
	assert_int_equal(step.busy_ns, 0);
	begin(2);
	has_gfx(1, 4500000);
	add();
	assert_int_equal(step.doubt, PROBE_BACKWARD);
	begin(3);
	has_gfx(1, 5000001);
	add();
	assert_int_equal(step.doubt, PROBE_KNOWN);
	assert_int_equal(step.busy_ns, 1);
	assert_int_equal(account.busy_ns, 5000001);
}

static void who_has_gone_keeps_its_time_and_a_number_may_come_again(void **state)
{
	(void)state;
	begin(0);
	has_gfx(1, 1000);
	add();
	begin(1);
	add();
	assert_int_equal(account.busy_ns, 1000);
	begin(2);
	has_gfx(1, 10);
	add();
	assert_int_equal(step.doubt, PROBE_KNOWN);
	assert_int_equal(step.busy_ns, 10);
	assert_int_equal(account.busy_ns, 1010);
	begin(3);
	has_gfx(1, 30);
	add();
	assert_int_equal(step.busy_ns, 20);
	/* One that could not be read for once is the same as before. */
	begin(4);
	add();
	begin(5);
	has_gfx(1, 40);
	add();
	assert_int_equal(step.busy_ns, 10);
	assert_int_equal(account.busy_ns, 1040);
}

static void two_looks_at_one_moment(void **state)
{
	(void)state;
	begin(7);
	has_gfx(1, 1000);
	add();
	has_gfx(2, 5);
	add();
	assert_int_equal(step.doubt, PROBE_FIRST);
	assert_int_equal(step.permille, -1);
	assert_int_equal(step.wall_ns, 0);
	begin(6);
	has_gfx(1, 2000);
	add();
	assert_int_equal(step.doubt, PROBE_FIRST);
	assert_int_equal(step.permille, -1);
}

static void more_than_the_wall_is_all_of_it(void **state)
{
	(void)state;
	begin(0);
	has_gfx(1, 0);
	add();
	begin(1);
	has_gfx(1, INT64_MAX);
	has_gfx(2, INT64_MAX);
	add();
	assert_int_equal(step.permille, 1000);
	assert_int_equal(step.engine_count, 1);
	assert_true(step.busy_ns == INT64_MAX);
	assert_true(account.busy_ns == INT64_MAX);
}

static void ticks_of_a_new_client_are_timed_by_the_clock_of_others(void **state)
{
	const char *const ticks = "drm-cycles-rcs:\t%d\ndrm-total-cycles-rcs:\t%d\n";
	char line[128];

	(void)state;
	begin(0);
	snprintf(line, sizeof line, ticks, 0, 1000);
	has_client(0, "xe", 1, line);
	add();
	begin(10);
	snprintf(line, sizeof line, ticks, 0, 2000);
	has_client(0, "xe", 1, line);
	snprintf(line, sizeof line, ticks, 250, 2000);
	has_client(0, "xe", 2, line);
	add();
	assert_int_equal(step.doubt, PROBE_KNOWN);
	assert_int_equal(step.busy_ns, 2500 * NS_PER_MS);
	/* The clock stands: nothing can be said. */
	begin(20);
	snprintf(line, sizeof line, ticks, 300, 2000);
	has_client(0, "xe", 2, line);
	add();
	assert_int_equal(step.doubt, PROBE_BACKWARD);
	assert_int_equal(step.busy_ns, 0);
}

static void ticks_of_known_length(void **state)
{
	const char *const ticks = "drm-cycles-gpu:\t%d\ndrm-maxfreq-gpu:\t2 KHz\n";
	char line[128];

	(void)state;
	begin(0);
	snprintf(line, sizeof line, ticks, 0);
	has_client(0, "msm", 1, line);
	add();
	begin(10);
	snprintf(line, sizeof line, ticks, 2000);
	has_client(0, "msm", 1, line);
	add();
	assert_int_equal(step.doubt, PROBE_KNOWN);
	assert_int_equal(step.busy_ns, NS_PER_S);
	assert_int_equal(step.permille, 100);
}

static void what_is_not_told_is_not_idle(void **state)
{
	struct probe_share share = { .vram_bytes = 0, .queues = 1, .busy_percent = -1, .via = PROBE_KFD };

	(void)state;
	for (int i = 0; i < 2; i++) {
		begin(10 * i);
		has_gfx(1, 100);
		probe_add_share(&sample, &share);
		add();
	}
	assert_int_equal(step.doubt, PROBE_QUEUES);
	assert_int_equal(step.permille, -1);
	for (int i = 2; i < 4; i++) {
		begin(10 * i);
		has_client(0, "panfrost", 1, "drm-total-memory:\t1 KiB\n");
		add();
	}
	assert_int_equal(step.doubt, PROBE_UNTOLD);
	begin(40);
	sample.processes[0].shut = true;
	add();
	assert_int_equal(step.doubt, PROBE_SHUT);
	begin(50);
	sample.partial = true;
	add();
	assert_int_equal(step.doubt, PROBE_UNREAD);
}

static void work_is_work_whatever_the_doubt(void **state)
{
	struct probe_share share = { .vram_bytes = 0, .queues = 1, .busy_percent = -1, .via = PROBE_KFD };

	(void)state;
	for (int i = 0; i < 2; i++) {
		begin(i);
		has_gfx(1, i * 500 * NS_PER_MS);
		probe_add_share(&sample, &share);
		add();
	}
	assert_int_equal(step.doubt, PROBE_QUEUES);
	assert_int_equal(step.permille, 500);
}

static void a_share_of_an_nvidia_card_is_time(void **state)
{
	struct probe_share share = { .vram_bytes = 1, .busy_percent = 25, .via = PROBE_NVML, .pci = 7 };

	(void)state;
	for (int i = 0; i < 2; i++) {
		begin(10 * i);
		probe_add_share(&sample, &share);
		add();
	}
	assert_int_equal(step.doubt, PROBE_KNOWN);
	assert_int_equal(step.busy_ns, 2500 * NS_PER_MS);
	assert_string_equal(step.engines[0].engine, "sm");
	assert_int_equal(step.permille, 250);
	begin(20);
	share.busy_percent = -1;
	probe_add_share(&sample, &share);
	add();
	assert_int_equal(step.doubt, PROBE_UNTOLD);
}

static void others_do_not_count(void **state)
{
	(void)state;
	for (int i = 0; i < 2; i++) {
		begin(i);
		uint32_t other = probe_add_process(&sample, &(struct probe_process){ .pid = 20, .start = 2 });
		uint32_t older = probe_add_process(&sample, &(struct probe_process){ .pid = 30 + i });
		has_client(other, "amdgpu", 2, i ? "drm-engine-gfx:\t99 ns\n" : "drm-engine-gfx:\t1 ns\n");
		/* Its start is not known: it may be later. */
		has_client(older, "amdgpu", 3, "drm-engine-gfx:\t5 ns\n");
		has_client(0, "amdgpu", 3, "drm-engine-gfx:\t5 ns\n");
		add();
	}
	assert_int_equal(step.doubt, PROBE_KNOWN);
	assert_int_equal(step.busy_ns, 0);
	assert_int_equal(account.busy_ns, 5);
}

static void every_doubt_has_words(void **state)
{
	(void)state;
	for (int doubt = 0; doubt < PROBE_DOUBTS; doubt++)
		assert_true(strlen(probe_doubt_text(doubt)) > 4);
}

#define ON_AN_ACCOUNT(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		ON_AN_ACCOUNT(a_job_without_a_card_is_known_to_do_nothing),
		ON_AN_ACCOUNT(growth_is_work_and_none_is_none),
		ON_AN_ACCOUNT(a_counter_that_went_back_is_a_doubt_until_it_has_passed_again),
		ON_AN_ACCOUNT(who_has_gone_keeps_its_time_and_a_number_may_come_again),
		ON_AN_ACCOUNT(two_looks_at_one_moment),
		ON_AN_ACCOUNT(more_than_the_wall_is_all_of_it),
		ON_AN_ACCOUNT(ticks_of_a_new_client_are_timed_by_the_clock_of_others),
		ON_AN_ACCOUNT(ticks_of_known_length),
		ON_AN_ACCOUNT(what_is_not_told_is_not_idle),
		ON_AN_ACCOUNT(work_is_work_whatever_the_doubt),
		ON_AN_ACCOUNT(a_share_of_an_nvidia_card_is_time),
		ON_AN_ACCOUNT(others_do_not_count),
		cmocka_unit_test(every_doubt_has_words),
	};

	return cmocka_run_group_tests_name("probe_account", tests, NULL, NULL);
}
