/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Who stands where in the timeline: pure functions of a report. The log does not say which lane a hold had. Holds are
 * put into rows in the order in which they began, each into the first row that is free by then.
 */
#ifndef PGPU_SUBMIT_REPORTLANES_H
#define PGPU_SUBMIT_REPORTLANES_H

#include "submit/report.h"

struct report_bar {
	const struct report_job *job;
	int64_t start_wall_ns, ended_wall_ns; /* inside the span of the report */
	enum outcome outcome;
	int row;
};

struct report_bars {
	struct report_bar *list; /* by their start */
	size_t count, room;
	int rows;
};

/* Beyond as many rows as there can be lanes, bars lie over each other in the last one. */
enum { REPORT_ROWS = CONF_LANES };

struct report_timeline {
	struct report_bars holds;
	struct report_bars frozen; /* the times in which jobs were frozen */
};

/* Both as far as they lie in the span. */
int report_lay(const struct report *report, struct report_timeline *ret_timeline, struct err *err);
void report_timeline_free(struct report_timeline *timeline);

struct report_sums {
	long outcomes[OUTCOMES]; /* jobs; OUTCOME_TURN: those that have not ended */
	int64_t held_ns;	 /* all bars together */
	int64_t busy_ns;	 /* when there was one at least */
};
void report_sum(const struct report *report, const struct report_bars *holds, struct report_sums *ret_sums);

#endif
