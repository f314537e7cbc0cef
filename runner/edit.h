/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Changing the header of one spooled job that waits: `pgpu update`.
 *
 * What the class, the budget or the limit gave the job before goes with them: a value that is what the old class says
 * is what the new one says afterwards, and a limit that is twice the budget stays that, unless it is set as well. All
 * that a submit checks is checked.
 *
 * Calling sequence: edit_set() for each word of the command line, then edit_job(), then the line is to be settled.
 */
#ifndef PGPU_RUNNER_EDIT_H
#define PGPU_RUNNER_EDIT_H

#include "runner/line/line.h"
#include "submit/spool.h"

enum { EDIT_SETTINGS = 32 };

struct edit {
	uint64_t id;
	bool first; /* first of its session and class */
	int count;
	struct {
		char key[16];
		const char *value; /* borrowed */
	} settings[EDIT_SETTINGS];
};

/* "KEY=VALUE", the value itself read as well. An error has exit code 2. */
int edit_set(struct edit *edit, const char *word, struct err *err);

/*
 * All of it or nothing; durable when it returns. Takes the queue lock, and reads and writes without it. -1 with exit
 * code 2 where a value cannot be, 1 where the job cannot be changed: it runs, has ended, or is none that is spooled.
 */
int edit_job(struct line *line, struct spool *spool, const struct edit *edit, struct err *err);

#endif
