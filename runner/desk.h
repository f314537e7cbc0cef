/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a supervisor does on behalf of programs inside its job, which may not take the queue lock themselves: frozen,
 * they would hold it. And the other side: how such a program asks.
 */
#ifndef PGPU_RUNNER_DESK_H
#define PGPU_RUNNER_DESK_H

#include "runner/line/line.h"
#include "submit/spool.h"

/* Answers one message on `fd` (supervise.h lists them). True: the line is to be settled. */
bool desk_answer(struct line *line, struct spool *spool, int fd, const char *message);

/* "end ID", the order to cancel that could not be put on file (cancel.c): takes it, and answers. False: another
 * message. */
bool desk_told(struct spool *spool, int fd, const char *message);

/*
 * The supervisor of the job this process runs inside of: in the cell of a job that holds a lane, or, without cells,
 * GPU_QUEUE_PID names a living holder of this queue. False outside; a variable that leaked somewhere else does not
 * count.
 */
bool desk_find(struct line *line, struct entry *ret_supervisor);
/* Asks it; `answer` holds WAKE_MESSAGE bytes. -1 with the reason, which may be the supervisor's own ("error TEXT"). */
int desk_ask(const struct entry *supervisor, const char *message, char *answer, struct err *err);

#endif
