/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a running job is held to, each rule one tick before its edge and at it: no clock but the figures given here. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "conf/base/clock.h"
#include "conf/base/sigspec.h"
#include "runner/cell/stall.h"
#include "runner/cell/times.h"
#include "runner/line/elect.h"
#include "runner/line/gate.h"

#define S NS_PER_S

static void signals_are_read_as_people_write_them(void **state)
{
	struct sigspec spec;
	struct err err = ERR_NONE;
	(void)state;

	assert_int_equal(sigspec_parse("USR1@60s", &spec, &err), 0);
	assert_int_equal(spec.sig, SIGUSR1);
	assert_int_equal(spec.ahead_ns, 60 * S);
	assert_false(spec.first_alone);
	assert_int_equal(sigspec_parse("B:SIGTERM@1h30m", &spec, &err), 0);
	assert_int_equal(spec.sig, SIGTERM);
	assert_int_equal(spec.ahead_ns, 5400 * S);
	assert_true(spec.first_alone);
	assert_int_equal(sigspec_parse("HUP", &spec, &err), 0);
	assert_int_equal(spec.ahead_ns, 0);
	assert_int_equal(sigspec_parse("", &spec, &err), 0);
	assert_int_equal(spec.sig, 0);
}

static void refused(const char *text, const char *reason)
{
	struct sigspec spec;
	struct err err = ERR_NONE;

	assert_int_equal(sigspec_parse(text, &spec, &err), -1);
	assert_int_equal(err.code, EXIT_USAGE);
	assert_string_equal(err.text, reason);
}

static void other_signals_are_refused(void **state)
{
	(void)state;
	refused("USR3@5s", "unknown signal 'USR3', did you mean 'USR1'?");
	refused("usr1", "unknown signal 'usr1'");
	refused("10@60s", "unknown signal '10'");
	refused("@60s", "unknown signal ''");
	refused("B:", "unknown signal ''");
	refused("KILL@5s", "no process can catch KILL");
	refused("SIGSTOP", "no process can catch STOP");
	refused("USR1@60", "'60' is 60s or 60m; write one of them");
	refused("USR1@", "a duration is missing (90s, 15m, 1h30m, 2d)");
	refused("USR1USR1USR1USR1USR1", "unknown signal 'USR1USR1USR1USR'");
}

static int due(const struct times *times, int done, int64_t ran_ns, int64_t next)
{
	int64_t found;
	int what = times_due(times, done, ran_ns, &found);

	assert_true(found == next);
	return what;
}

static void a_budget_is_over_at_its_tick(void **state)
{
	const struct times times = { .budget_ns = 5 * S, .limit_ns = 10 * S };
	(void)state;

	assert_int_equal(due(&times, 0, 0, 5 * S), 0);
	assert_int_equal(due(&times, 0, 5 * S - 1, 5 * S), 0);
	assert_int_equal(due(&times, 0, 5 * S, 10 * S), DUE_BUDGET);
	assert_int_equal(due(&times, DUE_BUDGET, 5 * S, 10 * S), 0);
	assert_int_equal(due(&times, DUE_BUDGET, 10 * S - 1, 10 * S), 0);
	assert_int_equal(due(&times, DUE_BUDGET, 10 * S, INT64_MAX), DUE_LIMIT);
	assert_int_equal(due(&times, DUE_BUDGET | DUE_LIMIT, 11 * S, INT64_MAX), 0);
	/* Both at once: a machine that was too busy to look in between. */
	assert_int_equal(due(&times, 0, 20 * S, INT64_MAX), DUE_BUDGET | DUE_LIMIT);
}

static void a_signal_comes_ahead_of_the_budget(void **state)
{
	struct times times = { .budget_ns = 60 * S, .limit_ns = 120 * S, .signal = { SIGUSR1, 10 * S, false } };
	(void)state;

	assert_int_equal(due(&times, 0, 50 * S - 1, 50 * S), 0);
	assert_int_equal(due(&times, 0, 50 * S, 60 * S), DUE_SIGNAL);
	assert_int_equal(due(&times, DUE_SIGNAL, 50 * S, 60 * S), 0);
	times.signal.ahead_ns = 0;
	assert_int_equal(due(&times, 0, 60 * S, 120 * S), DUE_SIGNAL | DUE_BUDGET);
	times.signal.ahead_ns = 61 * S;
	assert_int_equal(due(&times, 0, 0, 60 * S), DUE_SIGNAL);
	times.budget_ns = 0;
	assert_int_equal(due(&times, 0, 119 * S, 120 * S), 0);
}

