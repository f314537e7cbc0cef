/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A job's `on-end` command: run when the job has ended for good, by a process of its own that holds neither lane nor
 * lock, is nobody's watcher, and lives for at most ONEND_LIMIT_S a command. Whoever put the outcome on file starts it
 * (a worker, a rescuer, a cancel), after that, after the lane was given up, and once: one that is killed in between
 * takes it along, and nobody makes up for it.
 *
 *     onend_of()       is there something to do for this ended record?
 *     onend_start()    starts the process, `pgpu on-end WORD...`, a word for each job
 */
#ifndef PGPU_RUNNER_ONEND_H
#define PGPU_RUNNER_ONEND_H

#include "submit/spool.h"

enum { ONEND_LIMIT_S = 60, ONEND_STARTED = 16 };

struct onend {
	uint64_t id;
	enum outcome outcome;
	int code;
	int restarts;
};

struct onends {
	struct onend *list;
	size_t count, room;
};

/* Reads the record that was given this name in ended/; where it names a command, that is one more. Without memory it is
 * none, as if we had been killed here. */
void onend_of(struct onends *ends, struct spool *spool, const struct spool_name *name);
void onend_add(struct onends *ends, const struct onend *end);
/* Starts all of them and empties the list. Does not wait. That nothing can be started is one line. */
void onend_start(struct onends *ends);
/* The last processes started by this one, into `pids`; returns how many. No job's, where a job has no cell. */
int onend_started(pid_t pids[ONEND_STARTED]);

/* "ID:OUTCOME:CODE:RESTARTS" */
enum { ONEND_WORD = 64 };
void onend_format(const struct onend *end, char word[ONEND_WORD]);
int onend_parse(const char *word, struct onend *ret);

#endif
