/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Holding one job and letting it go: the same for the command and for a supervisor that does it on behalf of its job.
 *
 * A held job keeps its place, which is its id, and does not compete. It is the record's name that says so, so both are
 * one rename in pending/, durable when held_set() returns.
 */
#ifndef PGPU_RUNNER_HELD_H
#define PGPU_RUNNER_HELD_H

#include "runner/line/line.h"
#include "submit/spool.h"

/*
 * Takes the queue lock. 0, also where it was so already; else -1 and why: only a spooled job that waits can be held.
 * After a release the line is to be settled.
 */
int held_set(struct line *line, struct spool *spool, uint64_t id, bool held, struct err *err);

#endif
