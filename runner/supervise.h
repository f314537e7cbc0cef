/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One job from its lane to its end: cell, start, watch, stop, and what is left behind. `run` and the worker share it.
 *
 * The caller's member holds a lane and its `job` says whose it is. supervise() returns when nothing of the job is left;
 * the lane is still held then, and the outcome is the caller's to record before the lane goes on. A job that took
 * turns, or a `run` that was stopped by Ctrl-Z, gave its lane up and took one again meanwhile; each earlier hold has
 * its own line in the log already.
 *
 * Messages that a program inside the job may send to GPU_QUEUE_TURN (one message, one answer, then the end of file):
 *     id N         "id FIRST": N job ids, for a submit inside the job
 *     settle       "ok": somebody may start
 *     turn         "ok MS": nobody comes first, or the job was away for so long; "kept": it could not be frozen
 *     cancel ID    "pending", "ordered", "ended", "unknown" or "error TEXT"
 *     cancel-one ID  the same; of an array only those of its tasks that wait together
 *     after ID     "ok" or "error TEXT": what this job waits for may be so already
 *     hold ID, release ID, requeue ID    "ok" or "error TEXT"
 *     signal SIG ID  "ok" or "error TEXT": to each process of this job; from outside it as well
 */
#ifndef PGPU_RUNNER_SUPERVISE_H
#define PGPU_RUNNER_SUPERVISE_H

#include "runner/cell/cell.h"
#include "runner/cell/launch.h"
#include "runner/line/member.h"
#include "runner/line/signals.h"
#include "runner/reclaim.h"
#include "submit/history.h"
#include "submit/spool.h"

struct service;

struct task {
	struct launch launch;	   /* cell_fd, close_first and the class's restrictions are filled in here */
	char *const *environment;  /* the job's; the marks of contract "What a job sees" are added here */
	char *const *extra;	   /* more assignments of the kind of job, NULL-ended; may be NULL */
	int64_t min_run_ns;	   /* one that ends well before has failed; not above 0: it has not */
	bool needs_card;	   /* the card on its lane's text is the one that it asked for */
	int64_t output_from[2];	   /* of its output and error files: what was in them before, bytes */
	const char *budget_signal; /* as sigspec_parse() reads it; NULL: its class's */
	struct service *service;   /* of a standing job: neither lane, turn, budget nor stall rule is its; else NULL */
	bool interactive; /* a `run`: signals are passed on, Ctrl-Z gives the lane up, the terminal is put back */
	struct spool *spool;
	struct signals *signals;
};

struct verdict {
	enum outcome outcome;
	int exit_code;
	int signal;	/* that ended its first process; 0: none */
	bool unstarted; /* -1 alone: nothing of it has run */
	struct err why; /* why it could not start; with code EXIT_OK a line on how it ended; text "" otherwise */
	int64_t ran_ns; /* of this hold, awake and unfrozen */
	int64_t frozen_ns;
	int64_t waited_ns; /* before this hold */
	struct cell_figures figures;
	int64_t gpu_ns;		/* its time on the cards, of all its holds; -1: unknown */
	struct reclaim reclaim; /* what is to be waited for before the lane goes on, once the outcome is on file */
};

/* -1 when pgpu itself failed before the command began (exit code 125). */
int supervise(struct member *member, struct task *task, struct verdict *ret_verdict, struct err *err);

/* Who held the lane, ended now; the figures are unknown. */
void row_of_entry(const struct entry *entry, struct history_row *ret_row);
/* The log's line for the hold that `verdict` ends. */
void verdict_row(const struct member *member, const struct verdict *verdict, struct history_row *ret_row);

#endif
