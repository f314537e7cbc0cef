/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Which pending records compete for a lane at this moment: not those that are held, wait for other jobs or for their
 * time, or whose class is outside its hours or paused. The election and the lists go by the same verdict.
 */
#ifndef PGPU_RUNNER_ELIGIBLE_H
#define PGPU_RUNNER_ELIGIBLE_H

#include "runner/line/elect.h"
#include "submit/spool.h"

struct eligible {
	const struct conf *conf;
	int64_t now_wall_ns;
	int64_t change_wall_ns;		/* the first moment at which the clock may change a verdict; 0: none */
	bool any_hours;			/* a class has some */
	bool any_paused;		/* a class is; standing jobs go on */
	signed char open[CONF_CLASSES]; /* -1: not looked at yet */
};

struct eligible eligible_now(const struct conf *conf);
/* WAITS_LANE: it competes. Else why not: WAITS_HELD, WAITS_AFTER, WAITS_PAUSED, WAITS_BEGIN,
 * WAITS_RETRY or WAITS_HOURS. */
enum waits_for eligible_judge(struct eligible *eligible, const struct spool_name *name);

#endif
