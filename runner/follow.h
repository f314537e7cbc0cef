/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Copies a job's output file to standard output, and goes on as it grows until the job has ended: inotify(7) on the
 * file's folder. */
#ifndef PGPU_RUNNER_FOLLOW_H
#define PGPU_RUNNER_FOLLOW_H

#include "runner/queue.h"

/* A file that is not there yet is an error only without `follow`. */
int follow_output(struct queue *queue, uint64_t id, const char *path, bool follow, struct err *err);

#endif
