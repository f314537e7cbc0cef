/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The tasks of arrays in the spool. However many an array has, it is one record in pending/ until its last task was
 * started; it speaks for those that wait. A task that starts, or is held or cancelled by itself, gets a record of its
 * own: a second name (link(2)) of the array's, whose text is the same.
 *
 *     tasks/NUMBER   the array's list and order, a newline, and a byte for each task (array.h). Not synced: after a
 *                    boot it is made again from the records.
 *
 * A task is taken in three steps, so that whoever is killed in between leaves it exactly once: its byte becomes
 * ARRAY_TAKEN, the record is linked, the byte becomes ARRAY_APART. Who meets ARRAY_TAKEN looks for the record.
 *
 * All of it with the queue lock, but for what says otherwise.
 */
#ifndef PGPU_SUBMIT_SPOOLTASKS_H
#define PGPU_SUBMIT_SPOOLTASKS_H

#include "submit/array.h"
#include "submit/spool.h"

struct tasks {
	int fd;
	struct array array;
	enum array_order order;
	char *states; /* heap; array_size() bytes */
	int32_t size;
	int offset; /* of the states in the file */
};
#define TASKS_NONE  ((struct tasks){ .fd = -1 })
#define SCOPE_TASKS __attribute__((cleanup(tasks_close)))

void tasks_close(struct tasks *tasks);
/* Before the array's record is published: all of them wait. Without the lock. */
int tasks_make(struct spool *spool, uint64_t id, const struct array *array, enum array_order order, struct err *err);
/* Of the array of `id`. -1 with errnum ENOENT: it has none, its last task was taken. Without the lock what it says may
 * be over. */
int tasks_open(struct spool *spool, uint64_t id, struct tasks *ret_tasks, struct err *err);
/* Whether the array of `id` has tasks that wait; without the lock. */
bool tasks_wait(struct spool *spool, uint64_t id);
/* Its record is gone. */
void tasks_forget(struct spool *spool, uint64_t id);
/* How many wait for the array's record to start them. */
int32_t tasks_waiting(const struct tasks *tasks);
/* The id of the next one; 0 when none waits. */
uint64_t tasks_next(const struct tasks *tasks, uint64_t id);

/*
 * Gives the task at `id` a record of its own, in the folder of `state` under `name`, beside the array's record
 * `array_file` in pending/. With its last waiting task the array's record goes. 1; 0 when it has one, or none is
 * waiting under that id.
 */
int tasks_take(struct spool *spool, uint64_t id, const char *array_file, enum spool_state state,
	       const struct spool_name *name, struct err *err);
/*
 * The same with a name like the array's in pending/, of a task that is to be looked at by itself. 1: it has one now; 0:
 * it is no task that waits.
 */
int tasks_set_apart(struct spool *spool, uint64_t id, struct err *err);
/* Whether it is a task that waits, the array's record speaking for it: 1 with that record's name, else 0, -1. */
int tasks_find(struct spool *spool, uint64_t id, struct spool_name *ret_name, char ret_file[256], struct err *err);
/* How many of the array's tasks have a record in running/. */
int tasks_running(struct spool *spool, uint64_t id, struct err *err);
/* Makes the array's file again from the records: of one that is missing or damaged. */
int tasks_again(struct spool *spool, const struct spool_name *name, const char *file, struct err *err);
/* After a boot: makes tasks/ again from the records, and removes what no array has. */
int tasks_sweep(struct spool *spool, struct err *err);

#endif
