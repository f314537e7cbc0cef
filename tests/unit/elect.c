/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The order in line: rank, the session served longest ago, the job served longest ago, arrival. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "conf/base/clock.h"
#include "runner/line/elect.h"

static struct candidate *add(struct candidates *line, uint64_t id, int rank, const char *session, uint64_t served)
{
	struct candidate *one = candidates_add(line);

	assert_non_null(one);
	one->id = id;
	one->rank = rank;
	one->session_served = served;
	snprintf(one->session, sizeof one->session, "%s", session);
	return one;
}

static void nobody_waits(void **state)
{
	struct candidates line = { 0 };
	(void)state;

	assert_null(elect(&line));
	assert_int_equal(elect_sequence(&line, 0), 0);
}

static void rank_comes_before_everything(void **state)
{
	struct candidates line = { 0 };
	(void)state;

	add(&line, 1, 1, "a", 0);
	add(&line, 9, 0, "b", 1000);
	assert_int_equal(elect(&line)->id, 9);
	candidates_free(&line);
}

static void then_the_session_served_longest_ago(void **state)
{
	struct candidates line = { 0 };
	(void)state;

	add(&line, 1, 1, "a", 7);
	add(&line, 2, 1, "b", 3);
	add(&line, 3, 1, "c", 5);
	assert_int_equal(elect(&line)->id, 2);
	candidates_free(&line);
}

static void then_the_job_served_longest_ago_then_arrival(void **state)
{
	struct candidates line = { 0 };
	(void)state;

	add(&line, 4, 1, "a", 3)->job_served = 9;
	add(&line, 6, 1, "a", 3)->job_served = 2;
	add(&line, 5, 1, "a", 3)->job_served = 2;
	assert_int_equal(elect(&line)->id, 5);
	candidates_free(&line);
}

static void a_barred_one_does_not_compete(void **state)
{
	struct candidates line = { 0 };
	(void)state;

	add(&line, 1, 0, "a", 0)->barred = true;
	add(&line, 2, 9, "b", 99);
	assert_int_equal(elect(&line)->id, 2);
	line.list[1].barred = true;
	assert_null(elect(&line));
	candidates_free(&line);
}

static void sessions_take_turns(void **state)
{
	struct candidates line = { 0 };
	const uint64_t wanted[] = { 1, 4, 2, 5, 3 };
	(void)state;

	for (uint64_t id = 1; id <= 3; id++)
		add(&line, id, 1, "a", 0);
	for (uint64_t id = 4; id <= 5; id++)
		add(&line, id, 1, "b", 0);
	assert_int_equal(elect_sequence(&line, 0), 0);
	for (size_t i = 0; i < 5; i++)
		assert_int_equal(line.list[i].id, wanted[i]);
	candidates_free(&line);
}

static void a_session_served_in_one_rank_waits_in_the_next(void **state)
{
	struct candidates line = { 0 };
	const uint64_t wanted[] = { 1, 3, 2 };
	(void)state;

	add(&line, 1, 0, "a", 0);
	add(&line, 2, 1, "a", 0);
	add(&line, 3, 1, "b", 0);
	assert_int_equal(elect_sequence(&line, 10), 0);
	for (size_t i = 0; i < 3; i++)
		assert_int_equal(line.list[i].id, wanted[i]);
	candidates_free(&line);
}

static void serve(struct candidates *line, uint64_t id, uint64_t sequence)
{
	char session[65];
	size_t at = 0;

	while (line->list[at].id != id)
		at++;
	memcpy(session, line->list[at].session, sizeof session);
	line->list[at] = line->list[--line->count];
	for (size_t i = 0; i < line->count; i++) {
		if (strcmp(line->list[i].session, session) == 0)
			line->list[i].session_served = sequence;
	}
}

static void random_line(struct candidates *line, unsigned int *seed)
{
	static const char *const sessions[] = { "a", "b", "c", "d", "e" };
	uint64_t served[5];

	for (size_t i = 0; i < 5; i++)
		served[i] = (uint64_t)rand_r(seed) % 8;
	for (uint64_t id = 1, count = 1 + (uint64_t)rand_r(seed) % 40; id <= count; id++) {
		size_t session = (size_t)rand_r(seed) % 5;
		struct candidate *one = add(line, id, rand_r(seed) % 3, sessions[session], served[session]);
		one->nice = rand_r(seed) % 5 - 2;
		snprintf(one->class_name, sizeof one->class_name, "%s", sessions[rand_r(seed) % 2]);
	}
}

/* What `queue` prints is what electing one after the other gives, in thousands of lines; nobody is left out. */
static void the_sequence_is_what_the_election_does(void **state)
{
	unsigned int seed = 20261129;
	(void)state;

	for (int round = 0; round < 2000; round++) {
		struct candidates line = { 0 }, shown = { 0 };
		uint64_t last = 8;
		random_line(&line, &seed);
		for (size_t i = 0; i < line.count; i++)
			*candidates_add(&shown) = line.list[i];
		assert_int_equal(elect_sequence(&shown, last), 0);
		for (size_t i = 0; i < shown.count; i++) {
			const struct candidate *next = elect(&line);
			assert_non_null(next);
			assert_int_equal(next->id, shown.list[i].id);
			serve(&line, next->id, ++last);
		}
		assert_int_equal(line.count, 0);
		candidates_free(&line);
		candidates_free(&shown);
	}
}

