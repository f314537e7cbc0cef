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

#include "runner/forecast.h"
#include "runner/queue.h"
#include "runner/snapshot.h"

/* `id` stands in line already. Silent when say() is. */
void waiting_tell(struct queue *queue, uint64_t id);

/* Begins a forecast (forecast.h) with what the last rows of the history know; to be freed. */
void waiting_forecast(struct queue *queue, struct forecast *ret_forecast);

#endif
