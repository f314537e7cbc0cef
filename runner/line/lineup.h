/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A `run`, or a worker whose job gave its lane up, stands in line until it has one: signals end it, Ctrl-Z stops it (it
 * keeps its place in order but is passed over meanwhile), an order to cancel takes it out.
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
	bool awake;			/* its memory stays as it is while it waits: it is to be back soon */
	/* A child that ended; of a run that waits with a frozen job it may be the job's. May be NULL. */
	void (*reaped)(void *context, pid_t pid, int status, const struct rusage *usage);
	/* A SIGCONT came, or we are back from a stop: whoever sent it may have sent it to others too. May be NULL. */
	void (*continued)(void *context);
	/* True for a signal that does not end the wait. May be NULL. */
	bool (*passed_on)(void *context, int sig);
	void *context;
};

/* The end it came to, or -1. `ret_signal` is set for LINEUP_SIGNAL. Unless it has the lane, the place in line is given
 * up; where a job has begun, its ticket stays until that is gone, so that somebody clears up should we die. */
int lineup_wait(struct member *member, struct signals *signals, const struct lineup *lineup, int *ret_signal,
		struct err *err);

#endif
