/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Who wants the card while a service has it: a pure function of one sample (probe.h), of what foreign clients held when
 * the service started, and of who is registered with the KFD.
 *
 * A contender is a process that is registered with the KFD, whether it has memory yet or not: it registers before it
 * allocates. Or a DRM client (on NVIDIA's cards: a process) that grew by more than it may since the service started: a
 * desktop's compositor always holds a little. Never one of the service's own processes.
 *
 * Who cannot be told is none: a client whose memory cannot be read; in another pid namespace than the drivers', whoever
 * is registered with the KFD, since the service's own processes stand there under numbers that it does not know.
 */
#ifndef PGPU_RUNNER_CONTENDER_H
#define PGPU_RUNNER_CONTENDER_H

#include "probe_sample.h"

enum { CONTENDER_KFD = 1024 };

/* Processes that are registered with the KFD and are there. */
struct contender_kfd {
	struct probe_process *list; /* heap */
	struct probe_list size;
};

struct contender {
	pid_t pid;
	uint64_t start;	    /* clock ticks since boot; 0: unknown */
	char comm[64];	    /* "" where it is not known */
	bool kfd;	    /* registered with the KFD */
	int64_t vram_bytes; /* that it holds, of that card or by that client; -1: unknown */
};

/* What each client held at one time. */
struct contender_base {
	struct contender_held *list; /* heap */
	struct probe_list size;
};

struct probe;
/* Reads who is registered; nothing where there is no KFD, or in another pid namespace. */
void contender_kfd_read(const struct probe *probe, struct contender_kfd *ret_kfd);
void contender_kfd_free(struct contender_kfd *kfd);

/* -1: memory is out. */
int contender_base_take(const struct probe_sample *sample, struct contender_base *ret_base, struct err *err);
void contender_base_free(struct contender_base *base);

/*
 * The first of them: those of the KFD, then who grew. `base` NULL: nobody's growth counts. True: `*ret_contender` is
 * filled.
 */
bool contender_find(const struct probe_sample *sample, const struct probe_set *ours, const struct contender_kfd *kfd,
		    const struct contender_base *base, uint64_t allowed_bytes, struct contender *ret_contender);

#endif
