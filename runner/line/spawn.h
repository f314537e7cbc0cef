/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Starts a detached worker on a seat: it inherits the seat's locked descriptor, so the seat is never vacant in between.
 *
 * The worker gets /dev/null on 0 to 2, the seat on WORKER_SEAT_FD, a pipe on WORKER_READY_FD and nothing else, a
 * session of its own, default signals, and of our environment only HOME, PATH, TZ, LANG, LC_*, XDG_* and PGPU_*. It
 * closes the pipe when it is settled.
 */
#ifndef PGPU_RUNNER_SPAWN_H
#define PGPU_RUNNER_SPAWN_H

#include "seat.h"

enum { WORKER_SEAT_FD = 3, WORKER_READY_FD = 4 };

/* Returns the pipe's reading end (end of file: settled, or gone), or -1. `seat` stays the caller's.
 * Model: SP, SPC, SPW. */
int spawn_worker(const struct seat *seat, pid_t *ret_pid, struct err *err);
/* Starts a process of pgpu itself, with these arguments, as a worker is started but without seat or pipe. */
int spawn_plain(char *const argv[], pid_t *ret_pid, struct err *err);

#endif
