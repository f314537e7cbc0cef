/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Who gets a lane that is bound to a card, and what the gate for its memory counts with. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "runner/line/elect.h"
#include "runner/line/gate.h"

static const char left[] = "0000:03:00.0", right[] = "0000:83:00.0", gone[] = "0000:04:00.0";

static struct conf table(void)
{
	struct conf conf = { .lanes = 2, .ram_bytes = 100, .bound_count = 2 };

	strcpy(conf.bound[0].card, left);
	strcpy(conf.bound[1].card, right);
	return conf;
}

static void a_lane_takes_jobs_of_its_card_and_of_any(void **state)
{
	struct conf conf = table();
	struct load load = { .lane_card = right };
	struct candidate list[] = { { .id = 1, .card = "0000:03:00.0" },
				    { .id = 2, .rank = 1 },
				    { .id = 3, .rank = 2, .card = "0000:83:00.0" } };
	struct candidates line = { .list = list, .count = 3 };
	(void)state;

	assert_int_equal(elect_for(&conf, &load, &line)->id, 2);
	list[1].barred = true;
	assert_int_equal(elect_for(&conf, &load, &line)->id, 3);
	list[2].barred = true;
	assert_null(elect_for(&conf, &load, &line));
	list[0].no_room = false;
	load.lane_card = left;
	assert_int_equal(elect_for(&conf, &load, &line)->id, 1);
	/* A lane that is bound to none takes all. */
	conf.bound_count = 0;
	list[0].no_room = false;
	load.lane_card = "";
	assert_int_equal(elect_for(&conf, &load, &line)->id, 1);
}

static void each_waiter_has_its_reason(void **state)
{
	struct conf conf = table();
	struct load load = { .running = 1, .taken = 1 };
	struct candidate list[] = { { .id = 1, .card = "0000:03:00.0" },
				    { .id = 2, .card = "0000:83:00.0" },
				    { .id = 3 },
				    { .id = 4, .card = "0000:04:00.0" },
				    { .id = 5, .card = "0000:03:00.0", .begun = true } };
	struct candidates line = { .list = list, .count = 5 };
	static const enum waits_for first_taken[] = { WAITS_CARD, WAITS_LANE, WAITS_LANE, WAITS_CARD, WAITS_CARD };
	static const enum waits_for both_taken[] = { WAITS_CARD, WAITS_CARD, WAITS_LANE, WAITS_CARD, WAITS_CARD };
	(void)state;

	for (size_t i = 0; i < 5; i++)
		assert_int_equal(elect_why(&conf, &load, 1, &line, i), first_taken[i]);
	load.taken = 3;
	for (size_t i = 0; i < 5; i++)
		assert_int_equal(elect_why(&conf, &load, 2, &line, i), both_taken[i]);
	/* Where every lane is of its card, it waits for a lane like anybody. */
	strcpy(conf.bound[1].card, left);
	assert_int_equal(elect_why(&conf, &load, 2, &line, 0), WAITS_LANE);
	assert_int_equal(elect_why(&conf, &load, 2, &line, 1), WAITS_CARD);
	conf.bound_count = 0;
	assert_int_equal(elect_why(&conf, &load, 2, &line, 1), WAITS_LANE);
}

/* Its processes have that card; but it is not to be frozen for ever. */
static void a_frozen_job_goes_on_on_its_card(void **state)
{
	struct conf conf = table();
	struct load load = { .lane_card = right };
	struct candidate one = { .id = 1, .begun = true, .card = "0000:03:00.0" };
	struct candidates line = { .list = &one, .count = 1 };
	(void)state;

	assert_null(elect_for(&conf, &load, &line));
	one.no_room = false;
	strcpy(conf.bound[0].card, gone);
	assert_int_equal(elect_for(&conf, &load, &line)->id, 1);
	one.begun = false;
	assert_null(elect_for(&conf, &load, &line));
}

/* Who waits for RAM holds up others in all lanes, who waits for a card in none. */
static void ram_is_waited_for_by_who_could_have_a_lane(void **state)
{
	struct conf conf = table();
	struct load load = { .running = 1, .running_bytes = 60, .taken = 1, .lane_card = right };
	struct candidate list[] = { { .id = 1, .card = "0000:03:00.0", .reserved_bytes = 50 },
				    { .id = 2, .rank = 1, .reserved_bytes = 10 } };
	struct candidates line = { .list = list, .count = 2 };
	(void)state;

	assert_int_equal(elect_for(&conf, &load, &line)->id, 2);
	list[0].no_room = false;
	load.taken = 0;
	assert_null(elect_for(&conf, &load, &line));
}

