/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The processes of a job that has no cell: found by descent (the supervisor is their subreaper, prctl(2)), by session,
 * and by the mark in their environment, GPU_QUEUE_TURN. A process that clears its environment, leaves the session and
 * whose supervisor has died is not found: that is the guarantee that is missing without a cell. The job's first process
 * has no mark before its exec; it dies with its supervisor (launch.h).
 */
#ifndef PGPU_RUNNER_STRAY_H
#define PGPU_RUNNER_STRAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "conf/base/procid.h"

enum { STRAY_SPARED = 128 };

struct stray {
	pid_t supervisor;	    /* whose descendants count; 0: nobody (a rescuer) */
	pid_t session;		    /* whose members count; 0: none */
	struct procid first;	    /* counts, whatever its environment; pid 0: nobody */
	const char *mark;	    /* "NAME=VALUE"; NULL or "": none */
	uint64_t since;		    /* no process that began earlier is marked (procid.h); 0: any may be */
	pid_t spared[STRAY_SPARED]; /* children of the supervisor that are no job: those it had before, and workers */
	int spared_count;
};

/* Not the job's, and nothing below it is, unless marked. */
void stray_spare(struct stray *stray, pid_t pid);
/* The children a process has now, into `pids`; returns how many fit. */
int stray_children(pid_t parent, pid_t *pids, int room);

/* Of the supervisor itself: it has no child, not even a dead one, but those that are spared and workers. What its job
 * leaves behind becomes its child, so that nothing is left then. */
bool stray_childless(const struct stray *stray);

/* Calls `visit` for each; returns how many there are, and one more where the machine, short of memory or descriptors,
 * did not let us see all. Zombies and this process are left out. */
size_t stray_each(const struct stray *stray, void (*visit)(pid_t pid, void *context), void *context);
/* One signal to each, through pidfds. */
size_t stray_signal(const struct stray *stray, int sig);
/* SIGKILL until none is left, at most `timeout_ms`; false when some are, or may be. Stops them first, so that none
 * forks away. Whoever is in the middle of an exec has no environment for a moment: looked at again, as long. */
bool stray_kill(const struct stray *stray, int timeout_ms);

#endif
