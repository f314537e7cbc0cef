/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * When the jobs of the line are expected to start and to end: what runs, then what waits in the order of the line, each
 * given to the lane that is free first.
 *
 *     forecast_begin()
 *     forecast_learn()   each row of the history, oldest first
 *     forecast_runs()    each running job
 *     forecast_waits()   each one that waits for a lane
 *
 * A job that says how far it is takes what is left at that pace; another one takes as long as the median of its like
 * did (estimate.h); where none is known, or it has run longer than that, its budget, and past that its limit. Others
 * may come first, and budgets are what was asked for: it is never more than "about".
 */
#ifndef PGPU_RUNNER_FORECAST_H
#define PGPU_RUNNER_FORECAST_H

#include "runner/estimate.h"

/* What the times go by, the least certain of them. */
enum forecast_by { FORECAST_NOTHING, FORECAST_PROGRESS, FORECAST_LIKE, FORECAST_BUDGET };

struct outlook {
	int64_t starts_in_ns; /* -1: unknown, or it runs, or a lane is free; so for the next */
	int64_t ends_in_ns;
	enum forecast_by starts_by;
	enum forecast_by by; /* both */
};
#define OUTLOOK_NONE ((struct outlook){ .starts_in_ns = -1, .ends_in_ns = -1 })

struct forecast_job {
	const char *class_name, *session, *name;
	int64_t ran_ns;		     /* so far, in all its holds */
	int64_t budget_ns, limit_ns; /* at most 0: unknown */
	int64_t left_ns;	     /* by what it says itself; at most 0: it says nothing */
	bool several;		     /* tasks, of which the next one is meant: it has no end */
};

/* Beyond so many that wait nothing is said. */
enum { FORECAST_AHEAD = ESTIMATE_AHEAD };

struct forecast {
	struct estimate_away away;
	struct forecast_row *rows; /* heap: what completed */
	size_t count, room;
	int64_t ends_ns[CONF_LANES];
	enum forecast_by by[CONF_LANES];
	int lanes, busy, waiting;
};

/* Zeroed to begin with. */
void forecast_begin(struct forecast *forecast, int lanes);
void forecast_free(struct forecast *forecast);
/* -1: memory is out. */
int forecast_learn(struct forecast *forecast, const struct history_row *row);
void forecast_runs(struct forecast *forecast, const struct forecast_job *job, struct outlook *ret_outlook);
void forecast_waits(struct forecast *forecast, const struct forecast_job *job, struct outlook *ret_outlook);

#endif