static void memory_is_that_of_the_lanes_card(void **state)
{
	struct conf conf = table();
	struct card_room rooms[] = { { .card = "0000:03:00.0", .known = true, .free_bytes = 4 },
				     { .card = "0000:83:00.0", .known = true, .free_bytes = 20 } };
	struct load load = { .card = rooms[1], .rooms = rooms, .room_count = 2, .lane_card = left };
	struct candidate list[] = { { .id = 1, .vram_bytes = 10 }, { .id = 2, .rank = 1, .vram_bytes = 4 } };
	struct candidates line = { .list = list, .count = 2 };
	(void)state;

	assert_int_equal(elect_for(&conf, &load, &line)->id, 2);
	list[0].no_room = false;
	load.lane_card = right;
	assert_int_equal(elect_for(&conf, &load, &line)->id, 1);
	load.lane_card = NULL;
	assert_int_equal(elect_why(&conf, &load, 0, &line, 0), WAITS_LANE);
	/* The one with the memory is taken: of what is left it waits for the memory. */
	load.taken = 2;
	assert_int_equal(elect_why(&conf, &load, 1, &line, 0), WAITS_VRAM);
	strcpy(list[0].card, right);
	assert_int_equal(elect_why(&conf, &load, 1, &line, 0), WAITS_CARD);
	/* Lanes for any card: that of the job counts. */
	conf.bound_count = 0;
	strcpy(list[0].card, left);
	assert_false(elect_has_vram(&load, &list[0]));
	strcpy(list[0].card, right);
	assert_true(elect_has_vram(&load, &list[0]));
	/* Of a card that does not tell nobody is held back. */
	rooms[0].known = false;
	strcpy(list[0].card, left);
	assert_true(elect_has_vram(&load, &list[0]));
	strcpy(list[0].card, gone);
	assert_true(elect_has_vram(&load, &list[0]));
}

static void a_lane_is_kept_on_the_patient_ones_card(void **state)
{
	struct conf conf = table();
	struct card_room rooms[] = { { .card = "0000:03:00.0", .known = true, .free_bytes = 4, .own_bytes = 10 },
				     { .card = "0000:83:00.0", .known = true, .free_bytes = 5 } };
	struct load load = { .card = { .known = true, .free_bytes = 5, .patient_id = 1 },
			     .rooms = rooms,
			     .room_count = 2,
			     .lane_card = left };
	struct candidate list[] = { { .id = 1, .vram_bytes = 10 }, { .id = 2, .rank = 1 } };
	struct candidates line = { .list = list, .count = 2 };
	(void)state;

	assert_null(elect_for(&conf, &load, &line));
	/* Of the other card our jobs hold nothing. */
	load.lane_card = right;
	assert_int_equal(elect_for(&conf, &load, &line)->id, 2);
}

static void a_promise_counts_on_its_card_alone(void **state)
{
	struct seat_view seats[] = {
		{ .number = 0,
		  .entry = { .gen = 4, .state = ENTRY_RUNNING, .id = 1, .vram_bytes = 8, .card = "0000:03:00.0" } },
		{ .number = 1, .entry = { .gen = 7, .state = ENTRY_RUNNING, .id = 2, .vram_bytes = 5 } }
	};
	struct card_sample sample = { .known = true,
				      .total_bytes = 100,
				      .card = "0000:83:00.0",
				      .card_count = 2,
				      .cards = { { true, 50, 20, 3, "0000:03:00.0" },
						 { true, 100, 0, 0, "0000:83:00.0" } } };
	struct card_room rooms[LINE_CARDS], room;
	(void)state;

	assert_int_equal(gate_rooms(seats, 2, &sample, NULL, rooms), 2);
	assert_string_equal(rooms[0].card, left);
	/* One whose card is not known counts on each. */
	assert_int_equal(rooms[0].free_bytes, 50 - 20 - 8 - 5);
	assert_int_equal(rooms[0].frozen_bytes, 3);
	assert_int_equal(rooms[1].free_bytes, 100 - 5);
	gate_room(seats, 2, &sample, NULL, &room);
	assert_int_equal(room.free_bytes, 100 - 5);
	assert_int_equal(gate_rooms(seats, 2, &sample, (const bool[]){ true, true }, rooms), 2);
	assert_int_equal(rooms[0].free_bytes, 30);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_lane_takes_jobs_of_its_card_and_of_any),
		cmocka_unit_test(each_waiter_has_its_reason),
		cmocka_unit_test(a_frozen_job_goes_on_on_its_card),
		cmocka_unit_test(ram_is_waited_for_by_who_could_have_a_lane),
		cmocka_unit_test(memory_is_that_of_the_lanes_card),
		cmocka_unit_test(a_lane_is_kept_on_the_patient_ones_card),
		cmocka_unit_test(a_promise_counts_on_its_card_alone),
	};

	return cmocka_run_group_tests_name("elect_cards", tests, NULL, NULL);
}
