/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * foreign.tsv: which foreign processes wanted the card while a standing job had it, or kept it from having it. One
 * header line, then one line each time one is noticed, tab-separated, appended with one write(2) and not synced; fields
 * are escaped as in log.tsv.
 *
 *     seen pid start comm kfd vram_bytes job
 *
 * `start` is the process's start in clock ticks since boot, which tells two processes of one number apart; `kfd` is
 * `yes` where it was registered with the KFD then; `job` is the standing job that made room, empty where none ran.
 * A file that has grown to half of FOREIGN_BYTES becomes foreign.tsv.old, over the one before it: together they stay
 * within FOREIGN_BYTES.
 */
#ifndef PGPU_SUBMIT_FOREIGN_H
#define PGPU_SUBMIT_FOREIGN_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "conf/base/err.h"

enum { FOREIGN_BYTES = 512 << 10, FOREIGN_COMM = 64 };

struct foreign_row {
	int64_t seen_wall_ns;
	pid_t pid;
	uint64_t start;
	char comm[FOREIGN_COMM]; /* "": unknown */
	bool kfd;
	int64_t vram_bytes; /* -1: unknown */
	uint64_t id;	    /* 0: none */
};

int foreign_append(int queue_fd, const struct foreign_row *row, struct err *err);
/* Calls `visit` for each row, the oldest first; damaged lines are passed over. */
int foreign_each(int queue_fd, int (*visit)(const struct foreign_row *row, void *context), void *context,
		 struct err *err);

#endif
