/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What is due of a job's times: a pure function of how long it has run. That is time awake and not frozen, in all its
 * holds, in nanoseconds; a changed clock, a suspended machine and a turn age nothing.
 */
#ifndef PGPU_RUNNER_TIMES_H
#define PGPU_RUNNER_TIMES_H

#include <stdint.h>

#include "conf/base/sigspec.h"

struct times {
	int64_t budget_ns; /* 0: none */
	int64_t limit_ns;  /* 0: none */
	struct sigspec signal;
};

enum due {
	DUE_SIGNAL = 1, /* signal.ahead_ns before the budget's end; at once where the budget is shorter */
	DUE_BUDGET = 2,
	DUE_LIMIT = 4,
};

/* What is due at `ran_ns` and not among `done` yet, and when the next will be (INT64_MAX: nothing is left). A moment
 * itself belongs to what follows it: at a budget of 5 s, 5 s are too long. */
int times_due(const struct times *times, int done, int64_t ran_ns, int64_t *ret_next_ns);

#endif