static void nice_orders_those_of_one_session_and_class(void **state)
{
	struct candidates line = { 0 };
	const uint64_t wanted[] = { 2, 3, 4, 1, 5 };
	(void)state;

	add(&line, 1, 1, "a", 5)->nice = 10;
	add(&line, 2, 1, "a", 5)->nice = -3;
	add(&line, 3, 1, "a", 5);
	add(&line, 4, 1, "a", 5);
	snprintf(add(&line, 5, 1, "a", 5)->class_name, 33, "other");
	assert_int_equal(elect(&line)->id, 2);
	assert_int_equal(elect_sequence(&line, 5), 0);
	for (size_t i = 0; i < 5; i++)
		assert_int_equal(line.list[i].id, wanted[i]);
	candidates_free(&line);
}

/* Neither another rank, nor another session, nor another class of the same session. */
static void nice_never_changes_what_others_get(void **state)
{
	struct candidates line = { 0 };
	(void)state;

	add(&line, 1, 1, "a", 0)->nice = 10;
	add(&line, 2, 1, "b", 0)->nice = -10;
	assert_int_equal(elect(&line)->id, 1);
	snprintf(add(&line, 3, 1, "a", 0)->class_name, 33, "other");
	line.list[2].nice = -10;
	assert_int_equal(elect(&line)->id, 1);
	add(&line, 4, 0, "c", 99)->nice = 2147483645;
	assert_int_equal(elect(&line)->id, 4);
	line.list[3].barred = true;
	/* Who has been served waits, however little nice. */
	line.list[0].job_served = 7;
	add(&line, 5, 1, "a", 0)->nice = 99;
	assert_int_equal(elect(&line)->id, 2);
	line.list[1].barred = line.list[2].barred = true;
	assert_int_equal(elect(&line)->id, 5);
	candidates_free(&line);
}

/* One that finds no room does not hold its pile up. */
static void the_next_of_a_pile_is_found_behind_one_without_room(void **state)
{
	struct candidates line = { 0 };
	(void)state;

	add(&line, 1, 1, "a", 0)->nice = 2;
	add(&line, 2, 1, "a", 0)->nice = 1;
	line.list[1].no_room = true;
	assert_int_equal(elect(&line)->id, 1);
	assert_int_equal(elect_first(&line, false)->id, 2);
	candidates_free(&line);
}

static const struct conf_class *make_conf(struct conf *conf)
{
	memset(conf, 0, sizeof *conf);
	conf->class_count = 2;
	strcpy(conf->classes[0].name, "clip");
	conf->classes[0].rank = 1;
	strcpy(conf->classes[1].name, "truth");
	conf->classes[1].rank = 2;
	strcpy(conf->classes[1].turns_as, "clip");
	return &conf->classes[1];
}

static void ageing_begins_at_its_tick(void **state)
{
	static struct conf conf;
	const struct conf_class *truth = make_conf(&conf);
	(void)state;

	conf.classes[1].turns_as_after_wait_ns = 600 * NS_PER_S;
	assert_int_equal(elect_rank(&conf, truth, 600 * NS_PER_S - 1, 0, false)->rank, 2);
	assert_int_equal(elect_rank(&conf, truth, 600 * NS_PER_S, 0, false)->rank, 1);
	conf.classes[1].turns_as_after_wait_ns = 0;
	conf.classes[1].turns_as_after_run_ns = 60 * NS_PER_S;
	assert_int_equal(elect_rank(&conf, truth, 0, 60 * NS_PER_S - 1, false)->rank, 2);
	assert_int_equal(elect_rank(&conf, truth, 0, 60 * NS_PER_S, true)->rank, 1);
	conf.classes[1].turns_as_after_run_ns = 0;
	conf.classes[1].turns_as_without_turn_ns = 5 * NS_PER_S;
	assert_int_equal(elect_rank(&conf, truth, 0, 5 * NS_PER_S, true)->rank, 2);
	assert_int_equal(elect_rank(&conf, truth, 0, 5 * NS_PER_S, false)->rank, 1);
}

/* `elect long`: one election over 100,000 jobs of ten sessions; tests/lint/instructions.sh counts what that takes. */
static int elect_long(void)
{
	enum { JOBS = 100000, SESSIONS = 10 };
	struct candidates line = { 0 };
	struct load load = { 0 };
	struct conf conf;
	char session[16];

	if (conf_load_builtin(&conf, NULL) < 0)
		return 1;
	for (int i = 0; i < JOBS; i++) {
		snprintf(session, sizeof session, "s%d", i % SESSIONS);
		struct candidate *one = add(&line, (uint64_t)(JOBS - i), 0, session, (uint64_t)(i % SESSIONS + 1));
		memcpy(one->class_name, "render", sizeof "render");
		elect_rate(&conf, one);
	}
	struct candidate *first = elect_for(&conf, &load, &line);
	bool right = first && first->session_served == 1 && first->id == SESSIONS;
	candidates_free(&line);
	return right ? 0 : 1;
}

int main(int argc, char **argv)
{
	if (argc > 1 && strcmp(argv[1], "long") == 0)
		return elect_long();
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nobody_waits),
		cmocka_unit_test(rank_comes_before_everything),
		cmocka_unit_test(then_the_session_served_longest_ago),
		cmocka_unit_test(then_the_job_served_longest_ago_then_arrival),
		cmocka_unit_test(a_barred_one_does_not_compete),
		cmocka_unit_test(sessions_take_turns),
		cmocka_unit_test(a_session_served_in_one_rank_waits_in_the_next),
		cmocka_unit_test(the_sequence_is_what_the_election_does),
		cmocka_unit_test(nice_orders_those_of_one_session_and_class),
		cmocka_unit_test(nice_never_changes_what_others_get),
		cmocka_unit_test(the_next_of_a_pile_is_found_behind_one_without_room),
		cmocka_unit_test(ageing_begins_at_its_tick),
	};

	return cmocka_run_group_tests_name("elect", tests, NULL, NULL);
}
