/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Standing jobs: why one is up or down, which is started, how long a failed one waits, what counts as a failure. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "conf/base/clock.h"
#include "runner/line/standing.h"
#include "runner/vramback.h"

#define GIB (UINT64_C(1) << 30)

/* Free for 30 s sharp: each test takes one thing away. */
static struct standing_scene free_card(void)
{
	return (struct standing_scene){ .seen = true,
					.vram.card = { .known = true, .free_bytes = 4 * GIB },
					.now_ns = 130 * NS_PER_S,
					.free_since_ns = 100 * NS_PER_S,
					.after_ns = 30 * NS_PER_S };
}

static enum standing judge(const struct standing_scene *scene, const struct candidate *service)
{
	int64_t at_ns;

	return standing_judge(scene, service, &at_ns);
}

static void each_reason_comes_before_those_behind_it(void **state)
{
	struct candidate service = { .id = 7, .standing = true, .vram_bytes = 5 * GIB };
	struct standing_scene scene = free_card();
	(void)state;

	scene.now_ns--;
	scene.foreign = true;
	scene.seen = false;
	scene.up_id = 8;
	scene.job = true;
	service.gate = WAITS_HELD;
	assert_int_equal(judge(&scene, &service), STANDING_HELD);
	service.gate = WAITS_LANE;
	assert_int_equal(judge(&scene, &service), STANDING_JOB);
	scene.job = false;
	assert_int_equal(judge(&scene, &service), STANDING_OTHER);
	scene.up_id = 7;
	assert_int_equal(judge(&scene, &service), STANDING_UP);
	scene.job = true;
	assert_int_equal(judge(&scene, &service), STANDING_UP);
	scene.job = false;
	scene.up_id = 0;
	assert_int_equal(judge(&scene, &service), STANDING_UNSEEN);
	scene.seen = true;
	assert_int_equal(judge(&scene, &service), STANDING_FOREIGN);
	scene.foreign = false;
	assert_int_equal(judge(&scene, &service), STANDING_VRAM);
	service.vram_bytes = 4 * GIB;
	assert_int_equal(judge(&scene, &service), STANDING_AFTER);
	service.failures = 1;
	assert_int_equal(judge(&scene, &service), STANDING_FAILED);
	scene.now_ns++;
	assert_int_equal(judge(&scene, &service), STANDING_READY);
}

static void memory_that_is_not_told_holds_nobody_back(void **state)
{
	struct candidate service = { .id = 7, .standing = true, .vram_bytes = 5 * GIB };
	struct standing_scene scene = free_card();
	(void)state;

	assert_int_equal(judge(&scene, &service), STANDING_VRAM);
	scene.vram.card.known = false;
	assert_int_equal(judge(&scene, &service), STANDING_READY);
}

static void the_memory_of_the_card_that_it_asks_for_counts(void **state)
{
	struct candidate service = { .id = 7, .standing = true, .vram_bytes = 3 * GIB, .card = "0000:83:00.0" };
	struct card_room rooms[] = { { .card = "0000:03:00.0", .known = true, .free_bytes = 4 * GIB },
				     { .card = "0000:83:00.0", .known = true, .free_bytes = 2 * GIB } };
	struct standing_scene scene = free_card();
	(void)state;

	scene.vram.rooms = rooms;
	scene.vram.room_count = 2;
	assert_int_equal(judge(&scene, &service), STANDING_VRAM);
	service.vram_bytes = 2 * GIB;
	assert_int_equal(judge(&scene, &service), STANDING_READY);
	rooms[1].known = false;
	service.vram_bytes = 5 * GIB;
	assert_int_equal(judge(&scene, &service), STANDING_READY);
	service.card[0] = '\0';
	assert_int_equal(judge(&scene, &service), STANDING_VRAM);
}

static void its_time_is_told(void **state)
{
	struct candidate service = { .id = 7, .standing = true };
	struct standing_scene scene = free_card();
	int64_t at_ns;
	(void)state;

	scene.now_ns = 100 * NS_PER_S;
	assert_int_equal(standing_judge(&scene, &service, &at_ns), STANDING_AFTER);
	assert_int_equal(at_ns, 130 * NS_PER_S);
	service.failures = 3;
	assert_int_equal(standing_judge(&scene, &service, &at_ns), STANDING_FAILED);
	assert_int_equal(at_ns, 220 * NS_PER_S);
	scene.job = true;
	assert_int_equal(standing_judge(&scene, &service, &at_ns), STANDING_JOB);
	assert_int_equal(at_ns, 0);
}

