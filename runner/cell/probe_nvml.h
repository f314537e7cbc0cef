/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * NVIDIA cards, whose driver tells nothing in /proc and /sys: their load, memory and processes through the vendor's
 * library, which is opened at run time and is absent without complaint. Nothing of it is compiled in: only the layouts
 * that its header nvml.h has had since driver 510 are known here.
 *
 * Starting the library wakes every card of the driver. While one of them sleeps it is not started, and its cards are
 * shown asleep or with nothing known.
 */
#ifndef PGPU_RUNNER_PROBE_NVML_H
#define PGPU_RUNNER_PROBE_NVML_H

#include "probe_sample.h"

struct probe_nvml;

/* dlsym(3), or a test's in its place. */
typedef void *(*probe_nvml_lookup)(void *library, const char *name);

/* Opens libnvidia-ml.so.1 where the driver is loaded; NULL: it is not, or a card sleeps, or there is no such library.
 */
struct probe_nvml *probe_nvml_open(int sys);
/* The same with functions from elsewhere; closing it does not close `library`. NULL when one is missing or it will not
 * start. */
struct probe_nvml *probe_nvml_start(probe_nvml_lookup lookup, void *library);
void probe_nvml_close(struct probe_nvml *nvml);

/* Adds what it knows to the sample's cards, and a share for each process of `only` (NULL: all) and card. `proc`: /proc.
 */
void probe_nvml_read(struct probe_nvml *nvml, int proc, const struct probe_set *only, struct probe_sample *sample);

#endif
