/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The queue's folder as the line sees it: its lock, this boot's folder, ids, and who was served last.
 *
 *     QUEUE/lock       the queue lock: held for memory and rename work only, never across an fsync, the start of a
 *                      job, a wait, or a read of /proc or the card
 *     QUEUE/counter    no id above it was ever given out; durable, raised by blocks of 100
 *     QUEUE/served     the last served sessions: "SESSION SEQUENCE", fixed lines, overwritten in place, never synced
 *     QUEUE/conf       the configuration in force (conf.h)
 *     QUEUE/failures   classes whose jobs fail, and are paused (pause.h)
 *     QUEUE/boot-ID/   what lives only as long as this boot: next, lane-K, standby, second, tickets/
 *
 * Calling sequence: line_init(), line_open(), then line_lock() .. line_unlock() around settle() and the like,
 * line_close(). No process inside a job's cell may call line_lock(): frozen, it would hold the lock.
 *
 * The line knows no spool. What it needs of spooled jobs it asks through `struct line_spool`.
 */
#ifndef PGPU_RUNNER_LINE_H
#define PGPU_RUNNER_LINE_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "conf/base/err.h"
#include "conf/base/names.h"
#include "conf/conf.h"
#include "elect.h"
#include "entry.h"

/* How many jobs wait in the spool, standing ones not counted. */
struct line_pending {
	long competing;
	long timed;		/* for their time, or their class's hours */
	int64_t change_wall_ns; /* when the clock lets the next of these compete; 0: never */
};

/*
 * The spool's side, filled in by spooled_connect(). All but `list`, `describe` and `take` run without the queue lock.
 */
struct line_spool {
	/* Adds the first of those pending jobs of each (class, session, card) that compete, and every standing one;
	 * called with the lock. 0 or -1. */
	int (*list)(void *context, struct candidates *ret_candidates, struct line_pending *ret_pending,
		    struct err *err);
	/* Whether any job is pending that somebody is to watch for; without the lock. */
	bool (*any)(void *context);
	/* Fills id, kind, class, session, restarts of `entry` from the winner's name; with the lock. */
	int (*describe)(void *context, const struct candidate *winner, struct entry *entry, struct err *err);
	/* The record of a service that is started: it stays in pending/, its restarts counted up; with the lock. */
	int (*serve)(void *context, const struct candidate *service, struct err *err);
	/* Moves its record to running/; with the lock, and after the lane names the job: killed in between, the
	 * record is still pending. The other way round nobody would look for it before the next boot. */
	int (*take)(void *context, const struct candidate *winner, struct err *err);
	/* What a dead supervisor left of its job is killed and gone when this returns 0; -1: something is still there,
	 * and entry->stuck is one of its processes. Short where it is so already. */
	int (*clear)(void *context, struct entry *entry, struct err *err);
	/* The job of a dead supervisor goes back in line or ends `lost`; with the lock. */
	int (*lost)(void *context, const struct entry *entry, struct err *err);
	/* Records that say running although this boot knows nothing of them; with the lock. */
	int (*sweep)(void *context, struct err *err);
	/* After a boot, and for `pgpu rescue`: what the unsynced log lacks is written again from the records; without
	 * the lock. */
	int (*repair)(void *context, struct err *err);
	/* Makes what the last changes with the lock did durable, and writes log lines; without the lock. */
	int (*sync)(void *context, struct err *err);
	void *context;
};

/*
 * The card's memory, as one look finds it. Held by a lane's job, or by all frozen ones: what is known; unknown is 0.
 */
enum { LINE_CARDS = 32 };
struct card_sample {
	bool known; /* of the card that has the most free; so for the next three */
	uint64_t total_bytes, used_bytes;
	char card[PCI_TEXT];
	struct {
		uint64_t gen; /* of the lane then */
		uint64_t held_bytes;
	} lanes[CONF_LANES];
	uint64_t frozen_bytes;
	char others[128]; /* who else holds most of it, for people; "" */
	int card_count;
	struct {
		bool known;
		uint64_t total_bytes, used_bytes, frozen_bytes;
		char card[PCI_TEXT];
	} cards[LINE_CARDS]; /* each of those with an address */
	bool contended;	     /* a foreign process is registered with the KFD: a standing job is not to start */
	struct {
		pid_t pid;
		uint64_t start;
		char comm[64];
		int64_t vram_bytes; /* -1: unknown */
	} contender;
};

