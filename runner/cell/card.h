/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The cards of this machine, from sysfs: /sys/class/drm/cardN/device (the amdgpu driver's gpu_busy_percent and
 * mem_info_vram_*; other drivers print neither). PGPU_SYSFS moves this probe, and nothing else, to another tree. What
 * cannot be read is -1: unknown, never 0.
 */
#ifndef PGPU_RUNNER_CARD_H
#define PGPU_RUNNER_CARD_H

#include <stdbool.h>
#include <stdint.h>

enum { CARDS_MAX = 32 };

struct card {
	char name[32]; /* cardN: may be another at the next boot */
	char driver[32];
	char pci[16]; /* its identity, 0000:03:00.0; "" for a card that is not on PCI */
	int busy_percent;
	bool asleep; /* runtime-suspended: its load is 0 and is not asked for, which would wake it */
	int64_t vram_total_bytes;
	int64_t vram_used_bytes;
};

/* In order of their PCI addresses; returns how many. */
int cards_read(struct card cards[CARDS_MAX]);

#endif
