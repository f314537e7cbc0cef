/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a lane, a role or a ticket says of itself: a few lines "key value" that a person can read, last line "end";
 * empty lines behind it are where a longer text stood.
 *
 * Written only under the queue lock, with one pwrite(2); read with or without it. A reader without the lock that finds
 * no "end" met a writer half way and reads again. Liveness is never taken from the text: it is a lock on the
 * file (seat.h, ticket.h).
 */
#ifndef PGPU_RUNNER_ENTRY_H
#define PGPU_RUNNER_ENTRY_H

#include <stdbool.h>
#include <stdint.h>

#include "conf/base/err.h"
#include "conf/base/pci.h"
#include "conf/base/procid.h"

enum entry_state {
	ENTRY_FREE,
	ENTRY_GRANTED,	  /* on file for an owner who has not locked it yet */
	ENTRY_RUNNING,	  /* a lane's job runs; a role's owner watches */
	ENTRY_COMPLETING, /* ends, or is cleared by a rescuer */
	ENTRY_WAITING,	  /* a ticket in line */
	ENTRY_FROZEN,	  /* a ticket whose job has begun and is frozen */
	ENTRY_STATES,
};

enum entry_kind { ENTRY_RUN, ENTRY_SPOOL };

struct entry {
	uint64_t gen; /* which byte of the file its holder has locked */
	enum entry_state state;
	int64_t since_boot_ns; /* when it came into that state */
	int64_t asleep_ns;     /* of a job that runs: so long the machine had been suspended by then, whole seconds */
	struct procid owner;   /* supervisor of the job, watcher, or who waits */
	bool worker;	       /* the owner is a worker: it can take any spooled job */
	char socket[108];      /* the owner's control socket; "" where it has none */

	uint64_t id; /* the job; 0 where a worker is to take whatever comes first */
	enum entry_kind kind;
	char class_name[33];
	char session[65];
	char name[256];
	char command[512]; /* shell-quoted, cut */
	char workdir[512]; /* cut */
	int restarts;
	int64_t arrived_wall_ns;
	int64_t started_wall_ns;
	int64_t waited_ns; /* in line, before each of its holds, added up */
	int64_t ran_ns;	   /* in earlier holds of a job that gave its lane up */
	int64_t frozen_ns;
	uint64_t served; /* sequence number of the hold it has, or had last (line.h); 0: none yet */
	bool turned;	 /* offered its first turn within its class's turns-as-without-turn */
	int64_t budget_ns;
	int64_t limit_ns;
	uint64_t memory_bytes;
	uint64_t reserved_bytes; /* of it, what was asked for; 0: it is the default */
	uint64_t vram_bytes;	 /* of the card's memory, what was asked for */
	char card[PCI_TEXT];	 /* the one that was asked for, or that its lane is bound to; "": any */
	uint64_t vram_max_bytes; /* ceiling of each card's memory; 0: none */
	uint64_t held_bytes;	 /* of a frozen job: what it holds; of a service: what was used before it; 0: unknown */
	int64_t looked_boot_ns;	 /* what its watcher saw last of a job that holds a card; 0: nothing, and unknown */
	int gpu_permille;	 /* its share of the busiest engine; -1: unknown, as the next two */
	int64_t gpu_ns;		 /* its time on the cards in all */
	int64_t on_card_bytes;	 /* of their memory */
	struct procid main;	 /* the job's first process */
	char cell[512];		 /* path of its cgroup; "" without one */
	int stuck;		 /* a process that SIGKILL does not end; 0: none */
	int settling_pid;	 /* the job is over: of its own, and still has a card open; 0: none */
	int64_t settling_bytes;	 /* and of the card's memory so much is to come free before the lane goes on */
	int64_t again_boot_ns;	 /* no supervisor lives: when to try again to end it */
	int64_t again_wall_ns;	 /* of the standby's seat: the moment of the wall clock that it sleeps to; 0: none */
	char mark[128];		 /* GPU_QUEUE_TURN of its processes: how a rescuer finds them without a cell */
};

extern const char *const entry_state_names[ENTRY_STATES];

/* Between two tries to end a process that cannot be killed. */
enum { ENTRY_AGAIN_S = 5 };
/* What a dead supervisor left could not be ended, and it is not yet time to try again. */
bool entry_rests(const struct entry *entry, int64_t now_boot_ns);

enum { ENTRY_TEXT = 4096 };
/* Returns the length; text always fits. */
int entry_format(const struct entry *entry, char text[ENTRY_TEXT]);
/* Unknown keys are passed over; -1 when "end" is missing or a figure is none. Fields not named are zero. */
int entry_parse(const char *text, struct entry *ret_entry);

/* Reads from offset 0, trying again while a writer is half way; an empty file is a free entry of gen 0. */
int entry_read(int fd, struct entry *ret_entry, struct err *err);
int entry_write(int fd, const struct entry *entry, struct err *err);

#endif
