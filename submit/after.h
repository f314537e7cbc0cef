/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a job waits for of other jobs, as sbatch(1) spells it: all conditions of the list have to be met.
 *
 *     afterok:ID      it has ended, and well            afternotok:ID   it has ended, and not well
 *     afterany:ID     it has ended                      after:ID        it has begun, or was cancelled before
 *     aftercorr:ID    of an array: its task of the same number has ended well
 *     singleton       no earlier job of the same session and name waits or runs
 *
 * An ID is that of a job, of an array (all its tasks), or of one task. Whether they are met is a pure function of how
 * far those jobs have got.
 */
#ifndef PGPU_SUBMIT_AFTER_H
#define PGPU_SUBMIT_AFTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "conf/base/buf.h"
#include "conf/base/err.h"

enum after_kind { AFTER_OK, AFTER_ANY, AFTER_NOT_OK, AFTER_BEGUN, AFTER_CORR, AFTER_SINGLETON, AFTER_KINDS };

enum { AFTER_MAX = 256 };

struct after {
	enum after_kind kind;
	uint64_t id; /* 0: of AFTER_SINGLETON */
};

/* A heap list; owned by who holds it. */
struct after_list {
	struct after *list;
	size_t count;
};

void after_free(struct after_list *after);
/* "afterok:12:13,afterany:9"; adds to the list. The error is the reason alone, exit code 2. */
int after_parse(const char *text, struct after_list *after, struct err *err);
/* "afterok:12", the one at `index`. */
void after_put(const struct after_list *after, size_t index, struct buf *out);
/* All of them, with commas between. */
void after_put_all(const struct after_list *after, struct buf *out);
/* For people: "jobs 12 and 13 to complete, job 14 to end". */
void after_tell(const struct after_list *after, struct buf *out);

/* How far the jobs have got that one condition names. */
struct after_progress {
	long pending, running, well, badly; /* how many wait, run, have ended with outcome completed, and otherwise */
};
enum after_verdict { AFTER_MET, AFTER_WAITS, AFTER_NEVER };
enum after_verdict after_judge(enum after_kind kind, const struct after_progress *progress);

#endif
