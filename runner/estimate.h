/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * How long until a lane is free for one more job: pure functions of what runs, what is ahead in line, and how long like
 * jobs took.
 *
 *     estimate_add()     each running job, then those ahead in the order of the line
 *     estimate_learn()   each row of the history, oldest first
 *     estimate_wait()
 *
 * Like are jobs of the same session and name, and where none of them has completed, of the same class. Of the last few
 * the median counts. What a job ran is the sum over its holds.
 */
#ifndef PGPU_RUNNER_ESTIMATE_H
#define PGPU_RUNNER_ESTIMATE_H

#include "submit/history.h"

enum { ESTIMATE_PAST = 5, ESTIMATE_AHEAD = 32, ESTIMATE_JOBS = CONF_LANES + ESTIMATE_AHEAD, ESTIMATE_AWAY = 64 };

/* How long like jobs ran: the last ones, of `count` in all. */
struct estimate_past {
	int64_t ran_ns[ESTIMATE_PAST];
	unsigned int count;
};

struct estimate_job {
	char class_name[CONF_CLASS_NAME];
	char session[JOB_SESSION_MAX + 1];
	char name[256];
	bool runs;
	int64_t ran_ns; /* so far, in all its holds */
	struct estimate_past own, class;
};

/* Jobs that gave their lane up, of which the last row is still to come: what a job ran is the sum over its holds. */
struct estimate_away {
	struct {
		uint64_t id;
		int64_t ran_ns;
	} list[ESTIMATE_AWAY];
	int next;
};

/* Zeroed to begin with; some 50 KB, of which only what is used is touched. */
struct estimate {
	struct estimate_job jobs[ESTIMATE_JOBS];
	int count;
	bool full; /* more were added than there is room for: nothing is known */
	struct estimate_away away;
};

/* What the job ran before, when this row, which says that it ran, ends it; else the row is kept for that. */
int64_t estimate_sum_holds(struct estimate_away *away, const struct history_row *row);
/* The median of `count` figures, which are put in order; of an even number the upper one. */
int64_t estimate_middle(int64_t *figures, int count);

void estimate_add(struct estimate *estimate, const struct estimate_job *job);
void estimate_learn(struct estimate *estimate, const struct history_row *row);
/* -1: unknown. That is so too when every lane has a job that runs longer than its like ever did. */
int64_t estimate_wait(const struct estimate *estimate, int lanes);
/* Up, as people say times: to a second, above a minute to a minute, above an hour to ten minutes. */
int64_t estimate_round(int64_t ns);

#endif