static void without_times_nothing_is_due(void **state)
{
	const struct times times = { 0 };
	(void)state;

	assert_int_equal(due(&times, 0, INT64_MAX - 1, INT64_MAX), 0);
}

/* A look that says: nothing moved since the last one. */
static struct activity quiet(const struct stall *stall)
{
	struct activity now = stall->last;

	now.looked_further = true;
	if (now.cpu_ns < 0)
		now.cpu_ns = 0;
	return now;
}

static void a_quiet_job_stalls_at_its_tick(void **state)
{
	struct stall stall = STALL_NEW;
	struct activity now = quiet(&stall);
	(void)state;

	assert_false(stall_look(&stall, &now, 5 * S, 300 * S));
	assert_false(stall_look(&stall, &now, 300 * S - 1, 300 * S));
	assert_true(stall_look(&stall, &now, 300 * S, 300 * S));
	assert_true(stall_look(&stall, &now, 301 * S, 300 * S));
}

/* `change` makes a look differ: the same quiet job, and then one thing at 200 s. */
static void progress(void (*change)(struct activity *now), bool wanted)
{
	struct stall stall = STALL_NEW;
	struct activity now = quiet(&stall);

	now.gpu = GPU_KNOWN;
	assert_false(stall_look(&stall, &now, 195 * S, 300 * S));
	change(&now);
	assert_false(stall_look(&stall, &now, 200 * S, 300 * S));
	now.reads_terminal = false;
	if (now.gpu == GPU_UNKNOWN)
		now.gpu = GPU_KNOWN;
	assert_int_equal(stall_look(&stall, &now, 300 * S, 300 * S), !wanted);
	if (!wanted)
		return;
	assert_false(stall_look(&stall, &now, 500 * S - 1, 300 * S));
	assert_true(stall_look(&stall, &now, 500 * S, 300 * S));
}

static void uses_cpu(struct activity *now)
{
	now->cpu_ns += 5 * S / 100;
}
static void uses_hardly_cpu(struct activity *now)
{
	now->cpu_ns += 5 * S / 100 - 1;
}
static void reads_or_writes(struct activity *now)
{
	now->io_mark++;
}
static void uses_the_card(struct activity *now)
{
	now->gpu_ns++;
}
static void counts_the_card_anew(struct activity *now)
{
	now->gpu_ns--;
}
static void hides_its_use(struct activity *now)
{
	now->gpu = GPU_UNKNOWN;
}
static void reads_the_terminal(struct activity *now)
{
	now->reads_terminal = true;
}
static void is_silent(struct activity *now)
{
	(void)now;
}

static void reclaims(struct activity *now)
{
	now->pressure_percent = STALL_PRESSURE_PERCENT;
	now->cpu_ns += 5 * S;
	now->io_mark++;
}

static void reclaims_a_little(struct activity *now)
{
	reclaims(now);
	now->pressure_percent--;
}

static void reclaims_and_draws(struct activity *now)
{
	reclaims(now);
	now->gpu_ns++;
}

static void any_progress_puts_a_stall_off(void **state)
{
	(void)state;
	progress(uses_cpu, true);
	progress(reads_or_writes, true);
	progress(uses_the_card, true);
	progress(counts_the_card_anew, true);
	progress(hides_its_use, true);
	progress(reads_the_terminal, true);
	progress(reclaims_a_little, true);
	progress(reclaims_and_draws, true);
	progress(uses_hardly_cpu, false);
	progress(is_silent, false);
	progress(reclaims, false);
}

