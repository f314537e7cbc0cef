/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Has a job stopped making progress? A pure function of what was seen of it; activity.h sees.
 *
 * Progress is any use of the card, a share of STALL_CPU_PERCENT of one core between two looks, or anything read,
 * written, begun or ended by any of its processes. No progress for `after_ns` of run time is a stall. Silence alone is
 * none, and what is not known is not idleness: a job that holds a card whose use cannot be read never stalls, nor does
 * one that waits for its terminal. CPU and I/O of a job that spends STALL_PRESSURE_PERCENT of its time waiting for
 * memory at its own ceiling are reclaim, and no progress.
 */
#ifndef PGPU_RUNNER_STALL_H
#define PGPU_RUNNER_STALL_H

#include <stdbool.h>
#include <stdint.h>

enum { STALL_CPU_PERCENT = 1, STALL_PRESSURE_PERCENT = 80 };

enum gpu_use {
	GPU_NOT_LOOKED,
	GPU_NOT_HELD, /* no process of the job has the card open, or there is none */
	GPU_KNOWN,
	GPU_UNKNOWN, /* one has, and what it does cannot be told */
};

/* One look. */
struct activity {
	int64_t cpu_ns;	       /* of all its processes so far; -1: unknown */
	bool looked_further;   /* false: the CPU said enough, and the rest is not filled in */
	uint64_t io_mark;      /* another value: something was read, written, begun or ended */
	uint64_t outside_mark; /* the same of processes of the job outside its cell, with their CPU; 0: not looked */
	enum gpu_use gpu;
	int64_t gpu_ns; /* engine time of all its clients so far, with GPU_KNOWN */
	bool reads_terminal;
	int pressure_percent; /* -1: unknown */
};

struct stall {
	struct activity last;
	int64_t looked_ns;	 /* run time of the last look */
	int64_t progress_ns;	 /* and of the last progress seen */
	int64_t progress_cpu_ns; /* CPU used until then */
};

/* A new job's: the start is progress. */
#define STALL_NEW ((struct stall){ .last = { .cpu_ns = -1 } })

/* Whether the CPU alone shows progress, so that nothing else need be looked at. */
bool stall_cpu_moves(const struct stall *stall, int64_t cpu_ns, int pressure_percent, int64_t ran_ns);
/* Takes a look made after `ran_ns` of run time. True: stalled, with the last progress `after_ns` ago or longer. */
bool stall_look(struct stall *stall, const struct activity *now, int64_t ran_ns, int64_t after_ns);
/* When to look next: sixty looks in `after_ns`, at most one a second, and one at its very end. INT64_MAX for never. */
int64_t stall_next_ns(const struct stall *stall, int64_t after_ns);

#endif
