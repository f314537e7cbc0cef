/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The tasks of an array, as sbatch(1) spells them: `1-250`, `0-99%4`, `1,5,9-20:2`. They are counted, never expanded: a
 * task is its number, and its position in the list as it was written, from 0. Pure.
 */
#ifndef PGPU_SUBMIT_ARRAY_H
#define PGPU_SUBMIT_ARRAY_H

#include <stdbool.h>
#include <stdint.h>

#include "conf/base/buf.h"
#include "conf/base/err.h"

enum { ARRAY_RANGES = 64, ARRAY_TASKS = 1000000, ARRAY_CAP = 1000 };

struct array_range {
	int32_t first, last, step; /* last is a member */
};

struct array {
	int count; /* ranges; 0: no array */
	int cap;   /* so many of its tasks run at once; 0: any number */
	struct array_range ranges[ARRAY_RANGES];
};

/* The error is the reason alone, exit code 2. A task that is given twice is one. */
int array_parse(const char *text, struct array *ret_array, struct err *err);
/* What array_parse() reads as the same. */
void array_put(const struct array *array, struct buf *out);
/* How many tasks; 0 of none. */
int32_t array_size(const struct array *array);
/* The number of the task at a position below array_size(). */
int32_t array_task(const struct array *array, int32_t position);
/* -1 where it has no such task. */
int32_t array_position(const struct array *array, int32_t task);

/* What is known of each task, a byte by its position. */
enum array_state {
	ARRAY_WAITS = '.', /* the array's record speaks for it */
	ARRAY_TAKEN = 'x', /* is to have a record of its own, or has one: whoever reads this looks */
	ARRAY_APART = 's', /* has, or had, a record of its own */
};
/* Which order they start in: as written, or every tenth first and then the rest. */
enum array_order { ARRAY_PLAIN, ARRAY_SPARSE };
/* The position of the next task that waits, or -1. */
int32_t array_next(const char *states, int32_t size, enum array_order order);
/* "[5-9,12%2]": those that wait, as ranges of their numbers; "" when none does. At most `size` bytes, cut with "...".
 */
void array_show(const struct array *array, const char *states, char *text, int size);

#endif
