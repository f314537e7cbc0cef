/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Copies a job's output file to standard output, and goes on as it grows until the job has ended: inotify(7) on the
 * file's folder. Where each start of the job has a file of its own (%r), one after the other. Of a job whose first
 * start is going to empty the file, what is in it before is not the job's.
 */
#ifndef PGPU_RUNNER_FOLLOW_H
#define PGPU_RUNNER_FOLLOW_H

#include "runner/jobview.h"

/* `view` is of a spooled job. A file that is not there yet is an error only without `follow`. */
int follow_output(struct queue *queue, const struct jobview *view, bool follow, struct err *err);

#endif