static void the_delay_doubles_and_is_bounded(void **state)
{
	(void)state;
	const int64_t s = NS_PER_S;

	assert_int_equal(standing_delay_ns(30 * s, 0), 30 * s);
	assert_int_equal(standing_delay_ns(30 * s, 1), 30 * s);
	assert_int_equal(standing_delay_ns(30 * s, 2), 60 * s);
	assert_int_equal(standing_delay_ns(30 * s, 5), 480 * s);
	assert_int_equal(standing_delay_ns(30 * s, 6), 900 * s);
	assert_int_equal(standing_delay_ns(30 * s, 999), 900 * s);
	/* Nothing to double: a second. */
	assert_int_equal(standing_delay_ns(0, 0), 0);
	assert_int_equal(standing_delay_ns(0, 1), s);
	assert_int_equal(standing_delay_ns(0, 2), 2 * s);
	/* Longer than the bound by itself: it stays what it is. */
	assert_int_equal(standing_delay_ns(3600 * s, 0), 3600 * s);
	assert_int_equal(standing_delay_ns(3600 * s, 9), 3600 * s);
	assert_int_equal(standing_delay_ns(INT64_MAX / 4, 9), INT64_MAX / 4);
}

static struct candidate *add(struct candidates *services, uint64_t id, uint64_t vram_bytes, int failures)
{
	struct candidate *one = candidates_add(services);

	assert_non_null(one);
	one->id = id;
	one->standing = true;
	one->vram_bytes = vram_bytes;
	one->failures = failures;
	return one;
}

static void the_first_to_come_is_started(void **state)
{
	struct standing_scene scene = free_card();
	struct candidates services = { 0 };
	int64_t at_ns;
	(void)state;

	assert_null(standing_pick(&scene, &services, &at_ns));
	assert_int_equal(at_ns, 0);
	add(&services, 12, 0, 0);
	add(&services, 4, 0, 0);
	add(&services, 9, 0, 0);
	assert_int_equal(standing_pick(&scene, &services, &at_ns)->id, 4);
	scene.up_id = 9;
	assert_null(standing_pick(&scene, &services, &at_ns));
	candidates_free(&services);
}

static void one_that_does_not_fit_or_failed_is_passed(void **state)
{
	struct standing_scene scene = free_card();
	struct candidates services = { 0 };
	int64_t at_ns;
	(void)state;

	add(&services, 4, 5 * GIB, 0);
	add(&services, 5, 0, 2);
	add(&services, 6, 4 * GIB, 0);
	assert_int_equal(standing_pick(&scene, &services, &at_ns)->id, 6);
	scene.vram.card.free_bytes--;
	assert_null(standing_pick(&scene, &services, &at_ns));
	assert_int_equal(at_ns, 160 * NS_PER_S);
	candidates_free(&services);
}

static void a_minute_is_a_good_start(void **state)
{
	const int64_t minute = 60 * NS_PER_S;
	(void)state;

	assert_int_equal(standing_failures(0, STANDING_ENDED_BAD, 0), 1);
	assert_int_equal(standing_failures(3, STANDING_ENDED_BAD, minute - 1), 4);
	assert_int_equal(standing_failures(3, STANDING_ENDED_BAD, minute), 1);
	assert_int_equal(standing_failures(3, STANDING_SENT_AWAY, minute - 1), 3);
	assert_int_equal(standing_failures(3, STANDING_SENT_AWAY, minute), 0);
	assert_int_equal(standing_failures(999, STANDING_ENDED_BAD, 0), 20);
}

static void every_change_of_hands_shows(void **state)
{
	uint64_t gens[] = { 4, 0, 9 };
	uint64_t before = standing_hands(gens, 3);
	(void)state;

	for (int i = 0; i < 3; i++) {
		gens[i]++;
		assert_int_not_equal(standing_hands(gens, 3), before);
		gens[i]--;
	}
	assert_int_equal(standing_hands(gens, 3), before);
}

static void the_memory_is_back_within_a_desktops_share(void **state)
{
	(void)state;

	assert_true(vramback_is(2 * GIB, 2 * GIB));
	assert_true(vramback_is(0, 2 * GIB));
	assert_true(vramback_is(2 * GIB + VRAMBACK_SLACK_BYTES, 2 * GIB));
	assert_false(vramback_is(2 * GIB + VRAMBACK_SLACK_BYTES + 1, 2 * GIB));
	assert_false(vramback_is(UINT64_MAX, 0));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_reason_comes_before_those_behind_it),
		cmocka_unit_test(memory_that_is_not_told_holds_nobody_back),
		cmocka_unit_test(the_memory_of_the_card_that_it_asks_for_counts),
		cmocka_unit_test(its_time_is_told),
		cmocka_unit_test(the_delay_doubles_and_is_bounded),
		cmocka_unit_test(the_first_to_come_is_started),
		cmocka_unit_test(one_that_does_not_fit_or_failed_is_passed),
		cmocka_unit_test(a_minute_is_a_good_start),
		cmocka_unit_test(every_change_of_hands_shows),
		cmocka_unit_test(the_memory_is_back_within_a_desktops_share),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
