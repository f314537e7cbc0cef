/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Thousands of random schedules through the pure election: jobs of some sessions and ranks arrive, run, take turns,
 * stop answering and end. At every step: at most `lanes` run, no more than `resident` are in memory, who waits has the
 * reason that decided it, and nobody is passed more often than the order allows.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "patience.h"
#include "runner/line/elect.h"

enum { SCHEDULES = 3000, STEPS = 200, JOBS = 40, SESSIONS = 5, RANKS = 3, RAM = 100 };

enum place { NOWHERE, IN_LINE, RUNNING };

struct job {
	enum place place;
	uint64_t id, served;
	int session, rank;
	bool begun, stopped;
	uint64_t bytes;
	int passed;  /* starts of its rank since it stands in line */
	int allowed; /* how many there may be */
};

struct world {
	unsigned seed;
	struct conf conf;
	struct job jobs[JOBS];
	uint64_t session_served[SESSIONS];
	uint64_t last_served, last_id;
};

/* The same numbers on every machine. */
static int roll(struct world *world, int sides)
{
	world->seed = world->seed * 1103515245u + 12345u;
	return (int)(world->seed >> 16 & 0x7fff) % sides;
}

static struct load load_of(const struct world *world)
{
	struct load load = { 0 };

	for (int i = 0; i < JOBS; i++) {
		const struct job *job = &world->jobs[i];
		load.running += job->place == RUNNING;
		load.running_bytes += job->place == RUNNING ? job->bytes : 0;
		load.frozen += job->place == IN_LINE && job->begun;
		load.frozen_bytes += job->place == IN_LINE && job->begun ? job->bytes : 0;
	}
	return load;
}

static struct candidate candidate_of(const struct world *world, const struct job *job)
{
	struct candidate one = { .id = job->id,
				 .rank = job->rank,
				 .session_served = world->session_served[job->session],
				 .job_served = job->served,
				 .barred = job->stopped,
				 .begun = job->begun,
				 .reserved_bytes = job->bytes };

	snprintf(one.session, sizeof one.session, "s%d", job->session);
	return one;
}

static void list_waiting(const struct world *world, struct candidates *line)
{
	for (int i = 0; i < JOBS; i++) {
		if (world->jobs[i].place == IN_LINE)
			*candidates_add(line) = candidate_of(world, &world->jobs[i]);
	}
}

static struct job *find(struct world *world, uint64_t id)
{
	for (int i = 0; i < JOBS; i++) {
		if (world->jobs[i].place != NOWHERE && world->jobs[i].id == id)
			return &world->jobs[i];
	}
	return NULL;
}

/* Inside a session the one served longest ago is next; between sessions each is served once before one is again. */
static void stand_in_line(struct world *world, struct job *job)
{
	int before = 0;

	for (int i = 0; i < JOBS; i++) {
		struct job *other = &world->jobs[i];
		if (other == job || other->place != IN_LINE || other->session != job->session ||
		    other->rank != job->rank)
			continue;
		if (other->served < job->served || (other->served == job->served && other->id < job->id))
			before++;
		else
			other->allowed += SESSIONS; /* the new one goes before it */
	}
	job->place = IN_LINE;
	job->passed = 0;
	job->allowed = (before + 1) * SESSIONS;
}

static void arrive(struct world *world)
{
	for (int i = 0; i < JOBS; i++) {
		struct job *job = &world->jobs[i];
		if (job->place != NOWHERE)
			continue;
		*job = (struct job){ .id = ++world->last_id,
				     .session = roll(world, SESSIONS),
				     .rank = roll(world, RANKS),
				     .bytes = (uint64_t)roll(world, 60) };
		stand_in_line(world, job);
		return;
	}
}

/* Who competes is passed; with `no_room` no job that has not begun does. */
static void start(struct world *world, struct job *job, bool no_room)
{
	for (int i = 0; i < JOBS; i++) {
		struct job *other = &world->jobs[i];
		if (other == job || other->place != IN_LINE || other->stopped || (no_room && !other->begun))
			continue;
		/* Its session was served in another rank, and stands behind all others again. */
		if (other->rank != job->rank && other->session == job->session)
			other->allowed += SESSIONS;
		if (other->rank != job->rank)
			continue;
		other->passed++;
		if (other->passed > other->allowed)
			fail_msg("job %d was passed %d times, %d are allowed", (int)other->id, other->passed,
				 other->allowed);
	}
	job->place = RUNNING;
	job->begun = true;
	job->served = world->session_served[job->session] = ++world->last_served;
}

