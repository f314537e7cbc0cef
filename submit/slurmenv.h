/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The variables by which Slurm tells a job who it is, for jobs that ask for them: a file with #SBATCH lines, or the key
 * `slurm-env`. Names and meanings are those of sbatch(1), OUTPUT ENVIRONMENT VARIABLES, of a job on one node with one
 * task. They are never passed on from the environment of a submit.
 */
#ifndef PGPU_SUBMIT_SLURMENV_H
#define PGPU_SUBMIT_SLURMENV_H

#include <stdbool.h>
#include <stdint.h>

struct slurmenv {
	uint64_t id;
	const char *name, *class_name, *submit_dir, *host;
	int restarts;
	int cpus; /* that the job may use */
	uint64_t memory_bytes;
	int32_t task_count, task_min, task_max; /* of the array that the id is a task of; else unused */
};

/* One of those names, whoever set it: the assignment of an enclosing job. */
bool slurmenv_is_ours(const char *assignment);
/* The assignments, to be freed with words_free(); NULL when memory is out. */
char **slurmenv_new(const struct slurmenv *facts);

#endif
