/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One DRM client as /proc/PID/fdinfo/FD tells of it: text in, figures out, nothing opened. Every driver's keys are
 * understood that follow the kernel's Documentation/gpu/drm-usage-stats.rst (amdgpu since 5.19, i915, xe, panfrost,
 * v3d, msm), and amdgpu's own ones of 5.14 to 5.18 ("vram mem:"). radeon, nouveau and nvidia-drm print none.
 *
 * A figure that is missing, cut, negative, too large or of another unit is -1: unknown, never 0. Of a key that comes
 * twice the first counts (amdgpu in 6.5 and 6.6 prints its identity twice, with two ids).
 */
#ifndef PGPU_RUNNER_PROBE_DRM_H
#define PGPU_RUNNER_PROBE_DRM_H

#include "probe_text.h"

enum { PROBE_NAME = 16, PROBE_ENGINES = 12, PROBE_REGIONS = 12 };

/* Engines of one class. `time_ns` and the cycles only grow, as a rule (probe_account.h has the exceptions). */
struct probe_engine {
	char name[PROBE_NAME]; /* gfx, compute, render, rcs, ... */
	int capacity;	       /* how many equal ones there are */
	int64_t time_ns;       /* drm-engine-: what this client had of it */
	int64_t cycles;	       /* drm-cycles-: the same in ticks */
	int64_t total_cycles;  /* drm-total-cycles-: the clock that ticks; one for all clients, never to be summed */
	int64_t max_hz;	       /* drm-maxfreq- */
};

/* A kind of memory. Bytes. Buffers that several clients share count in full in each. */
struct probe_region {
	char name[PROBE_NAME]; /* vram, gtt, system0, ... */
	int64_t resident;      /* drm-resident-: backed by memory now */
	int64_t memory;	       /* drm-memory-: its older name, the same number where both are there */
	int64_t total;	       /* drm-total- */
	int64_t shared;	       /* drm-shared- */
};

struct probe_client {
	uint64_t pci; /* of its card; PROBE_NO_PCI where the card is not on PCI */
	uint64_t id;  /* drm-client-id; one client has many descriptors, and one id may be there on two cards */
	char driver[PROBE_NAME];
	bool dated;	/* the keys of 5.14 to 5.18: no time, and `id` is the pasid */
	bool partial;	/* one of its figures could not be read, or it had too many */
	uint32_t owner; /* in a sample, whose it is: the process that began first of those that hold it, since a
			   descriptor is handed down to later ones; of two that began at once, the lower pid */
	int engine_count, region_count;
	struct probe_engine engines[PROBE_ENGINES];
	struct probe_region regions[PROBE_REGIONS];
};

enum probe_drm {
	PROBE_DRM_OTHER,    /* no file of a card's, or of a driver that prints nothing */
	PROBE_DRM_CLIENT,   /* *ret_client is filled */
	PROBE_DRM_NAMELESS, /* a card's, but which client it is cannot be told */
};
enum probe_drm probe_drm_parse(struct probe_span text, struct probe_client *ret_client);

bool probe_client_same(const struct probe_client *a, const struct probe_client *b);
/* False when how long it was on the card cannot be told: its driver prints no time. An engine that amdgpu does not
 * print was not used, unless no memory is printed either: then a signal has interrupted the read. */
bool probe_client_timed(const struct probe_client *client);
/* Nanoseconds over all of its engines; -1: unknown, or known in cycles alone. */
int64_t probe_client_time_ns(const struct probe_client *client);
/* True when it was ever on the card, as far as that can be told. */
bool probe_client_worked(const struct probe_client *client);

enum probe_pool {
	PROBE_VRAM,   /* vram*, local*, stolen-local* */
	PROBE_GTT,    /* gtt: memory of the machine, mapped for the card */
	PROBE_SYSTEM, /* system*, stolen*, memory, cpu */
	PROBE_POOLS,
};
/* Resident bytes of it. -1: no such region was printed, or one of them cannot be read. */
int64_t probe_client_bytes(const struct probe_client *client, enum probe_pool pool);

#endif
