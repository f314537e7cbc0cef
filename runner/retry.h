/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Whether a spooled job that failed starts again by itself, and when; pgpu-job(5), `retries`. Pure. */
#ifndef PGPU_RUNNER_RETRY_H
#define PGPU_RUNNER_RETRY_H

#include <stdbool.h>
#include <stdint.h>

#include "submit/spool.h"

/* The pause doubles up to this, unless the first one is longer. */
#define RETRY_MOST_NS (900 * NS_PER_S)

/*
 * `tries` attempts failed before this one, of `retries` that may be made again. Only a job that failed by itself: one
 * that was stopped for its time, or ended for want of memory, would be again.
 */
bool retry_wanted(enum outcome outcome, int tries, int retries);
/* How long to wait: `first_ns`, twice that after the next attempt, and so on. */
int64_t retry_pause_ns(int64_t first_ns, int tries);

#endif
