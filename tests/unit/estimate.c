/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How long until a lane is free: what runs, what is ahead, and a history written by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "conf/base/clock.h"
#include "conf/base/fmt.h"
#include "runner/estimate.h"

#define M (60 * NS_PER_S)

static struct estimate line;

static int begin(void **state)
{
	(void)state;
	memset(&line, 0, sizeof line);
	return 0;
}

static void add(bool runs, const char *session, const char *name, int64_t ran_ns)
{
	struct estimate_job job = { .class_name = "clip", .runs = runs, .ran_ns = ran_ns };

	fmt(job.session, sizeof job.session, "%s", session);
	fmt(job.name, sizeof job.name, "%s", name);
	estimate_add(&line, &job);
}

static void runs(const char *session, const char *name, int64_t ran_ns)
{
	add(true, session, name, ran_ns);
}

static void waits(const char *session, const char *name)
{
	add(false, session, name, 0);
}

static void learn(uint64_t id, const char *session, const char *name, int64_t ran_ns, enum outcome outcome)
{
	struct history_row row = HISTORY_ROW;

	row.id = id;
	row.ran_ns = ran_ns;
	row.outcome = outcome;
	fmt(row.class_name, sizeof row.class_name, "clip");
	fmt(row.session, sizeof row.session, "%s", session);
	fmt(row.name, sizeof row.name, "%s", name);
	estimate_learn(&line, &row);
}

static void without_history_nothing_is_said(void **state)
{
	(void)state;
	assert_int_equal(estimate_wait(&line, 1), -1);
	runs("a", "render", 0);
	assert_int_equal(estimate_wait(&line, 1), -1);
}

static void what_runs_has_the_rest_left(void **state)
{
	(void)state;
	runs("a", "render", 4 * M);
	learn(1, "a", "render", 10 * M, OUTCOME_COMPLETED);
	assert_int_equal(estimate_wait(&line, 1), 6 * M);
}

static void what_runs_longer_than_its_like_is_unknown(void **state)
{
	(void)state;
	runs("a", "render", 10 * M - 1);
	learn(1, "a", "render", 10 * M, OUTCOME_COMPLETED);
	assert_int_equal(estimate_wait(&line, 1), 1);
	line.jobs[0].ran_ns++;
	assert_int_equal(estimate_wait(&line, 1), -1);
}

static void like_by_name_comes_before_like_by_class(void **state)
{
	(void)state;
	runs("a", "render", 0);
	learn(1, "b", "render", 30 * M, OUTCOME_COMPLETED);
	assert_int_equal(estimate_wait(&line, 1), 30 * M);
	learn(2, "a", "render", 10 * M, OUTCOME_COMPLETED);
	learn(3, "a", "other", 50 * M, OUTCOME_COMPLETED);
	assert_int_equal(estimate_wait(&line, 1), 10 * M);
}

static void another_class_is_not_like(void **state)
{
	(void)state;
	runs("a", "render", 0);
	memcpy(line.jobs[0].class_name, "truth", 6);
	learn(1, "b", "render", 30 * M, OUTCOME_COMPLETED);
	assert_int_equal(estimate_wait(&line, 1), -1);
}

static void only_completed_jobs_count(void **state)
{
	(void)state;
	runs("a", "render", 0);
	learn(1, "a", "render", 1 * M, OUTCOME_FAILED);
	learn(2, "a", "render", 2 * M, OUTCOME_CANCELLED);
	learn(3, "a", "render", -1, OUTCOME_COMPLETED);
	assert_int_equal(estimate_wait(&line, 1), -1);
}

static void the_median_of_the_last_five_counts(void **state)
{
	static const int minutes[] = { 99, 99, 99, 8, 1, 9, 7, 50 };
	(void)state;
	runs("a", "render", 0);
	for (uint64_t i = 0; i < 8; i++)
		learn(1 + i, "a", "render", minutes[i] * M, OUTCOME_COMPLETED);
	assert_int_equal(estimate_wait(&line, 1), 8 * M);
}

static void holds_of_one_job_are_added_up(void **state)
{
	(void)state;
	runs("a", "render", 0);
	learn(1, "a", "render", 3 * M, OUTCOME_TURN);
	learn(2, "a", "other", 1 * M, OUTCOME_TURN);
	learn(1, "a", "render", 4 * M, OUTCOME_TURN);
	assert_int_equal(estimate_wait(&line, 1), -1);
	learn(1, "a", "render", 5 * M, OUTCOME_COMPLETED);
	assert_int_equal(estimate_wait(&line, 1), 12 * M);
	/* One that ended otherwise takes its holds with it. */
	learn(2, "a", "other", 1 * M, OUTCOME_FAILED);
	learn(2, "a", "render", 12 * M, OUTCOME_COMPLETED);
	assert_int_equal(estimate_wait(&line, 1), 12 * M);
}

