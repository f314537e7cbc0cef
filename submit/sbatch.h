/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A job as a plain script for sbatch(1) of Slurm: its script with #SBATCH lines behind the first. The other way round
 * is jobsbatch.h, which reads from such lines what is written here.
 */
#ifndef PGPU_SUBMIT_SBATCH_H
#define PGPU_SUBMIT_SBATCH_H

#include "job.h"

/* What a cluster calls things; NULL: it is not named. */
struct sbatch_names {
	const char *partition, *qos;
	const char *gres; /* what a job asks for that has a lane of the card here: gpu:1 */
};

/*
 * `written` is the job as its file has it, so that paths stay as they were written; `full` the same after
 * job_complete(), for its times and its ceiling. What Slurm has nothing like is refused, with exit code 2, where the
 * job would be another one without it; else `notices` gets a line for it, with its newline.
 */
int sbatch_write(const struct job *written, const struct job *full, const struct sbatch_names *names,
		 struct buf *script, struct buf *notices, struct err *err);

#endif
