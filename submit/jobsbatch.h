/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * `#SBATCH` lines, as sbatch(1) of Slurm reads them: those among the comments before a script's first command. Words
 * are cut at blanks, with quotes and backslashes; a `#` outside quotes begins a comment; several options may share a
 * line; an option that is given twice counts the second time. From there on they are keys of a header, with Slurm's
 * bare figures: minutes for a time, MiB for memory, seconds for what a signal is sent ahead.
 *
 * A key that the job has from its #PGPU lines stays as it is, and the option is not even looked at. Options that mean
 * nothing here are told, never refused; a value that is wrong is an error "FILE:LINE:COLUMN: KEY: reason", at its word.
 */
#ifndef PGPU_SUBMIT_JOBSBATCH_H
#define PGPU_SUBMIT_JOBSBATCH_H

#include "job.h"

/*
 * Reads the lines of the script `text` into `job`, which has what its other header says already. `notices` (NULL: none
 * are wanted) gets lines for people, each with its newline: first what was read, then each option that was not.
 */
int jobsbatch_read(const char *file_name, const char *text, size_t size, struct job *job, struct buf *notices,
		   struct err *err);

#endif
