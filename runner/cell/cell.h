/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The cell: a job's own cgroup (v2). No file but this one, place.c and dmem.c knows what a cgroup's files are called.
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
	bool vram;     /* its kernel keeps the ceiling of the card's memory (dmem.h) */
	bool swaps;    /* its kernel has no memory.swap.max, and the machine has swap */
	char path[CELL_PATH];
};

#define CELL_NONE ((struct cell){ .fd = -1, .events_fd = -1 })

struct cell_limits {
	uint64_t memory_bytes;
	int processes;	     /* and threads */
	uint64_t vram_bytes; /* of each card's memory; 0: no ceiling */
};

struct cell_figures {
	int64_t cpu_ns; /* -1: unknown, as below */
	int64_t peak_memory_bytes;
};

/* What the kernel did in a cell for want of memory. A new cell's counters are 0, and each cell is a new one. */
struct cell_oom {
	uint64_t here;	/* times its own ceiling was hit and nothing could be reclaimed: memory.events.local, oom */
	uint64_t below; /* the same, ceilings of cgroups that the job made inside counted too: memory.events, oom */
	uint64_t kills; /* processes of it that were killed, inside such cgroups too: memory.events, oom_kill. Also
			   those that were killed because the machine, or a cgroup above, ran out */
};

/* The path that cell_make() gives a cell of that name; "" when it is too long. */
void cell_path(const struct cell_place *place, const char *name, char path[CELL_PATH]);
/*
 * Makes a new and empty one named `name`. With the place's memory controller the ceiling is set, swap forbidden, and
 * who passes it is killed with all the others of the cell; with its pids controller the number of processes is bounded.
 */
int cell_make(const struct cell_place *place, const char *name, const struct cell_limits *limits, struct cell *ret_cell,
	      struct err *err);
/*
 * Which guarantees are missing, for people: parts joined by "; ", "" when none is. `cell` NULL: of what is made at
 * `place`, for `status`; a swap that is not limited is not seen then at the tree's very root.
 */
enum { CELL_MISSING = 256 };
void cell_missing(const struct cell_place *place, const struct cell *cell, char text[CELL_MISSING]);
/* Moves the calling process in. For a child that the kernel could not start inside; safe after a vfork(2). */
bool cell_enter(int cell_fd);
/* Opens one by its path, as a rescuer does; -1 with errnum ENOENT when it is gone. */
int cell_open(const char *path, struct cell *ret_cell, struct err *err);

/* True when a process (zombies aside) is inside, in any nested cgroup. */
bool cell_populated(const struct cell *cell);
/* Waits for it to be empty, at most `timeout_ms`; false when it is not. */
bool cell_wait_empty(const struct cell *cell, int timeout_ms);
/* Freezes or thaws; waits until it is done, at most `timeout_ms`; false when it is not. Before Linux 5.2: SIGSTOP and
 * SIGCONT. */
bool cell_freeze(const struct cell *cell, bool frozen, int timeout_ms);
/* Sends a signal to every process inside. */
void cell_signal(const struct cell *cell, int sig);
/* `sig` and SIGCONT to every process inside, frozen meanwhile so that none forks away; thaws also what the job itself
 * froze. */
void cell_terminate(const struct cell *cell, int sig);
/* Close to its limit of processes: a fork bomb, which outruns SIGTERM, since bash blocks that while it forks. */
bool cell_is_full(const struct cell *cell);
/* SIGKILL to all, safe against forks; thaws as well. */
void cell_kill(const struct cell *cell);
/* Calls `visit` with each pid inside. */
void cell_each(const struct cell *cell, void (*visit)(pid_t pid, void *context), void *context);
void cell_read_figures(const struct cell *cell, struct cell_figures *ret_figures);
/* False before Linux 5.19: the peak is then the largest cell_memory_now() that somebody saw. */
bool cell_knows_peak(const struct cell *cell);
/* Bytes charged now; -1 unknown. */
int64_t cell_memory_now(const struct cell *cell);
/*
 * When all of its processes waited for memory at once, as they do at a ceiling where the kernel goes on reclaiming
 * instead of killing (memory.pressure, "full"): the percentage of the last ten seconds, and the time in all. -1:
 * unknown.
 */
struct cell_pressure {
	int percent;
	int64_t waited_ns;
};
void cell_read_pressure(const struct cell *cell, struct cell_pressure *ret_pressure);
/* Of them in tmpfs and shared memory; what is left when no process is belongs to files. -1 unknown. */
int64_t cell_shared_memory(const struct cell *cell);
void cell_read_oom(const struct cell *cell, struct cell_oom *ret_oom);
/* Removes the cgroup with everything nested in it, and closes. An already missing one is fine. */
void cell_remove(struct cell *cell);
void cell_close(struct cell *cell);

#endif
