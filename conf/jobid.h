/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A job's id: `12`, or `12_3` for task 3 of array 12, in one number. The job's number stands above JOBID_TASK_BITS, the
 * task plus one below them (0: no task), so that ids compare in the order of arrival, an array before its tasks.
 */
#ifndef PGPU_CONF_JOBID_H
#define PGPU_CONF_JOBID_H

#include <stdbool.h>
#include <stdint.h>

#include "conf/base/err.h"

enum { JOBID_TASK_BITS = 24, JOBID_TASK_MAX = (1 << JOBID_TASK_BITS) - 2 };
#define JOBID_NUMBER_MAX ((UINT64_C(1) << (64 - JOBID_TASK_BITS)) - 1)

static inline uint64_t jobid_of(uint64_t number)
{
	return number << JOBID_TASK_BITS;
}

static inline uint64_t jobid_number(uint64_t id)
{
	return id >> JOBID_TASK_BITS;
}

/* The array that a task is of; another job's id as it is. */
static inline uint64_t jobid_array(uint64_t id)
{
	return jobid_of(jobid_number(id));
}

/* 0 to JOBID_TASK_MAX; -1 where the id is none of a task. */
static inline int32_t jobid_task(uint64_t id)
{
	return (int32_t)(id & (JOBID_TASK_MAX + 1)) - 1;
}

static inline uint64_t jobid_with_task(uint64_t id, int32_t task)
{
	return jobid_array(id) | (uint64_t)(task + 1);
}

struct jobid_text {
	char text[32];
};
struct jobid_text jobid_text(uint64_t id);
/* Its text, good to the end of the full expression. */
#define JOBID(id) (jobid_text(id).text)

/*
 * The id at `text`, with `*ret_end` behind it; 0 where there is none. It is written in one way alone: digits that begin
 * with none of 0, for a task then `_` and its number likewise, or 0.
 */
uint64_t jobid_read(const char *text, const char **ret_end);
/* A whole word, as a person gives it. -1: EXIT_USAGE and the reason. */
int jobid_parse(const char *word, uint64_t *ret_id, struct err *err);

#endif
