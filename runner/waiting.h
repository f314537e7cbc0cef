/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The line that a `run` says when it has to wait:
 *
 *     waiting for a lane as job 12: 2 of 2 busy (10 render, 11 bench), 1 ahead, about 12m left
 *
 * In parentheses who has the lanes, four at most; the time only where the last rows of the history know jobs like
 * those. Reads without the queue lock.
 */
#ifndef PGPU_RUNNER_WAITING_H
#define PGPU_RUNNER_WAITING_H

#include "runner/queue.h"
#include "runner/snapshot.h"

/* `id` stands in line already. Silent when say() is. */
void waiting_tell(struct queue *queue, uint64_t id);

/*
 * How long the one behind `ahead` others of snapshot->waiting waits for a lane, about, from how long jobs like those
 * took before (estimate.h); -1: unknown.
 */
int64_t waiting_left(struct queue *queue, const struct snapshot *snapshot, int ahead);

#endif
