/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sums over rows of the log, a line for each class or session: a pure function of the rows. */
#ifndef PGPU_SUBMIT_HISTORYSUM_H
#define PGPU_SUBMIT_HISTORYSUM_H

#include <stddef.h>

#include "submit/history.h"

struct history_sum {
	char name[JOB_SESSION_MAX + 1];
	long jobs;			   /* that ended; a hold that ended by a turn is part of one */
	long failed;			   /* of them: every outcome but completed and cancelled */
	int64_t waited_ns, ran_ns, cpu_ns; /* of what is known */
	int64_t gpu_ns;			   /* -1: not known of any row */
	int64_t peak_memory_bytes;	   /* the largest; -1: not known of any row */
};

struct history_sums {
	bool by_session;	  /* else by class */
	struct history_sum *list; /* heap, in the order of first appearance until they are sorted */
	size_t count, room;
};
#define HISTORY_SUMS(by) ((struct history_sums){ .by_session = (by) })

/* -1 without memory. */
int history_sums_add(struct history_sums *sums, const struct history_row *row);
/* Who had the lanes the longest comes first. */
void history_sums_sort(struct history_sums *sums);
void history_sums_free(struct history_sums *sums);

#endif
