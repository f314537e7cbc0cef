/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A `run` stands in line until it has a lane: signals end it, Ctrl-Z stops it (it keeps its place in order but is
 * passed over meanwhile), an order to cancel takes it out.
 */
#ifndef PGPU_RUNNER_LINEUP_H
#define PGPU_RUNNER_LINEUP_H

#include <sys/resource.h>

#include "member.h"
#include "signals.h"

enum lineup_end { LINEUP_LANE, LINEUP_SIGNAL, LINEUP_TIMEOUT, LINEUP_CANCELLED };

struct lineup {
	int64_t until_awake_ns; /* give up then; -1: never; 0: at once */
	bool (*cancelled)(void *context);
	void (*waiting)(void *context); /* called once, when it has to wait */
	/* A child that ended; of a run that waits with a frozen job it may be the job's. May be NULL. */
	void (*reaped)(void *context, pid_t pid, int status, const struct rusage *usage);
	void *context;
};

/* The end it came to, or -1. `ret_signal` is set for LINEUP_SIGNAL. Unless it has the lane, the place in line is given
 * up. */
int lineup_wait(struct member *member, struct signals *signals, const struct lineup *lineup, int *ret_signal,
		struct err *err);

#endif