/* Filled by vram_connect(). The look takes milliseconds and is never made with the lock. */
struct line_card {
	void (*look)(void *context, struct card_sample *ret_sample);
	/* For the log: such a process kept a standing job from the card. */
	void (*noticed)(void *context, const struct card_sample *sample);
	/* Returns when no more of the card's memory is used than that, or after some seconds; without the lock. */
	void (*back)(void *context, uint64_t used_bytes);
	void *context;
};

struct line {
	int queue_fd;
	int boot_fd;
	int tickets_fd;
	int lock_fd;	    /* -1 while not held */
	bool stops_blocked; /* the caller blocks SIGTSTP, SIGTTIN and SIGTTOU for good */
	sigset_t mask;	    /* before line_lock() */
	struct names_empty no_tickets;
	struct line_spool spool;
	struct line_card card;
	bool conf_new;	     /* we took over a changed file: those that hold or wait go by what it said before */
	uint64_t conf_copy;  /* which copy `conf` was read from: inode and change time, since a file system gives an
				inode of two copies ago to the next; 0: none */
	bool conf_foreign;   /* conf_broken, and the copy is a newer pgpu's: drained, whatever they say */
	bool conf_broken;    /* the file on disk is not in force, and conf_err says why */
	struct conf conf;    /* filled by line_conf() alone: four pages, of which two are used */
	struct err conf_err; /* last, since it is seldom touched */
};

/* An empty line, for line_close() at any time; `conf` is left as it is. */
void line_init(struct line *line);
/* Opens and makes what is missing, without the configuration. */
int line_open(struct line *line, struct err *err);
/*
 * Fills line->conf with what is in force, taking a changed file over. A broken file is conf_err; only where there is no
 * copy at all it is an error. Takes the queue lock when the file has changed, so never inside a cell (`may_lock`
 * false).
 */
int line_conf(struct line *line, bool may_lock, struct err *err);
/* Reads the copy again when another process has taken a changed file over. With the lock: every election counts with
 * the same numbers. */
int line_conf_again(struct line *line, struct err *err);
void line_close(struct line *line);
/* Writes line->conf as the copy, for all. With the lock, after line_conf_again() and a change. */
int line_conf_put(struct line *line, struct err *err);

/*
 * Keeps jobs from starting until then (wall clock, seconds), CONF_NEVER: until 0 is said. Durable, in a file of its own
 * beside the queue's copy of the configuration, which every election reads and which repeats it. Takes the lock; the
 * line is to be settled after it.
 */
int line_drain(struct line *line, int64_t until_s, struct err *err);

/* Waits for the lock however long it takes; sends SIGCONT to a holder that keeps it over a second, names it after ten.
 * Model: LOCKS. */
int line_lock(struct line *line, struct err *err);
void line_unlock(struct line *line);

/* Makes sure that `count` ids can be taken without a sync. Without the lock. */
int line_reserve(struct line *line, unsigned count, struct err *err);
/* With the lock, after line_reserve(): 1 when another process took them meanwhile (reserve again), 0 with the first id.
 */
int line_take_ids(struct line *line, unsigned count, uint64_t *ret_first, struct err *err);
/* True when the id was given out at some time. */
bool line_id_known(struct line *line, uint64_t id);

/* Sequence numbers of all sessions; `served_read` and `served_touch` with the lock. An unknown session is 0: never
 * served. */
struct served {
	int fd; /* of the file; -1: none yet */
	char *text;
	size_t size;
	uint64_t last;
};
#define SERVED_NONE ((struct served){ .fd = -1 })
void served_read(struct line *line, struct served *ret_served);
uint64_t served_of(const struct served *served, const char *session);
/* Counts the session as served now; `served` is what served_read() gave under the same lock. */
int served_touch(struct line *line, struct served *served, const char *session, struct err *err);
void served_free(struct served *served);

#endif
