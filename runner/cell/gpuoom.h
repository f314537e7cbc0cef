/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Did a job fail because the card's memory was out? The kernel counts no such thing, and a program says it in words of
 * its own or not at all: so it is told by evidence, and a pure function weighs it.
 *
 * Only a job that failed by itself is asked: it returned a code other than 0, or died of a signal. Its own words count
 * most. Without them it counts that it had memory of a card which was full when it was last seen: less than a
 * GPUOOM_MARGIN_PART of it was free, and the job had more of it than that. A code or signal that others send
 * (Ctrl-C, kill(1), a closed pipe) is then no sign of it.
 */
#ifndef PGPU_RUNNER_GPUOOM_H
#define PGPU_RUNNER_GPUOOM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Of 16 GiB: 256 MiB. A buffer that large is asked for at once by what fills a card. */
enum { GPUOOM_MARGIN_PART = 64, GPUOOM_TAIL = 8 << 10 };

struct gpuoom_evidence {
	bool failed;	    /* by itself: not cancelled, stopped, or ended at a ceiling of RAM */
	int exit_code;	    /* 128 + n for a signal */
	const char *phrase; /* of its output's end (gpuoom_phrase()); NULL: none, or not to be read */
	int64_t held_bytes; /* of the card that it had most of, when it was last seen; -1: unknown */
	int64_t free_bytes; /* of that card; -1: unknown, as the next */
	int64_t total_bytes;
};

enum gpuoom { GPUOOM_NO, GPUOOM_SAID, GPUOOM_FULL };
enum gpuoom gpuoom_verdict(const struct gpuoom_evidence *evidence);

/*
 * The words of HIP, CUDA, Vulkan or PyTorch for it, in either case; NULL: none is there. `text` may hold any bytes; of
 * several the one that stands first in the table.
 */
const char *gpuoom_phrase(const char *text, size_t size);

#endif