static void an_unknown_use_of_the_card_is_not_idleness(void **state)
{
	struct stall stall = STALL_NEW;
	struct activity now = quiet(&stall);
	(void)state;

	now.gpu = GPU_UNKNOWN;
	for (int64_t ran_ns = 5 * S; ran_ns < 3600 * S; ran_ns += 5 * S)
		assert_false(stall_look(&stall, &now, ran_ns, 300 * S));
}

static void a_busy_cpu_is_look_enough(void **state)
{
	struct stall stall = STALL_NEW;
	struct activity now = { .cpu_ns = 10 * S };
	(void)state;

	assert_false(stall_cpu_moves(&stall, 10 * S, 0, 5 * S));
	stall_look(&stall, &now, 5 * S, 300 * S);
	assert_true(stall_cpu_moves(&stall, 10 * S + 5 * S / 100, 0, 10 * S));
	assert_false(stall_cpu_moves(&stall, 10 * S + 5 * S / 100 - 1, 0, 10 * S));
	assert_false(stall_cpu_moves(&stall, 20 * S, STALL_PRESSURE_PERCENT, 10 * S));
	assert_false(stall_cpu_moves(&stall, -1, 0, 10 * S));
}

/* What was not looked at before is no news when it is seen first. */
static void a_first_look_compares_with_nothing(void **state)
{
	struct stall stall = STALL_NEW;
	struct activity now = { .cpu_ns = 10 * S };
	(void)state;

	stall_look(&stall, &now, 100 * S, 300 * S);
	now = (struct activity){
		.cpu_ns = 10 * S, .looked_further = true, .io_mark = 7, .gpu = GPU_KNOWN, .gpu_ns = 9
	};
	stall_look(&stall, &now, 200 * S, 300 * S);
	now.outside_mark = 3;
	stall_look(&stall, &now, 250 * S, 300 * S);
	assert_true(stall_look(&stall, &now, 300 * S, 300 * S));
	now.outside_mark = 4;
	assert_false(stall_look(&stall, &now, 301 * S, 300 * S));
}

static void looks_are_sixty_and_one_at_the_end(void **state)
{
	struct stall stall = STALL_NEW;
	struct activity now = quiet(&stall);
	(void)state;

	assert_true(stall_next_ns(&stall, 300 * S) == 5 * S);
	assert_true(stall_next_ns(&stall, 10 * S) == S);
	assert_true(stall_next_ns(&stall, S / 2) == S / 2);
	stall_look(&stall, &now, 297 * S, 300 * S);
	assert_true(stall_next_ns(&stall, 300 * S) == 300 * S);
}

static struct conf table(void)
{
	struct conf conf = { .lanes = 2, .ram_bytes = 100, .class_count = 2 };

	conf.classes[0] = (struct conf_class){ .name = "night", .rank = 4, .turns_forced = true };
	conf.classes[1] = (struct conf_class){ .name = "day", .rank = 4 };
	return conf;
}

static void the_worst_of_a_forced_class_steps_aside(void **state)
{
	struct conf conf = table();
	struct holder holders[] = { { &conf.classes[1], 9, 1 },
				    { &conf.classes[0], 4, 30 },
				    { &conf.classes[0], 5, 40 },
				    { &conf.classes[0], 5, 20 },
				    { NULL, ELECT_LAST, 1 } };
	struct candidate best = { .rank = 3 };
	(void)state;

	assert_int_equal(elect_forced(holders, 5, &best), 3);
	assert_int_equal(elect_forced(holders, 3, &best), 2);
	best.rank = 4;
	assert_int_equal(elect_forced(holders, 2, &best), -1);
	best.rank = 3;
	assert_int_equal(elect_forced(holders, 2, &best), 1);
	assert_int_equal(elect_forced(holders, 1, &best), -1);
}

static void frozen_jobs_count_what_they_hold(void **state)
{
	struct conf conf = table();
	struct load load = { .running = 1, .frozen = 1, .running_bytes = 40, .frozen_bytes = 20 };
	struct candidate one = { .reserved_bytes = 40 };
	(void)state;

	assert_true(elect_has_room(&conf, &load, &one));
	one.reserved_bytes = 41;
	assert_false(elect_has_room(&conf, &load, &one));
	one.begun = true;
	assert_true(elect_has_room(&conf, &load, &one));
	one.begun = false;
	load = (struct load){ 0 };
	one.reserved_bytes = 1000;
	assert_true(elect_has_room(&conf, &load, &one));
}

