/* SPDX-License-Identifier: GPL-3.0-or-later */
/* When a job's cards are looked at again, and what is known of its use of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "conf/base/clock.h"
#include "runner/cell/gpuwatch.h"

static struct gpuwatch watch;

static int set_up(void **state)
{
	(void)state;
	watch = GPUWATCH_NEW;
	return 0;
}

static struct gpuwatch_look look_of(const struct probe_step *step)
{
	return (struct gpuwatch_look){ .step = step, .busy_ns = step->busy_ns, .vram_bytes = step->holds ? 100 : 0 };
}

static void add(struct probe_step step)
{
	struct gpuwatch_look look = look_of(&step);

	gpuwatch_add(&watch, &look);
}

static const struct probe_step nothing = { .wall_ns = NS_PER_S };
static const struct probe_step first = { .holds = true, .doubt = PROBE_FIRST, .permille = -1, .busy_ns = 7 };
static const struct probe_step busy = { .holds = true, .wall_ns = NS_PER_S, .permille = 456, .busy_ns = 9 };

static void nothing_is_known_of_what_was_not_looked_at(void **state)
{
	(void)state;
	assert_int_equal(gpuwatch_total_ns(&watch), -1);
	assert_int_equal(gpuwatch_percent(watch.permille), -1);
	assert_int_equal(watch.vram_bytes, -1);
}

static void who_never_held_a_card_had_nothing_of_it(void **state)
{
	(void)state;
	add(nothing);
	assert_int_equal(gpuwatch_total_ns(&watch), 0);
	assert_false(watch.held);
}

static void without_a_card_looks_become_rare(void **state)
{
	(void)state;
	add(nothing);
	assert_int_equal(watch.interval_ns, 2 * NS_PER_S);
	add(nothing);
	assert_int_equal(watch.interval_ns, 4 * NS_PER_S);
	add(nothing);
	assert_int_equal(watch.interval_ns, GPUWATCH_SELDOM_NS);
	add(nothing);
	assert_int_equal(watch.interval_ns, GPUWATCH_SELDOM_NS);
	add(first);
	assert_int_equal(watch.interval_ns, GPUWATCH_OFTEN_NS);
	add(nothing);
	assert_true(watch.held);
	assert_false(watch.holds);
	assert_int_equal(watch.interval_ns, 2 * NS_PER_S);
}

static void a_share_takes_two_looks(void **state)
{
	(void)state;
	add(first);
	assert_int_equal(watch.permille, -1);
	assert_int_equal(gpuwatch_total_ns(&watch), 7);
	add(busy);
	assert_int_equal(watch.permille, 456);
	assert_int_equal(gpuwatch_total_ns(&watch), 9);
	assert_int_equal(watch.vram_bytes, 100);
}

static void a_counter_that_went_back_spoils_one_share_alone(void **state)
{
	(void)state;
	struct probe_step back = busy;

	add(busy);
	back.doubt = PROBE_BACKWARD;
	add(back);
	assert_int_equal(watch.permille, -1);
	assert_int_equal(gpuwatch_total_ns(&watch), 9);
	add(busy);
	assert_int_equal(watch.permille, 456);
}

static void what_cannot_be_trusted_once_is_unknown_in_all(void **state)
{
	(void)state;
	static const enum probe_doubt doubts[] = { PROBE_SHUT, PROBE_ABROAD, PROBE_UNTOLD, PROBE_QUEUES, PROBE_UNREAD };

	for (size_t i = 0; i < sizeof doubts / sizeof doubts[0]; i++) {
		struct probe_step step = busy;
		watch = GPUWATCH_NEW;
		step.doubt = doubts[i];
		add(step);
		assert_int_equal(watch.permille, -1);
		add(busy);
		assert_int_equal(watch.permille, 456);
		assert_int_equal(gpuwatch_total_ns(&watch), -1);
	}
}

static void time_in_which_it_was_frozen_says_nothing(void **state)
{
	(void)state;
	struct gpuwatch_look look = look_of(&busy);

	look.broken = true;
	gpuwatch_add(&watch, &look);
	assert_int_equal(watch.permille, -1);
	assert_int_equal(gpuwatch_total_ns(&watch), 9);
}

static void per_cent_are_rounded(void **state)
{
	(void)state;
	assert_int_equal(gpuwatch_percent(0), 0);
	assert_int_equal(gpuwatch_percent(4), 0);
	assert_int_equal(gpuwatch_percent(5), 1);
	assert_int_equal(gpuwatch_percent(994), 99);
	assert_int_equal(gpuwatch_percent(995), 100);
	assert_int_equal(gpuwatch_percent(1000), 100);
	assert_int_equal(gpuwatch_percent(-1), -1);
}

static void the_lane_is_written_when_what_it_shows_changes_or_is_old(void **state)
{
	(void)state;
	add(busy);
	assert_false(gpuwatch_is_news(&watch, 458, 100, NS_PER_S));
	assert_true(gpuwatch_is_news(&watch, 466, 100, NS_PER_S));
	assert_true(gpuwatch_is_news(&watch, -1, 100, NS_PER_S));
	assert_true(gpuwatch_is_news(&watch, 458, 101, NS_PER_S));
	assert_false(gpuwatch_is_news(&watch, 458, 100, GPUWATCH_FRESH_NS / 2 - 1));
	assert_true(gpuwatch_is_news(&watch, 458, 100, GPUWATCH_FRESH_NS / 2));
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(nothing_is_known_of_what_was_not_looked_at, set_up),
		cmocka_unit_test_setup(who_never_held_a_card_had_nothing_of_it, set_up),
		cmocka_unit_test_setup(without_a_card_looks_become_rare, set_up),
		cmocka_unit_test_setup(a_share_takes_two_looks, set_up),
		cmocka_unit_test_setup(a_counter_that_went_back_spoils_one_share_alone, set_up),
		cmocka_unit_test_setup(what_cannot_be_trusted_once_is_unknown_in_all, set_up),
		cmocka_unit_test_setup(time_in_which_it_was_frozen_says_nothing, set_up),
		cmocka_unit_test_setup(per_cent_are_rounded, set_up),
		cmocka_unit_test_setup(the_lane_is_written_when_what_it_shows_changes_or_is_old, set_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
