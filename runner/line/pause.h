/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A class whose spooled jobs fail one like the other is paused: none of them starts until the class is released. What
 * is counted, and what is paused, stands in one file of the queue, over boots as well:
 *
 *     QUEUE/failures    a line for each class that has failed last: "CLASS COUNT JOB OUTCOME CODE paused", or
 *                       `counting` as the last word
 *
 * Which classes are paused is repeated in the queue's copy of the configuration, so that an election reads nothing
 * more. The file is written under the queue lock and synced after it; losing an unsynced one costs a count.
 */
#ifndef PGPU_RUNNER_PAUSE_H
#define PGPU_RUNNER_PAUSE_H

#include "conf/conf.h"
#include "line.h"

struct pause {
	char class_name[CONF_CLASS_NAME];
	int count;	  /* of jobs in a row, each another one */
	uint64_t id;	  /* the last of them */
	char outcome[12]; /* theirs; so is the code */
	int code;
	bool paused; /* it was enough */
};

struct pauses {
	struct pause list[CONF_CLASSES];
	int count;
};

/* One more failure, of job `id`. Pure. True: that is `limit` of them, and was not before. */
bool pause_count(struct pause *one, uint64_t id, const char *outcome, int code, int limit);

/* What is on file; a missing or damaged line is none. Without the lock as well. */
void pause_read(const struct line *line, struct pauses *ret_pauses);
/* The one of that class that is paused, or NULL. */
const struct pause *pause_find(const struct pauses *pauses, const char *class_name);
/* Sets `paused` of the classes in line->conf as the file says. */
void pause_apply(struct line *line);

/*
 * A job of the class has ended: outcome "" is a success, which sets the count back. With the lock, for classes that
 * count. 1: the class is paused from now on, and pause_sync() is to follow without the lock; 0, -1.
 */
int pause_note(struct line *line, const char *class_name, uint64_t id, const char *outcome, int code, int limit,
	       struct err *err);
int pause_sync(struct line *line, struct err *err);
/*
 * Its jobs may start again, and it counts from 0; no error where it was not paused. Takes the lock, durable; the line
 * is to be settled after it.
 */
int pause_release(struct line *line, const char *class_name, struct err *err);

/* "class render is paused: 3 jobs in a row failed, exit code 2; pgpu release --class render goes on" without the
 * first part. */
void pause_tell(const struct pause *one, char sentence[128]);

#endif
