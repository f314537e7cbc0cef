/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Signals of a process of the line: blocked and read from one descriptor, so that nothing runs in a handler and nothing
 * is lost between a look and a wait. What the caller had is kept for its job.
 *
 * SIGINT and SIGQUIT are among them: while its command runs, pgpu takes no notice of them (the terminal sends them to
 * the command as well); while it waits in line, they end it.
 */
#ifndef PGPU_RUNNER_SIGNALS_H
#define PGPU_RUNNER_SIGNALS_H

#include <signal.h>

#include "conf/base/err.h"

struct signals {
	int fd;
	sigset_t caller_mask;
	struct sigaction caller_child; /* SIGCHLD; ignored, it would take the exit codes away */
};

enum signals_of { SIGNALS_RUN, SIGNALS_WORKER };
/*
 * A worker reads SIGCHLD and SIGURG alone: nobody's terminal stops it, and what ends a process ends it, since all that
 * it does is on file.
 */
int signals_open(struct signals *signals, enum signals_of whose, struct err *err);
/* The next one that came, or 0. */
int signals_next(struct signals *signals);
#endif