static void resident_counts_those_that_run_and_those_that_are_frozen(void **state)
{
	struct conf conf = table();
	struct load load = { .running = 1, .frozen = 1 };
	struct candidate one = { 0 };
	(void)state;

	assert_true(elect_has_room(&conf, &load, &one));
	load.frozen = 2;
	assert_false(elect_has_room(&conf, &load, &one));
	conf.resident = 4;
	assert_true(elect_has_room(&conf, &load, &one));
}

/* A small one does not slip past a large one that finds no room; a frozen one is thawed. */
static void without_room_only_frozen_ones_go_on(void **state)
{
	struct conf conf = table();
	struct load load = { .running = 1, .running_bytes = 60 };
	struct candidate list[] = { { .id = 1, .rank = 1, .reserved_bytes = 50 },
				    { .id = 2, .rank = 2, .reserved_bytes = 1 },
				    { .id = 3, .rank = 3, .begun = true } };
	struct candidates line = { .list = list, .count = 3 };
	(void)state;

	assert_int_equal(elect_why(&conf, &load, 1, &line, 0), WAITS_MEMORY);
	assert_int_equal(elect_why(&conf, &load, 1, &line, 1), WAITS_MEMORY);
	assert_int_equal(elect_why(&conf, &load, 1, &line, 2), WAITS_LANE);
	assert_int_equal(elect_why(&conf, &load, 2, &line, 0), WAITS_LANE);
	assert_int_equal(elect_for(&conf, &load, &line)->id, 3);
	elect_bar(&list[1], WAITS_HELD);
	assert_int_equal(elect_why(&conf, &load, 1, &line, 1), WAITS_HELD);
	list[2].barred = true;
	assert_null(elect_for(&conf, &load, &line));
	assert_int_equal(elect_why(&conf, &load, 1, &line, 2), WAITS_STOPPED);
	list[2].gate = WAITS_PAUSED;
	assert_int_equal(elect_why(&conf, &load, 1, &line, 2), WAITS_PAUSED);
}

/* Whoever asks for more of the card than is free is passed by the others. */
static void who_waits_for_vram_holds_nobody_up(void **state)
{
	struct conf conf = table();
	struct load load = { .card = { .known = true, .free_bytes = 10 } };
	struct candidate list[] = { { .id = 1, .rank = 1, .vram_bytes = 11 },
				    { .id = 2, .rank = 2, .vram_bytes = 10 },
				    { .id = 3, .rank = 3 } };
	struct candidates line = { .list = list, .count = 3 };
	(void)state;

	assert_int_equal(elect_why(&conf, &load, 0, &line, 0), WAITS_VRAM);
	assert_int_equal(elect_why(&conf, &load, 0, &line, 1), WAITS_LANE);
	assert_int_equal(elect_for(&conf, &load, &line)->id, 2);
	list[1].barred = true;
	list[0].no_room = false;
	assert_int_equal(elect_for(&conf, &load, &line)->id, 3);
	list[0].no_room = false;
	load.card.known = false;
	assert_int_equal(elect_for(&conf, &load, &line)->id, 1);
}

static void a_lane_is_kept_for_the_patient_one(void **state)
{
	struct conf conf = table();
	struct load load = { .card = { .known = true, .free_bytes = 10, .own_bytes = 5, .patient_id = 1 } };
	struct candidate list[] = { { .id = 1, .rank = 1, .vram_bytes = 15 }, { .id = 2, .rank = 2 } };
	struct candidates line = { .list = list, .count = 2 };
	(void)state;

	assert_null(elect_for(&conf, &load, &line));
	/* One byte more, and our own jobs cannot give it. */
	list[0].vram_bytes = 16;
	assert_int_equal(elect_for(&conf, &load, &line)->id, 2);
	list[0].no_room = false;
	load.card.patient_id = 2;
	list[0].vram_bytes = 15;
	assert_int_equal(elect_for(&conf, &load, &line)->id, 2);
}

