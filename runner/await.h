/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Waiting for a job's end without asking again and again: inotify(7) on the spool's folders (spooled jobs), on the
 * queue's, which has log.tsv, and on that of the tickets (blocking runs). Where none is to be had, once a second.
 */
#ifndef PGPU_RUNNER_AWAIT_H
#define PGPU_RUNNER_AWAIT_H

#include "conf/idlist.h"
#include "runner/jobview.h"

/*
 * Waits until the job has ended or `timeout_ms` is over (-1: never). Returns 1 with the view of the ended job, 0 at the
 * time-out, -1. An id that was never given out is an error; so is one that is gone, some seconds after the time-out at
 * the latest: it may be a `run` whose row in the log is still to come.
 */
int await_end(struct queue *queue, uint64_t id, int timeout_ms, struct jobview *ret_view, struct err *err);

/* The same where it is enough that the job is gone, and how it ended does not matter. */
int await_gone(struct queue *queue, uint64_t id, int timeout_ms, struct jobview *ret_view, struct err *err);

/* The same of several: returns as soon as one of them has ended, with its place in `*ret_index`; the first of those
 * that have already. An id that cannot be found is an error, whatever the others do. */
struct awaited {
	uint64_t id;
	int64_t seen_ns; /* 0 to begin with; so for the next */
	bool spooled;
	bool rowless; /* gone is ended as well: what the log says of it is not waited for */
};
int await_any(struct queue *queue, struct awaited *jobs, int count, int timeout_ms, int *ret_index,
	      struct jobview *ret_view, struct err *err);

/* Until all have, with the view of the last in the list; at the time-out of one that has not. An id that cannot be
 * found is an error before the others are waited for. There is one at least. */
int await_all(struct queue *queue, const struct idlist *ids, int timeout_ms, struct jobview *ret_view, struct err *err);

#endif
