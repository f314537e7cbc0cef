/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One step of the line's protocol: with the queue lock held, look at all seats, tickets and spooled jobs, give every
 * free lane to who comes first, fill the roles, and say what is to be done once the lock is dropped. In the model
 * (tests/model/) CY and SE.
 */
#ifndef PGPU_RUNNER_SETTLE_H
#define PGPU_RUNNER_SETTLE_H

#include "member.h"

enum { PLAN_SPAWNS = 4, PLAN_DEAD = 4 };

/* In place of a seat's number: its owner waits in line with its job frozen. */
enum { HOLDER_IN_LINE = -3 };

struct dead {
	struct entry entry;   /* what its supervisor left on file */
	struct seat seat;     /* its lane, held by us as `completing` (or SEAT_NONE) */
	struct ticket ticket; /* or its ticket, where the job was frozen (or TICKET_NONE) */
};

struct plan {
	struct entry *wake; /* who is to look; heap, grows */
	int wakes;
	struct seat spawn[PLAN_SPAWNS]; /* seats on which a worker is to be started; locked by us until it has them */
	int spawns;
	struct dead *dead; /* jobs whose supervisor is gone; heap, PLAN_DEAD at the most */
	int deads;
	struct seat_view *holders; /* seats that are held, lanes and roles, and frozen jobs' tickets; heap, grows */
	int holder_count;
	struct procid nudge[PLAN_SPAWNS]; /* who was about to start a worker and has not: SIGCONT if it is stopped */
	int nudges;
	bool watch_needed;
	bool yield;		/* this member's job is to be frozen for a better one (elect_forced()), or, being a
				  service, to make room */
	bool settled;		/* without this member, if it is leaving, nothing is left to do or to wait for */
	int64_t again_boot_ns;	/* a grant runs out then; 0: none */
	int64_t again_wall_ns;	/* then the clock lets somebody compete, or no longer; 0: never */
	int64_t closes_wall_ns; /* then `closed` may change; 0: never */
	bool closed;		/* this member's job is to be frozen until its class's hours come again */
};

/*
 * With the lock: every lane runs a job of a living supervisor that nobody may force aside, and a living standby watches
 * who is not all of them. One
 * more job in line then changes nothing, and whoever put it there need not settle: a lane is given away by its holder
 * or by those who watch him, with the lock, so that they look at the line after us.
 */
bool settle_calm(struct line *line);
/* 1: no id is left for a new `run`; line_reserve() without the lock, and again. 2: somebody waits for the card's
 * memory; member_look_at_card() without the lock, and again. */
int settle(struct member *member, struct plan *ret_plan, struct err *err);
void plan_free(struct plan *plan);

#endif
