/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The cell: a job's own cgroup (v2). No file but this one and place.c knows what a cgroup's files are called.
 * Where one can be made, place.h says.
 *
 * Source of the files' meaning: the kernel's Documentation/admin-guide/cgroup-v2.rst.
 */
#ifndef PGPU_RUNNER_CELL_H
#define PGPU_RUNNER_CELL_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "conf/base/err.h"
#include "place.h"

struct cell {
	int fd;	       /* the cgroup's folder; -1: no cell */
	int events_fd; /* cgroup.events: POLLPRI on a change */
	char path[CELL_PATH];
};

#define CELL_NONE ((struct cell){ .fd = -1, .events_fd = -1 })

struct cell_figures {
	int64_t cpu_ns; /* -1: unknown, as below */
	int64_t peak_memory_bytes;
};

/* The path that cell_make() gives a cell of that name; "" when it is too long. */
void cell_path(const struct cell_place *place, const char *name, char path[CELL_PATH]);
/* Makes an empty one named `name`; with the place's memory controller the ceiling is set and swap forbidden. */
int cell_make(const struct cell_place *place, const char *name, uint64_t memory_bytes, struct cell *ret_cell,
	      struct err *err);
/* Opens one by its path, as a rescuer does; -1 with errnum ENOENT when it is gone. */
int cell_open(const char *path, struct cell *ret_cell, struct err *err);

/* True when a process (zombies aside) is inside, in any nested cgroup. */
bool cell_populated(const struct cell *cell);
/* Waits for it to be empty, at most `timeout_ms`; false when it is not. */
bool cell_wait_empty(const struct cell *cell, int timeout_ms);
/* Freezes or thaws; waits until it is done, at most `timeout_ms`; false when it is not. */
bool cell_freeze(const struct cell *cell, bool frozen, int timeout_ms);
/* Sends a signal to every process inside. */
void cell_signal(const struct cell *cell, int sig);
/* SIGKILL to all, safe against forks; thaws as well. */
void cell_kill(const struct cell *cell);
/* Calls `visit` with each pid inside. */
void cell_each(const struct cell *cell, void (*visit)(pid_t pid, void *context), void *context);
void cell_read_figures(const struct cell *cell, struct cell_figures *ret_figures);
/* Removes the cgroup with everything nested in it, and closes. An already missing one is fine. */
void cell_remove(struct cell *cell);
void cell_close(struct cell *cell);

#endif
