/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A sample: the cards and who held what of them at one moment (probe.h). Made by probe_sample() alone; the functions
 * that add are for its parts. Lists are bounded: what a hostile process may open beyond them makes the sample partial.
 */
#ifndef PGPU_RUNNER_PROBE_SAMPLE_H
#define PGPU_RUNNER_PROBE_SAMPLE_H

#include "conf/base/err.h"
#include "probe_card.h"
#include "probe_drm.h"

/* pids in ascending order, each once. Where a set is asked for, NULL stands for all processes. */
struct probe_set {
	const pid_t *pids;
	size_t count;
};
bool probe_set_has(const struct probe_set *set, pid_t pid);
/* Sorts `pids` and drops repetitions; returns how many are left. */
size_t probe_set_sort(pid_t *pids, size_t count);

struct probe_process {
	pid_t pid;
	uint64_t start; /* clock ticks since boot; 0: unknown */
	bool shut;	/* its descriptors cannot be looked into */
	bool gone;	/* registered with a driver, but there is no such process */
	bool named;	/* `comm` is known */
	char comm[64];	/* as the process chose it: any bytes but NUL */
};

/* A process has a descriptor of a client. Numbers are indexes into the sample's lists. */
struct probe_hold {
	uint32_t process, client;
};

/* What a process has of a card beside its DRM clients. */
enum probe_via { PROBE_KFD, PROBE_NVML, PROBE_BLIND };
struct probe_share {
	uint32_t process;
	enum probe_via via; /* PROBE_BLIND: it holds the device, and nothing tells what it does there */
	uint64_t pci;	    /* PROBE_NO_PCI: of which card cannot be told */
	int64_t vram_bytes; /* -1: unknown */
	int queues;	    /* PROBE_KFD: work is handed to the card by these, without a system call */
	int busy_percent;   /* PROBE_NVML, of the time since the sample before; -1: unknown */
};

struct probe_list {
	size_t count, room;
};

struct probe_sample {
	int64_t at_ns; /* clock_awake_ns() */
	struct probe_cards cards;
	struct probe_process *processes; /* who has anything below, and who is shut */
	struct probe_client *clients;	 /* each once a card */
	struct probe_hold *holds;
	struct probe_share *shares;
	struct probe_list process_list, client_list, hold_list, share_list;
	bool failed;  /* memory was out while it was made */
	size_t seen;  /* processes there were */
	size_t shut;  /* of them, who cannot be looked into */
	bool partial; /* there was more than a sample holds */
	bool abroad;  /* /proc shows another pid namespace than drivers know: theirs cannot be told apart by pid */
};

void probe_sample_free(struct probe_sample *sample);
#define SCOPE_SAMPLE __attribute__((cleanup(probe_sample_free)))

enum { PROBE_NOBODY = UINT32_MAX };
/* Each adds one, and returns its index or PROBE_NOBODY: full, or memory is out. */
uint32_t probe_add_process(struct probe_sample *sample, const struct probe_process *process);
/* The client's index, whether it was there or not; the process holds it from now on. */
uint32_t probe_add_client(struct probe_sample *sample, const struct probe_client *client, uint32_t process);
void probe_add_share(struct probe_sample *sample, const struct probe_share *share);
/* PROBE_NOBODY: not in the sample. */
uint32_t probe_find_process(const struct probe_sample *sample, pid_t pid);

/* Room for one more of `size` bytes in a list that never holds more than `most`; NULL: full, or memory is out. */
void *probe_grow(void *items, struct probe_list *list, size_t size, size_t most);

#endif
