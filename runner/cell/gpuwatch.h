/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What is known of a job's use of the cards, look by look, and when the next look is worth its time: pure functions.
 *
 * A job that holds a card is looked at once a second. One that holds none is looked at less and less often, up to
 * GPUWATCH_SELDOM_NS apart, and not at all on a machine that has no card. The first look comes a second after the
 * start: what ends before that costs nothing, and nothing is known of it.
 *
 * The time on the cards is known where every look could be trusted. What computes through the KFD, or cannot be looked
 * into, is unknown once and for all. What a job did between the last look and its end, or of a device that it held
 * between two looks alone, is not in it. A job that was looked at and never held a device is known to have had none.
 */
#ifndef PGPU_RUNNER_GPUWATCH_H
#define PGPU_RUNNER_GPUWATCH_H

#include "probe_account.h"

#define GPUWATCH_OFTEN_NS  INT64_C(1000000000)
#define GPUWATCH_SELDOM_NS INT64_C(5000000000)

struct gpuwatch {
	bool looked;
	bool held;	     /* some card, at any look */
	bool holds;	     /* at the last one */
	bool unknown;	     /* a look could not be trusted: nor can the time in all */
	bool cardless;	     /* there is no card that could be held */
	int permille;	     /* of the busiest engine between the last two looks; -1: unknown */
	int64_t busy_ns;     /* in all */
	int64_t vram_bytes;  /* at the last look; -1: unknown */
	int64_t interval_ns; /* to the next look */
};
#define GPUWATCH_NEW ((struct gpuwatch){ .permille = -1, .vram_bytes = -1, .interval_ns = GPUWATCH_OFTEN_NS })

/* One look: what changed since the one before, the sum of all, and what the job has now. */
struct gpuwatch_look {
	const struct probe_step *step;
	int64_t busy_ns;
	int64_t vram_bytes;
	bool cardless;
	bool broken; /* the job was frozen since the look before: its share of that time says nothing */
};
void gpuwatch_add(struct gpuwatch *watch, const struct gpuwatch_look *look);

/* Time on the cards in all; -1: unknown. */
int64_t gpuwatch_total_ns(const struct gpuwatch *watch);
/* True when what is on file, `told_permille` and `told_bytes` from `ago_ns` ago, is to be written again. */
bool gpuwatch_is_news(const struct gpuwatch *watch, int told_permille, int64_t told_bytes, int64_t ago_ns);

/* Per cent, rounded; -1: unknown. */
int gpuwatch_percent(int permille);
/* Figures on file that are older are of a watcher that does not run, and say nothing. */
#define GPUWATCH_FRESH_NS INT64_C(10000000000)

#endif
