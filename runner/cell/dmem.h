/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A ceiling for what a cell has of each card's memory. The kernel keeps it since Linux 6.14, where the dmem controller
 * is enabled: what is above it is moved out of the card's memory, or its allocation fails; nothing is killed. Elsewhere
 * the job is watched (gpu.c), and is told so.
 *
 * A cell's dmem.max has a line for each kind of device memory, "drm/0000:03:00.0/vram max"; the names of it are taken
 * from there. Source: the kernel's Documentation/admin-guide/cgroup-v2.rst, DMEM, and kernel/cgroup/dmem.c.
 */
#ifndef PGPU_RUNNER_DMEM_H
#define PGPU_RUNNER_DMEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { DMEM_LINE = 128 };
/*
 * What is to be written for the next card's memory in `*next`, text of a dmem.max, which moves on: "NAME BYTES". False:
 * there is none left. Names that are no card's memory are passed over.
 */
bool dmem_next(const char **next, uint64_t bytes, char line[DMEM_LINE]);

/* Sets it in the cgroup open as `folder`, for every card; false when the kernel will not keep it there. */
bool dmem_set(int folder, uint64_t bytes);

#endif
