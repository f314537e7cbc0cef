/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Where cells can be made: found out once in a process, from the v2 tree's mount point (in a hybrid hierarchy it lies
 * beside the v1 ones) and the "0::" line of /proc/self/cgroup. Where systemd runs, it is a scope of ours (login.h), one
 * for each login; else a folder beside or below our own that is ours to write. Where there is none, `reason` says why,
 * and a job runs without a cell (stray.h).
 *
 * Source: cgroups(7), proc(5), and the kernel's Documentation/admin-guide/cgroup-v2.rst.
 */
#ifndef PGPU_RUNNER_PLACE_H
#define PGPU_RUNNER_PLACE_H

#include <stdbool.h>
#include <stddef.h>

enum { CELL_PATH = 512 };

struct cell_place {
	bool available;
	bool memory; /* memory.max can be set for cells made here */
	bool pids;   /* pids.max likewise */
	bool freezer;
	char reason[192];	/* why a guarantee is missing; "" when none is */
	char folder[CELL_PATH]; /* where cells are made */
};

/*
 * `wanted` false (cells = "off"): unavailable, and the reason says so. Looked for once in a process, which owns the
 * answer: a `run` that waits asks in advance. cell_place_forget() where a cell could not be made after all: the next
 * call looks again.
 */
const struct cell_place *cell_place_find(bool wanted);
/* The same without asking systemd for a place that is not there yet (login.h): for those who only tell. */
const struct cell_place *cell_place_look(bool wanted);
void cell_place_forget(void);
/* Enables the controller of the card's memory for cells made there, where it is to be had. */
void cell_place_want_dmem(const struct cell_place *place);
/* Whether it is. */
bool cell_place_has_dmem(const struct cell_place *place);
/* What gives the cells what they lack here; for who did not turn them off. */
void cell_place_mend(const struct cell_place *place, char *mend, size_t size);
/* Why a detached job cannot live here after the logout; NULL when it can (login.h). */
const char *cell_place_mortal(void);

/* True when `path` names the cgroup this process is in, or one above it. */
bool cell_contains_self(const char *path);

/* True when our cgroup's path has the name of a cell in it: whose, the lanes say. */
bool cell_self_is_job(void);

#endif