static void a_frozen_job_that_holds_the_bytes_goes_on(void **state)
{
	struct conf conf = table();
	struct load load = { .frozen = 1,
			     .card = { .known = true, .free_bytes = 10, .frozen_bytes = 5, .patient_id = 1 } };
	struct candidate list[] = { { .id = 1, .rank = 1, .vram_bytes = 15 },
				    { .id = 2, .rank = 2 },
				    { .id = 3, .rank = 3, .begun = true, .vram_bytes = 15 } };
	struct candidates line = { .list = list, .count = 3 };
	(void)state;

	assert_int_equal(elect_for(&conf, &load, &line)->id, 3);
	list[2].barred = true;
	assert_int_equal(elect_for(&conf, &load, &line)->id, 2);
}

static void a_promise_is_not_free(void **state)
{
	struct seat_view seats[] = { { .number = 0,
				       .entry = { .gen = 4, .state = ENTRY_RUNNING, .id = 1, .vram_bytes = 8 } },
				     { .number = 1, .entry = { .gen = 7, .state = ENTRY_FREE, .vram_bytes = 90 } } };
	struct card_sample sample = { .known = true, .total_bytes = 100, .used_bytes = 20 };
	struct card_room room;
	(void)state;

	gate_room(seats, 2, &sample, NULL, &room);
	assert_int_equal(room.free_bytes, 72);
	assert_int_equal(room.own_bytes, 8);
	/* What it holds is used already. */
	sample.lanes[0].gen = 4;
	sample.lanes[0].held_bytes = 5;
	gate_room(seats, 2, &sample, NULL, &room);
	assert_int_equal(room.free_bytes, 77);
	sample.lanes[0].held_bytes = 9;
	gate_room(seats, 2, &sample, NULL, &room);
	assert_int_equal(room.free_bytes, 80);
	assert_int_equal(room.own_bytes, 9);
	/* Of another job of that lane. */
	sample.lanes[0].gen = 3;
	gate_room(seats, 2, &sample, NULL, &room);
	assert_int_equal(room.free_bytes, 72);
	seats[0].entry.id = 0;
	gate_room(seats, 2, &sample, NULL, &room);
	assert_int_equal(room.free_bytes, 0);
	gate_room(seats, 2, &sample, (const bool[]){ true, false }, &room);
	assert_int_equal(room.free_bytes, 80);
	sample.used_bytes = 101;
	gate_room(seats, 2, &sample, (const bool[]){ true, false }, &room);
	assert_int_equal(room.free_bytes, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(signals_are_read_as_people_write_them),
		cmocka_unit_test(other_signals_are_refused),
		cmocka_unit_test(a_budget_is_over_at_its_tick),
		cmocka_unit_test(a_signal_comes_ahead_of_the_budget),
		cmocka_unit_test(without_times_nothing_is_due),
		cmocka_unit_test(a_quiet_job_stalls_at_its_tick),
		cmocka_unit_test(any_progress_puts_a_stall_off),
		cmocka_unit_test(an_unknown_use_of_the_card_is_not_idleness),
		cmocka_unit_test(a_busy_cpu_is_look_enough),
		cmocka_unit_test(a_first_look_compares_with_nothing),
		cmocka_unit_test(looks_are_sixty_and_one_at_the_end),
		cmocka_unit_test(the_worst_of_a_forced_class_steps_aside),
		cmocka_unit_test(frozen_jobs_count_what_they_hold),
		cmocka_unit_test(resident_counts_those_that_run_and_those_that_are_frozen),
		cmocka_unit_test(without_room_only_frozen_ones_go_on),
		cmocka_unit_test(who_waits_for_vram_holds_nobody_up),
		cmocka_unit_test(a_lane_is_kept_for_the_patient_one),
		cmocka_unit_test(a_frozen_job_that_holds_the_bytes_goes_on),
		cmocka_unit_test(a_promise_is_not_free),
	};

	return cmocka_run_group_tests_name("rules", tests, NULL, NULL);
}
