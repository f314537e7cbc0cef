/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a span of time held, for `pgpu report`: each job that ended in it, with all its holds, from the rows of the log,
 * and what the records of the ended ones know beside them.
 *
 *     report_collect()   the rows; a job is what lies between two ends of an id: the holds that ended by a turn, then
 *                        the one that ended it. A job that was started again has an end, and so an entry, each time
 *     report_records()   ceilings, reasons, and where the output lies, for those whose record is there
 *
 * A report that one of these failed for is to be freed as well.
 */
#ifndef PGPU_SUBMIT_REPORT_H
#define PGPU_SUBMIT_REPORT_H

#include "submit/history.h"

struct report_hold {
	int64_t start_wall_ns, ended_wall_ns; /* start: the end less what it ran, so up to a second off */
	enum outcome outcome;
	bool frozen; /* and the job was frozen from then on, to its next hold */
};

struct report_job {
	uint64_t id;
	bool spooled;
	char class_name[CONF_CLASS_NAME];
	char session[JOB_SESSION_MAX + 1];
	char *name; /* owned; so for the next three, where NULL is unknown */
	char *reason;
	char *output;
	char *error;	      /* where that is another file than the output */
	enum outcome outcome; /* OUTCOME_TURN: it has not ended, as far as the log tells */
	int exit_code;
	int class_number; /* of report->classes */
	int64_t ended_wall_ns;
	int64_t waited_ns; /* in all its holds; -1: unknown; so for the next five */
	int64_t ran_ns;
	int64_t frozen_ns;
	int64_t gpu_ns;
	int64_t peak_memory_bytes;
	int64_t memory_bytes; /* its ceiling */
	struct report_hold *holds;
	size_t hold_count, hold_room;
};

struct report_jobs {
	struct report_job *list; /* in the order of their ends */
	size_t count, room;
};

enum { REPORT_CLASSES = 64 }; /* more of them share the last number */

struct report {
	int64_t since_wall_ns, until_wall_ns;
	struct report_jobs jobs;
	char classes[REPORT_CLASSES][CONF_CLASS_NAME]; /* in the order of their first job */
	int class_count;
};

/* since_wall_ns and until_wall_ns are the caller's; the rest is empty. */
int report_collect(struct report *report, int queue_fd, struct err *err);
int report_records(struct report *report, struct spool *spool, struct err *err);
void report_free(struct report *report);

/* It ended in another way than completed or cancelled. */
bool report_failed(const struct report_job *job);
#endif
