/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Who else uses the cards: everybody who has memory of one, was ever on it, or has a queue there, and is in none of our
 * jobs. A pure function of one sample of all processes.
 */
#ifndef PGPU_RUNNER_PROBE_FOREIGN_H
#define PGPU_RUNNER_PROBE_FOREIGN_H

#include "probe_use.h"

/* One process and card. */
struct probe_foreign {
	pid_t pid;
	bool named; /* false: it cannot be read, or is of another pid namespace */
	char comm[64];
	uint64_t pci;	    /* PROBE_NO_PCI: the card is not on PCI, or cannot be told */
	char via[8];	    /* kfd, drm, nvml; unknown: it holds the device, and nobody tells more */
	int64_t vram_bytes; /* -1: unknown. Of a card without memory of its own (and of an APU) also the machine's */
};

/* Largest first, unknown ones last. `*ret_list` is malloc'd, `*ret_count` long. -1: memory is out. */
int probe_foreign_list(const struct probe_sample *sample, const struct probe_set *ours, struct probe_foreign **ret_list,
		       size_t *ret_count, struct err *err);

#endif
