/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * NVIDIA's management library: a program of its own has it loaded (main.c). Nothing of it is compiled in: only the
 * layouts that its header nvml.h has had since driver 510 are known here.
 */
#ifndef PGPU_RUNNER_CELL_NVML_LIBRARY_H
#define PGPU_RUNNER_CELL_NVML_LIBRARY_H

#include <stdbool.h>

#include "answer.h"

struct nvml;

/* dlsym(3), or a test's in its place. */
typedef void *(*nvml_lookup)(void *library, const char *name);

/* Starts it; NULL when a function that is needed is missing, or it will not start. */
struct nvml *nvml_start(nvml_lookup lookup, void *library);
void nvml_end(struct nvml *nvml);

/* How many cards it knows; -1: it does not say. */
int nvml_count(struct nvml *nvml);
/* What it knows of one; false when that is nothing. */
bool nvml_read(struct nvml *nvml, unsigned index, struct nvml_card *ret_card);

#endif
