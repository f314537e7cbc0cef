/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a set of processes, those of one job say, has of the cards: a pure function of one sample. Each client counts
 * once, for the process whose it is (probe_drm.h, owner): one that was handed down by a process outside is not the
 * job's, where the sample knows that process.
 *
 * Whether the set works on a card is told only as far as it is known. A set that holds no card is known not to.
 */
#ifndef PGPU_RUNNER_PROBE_USE_H
#define PGPU_RUNNER_PROBE_USE_H

#include "probe_sample.h"

/* Why what a set does on the cards is not known, the first that holds. */
enum probe_doubt {
	PROBE_KNOWN,
	PROBE_SHUT,	/* a process of it cannot be looked into */
	PROBE_ABROAD,	/* drivers name processes of another pid namespace, who may be of the set */
	PROBE_UNTOLD,	/* it holds a device, and the driver does not tell what it does there */
	PROBE_QUEUES,	/* it computes through the KFD, which does not tell how much */
	PROBE_UNREAD,	/* a figure cannot be read */
	PROBE_FIRST,	/* there is no sample before this one (probe_account.h) */
	PROBE_BACKWARD, /* a counter went back since then (probe_account.h) */
	PROBE_DOUBTS,
};
/* In words, for people: "computes through the KFD, which does not tell how much". */
const char *probe_doubt_text(enum probe_doubt doubt);

struct probe_card_use {
	uint64_t pci; /* PROBE_NO_PCI: no card of PCI's; `driver` tells which */
	char driver[PROBE_NAME];
	int clients;
	bool kfd, nvml;	    /* who tells of it beside its clients; neither, and no clients: nobody does */
	bool worked;	    /* it was ever on the card, or has a queue there */
	bool own_memory;    /* the card has memory of its own, as its clients tell */
	int64_t vram_bytes; /* -1: unknown. Of its clients, or what the KFD says, where that is more: the same buffers
			     */
	int64_t gtt_bytes;
	int64_t system_bytes;
};

enum { PROBE_USES = 32 };
struct probe_use {
	bool holds; /* anything of a card's */
	enum probe_doubt doubt;
	int clients;
	int64_t time_ns; /* all engines, since the clients were made; -1: none of them tells */
	int card_count;
	struct probe_card_use cards[PROBE_USES];
};

void probe_use_of(const struct probe_sample *sample, const struct probe_set *set, struct probe_use *ret_use);
/* Of all cards together; -1: unknown. */
int64_t probe_use_vram(const struct probe_use *use);
/* NULL: it has nothing of that card. */
const struct probe_card_use *probe_use_card(const struct probe_use *use, uint64_t pci);
/* True when the client is one of the set's. */
bool probe_use_owns(const struct probe_sample *sample, const struct probe_set *set, const struct probe_client *client);

#endif
