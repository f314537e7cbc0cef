/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Standing jobs: services that have the card only while nobody else wants it. Pure functions of what one settle sees;
 * serve.c has what a settle does with them (view.h), runner/service.c runs a service.
 *
 * A service takes no lane. It has a seat of its own, `standing-0` (seat.h), so that one of them runs at a time; its
 * record stays in pending/ the whole time, so that whoever comes sees by a name it reads anyway that there is one.
 * While that seat is not free no lane is given away.
 *
 * Who wants the card (a contender) is a job that has a lane, is frozen, or stands in line, or a foreign process that
 * registered with the KFD; while a service runs its worker counts foreign clients that grow as well
 * (runner/cell/contender.h).
 */
#ifndef PGPU_RUNNER_STANDING_H
#define PGPU_RUNNER_STANDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "elect.h"

/* Why a service is up or down; the first that holds. */
enum standing {
	STANDING_READY,	  /* it may be started now */
	STANDING_UP,	  /* it runs */
	STANDING_HELD,	  /* somebody said so; one that runs is to leave */
	STANDING_JOB,	  /* a job has a lane, is frozen, or waits */
	STANDING_OTHER,	  /* another service has the card, or leaves it */
	STANDING_UNSEEN,  /* the card was not looked at */
	STANDING_FOREIGN, /* a foreign process is registered with the KFD */
	STANDING_VRAM,	  /* less of the card's memory is free than it asks for */
	STANDING_AFTER,	  /* the card is free, and not for long enough */
	STANDING_FAILED,  /* the same, of one that failed: it waits longer */
};

/* What all services share at one moment. */
struct standing_scene {
	bool job;	       /* a job has a lane, is frozen, or stands in line */
	uint64_t up_id;	       /* the service that has the seat; 0: none */
	bool seen;	       /* the card was looked at; so for the next three */
	bool foreign;	       /* a foreign process is registered with the KFD */
	struct load vram;      /* what is free: `card` and `rooms` of it; what is not told holds nobody back */
	int64_t now_ns;	       /* boot clock */
	int64_t free_since_ns; /* nobody has wanted the card since then */
	int64_t after_ns;      /* conf.standing_after_ns */
};

/*
 * How long the card has to be free before a service is started that failed so often in a row: `after_ns`, twice as long
 * for each failure after the first, at most 15 minutes, or `after_ns` where that is longer. A service that failed waits
 * a second at least.
 */
int64_t standing_delay_ns(int64_t after_ns, int failures);

/* One service, without regard to the others; `ret_at_ns` is when its time comes where it is waited for alone. */
enum standing standing_judge(const struct standing_scene *scene, const struct candidate *service, int64_t *ret_at_ns);

/*
 * Which is to be started now: of those that may be, the one that came first, or NULL. One that does not fit, or failed,
 * is passed by those behind it. `ret_at_ns`: when the first of them may be, where time alone is missing; 0: no time.
 */
const struct candidate *standing_pick(const struct standing_scene *scene, const struct candidates *services,
				      int64_t *ret_at_ns);

/* How a service's run came to its end. */
enum standing_end {
	STANDING_SENT_AWAY, /* it was stopped for a contender */
	STANDING_ENDED_BAD, /* by itself, with another code than 0, or it could not start */
};
/* Failures in a row after a run of `ran_ns`: what ran for a minute had started well. */
int standing_failures(int before, enum standing_end how, int64_t ran_ns);

/* A mark of all changes of hands: differs when any seat was taken in between. */
uint64_t standing_hands(const uint64_t *gens, int count);

#endif
