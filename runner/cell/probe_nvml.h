/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * NVIDIA cards, whose driver tells nothing in /proc and /sys: their load, memory and processes through the vendor's
 * library, which is absent without complaint. A reader has it loaded, pgpu-nvml (nvml/), and is a child of ours from
 * the first look on. One that does not answer in time is given up for good: what it knew is unknown then.
 *
 * Starting the library wakes every card of the driver. While one of them sleeps it is not started, and its cards are
 * shown asleep or with nothing known.
 */
#ifndef PGPU_RUNNER_PROBE_NVML_H
#define PGPU_RUNNER_PROBE_NVML_H

#include "probe_sample.h"
#include "runner/cell/nvml/answer.h"

struct probe_nvml;

/* NULL: the driver is not loaded, or a card sleeps. Nothing is started yet. */
struct probe_nvml *probe_nvml_open(int sys);
/* The same, of the reader at `path`, whatever is in /sys; for tests. */
struct probe_nvml *probe_nvml_of(const char *path);
void probe_nvml_close(struct probe_nvml *nvml);
/* The reader, a child of this process; 0: none. `nvml` may be NULL. */
pid_t probe_nvml_reader(const struct probe_nvml *nvml);

/* Adds what it knows to the sample's cards, and a share for each process of `only` (NULL: all) and card. `proc`: /proc.
 */
void probe_nvml_read(struct probe_nvml *nvml, int proc, const struct probe_set *only, struct probe_sample *sample);
/* The same of one card of an answer. */
void probe_nvml_add(const struct nvml_card *known, int proc, const struct probe_set *only, struct probe_sample *sample);

#endif
