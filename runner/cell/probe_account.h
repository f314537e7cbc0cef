/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a set of processes does on the cards from sample to sample: the account of one job. Pure but for its memory.
 *
 *     struct probe_account account = PROBE_ACCOUNT_NONE;
 *     each time: probe_sample(...); probe_account_add(&account, &sample, &set, &step, &err);
 *     stalled, so far: step.doubt == PROBE_KNOWN && step.busy_ns == 0
 *     account.busy_ns: what the job had in all
 *
 * A client's counters are kept as the largest that were seen, since a driver may let them go back for a while
 * (drm-usage-stats.rst): that counts as nothing done, and as a doubt. A client that has gone keeps its time in the
 * account; what it did after the last sample is lost. One that comes back with smaller counters is another one with the
 * same number (before Linux 6.5).
 *
 * What only counts in ticks (xe) is turned into time by its own clock, which advanced during the same wall time.
 */
#ifndef PGPU_RUNNER_PROBE_ACCOUNT_H
#define PGPU_RUNNER_PROBE_ACCOUNT_H

#include "probe_use.h"

struct probe_account_client {
	struct probe_client client; /* the largest of each counter */
	uint64_t sample;	    /* the last that it was in */
};

struct probe_account {
	struct probe_account_client *clients; /* heap */
	struct probe_list list;
	uint64_t samples;
	int64_t at_ns;	 /* of the last one */
	int64_t busy_ns; /* of all engines since the clients were made, as far as it is known */
};
#define PROBE_ACCOUNT_NONE ((struct probe_account){ 0 })

/* One class of engines of one card, between two samples. */
struct probe_busy {
	uint64_t pci;
	char driver[PROBE_NAME];
	char engine[PROBE_NAME]; /* sm: an NVIDIA card */
	int capacity;
	int64_t busy_ns; /* more than the wall time where there are several, or where work waits in the card's queue */
	int permille;	 /* of all of the class, at most 1000 */
};

enum { PROBE_BUSIES = 48 };
struct probe_step {
	enum probe_doubt doubt;
	bool holds;	  /* anything of a card's */
	int64_t wall_ns;  /* since the sample before */
	int64_t busy_ns;  /* of all engines, as far as it is known: above 0 is work, whatever the doubt */
	int permille;	  /* of the busiest class; -1: unknown */
	int engine_count; /* those that did something */
	struct probe_busy engines[PROBE_BUSIES];
};

/* -1 when memory is out: the account is then as it was, or has a part of the sample. */
int probe_account_add(struct probe_account *account, const struct probe_sample *sample, const struct probe_set *set,
		      struct probe_step *ret_step, struct err *err);
void probe_account_free(struct probe_account *account);

#endif
