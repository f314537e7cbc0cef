/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One job as people and programs see it, wherever it stands: in a lane, in line, in the spool, or in the history. The
 * one place that knows the field names of the JSON.
 */
#ifndef PGPU_RUNNER_JOBVIEW_H
#define PGPU_RUNNER_JOBVIEW_H

#include "conf/base/buf.h"
#include "runner/forecast.h"
#include "runner/progress.h"
#include "runner/queue.h"
#include "runner/snapshot.h"
#include "submit/history.h"

enum view_state { VIEW_UNKNOWN, VIEW_PENDING, VIEW_RUNNING, VIEW_FROZEN, VIEW_COMPLETING, VIEW_ENDED, VIEW_GONE };

struct jobview {
	enum view_state state;
	uint64_t id;
	char tasks[64];	    /* of an array that speaks for tasks that wait: "[5-9%2]"; else "" */
	int64_t task_count; /* of those; -1: no array */
	bool whole;	    /* of an array as one; so for the next three: how many of its tasks */
	long tasks_pending, tasks_running, tasks_ended[OUTCOMES];
	bool spooled;
	bool standing;
	enum outcome outcome; /* ended */
	char reason[16];      /* pending: one word of the contract, "" where unknown */
	char sentence[256];   /* the same for people; ended: why */
	char class_name[CONF_CLASS_NAME];
	char session[JOB_SESSION_MAX + 1];
	char *name; /* these eight owned; NULL: unknown */
	char *command;
	char *workdir;
	char *output; /* its path, pattern filled in; NULL for a `run` */
	char *error;
	char *pattern;		   /* of the output */
	int output_restart;	   /* the restart count that is filled in there */
	bool truncate;		   /* the job's first start empties its output */
	char *array;		   /* the list of tasks of the array that it is, or is of; NULL: none */
	char *after;		   /* what it waits for of other jobs, "afterok:12,afterany:9"; NULL: nothing */
	int64_t begin_wall_ns;	   /* does not start before; 0: any time */
	int64_t submitted_wall_ns; /* 0: unknown; so for the next two */
	int64_t started_wall_ns;
	int64_t ended_wall_ns;
	int64_t waited_ns; /* -1: unknown; so for those that follow */
	int64_t ran_ns;
	int64_t frozen_ns;
	struct outlook outlook; /* once jobview_foresee() has been asked */
	struct progress progress;
	int64_t cpu_ns;
	int64_t gpu_ns;
	int64_t peak_memory_bytes;
	int64_t budget_ns;
	int64_t limit_ns;
	int64_t memory_bytes;
	int64_t vram_bytes;  /* asked for */
	char card[PCI_TEXT]; /* asked for, or once it has begun that of its lane; "": any */
	int lane;
	pid_t pid;
	int exit_code;
	int restarts;
	int nice;
	int retries;  /* how often it may be started again where it failed */
	int attempts; /* that have begun */
	char cell[512];
};

void jobview_free(struct jobview *view);
#define SCOPE_VIEW __attribute__((cleanup(jobview_free)))

/* Everything that is known of one id. */
int jobview_find(struct queue *queue, uint64_t id, struct jobview *ret_view, struct err *err);

/* The parts a list is made from. */
void jobview_of_entry(const struct entry *entry, int lane, struct jobview *ret_view);
int jobview_of_record(struct queue *queue, enum spool_state state, const struct spool_name *name, const char *file,
		      struct jobview *ret_view, struct err *err);
/* Why the job, which is at `index` of snapshot->waiting, waits. What a held one's record says of it stands first. */
void jobview_explain(struct jobview *view, const struct snapshot *snapshot, const struct conf *conf, size_t index);
/* When it starts and ends, about. To be called of what runs, then of what waits in the order of the line. */
void jobview_foresee(struct jobview *view, struct forecast *forecast);
/* The same for people, behind the sentence: "starts in about 12m, as like jobs took"; "": nothing is known. */
enum { JOBVIEW_OUTLOOK = 128 };
void jobview_outlook(const struct jobview *view, char text[JOBVIEW_OUTLOOK]);
/* What the log knows beside the record. */
void jobview_add_row(struct jobview *view, const struct history_row *row);
int jobview_of_row(const struct history_row *row, struct jobview *ret_view);

/* "12", "12_3", or "12_[5-9%2]". */
void jobview_id(const struct jobview *view, char text[96]);
/* The word of the contract: the outcome once it has ended. */
const char *jobview_state(const struct jobview *view);
/* Slurm's two letters. */
const char *jobview_letters(const struct jobview *view);
/* One JSON object; `full` adds what `show` adds. */
void jobview_json(const struct jobview *view, bool full, struct buf *out);
/* An object of that kind with all its members, of no job: for fields.h. */
void jobview_json_sample(struct buf *out);

#endif
