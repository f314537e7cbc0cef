/* SPDX-License-Identifier: GPL-3.0-or-later */
/* When jobs start and end, by a history written by hand, by budgets, and where neither is known. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "conf/base/clock.h"
#include "conf/base/fmt.h"
#include "runner/forecast.h"

#define M (60 * NS_PER_S)

static struct forecast line;

static int begin(void **state)
{
	(void)state;
	forecast_begin(&line, 2);
	return 0;
}

static int end(void **state)
{
	(void)state;
	forecast_free(&line);
	return 0;
}

static void learn(uint64_t id, const char *name, int64_t ran_ns, enum outcome outcome)
{
	struct history_row row = HISTORY_ROW;

	row.id = id;
	row.ran_ns = ran_ns;
	row.outcome = outcome;
	fmt(row.class_name, sizeof row.class_name, "clip");
	fmt(row.session, sizeof row.session, "s");
	fmt(row.name, sizeof row.name, "%s", name);
	assert_int_equal(forecast_learn(&line, &row), 0);
}

static struct forecast_job job(const char *name, int64_t ran_ns)
{
	return (struct forecast_job){ .class_name = "clip", .session = "s", .name = name, .ran_ns = ran_ns };
}

static void runs(struct forecast_job job, int64_t ends_ns, enum forecast_by by)
{
	struct outlook outlook;

	forecast_runs(&line, &job, &outlook);
	assert_int_equal(outlook.starts_in_ns, -1);
	assert_int_equal(outlook.ends_in_ns, ends_ns);
	assert_int_equal(outlook.by, by);
}

static void waits(struct forecast_job job, int64_t starts_ns, int64_t ends_ns, enum forecast_by by)
{
	struct outlook outlook;

	forecast_waits(&line, &job, &outlook);
	assert_int_equal(outlook.starts_in_ns, starts_ns);
	assert_int_equal(outlook.ends_in_ns, ends_ns);
	assert_int_equal(outlook.by, by);
}

static void without_anything_nothing_is_said(void **state)
{
	(void)state;
	runs(job("a", 0), -1, FORECAST_NOTHING);
	runs(job("b", 0), -1, FORECAST_NOTHING);
	waits(job("c", 0), -1, -1, FORECAST_NOTHING);
}

static void the_history_goes_before_budgets(void **state)
{
	struct forecast_job first = job("a", 4 * M);

	(void)state;
	first.budget_ns = 25 * M;
	learn(1, "a", 10 * M, OUTCOME_COMPLETED);
	learn(2, "b", 3 * M, OUTCOME_TURN);
	learn(3, "c", 99 * M, OUTCOME_FAILED);
	learn(2, "b", 4 * M, OUTCOME_COMPLETED);
	runs(first, 6 * M, FORECAST_LIKE);
	runs(job("b", 5 * M), 2 * M, FORECAST_LIKE);
	/* Of its class the last ones: 10 and 7 minutes. */
	waits(job("new", 0), 2 * M, 12 * M, FORECAST_LIKE);
	waits(job("a", 0), 6 * M, 16 * M, FORECAST_LIKE);
	waits(job("b", 0), 12 * M, 19 * M, FORECAST_LIKE);
}

static void by_its_budget_then_its_limit(void **state)
{
	struct forecast_job slow = job("a", 10 * M);

	(void)state;
	learn(1, "a", 10 * M, OUTCOME_COMPLETED);
	slow.budget_ns = 30 * M;
	slow.limit_ns = 60 * M;
	runs(slow, 20 * M, FORECAST_BUDGET);
	slow.ran_ns = 30 * M;
	runs(slow, 30 * M, FORECAST_BUDGET);
	waits(job("a", 0), 20 * M, 30 * M, FORECAST_BUDGET);
	slow.ran_ns = 0;
	slow.name = "a";
	waits(slow, 30 * M, 40 * M, FORECAST_BUDGET);
}

static void what_is_unknown_keeps_its_lane(void **state)
{
	(void)state;
	learn(1, "a", 10 * M, OUTCOME_COMPLETED);
	runs(job("a", 0), 10 * M, FORECAST_LIKE);
	runs(job("a", 11 * M), -1, FORECAST_NOTHING);
	waits(job("a", 0), 10 * M, 20 * M, FORECAST_LIKE);
	waits(job("a", 0), 20 * M, 30 * M, FORECAST_LIKE);
}

