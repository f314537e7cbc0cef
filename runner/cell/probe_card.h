/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The cards of this machine, from sysfs: /sys/class/drm/cardN/device. The amdgpu driver has gpu_busy_percent and
 * mem_info_*, the others have neither. Source: the kernel's Documentation/gpu/amdgpu/driver-misc.rst and thermal.rst.
 *
 * What cannot be read, or cannot be right (a load above 100, more in use than there is), is -1: unknown, never 0. A
 * sleeping card is not woken: its load is 0 and is not asked for.
 */
#ifndef PGPU_RUNNER_PROBE_CARD_H
#define PGPU_RUNNER_PROBE_CARD_H

#include "probe_text.h"

enum { PROBE_CARDS = 32 };

struct probe_card {
	char name[16];	 /* cardN: may be another at the next boot; nvidiaN of a card that only NVML knows */
	char render[16]; /* renderDN, "" where it has none */
	char driver[PROBE_PCI];
	uint64_t pci; /* its identity; PROBE_NO_PCI for a card that is not on PCI */
	bool asleep;  /* runtime-suspended */
	bool apu;     /* its own memory is a small part of the machine's: jobs live in `gtt` */
	int busy_percent;
	int64_t vram_total_bytes, vram_used_bytes;
	int64_t gtt_total_bytes, gtt_used_bytes;
};

struct probe_cards {
	int count;
	struct probe_card list[PROBE_CARDS]; /* in the order of their addresses */
};

/* `sys` is /sys, or a tree in its place; -1: there are none. */
void probe_cards_read(int sys, struct probe_cards *ret_cards);
/* Looks again how much of each card's own memory is used, and keeps the larger figure. */
void probe_cards_read_used(int sys, struct probe_cards *cards);
/* By address, or by driver where `pci` is none; NULL: no such card. */
const struct probe_card *probe_cards_find(const struct probe_cards *cards, uint64_t pci, const char *driver);
/* By the name of a device node in /dev/dri, renderDN or cardN. */
const struct probe_card *probe_cards_named(const struct probe_cards *cards, const char *node);

#endif
