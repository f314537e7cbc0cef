/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a card is to come down to when a job has ended, and whether it has. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "runner/reclaim.h"

#define M (INT64_C(1) << 20)

static struct probe_cards cards;
static struct probe_use job;
static struct reclaim reclaim;

/* A card of 16 GiB, and a job that has `held` of it. */
static int set_up(void **state)
{
	(void)state;
	cards = (struct probe_cards){ .count = 1 };
	cards.list[0] = (struct probe_card){ .pci = 7, .vram_total_bytes = 16384 * M, .vram_used_bytes = 5000 * M };
	job = (struct probe_use){ .holds = true, .card_count = 1 };
	job.cards[0] = (struct probe_card_use){ .pci = 7, .vram_bytes = 4000 * M };
	return 0;
}

static void plan(void)
{
	reclaim_plan(&cards, &job, &reclaim);
}

static int64_t left_at(int64_t used)
{
	cards.list[0].vram_used_bytes = used;
	return reclaim_left(&reclaim, &cards);
}

static void the_floor_is_what_others_use(void **state)
{
	(void)state;
	plan();
	assert_int_equal(reclaim.count, 1);
	assert_int_equal(reclaim.cards[0].floor_bytes, 1000 * M);
	assert_int_equal(left_at(5000 * M), 4000 * M);
	assert_int_equal(left_at(6000 * M), 5000 * M);
	assert_int_equal(left_at(1000 * M), 0);
	assert_int_equal(left_at(900 * M), 0);
}

static void a_little_above_it_is_enough(void **state)
{
	(void)state;
	plan();
	assert_int_equal(left_at(1000 * M + RECLAIM_SLACK), 0);
	assert_int_equal(left_at(1000 * M + RECLAIM_SLACK + 1), RECLAIM_SLACK + 1);
	job.cards[0].vram_bytes = 80 * M;
	cards.list[0].vram_used_bytes = 1080 * M;
	plan();
	assert_int_equal(left_at(1010 * M), 0);
	assert_int_equal(left_at(1010 * M + 1), 10 * M + 1);
}

static void who_had_nothing_is_not_waited_for(void **state)
{
	(void)state;
	job.cards[0].vram_bytes = 0;
	plan();
	assert_int_equal(reclaim.count, 0);
	job.cards[0].vram_bytes = -1;
	plan();
	assert_int_equal(reclaim.count, 0);
	assert_int_equal(left_at(16384 * M), 0);
}

static void a_card_that_does_not_tell_is_not_waited_for(void **state)
{
	(void)state;
	cards.list[0].vram_used_bytes = -1;
	plan();
	assert_int_equal(reclaim.count, 0);
	cards.list[0].vram_used_bytes = 5000 * M;
	plan();
	assert_int_equal(left_at(-1), 0);
	cards.count = 0;
	assert_int_equal(left_at(5000 * M), 0);
	plan();
	assert_int_equal(reclaim.count, 0);
}

static void shared_buffers_do_not_put_the_floor_below_zero(void **state)
{
	(void)state;
	job.cards[0].vram_bytes = 6000 * M;
	plan();
	assert_int_equal(reclaim.cards[0].floor_bytes, 0);
	assert_int_equal(reclaim.cards[0].held_bytes, 5000 * M);
}

static void an_apu_lends_the_machines_memory(void **state)
{
	(void)state;
	cards.list[0].apu = true;
	cards.list[0].vram_used_bytes = 300 * M;
	cards.list[0].gtt_used_bytes = 9000 * M;
	job.cards[0].vram_bytes = 5 * M;
	job.cards[0].gtt_bytes = 8000 * M;
	plan();
	assert_int_equal(reclaim.cards[0].floor_bytes, 1295 * M);
	cards.list[0].gtt_used_bytes = 1000 * M;
	assert_int_equal(left_at(295 * M), 0);
	assert_int_equal(left_at(395 * M), 100 * M);
}

static void several_cards_are_added_up(void **state)
{
	(void)state;
	cards.count = job.card_count = 2;
	cards.list[1] = cards.list[0];
	job.cards[1] = job.cards[0];
	cards.list[1].pci = job.cards[1].pci = 9;
	plan();
	assert_int_equal(reclaim.count, 2);
	assert_int_equal(left_at(1000 * M), 4000 * M);
	assert_int_equal(left_at(5000 * M), 8000 * M);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(the_floor_is_what_others_use, set_up),
		cmocka_unit_test_setup(a_little_above_it_is_enough, set_up),
		cmocka_unit_test_setup(who_had_nothing_is_not_waited_for, set_up),
		cmocka_unit_test_setup(a_card_that_does_not_tell_is_not_waited_for, set_up),
		cmocka_unit_test_setup(shared_buffers_do_not_put_the_floor_below_zero, set_up),
		cmocka_unit_test_setup(an_apu_lends_the_machines_memory, set_up),
		cmocka_unit_test_setup(several_cards_are_added_up, set_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
