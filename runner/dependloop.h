/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Jobs that would wait for themselves. A submit names older jobs alone; an update can close a loop, whose jobs would
 * then wait until they are cancelled.
 */
#ifndef PGPU_RUNNER_DEPENDLOOP_H
#define PGPU_RUNNER_DEPENDLOOP_H

#include <stdint.h>

#include "conf/base/err.h"
#include "submit/after.h"
#include "submit/spool.h"

/*
 * Whether what `after` names waits, itself or through others that wait, for job `id`, its array or one of its tasks: 1,
 * 0, -1. Read from the records without the lock: what others change at the same moment is not seen.
 */
int depend_loops(struct spool *spool, const struct after_list *after, uint64_t id, struct err *err);

#endif
