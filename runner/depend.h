/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Jobs that wait for other jobs (submit/after.h). The truth is in the records: `after` in the header, the letter a in
 * the name of a pending record while it waits, and how far the others' records have got. after/NUMBER/ID in the spool
 * only says whom to look at when job NUMBER has news; it is made before the record, and again after a boot.
 *
 * Whoever changes how far a job has got calls depend_news() once the record is moved, before the line is settled.
 * None of these is called with the queue lock; each takes it for the names alone, after the headers were read.
 */
#ifndef PGPU_RUNNER_DEPEND_H
#define PGPU_RUNNER_DEPEND_H

#include "runner/line/line.h"
#include "submit/job.h"
#include "submit/spool.h"

/* Of a job that is to be submitted: each id that it names was given out and is known. The error is for people. */
int depend_refuse(struct line *line, struct spool *spool, const struct after_list *after, struct err *err);
/* Before its record is published: it will be looked at. */
int depend_note(struct spool *spool, const struct job *job, uint64_t id, struct err *err);
/*
 * Looks at one: 1 when it waits no longer, since all is met or since that cannot be any more (then it has ended, with
 * the reason beside its record, and those that wait for it were looked at); else 0.
 */
int depend_check(struct line *line, struct spool *spool, uint64_t id, struct err *err);
/* The job has begun or ended. 1: somebody waits no longer. One openat(2) where nobody waits for it. */
int depend_news(struct line *line, struct spool *spool, uint64_t id, struct err *err);
/* All of them, after a boot and for `pgpu rescue`. */
int depend_sweep(struct line *line, struct spool *spool, struct err *err);

#endif
