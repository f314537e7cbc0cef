/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A worker: a detached process that runs spooled jobs, one after the other, for as long as one comes first in line, and
 * that watches for the line as standby or second while it has none. Workers are alike: what one is to do stands in the
 * files.
 *
 * Its error descriptor is /dev/null; what goes wrong with a job is the job's reason (`show`).
 */
#ifndef PGPU_RUNNER_WORKER_H
#define PGPU_RUNNER_WORKER_H

#include "runner/queue.h"
#include "runner/supervise.h"

/*
 * Fills `task` for a claimed job: command, environment, folder, files. What is wrong with the job itself (a folder that
 * is gone, an output that cannot be opened) is an error with exit code EXIT_NO_START.
 */
struct prepared {
	struct job job;
	struct job_facts facts;
	char **environment;
	char *environment_block;
	char **list; /* environment with the job's own over it */
	char *extra[10];
	char **slurm; /* what jobs for Slurm expect; NULL for others */
	char **argv;
	char *interpreter; /* what argv points into */
	char *script_path;
	char script[64]; /* the script's file in the boot's folder; "" without one */
	int files[3];
};

/* `state` is where its record lies. */
int prepare_job(struct queue *queue, enum spool_state state, const char *file, const struct entry *entry,
		struct prepared *ret_prepared, struct task *task, struct err *err);
/* The part of it that is the environment: of `job` and `facts`, which are there, fills `list` and `extra`. */
int prepare_environment(struct queue *queue, struct prepared *prepared, uint64_t id, int restarts, struct err *err);
void prepare_free(struct queue *queue, struct prepared *prepared);

#endif
