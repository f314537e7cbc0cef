/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Who comes first: a pure function of a snapshot. The order in line is rank, then the session served longest ago, then
 * the job served longest ago, then arrival (the id). `queue` prints what this says and the runner obeys it.
 */
#ifndef PGPU_RUNNER_ELECT_H
#define PGPU_RUNNER_ELECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "conf/conf.h"

struct candidate {
	uint64_t id;
	bool spooled;
	int rank;		 /* in force: after ageing, see elect_rank() */
	uint64_t session_served; /* sequence number; 0: never */
	uint64_t job_served;
	int64_t waited_ns; /* since its arrival; only known where its class ages; so for the next */
	int64_t ran_ns;	   /* in earlier holds of a job that gave its lane up */
	bool barred;	   /* does not compete now: passed over, or granted a lane already */
	char session[65];
	char class_name[33];
	char file[256]; /* name of its ticket or record */
};

struct candidates {
	struct candidate *list;
	size_t count;
	size_t room;
};

/* A zeroed new element at the end, or NULL without memory. */
struct candidate *candidates_add(struct candidates *candidates);
void candidates_free(struct candidates *candidates);

/*
 * The rank that counts for a job of `class`: its own, or that of its `turns-as` class once it has run, waited, or done
 * without a turn for longer than the class says. Returns the class it competes as.
 */
const struct conf_class *elect_rank(const struct conf *conf, const struct conf_class *class, int64_t waited_ns,
				    int64_t ran_ns, bool turned);

/* -1 when `a` comes before `b`, 1 when after. Ids differ, so it is never 0 for two jobs. */
int elect_compare(const struct candidate *a, const struct candidate *b);
/* The first that competes, or NULL. */
struct candidate *elect(const struct candidates *candidates);
/*
 * Sorts all of them into the order in which they would start, one after the other, each start counting as served for
 * its session. `last` is the highest sequence number given out. Barred ones come last. 0, or -1 without memory.
 */
int elect_sequence(struct candidates *candidates, uint64_t last);

#endif
