/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * After a job's end: its memory of the card comes back a moment after its last process has gone, since a driver tears a
 * client down by itself. A lane that is handed on before that starts a job on a card that is still full.
 *
 *     reclaim_plan()   at each look at the running job: what its cards will be down to without it
 *     reclaim_wait()   when it has ended, with its lane still held: until they are, or vram-settle is over
 *
 * The floor is what the card used at that look, less what the job had of it. What others allocate after it looks the
 * same, so that it may take the whole of vram-settle, and no longer. Only a job that was seen with memory of a card has
 * a plan; the others pay nothing.
 *
 * The kernel tells nobody when VRAM comes free: the files of sysfs give no event. So they are read every
 * RECLAIM_STEP_MS while it lasts.
 */
#ifndef PGPU_RUNNER_RECLAIM_H
#define PGPU_RUNNER_RECLAIM_H

#include "runner/cell/probe_use.h"
#include "runner/line/member.h"
#include "runner/line/signals.h"

enum { RECLAIM_STEP_MS = 50, RECLAIM_CARDS = 8, RECLAIM_HOLDERS = 8 };
/* What others do meanwhile is not waited for: an eighth of what the job had, at most this much. */
#define RECLAIM_SLACK (INT64_C(64) << 20)

struct reclaim {
	int count; /* cards; 0: nothing to wait for */
	struct {
		uint64_t pci;
		int64_t held_bytes;  /* the job had */
		int64_t floor_bytes; /* and without it the card uses */
	} cards[RECLAIM_CARDS];
	int holder_count; /* of the job, outside of its cell, with a card still open when it had ended */
	struct {
		pid_t pid;
		uint64_t start;
	} holders[RECLAIM_HOLDERS];
};

/* Pure. Cards that do not tell what they use are left out. */
void reclaim_plan(const struct probe_cards *cards, const struct probe_use *job, struct reclaim *ret_reclaim);
/* What is above the floors, beyond the slack; 0: it is back, or that cannot be told. Pure. */
int64_t reclaim_left(const struct reclaim *reclaim, const struct probe_cards *now);

/*
 * The lane says `completing` meanwhile, and the line is served as ever. A signal that would end a `run` ends the wait.
 */
void reclaim_wait(struct member *member, struct signals *signals, const struct reclaim *reclaim);

#endif
