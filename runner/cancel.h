/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Ending one job, whatever it is doing, for good or to put it back in line: the same for the command, for a supervisor
 * that does it on behalf of its job, and for the tests.
 *
 * A pending record is moved to ended/; a job that runs, or a `run` that waits, gets an order on file and its supervisor
 * a message. A second order to the same job kills at once. Where the disk is full, the message itself is the order, and
 * a line says that it is not on disk: a supervisor that dies before it obeyed takes it along.
 */
#ifndef PGPU_RUNNER_CANCEL_H
#define PGPU_RUNNER_CANCEL_H

#include "runner/line/line.h"
#include "runner/onend.h"
#include "submit/spool.h"

enum cancelled {
	CANCELLED_PENDING, /* it is over */
	CANCELLED_ORDERED, /* its supervisor was told */
	CANCELLED_ENDED,   /* it was over before */
	CANCELLED_UNKNOWN, /* no such id */
};

/*
 * Puts a spooled job back in line that runs or has ended, with its restart count raised: an ended record is moved to
 * pending/, a job that runs is ended as by a cancel and goes back then. Takes the queue lock. 0, or -1 and why. The
 * line is to be settled after it.
 */
int requeue_job(struct line *line, struct spool *spool, uint64_t id, struct err *err);

/*
 * Has the supervisor of a job send a signal to each of its processes; a frozen one gets it when it goes on; of an
 * array, of each task that runs. Needs no lock: it may be called inside a job. -1 and why: it waits, it has ended, or
 * its supervisor does not answer.
 */
int signal_job(struct line *line, struct spool *spool, uint64_t id, int sig, struct err *err);

/*
 * Takes the queue lock. Returns one of the above, or -1. `ends` gets what the caller is to start because of it. The id
 * of an array is all of its tasks.
 */
int cancel_job(struct line *line, struct spool *spool, uint64_t id, struct onends *ends, struct err *err);
/* The same of one record: of an array those that wait and have none of their own. */
int cancel_record(struct line *line, struct spool *spool, uint64_t id, struct onends *ends, struct err *err);

#endif
