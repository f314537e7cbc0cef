/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Keys that at most one job in line has: `dedupe`. The file dedupe/KEY names the job that was last submitted with the
 * key; the key is taken for as long as that job has a record in pending/ or running/, whoever ended it and how.
 *
 *     dedupe_claim()   locks the file, waiting for a submit of the same key, and looks who has the key
 *     dedupe_write()   puts the new job's id there, durable, before its record is written
 *     dedupe_end()     gives the lock back, once the record is durable
 *
 * The lock is that file's own and dies with its owner: the queue lock is not needed, nothing is synced under it, and a
 * submit that is killed between the two writes leaves an id without a record, which holds nothing. Several keys are to
 * be claimed in the order of strcmp(3), so that no two calls wait for each other.
 */
#ifndef PGPU_SUBMIT_DEDUPE_H
#define PGPU_SUBMIT_DEDUPE_H

#include "submit/spool.h"

struct dedupe {
	int fd;		 /* the lock; -1: not held */
	uint64_t holder; /* the job that has the key; 0: nobody, and the lock is held */
};
#define DEDUPE_NONE ((struct dedupe){ .fd = -1 })

int dedupe_claim(struct spool *spool, const char *key, struct dedupe *ret_dedupe, struct err *err);
int dedupe_write(struct spool *spool, const struct dedupe *dedupe, uint64_t id, struct err *err);
void dedupe_end(struct dedupe *dedupe);

/* Removes files whose jobs are over and that nobody has touched for two days. */
int dedupe_prune(struct spool *spool, int64_t now_wall_ns, struct err *err);

#endif
