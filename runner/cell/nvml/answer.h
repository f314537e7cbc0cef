/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What pgpu and its reader of NVIDIA's library (main.c) say to each other, over a socket of packets that is the
 * reader's standard input. Both are of one build: a number tells when they are not.
 *
 *     pgpu    one byte: look
 *     reader  a struct nvml_head, and behind it one struct nvml_card for each, cut behind its last user
 *
 * The end of the socket ends the reader.
 */
#ifndef PGPU_RUNNER_CELL_NVML_ANSWER_H
#define PGPU_RUNNER_CELL_NVML_ANSWER_H

#include <stdint.h>

enum { NVML_CARDS = 32, NVML_USERS = 512, NVML_VERSION = 1 };
enum { NVML_LOOK = 'l' };

struct nvml_head {
	uint32_t version, cards;
};

/* A process that runs on a card. */
struct nvml_user {
	int32_t pid;
	int32_t busy_percent; /* its share of the time since the look before; -1: unknown */
	int64_t bytes;	      /* of the card's memory; -1: unknown */
};

struct nvml_card {
	uint64_t pci;	      /* as in a sample (probe_sample.h) */
	uint32_t index;	      /* the library's */
	int32_t busy_percent; /* -1: unknown, as the bytes */
	int64_t total_bytes, used_bytes;
	uint32_t partial; /* not 0: some users may be missing */
	uint32_t user_count;
	struct nvml_user users[NVML_USERS];
};

#endif