static void lanes_are_filled_in_the_order_of_the_line(void **state)
{
	(void)state;
	runs("a", "long", 0);
	runs("a", "short", 0);
	waits("a", "short");
	waits("a", "middle");
	waits("a", "short");
	learn(1, "a", "long", 20 * M, OUTCOME_COMPLETED);
	learn(2, "a", "short", 5 * M, OUTCOME_COMPLETED);
	learn(3, "a", "middle", 15 * M, OUTCOME_COMPLETED);
	/* 5: short; 10: middle, until 25; 20: short, until 25. */
	assert_int_equal(estimate_wait(&line, 2), 25 * M);
}

static void one_that_is_unknown_keeps_its_lane(void **state)
{
	(void)state;
	runs("a", "known", 0);
	learn(1, "a", "known", 20 * M, OUTCOME_COMPLETED);
	runs("b", "unknown", 0);
	memcpy(line.jobs[1].class_name, "truth", 6);
	assert_int_equal(estimate_wait(&line, 2), 20 * M);
	waits("b", "unknown");
	memcpy(line.jobs[2].class_name, "truth", 6);
	assert_int_equal(estimate_wait(&line, 2), -1);
}

static void fewer_lanes_than_before_let_the_first_ends_pass(void **state)
{
	(void)state;
	runs("a", "render", 2 * M);
	runs("a", "render", 3 * M);
	runs("a", "render", 1 * M);
	learn(1, "a", "render", 10 * M, OUTCOME_COMPLETED);
	assert_int_equal(estimate_wait(&line, 3), 7 * M);
	assert_int_equal(estimate_wait(&line, 2), 8 * M);
	assert_int_equal(estimate_wait(&line, 1), 9 * M);
}

static void with_a_lane_free_it_is_not_that_which_is_waited_for(void **state)
{
	(void)state;
	runs("a", "render", 0);
	learn(1, "a", "render", 10 * M, OUTCOME_COMPLETED);
	assert_int_equal(estimate_wait(&line, 2), -1);
}

static void too_many_are_unknown(void **state)
{
	(void)state;
	for (int i = 0; i < ESTIMATE_JOBS; i++)
		runs("a", "render", 0);
	learn(1, "a", "render", 10 * M, OUTCOME_COMPLETED);
	assert_int_equal(estimate_wait(&line, CONF_LANES), 10 * M);
	waits("a", "render");
	assert_int_equal(estimate_wait(&line, CONF_LANES), -1);
}

static void away_jobs_beyond_the_room_forget_the_oldest(void **state)
{
	(void)state;
	runs("a", "render", 0);
	for (uint64_t id = 1; id <= ESTIMATE_AWAY + 1; id++)
		learn(id, "a", "render", 3 * M, OUTCOME_TURN);
	learn(1, "a", "render", 4 * M, OUTCOME_COMPLETED);
	assert_int_equal(estimate_wait(&line, 1), 4 * M);
	line.jobs[0].own.count = 0;
	learn(2, "a", "render", 4 * M, OUTCOME_COMPLETED);
	assert_int_equal(estimate_wait(&line, 1), 7 * M);
}

static void times_are_rounded_up(void **state)
{
	(void)state;
	assert_int_equal(estimate_round(1), NS_PER_S);
	assert_int_equal(estimate_round(59 * NS_PER_S), 59 * NS_PER_S);
	assert_int_equal(estimate_round(59 * NS_PER_S + 1), M);
	assert_int_equal(estimate_round(11 * M + 1), 12 * M);
	assert_int_equal(estimate_round(59 * M + 1), 60 * M);
	assert_int_equal(estimate_round(60 * M + 1), 70 * M);
}

#define TEST(function) cmocka_unit_test_setup(function, begin)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(without_history_nothing_is_said),
		TEST(what_runs_has_the_rest_left),
		TEST(what_runs_longer_than_its_like_is_unknown),
		TEST(like_by_name_comes_before_like_by_class),
		TEST(another_class_is_not_like),
		TEST(only_completed_jobs_count),
		TEST(the_median_of_the_last_five_counts),
		TEST(holds_of_one_job_are_added_up),
		TEST(lanes_are_filled_in_the_order_of_the_line),
		TEST(one_that_is_unknown_keeps_its_lane),
		TEST(fewer_lanes_than_before_let_the_first_ends_pass),
		TEST(with_a_lane_free_it_is_not_that_which_is_waited_for),
		TEST(too_many_are_unknown),
		TEST(away_jobs_beyond_the_room_forget_the_oldest),
		TEST(times_are_rounded_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
