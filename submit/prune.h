/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What is kept of jobs that have ended: record, script and environment for `keep`, of at most the `keep-jobs` that
 * ended last. The log stays; an id that is older is gone.
 *
 * Nothing here needs the queue lock. A record is removed under the name that it had when it was looked at: one that was
 * requeued meanwhile has another. An environment goes when no record names it and nobody has stored or found it for two
 * days (spool_store_environment() says so by its time); it is moved aside, looked at once more, and then removed.
 */
#ifndef PGPU_SUBMIT_PRUNE_H
#define PGPU_SUBMIT_PRUNE_H

#include "conf/conf.h"
#include "submit/spool.h"

/* Returns how many records went, or -1. */
int prune(struct spool *spool, const struct conf *conf, int64_t now_wall_ns, struct err *err);
/* The same, where it was not done for a day. Silent: for processes that do it by the way. */
void prune_daily(struct spool *spool, const struct conf *conf);

#endif