/* As settle does it; and what it leaves in line has the reason that left it there. */
static void fill(struct world *world)
{
	for (;;) {
		struct candidates line = { 0 };
		struct load load = load_of(world);
		list_waiting(world, &line);
		struct candidate *best =
			load.running < world->conf.lanes ? elect_for(&world->conf, &load, &line) : NULL;
		if (best) {
			assert_true(best->begun || elect_has_room(&world->conf, &load, best));
			bool no_room = false;
			for (size_t i = 0; i < line.count; i++)
				no_room |= line.list[i].no_room;
			start(world, find(world, best->id), no_room);
		}
		for (size_t i = 0; !best && i < line.count; i++) {
			enum waits_for why = elect_why(&world->conf, &load, load.running, &line, i);
			bool full = load.running >= world->conf.lanes;
			assert_int_equal(why == WAITS_STOPPED, line.list[i].barred);
			if (why != WAITS_STOPPED)
				assert_int_equal(why == WAITS_MEMORY, !full);
		}
		candidates_free(&line);
		if (!best)
			return;
	}
}

static void turn(struct world *world, struct job *job)
{
	struct candidates line = { 0 };
	struct candidate own = candidate_of(world, job);
	struct load load;

	job->place = IN_LINE;
	load = load_of(world);
	job->place = RUNNING;
	list_waiting(world, &line);
	struct candidate *best = elect_for(&world->conf, &load, &line);
	bool yields = best && elect_compare(best, &own) < 0;
	uint64_t first = yields ? best->id : 0;
	candidates_free(&line);
	if (!yields)
		return;
	stand_in_line(world, job);
	fill(world);
	assert_int_equal(find(world, first)->place, RUNNING);
}

static void step(struct world *world)
{
	struct job *job = &world->jobs[roll(world, JOBS)];

	switch (roll(world, 5)) {
	case 0:
	case 1: arrive(world); break;
	case 2:
		if (job->place == RUNNING)
			job->place = NOWHERE;
		break;
	case 3:
		if (job->place == IN_LINE && !job->begun) {
			job->stopped = !job->stopped;
			stand_in_line(world, job);
		}
		break;
	default:
		if (job->place == RUNNING)
			turn(world, job);
	}
	fill(world);
}

static void random_schedules_are_fair(void **state)
{
	(void)state;
	for (int seed = 1; seed <= rounds(SCHEDULES); seed++) {
		struct world world = { .seed = (unsigned)seed, .conf.ram_bytes = RAM };
		world.conf.lanes = 1 + roll(&world, 3);
		for (int i = 0; i < STEPS; i++) {
			step(&world);
			struct load load = load_of(&world);
			assert_true(load.running <= world.conf.lanes);
			assert_true(load.running + load.frozen <= conf_resident(&world.conf));
		}
	}
}

/* Two jobs that offer a turn after each pass have as many as each other. */
static void two_that_take_turns_share_evenly(void **state)
{
	struct world world = { .seed = 1, .conf = { .lanes = 1, .ram_bytes = RAM } };
	int passes[2] = { 0, 0 };
	(void)state;

	for (int i = 0; i < 2; i++) {
		world.jobs[i] = (struct job){ .id = (uint64_t)i + 1, .session = i, .rank = 1 };
		stand_in_line(&world, &world.jobs[i]);
	}
	fill(&world);
	for (int i = 0; i < 200; i++) {
		int runs = world.jobs[0].place == RUNNING ? 0 : 1;
		assert_int_equal(world.jobs[runs].place, RUNNING);
		passes[runs]++;
		world.jobs[0].passed = world.jobs[1].passed = 0;
		turn(&world, &world.jobs[runs]);
	}
	assert_int_equal(passes[0], 100);
	assert_int_equal(passes[1], 100);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_schedules_are_fair),
		cmocka_unit_test(two_that_take_turns_share_evenly),
	};

	return cmocka_run_group_tests_name("fair", tests, NULL, NULL);
}
