/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The variables by which the programs of one job use one card of several. They are advice to the vendors' libraries and
 * no wall: a job may unset them.
 *
 *     amdgpu     ROCR_VISIBLE_DEVICES, below HIP, OpenCL and OpenMP; DRI_PRIME
 *     i915, xe   ZE_AFFINITY_MASK with ZE_ENABLE_PCI_ID_DEVICE_ORDER=1; DRI_PRIME
 *     nvidia     CUDA_VISIBLE_DEVICES with CUDA_DEVICE_ORDER=PCI_BUS_ID
 *     others     DRI_PRIME
 *
 * Never two of one vendor's: HIP_VISIBLE_DEVICES, CUDA_VISIBLE_DEVICES and GPU_DEVICE_ORDINAL count what
 * ROCR_VISIBLE_DEVICES has left over, so that an index in both names no card at all. DRI_PRIME is written with the
 * address, the only form that names one of two equal cards, and MESA_VK_DEVICE_SELECT_FORCE_DEFAULT_DEVICE=1 makes
 * Vulkan keep to it.
 *
 * Sources: AMD's "GPU isolation techniques" and ROCR-Runtime's amd_filter_device.cpp; the CUDA C++ Programming Guide,
 * "Environment Variables"; Level Zero's specification, "Environment Variables"; Mesa's docs/envvars.rst.
 */
#ifndef PGPU_RUNNER_CARD_VARS_H
#define PGPU_RUNNER_CARD_VARS_H

#include "conf/base/pci.h"
#include "probe_card.h"

struct card_list {
	int count;
	struct {
		char card[PCI_TEXT];
		char driver[PROBE_PCI];
	} list[PROBE_CARDS]; /* in the order of their addresses */
};

/* The cards of this machine that have an address. Nothing is woken, no library opened. */
void card_list_read(struct card_list *ret_cards);

enum { CARD_VARS = 4, CARD_VAR = 96 };
struct card_vars {
	int count;
	char list[CARD_VARS][CARD_VAR]; /* NAME=VALUE */
};

/* False when there is no such card now; `ret_vars` is empty then. */
bool card_vars_find(const char *card, struct card_vars *ret_vars);
/* Whether an assignment from elsewhere would choose a card: such ones do not pass to a job that is given one. */
bool card_vars_stale(const char *assignment);

#endif
