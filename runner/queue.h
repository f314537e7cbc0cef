/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Everything a command needs, opened in the right order: folders, configuration, whether it runs inside a job, and
 * (outside one) the rescue pass that every call owes the queue.
 */
#ifndef PGPU_RUNNER_QUEUE_H
#define PGPU_RUNNER_QUEUE_H

#include "runner/line/line.h"
#include "runner/spooled.h"
#include "submit/spool.h"

/*
 * How a command takes a broken configuration: with the last copy that was right and a line on stderr, or not at all.
 * QUEUE_STRICT is for `run` and `submit`; it also leaves the rescue pass to their own settle, which looks at the same
 * things. QUEUE_TELLING is lenient and says a line for each thing that the rescue pass mends.
 */
enum queue_conf { QUEUE_LENIENT, QUEUE_STRICT, QUEUE_TELLING };

struct queue {
	struct spool spool;
	struct spooled spooled;
	bool inside; /* called by a program inside a job: the queue lock is not ours to take */
	struct line line;
	struct entry supervisor; /* inside: whom to ask; last, since it is seldom touched */
};

/*
 * The one queue of a command: 17 kB, of which a start touches a few pages, beside what else it writes. Never closed:
 * the kernel does so at the end of the process, for less.
 */
extern struct queue queue_only;

int queue_open(struct queue *queue, enum queue_conf policy, struct err *err);
/* For a worker: it is never inside a job, and its first settle is its rescue pass. */
int queue_open_worker(struct queue *queue, struct err *err);
void queue_close(struct queue *queue);

/* `count` ids in a row, outside or inside a job. */
int queue_take_ids(struct queue *queue, unsigned count, uint64_t *ret_first, struct err *err);
/*
 * Starts what can start now: settles as a guest, or asks the supervisor to. A line that is calm (settle_calm()) is left
 * alone, unless `stir`: what is new in it is not one job more that could start now.
 */
int queue_settle(struct queue *queue, bool stir, struct err *err);
/* depend_check(), by whoever may take the lock. */
int queue_check_after(struct queue *queue, uint64_t id, struct err *err);

#endif