static void with_a_lane_free_it_is_no_lane_that_is_waited_for(void **state)
{
	(void)state;
	learn(1, "a", 10 * M, OUTCOME_COMPLETED);
	runs(job("a", 0), 10 * M, FORECAST_LIKE);
	waits(job("a", 0), -1, 10 * M, FORECAST_LIKE);
}

static void fewer_lanes_than_run(void **state)
{
	(void)state;
	learn(1, "a", 10 * M, OUTCOME_COMPLETED);
	forecast_begin(&line, 1);
	runs(job("a", 5 * M), 5 * M, FORECAST_LIKE);
	runs(job("a", 0), 10 * M, FORECAST_LIKE);
	waits(job("a", 0), 10 * M, 20 * M, FORECAST_LIKE);
}

static void what_a_job_says_itself_goes_first(void **state)
{
	struct forecast_job one = job("a", 1 * M);

	(void)state;
	one.limit_ns = 50 * M;
	one.left_ns = 3 * M;
	learn(1, "a", 10 * M, OUTCOME_COMPLETED);
	runs(one, 3 * M, FORECAST_PROGRESS);
	one.left_ns = 500 * M;
	runs(one, 49 * M, FORECAST_PROGRESS);
	waits(job("a", 0), 3 * M, 13 * M, FORECAST_LIKE);
}

static void no_job_outlives_its_limit(void **state)
{
	struct forecast_job one = job("a", 1 * M);

	(void)state;
	one.limit_ns = 5 * M;
	learn(1, "a", 10 * M, OUTCOME_COMPLETED);
	runs(one, 4 * M, FORECAST_LIKE);
}

static void several_tasks_have_no_end(void **state)
{
	struct forecast_job tasks = job("a", 0);

	(void)state;
	tasks.several = true;
	learn(1, "a", 10 * M, OUTCOME_COMPLETED);
	forecast_begin(&line, 1);
	runs(job("a", 0), 10 * M, FORECAST_LIKE);
	waits(tasks, 10 * M, -1, FORECAST_LIKE);
	waits(job("a", 0), 20 * M, 30 * M, FORECAST_LIKE);
}

static void far_behind_nothing_is_said(void **state)
{
	struct outlook outlook;
	struct forecast_job one = job("a", 0);

	(void)state;
	learn(1, "a", 10 * M, OUTCOME_COMPLETED);
	runs(one, 10 * M, FORECAST_LIKE);
	for (int i = 0; i < FORECAST_AHEAD; i++)
		forecast_waits(&line, &one, &outlook);
	waits(one, -1, -1, FORECAST_NOTHING);
}

static void times_beyond_all_bounds(void **state)
{
	struct forecast_job endless = job("a", 0);

	(void)state;
	forecast_begin(&line, 1);
	endless.budget_ns = INT64_MAX / 5;
	runs(endless, estimate_round(INT64_MAX / 5), FORECAST_BUDGET);
	waits(endless, estimate_round(INT64_MAX / 5), estimate_round(INT64_MAX / 5 * 2), FORECAST_BUDGET);
	waits(endless, estimate_round(INT64_MAX / 5 * 2), -1, FORECAST_BUDGET);
	waits(endless, -1, -1, FORECAST_NOTHING);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(without_anything_nothing_is_said, begin, end),
		cmocka_unit_test_setup_teardown(the_history_goes_before_budgets, begin, end),
		cmocka_unit_test_setup_teardown(by_its_budget_then_its_limit, begin, end),
		cmocka_unit_test_setup_teardown(what_is_unknown_keeps_its_lane, begin, end),
		cmocka_unit_test_setup_teardown(with_a_lane_free_it_is_no_lane_that_is_waited_for, begin, end),
		cmocka_unit_test_setup_teardown(fewer_lanes_than_run, begin, end),
		cmocka_unit_test_setup_teardown(what_a_job_says_itself_goes_first, begin, end),
		cmocka_unit_test_setup_teardown(no_job_outlives_its_limit, begin, end),
		cmocka_unit_test_setup_teardown(several_tasks_have_no_end, begin, end),
		cmocka_unit_test_setup_teardown(far_behind_nothing_is_said, begin, end),
		cmocka_unit_test_setup_teardown(times_beyond_all_bounds, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
