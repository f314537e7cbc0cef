/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The whole line at one moment, for people: what runs, what waits in which order, and why. Read without the queue lock;
 * the order is that of the election itself.
 */
#ifndef PGPU_RUNNER_SNAPSHOT_H
#define PGPU_RUNNER_SNAPSHOT_H

#include "runner/eligible.h"
#include "runner/line/line.h"
#include "runner/line/pause.h"
#include "runner/line/seat.h"
#include "runner/line/standing.h"
#include "submit/spool.h"

struct snapshot {
	struct seat_view *lanes; /* heap */
	int lane_count;
	int busy;		   /* lanes that are not free */
	struct candidates waiting; /* in the order in which they would start; frozen ones that stand in line too */
	struct entry *frozen;	   /* heap: frozen jobs whose `run` is stopped */
	int frozen_count;
	struct entry *away; /* heap: frozen jobs that stand in line, in no order; each is in `waiting` too */
	int away_count;
	long more_tasks;	     /* beside one for each array in `waiting` */
	struct candidates services;  /* standing jobs, in the order in which they came; not in `waiting` */
	struct seat_view service;    /* their seat */
	struct standing_scene scene; /* what they wait for; see standing_judge() */
	char contender[96];	     /* who of the KFD keeps them down, "" */
	struct load load;
	char others[128]; /* who else holds most of the card's memory, where somebody waits for it */
	uint64_t last_served;
	struct pauses *pauses; /* heap; NULL: no class is paused */
};

int snapshot_take(struct line *line, struct spool *spool, struct snapshot *ret_snapshot, struct err *err);
/* Lanes and frozen jobs alone; `waiting` has of them those that stand in line. */
int snapshot_take_begun(struct line *line, struct snapshot *ret_snapshot, struct err *err);
void snapshot_free(struct snapshot *snapshot);

/* "the queue is drained until ...": for lists. */
void snapshot_tell_drained(const struct conf *conf, char sentence[128]);
/*
 * Why the job at `index` of `waiting` waits: one of the contract's words, and one plain sentence with the numbers.
 */
/* The same of the standing job at `index` of `services`, up or down: `held` or `standing`. */
const char *snapshot_standing(const struct snapshot *snapshot, const struct conf *conf, size_t index,
			      char sentence[128]);
const char *snapshot_reason(const struct snapshot *snapshot, const struct conf *conf, size_t index, char sentence[128]);

#endif
