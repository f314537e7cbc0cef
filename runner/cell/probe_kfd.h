/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Processes that compute on AMD cards (ROCm, HIP, OpenCL), from /sys/class/kfd/kfd, which every user may read:
 * topology/nodes/N/{gpu_id,properties} says which card is which, proc/PID/{vram_GPUID,queues/N/gpuid} who has what.
 * Newer kernels have further contexts of a process in proc/PID/context_N, with the same files.
 *
 * A process that only opened /dev/kfd has neither memory nor a queue, and is not in the sample. Of one that has a queue
 * nothing tells how busy it is: its work is never in fdinfo. Its memory is, so that the two are never to be added.
 *
 * Source: the kernel's drivers/gpu/drm/amd/amdkfd/kfd_process.c and kfd_topology.c.
 */
#ifndef PGPU_RUNNER_PROBE_KFD_H
#define PGPU_RUNNER_PROBE_KFD_H

#include "probe_sample.h"

enum { PROBE_KFD_NODES = 64 };
struct probe_kfd_node {
	int64_t gpu_id;
	uint64_t pci;	    /* PROBE_NO_PCI: not told */
	uint64_t unique_id; /* 0: it has none */
};
/* A node of the folder `nodes` that is a card; false: it is a processor, is kept from us, or is not there. */
bool probe_kfd_node(int nodes, const char *name, struct probe_kfd_node *ret_node);

/* True where the driver tells of its processes. */
bool probe_kfd_there(int sys);
/* Adds a share for each process and card; those of `only`, unless it is NULL. Pids that are not in `proc` are gone. */
void probe_kfd_read(int sys, int proc, const struct probe_set *only, struct probe_sample *sample);

#endif
