/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A set of processes that grows: for the functions that visit the processes of a job, and for a sample of the cards. */
#ifndef PGPU_RUNNER_PIDS_H
#define PGPU_RUNNER_PIDS_H

#include "probe_sample.h"

struct pids {
	pid_t *list; /* heap; free(3) ends it */
	struct probe_list size;
};

/* Adds one to `*pids`, a struct pids. Without memory it is left out. */
void pids_add(pid_t pid, void *pids);
/* Sorted, each once; good until the next is added. */
struct probe_set pids_set(struct pids *pids);

#endif
