/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A process that takes part in the line: a `run`, a worker, or the guest that every other call is.
 * tests/model/README.md is the protocol in words; settle.c does its steps, this file carries them out.
 *
 *     member_open()
 *     member_settle()       one look at the files and everything that follows from it
 *     member_poll_fill(), member_poll_done()   its descriptors in the owner's event loop
 *     member_leave()        before it ends or stops itself
 *     member_close()
 *
 * After member_settle() the owner looks whether it now has a lane (lane.fd >= 0): a `run` starts its command, a worker
 * the job in `job`.
 */
#ifndef PGPU_RUNNER_MEMBER_H
#define PGPU_RUNNER_MEMBER_H

#include <poll.h>

#include "line.h"
#include "seat.h"
#include "ticket.h"
#include "wake.h"

enum member_kind { MEMBER_GUEST, MEMBER_RUN, MEMBER_WORKER };

enum {
	MEMBER_GONE = 8,
	MEMBER_CALLS = 32,
	MEMBER_WATCHED = 2 * CONF_LANES + 2,
	MEMBER_POLL = 2 + 2 * MEMBER_CALLS + MEMBER_WATCHED
};

/* What becomes of a message's connection: closed, kept by who answers, or closed and the line is to be settled. */
enum message { MESSAGE_DONE, MESSAGE_KEPT, MESSAGE_SETTLE };

enum watched_role { WATCHED_HOLDER, WATCHED_MAIN, WATCHED_WATCHER };

struct watched {
	struct procid id;
	enum watched_role role;
	int lane;
	uint64_t gen;
	int pidfd;
};

struct member {
	struct line *line;
	enum member_kind kind;
	struct entry job; /* what its ticket or lane says: the owner (this process), and the job it has or wants */
	struct ticket ticket;
	struct seat lane;
	struct seat role;
	bool ended;	 /* the lane is ours and its job is over: settle may give it away */
	bool leaving;	 /* takes nothing any more */
	bool wants_lane; /* a `run` in line */
	bool wants_id;	 /* its first settle gives it an id */
	bool settled;
	bool troubled;		  /* the last member_settle_begun() failed, and it was said */
	bool card_seen;		  /* by this settle: what the next says */
	bool standing_waits;	  /* that look is for a standing job that waits for the card */
	struct card_sample *card; /* heap, once it was needed: the last look at the card */
	bool closed;		  /* of who has a lane: its job is to be frozen until its class's hours come again */
	bool yield;   /* of who has a lane: the last settle found that its job is to be frozen for a better one; of who
			 runs a service: that it is to make room for a job */
	bool blocked; /* the last settle met a dead job that could not be ended yet; it is tried again later */
	struct wake wake;
	struct procid stopped;		 /* a standby seen stopped: its seat counts as vacant */
	bool looks;			 /* who leaves, and found nobody beside the standby who is not stopped */
	struct procid gone[MEMBER_GONE]; /* seen to die, by pidfd: a copy of their lock that lives on does not count */
	int gone_next;
	bool watch_needed;	   /* something waits, or a spooled job runs: the standby's seat is to be held */
	int64_t again_boot_ns;	   /* settle again at this time; 0: no time */
	int64_t again_wall_ns;	   /* or when the wall clock shows this, and when it is set; 0: no time */
	int wall_fd;		   /* a timer for it; -1: none */
	int spawn_credit;	   /* workers it may still start before its next quiet second */
	pid_t workers[16];	   /* started by this process, the last ones */
	int calls[MEMBER_CALLS];   /* our connections to others: end of file means look again */
	int callers[MEMBER_CALLS]; /* theirs: what they have to say was not heard yet */
	int lookers[MEMBER_CALLS]; /* those of them that said "look": closed when settled */
	/* Answers, on the connection, any message that is not "look", wherever this member happens to wait. NULL: it
	 * has no job that could ask. */
	enum message (*on_message)(void *context, int fd, const char *message);
	void *message_context;
	struct watched *watched;
	int watched_count;
	struct {
		uint64_t gen;
		int64_t at_boot_ns;
	} quiet[CONF_LANES]; /* lanes whose job is gone, or unknown: when to look at them again */
};

void member_open(struct member *member, struct line *line, enum member_kind kind);
void member_close(struct member *member);

/* -1 only when the files cannot be read or written; the error says which. Model: CY, SE, WK, SP; of who arrives ARR. */
int member_settle(struct member *member, struct err *err);
/*
 * The same of whose job has begun: a line whose files cannot be written, on a full disk say, is no reason to end it. It
 * is said once, and tried again in a second.
 */
void member_settle_begun(struct member *member);
/* Looks at the card for this settle, without the lock. */
void member_look_at_card(struct member *member);
/*
 * Gives lane, role and ticket up and waits until what must hold holds without this process, at most 3 s for each that
 * does not answer. Model: LV2, STAY, EXIT.
 */
int member_leave(struct member *member, struct err *err);
/*
 * Of who has a lane and has frozen its job: stands in line with it, and the lane goes to who comes first with the next
 * settle, which may be this member itself. -1: it has its lane as before. Model: OFFER.
 */
int member_offer(struct member *member, struct err *err);
/* Whether anybody stands in line at all; without the lock. Who arrives a moment later is served at the next turn. */
bool member_is_waited_for(struct member *member);
/*
 * Of who has a lane: 1 when somebody in line comes before its job, would that stand in line again now after `ran_ns` in
 * all. 0 also while a lane is free or changes hands: whoever waits is served without us.
 */
int member_outranked(struct member *member, int64_t ran_ns, struct err *err);
/*
 * What member_leave() does, but a ticket stays and says so: TICKET_PASSED of a `run` that waits and is about to stop
 * itself, TICKET_FROZEN of one whose job has begun. -1 without a ticket: it has its lane as before.
 */
int member_pause(struct member *member, enum ticket_flag flag, struct err *err);
/* Stands in line again after member_pause(); the next settle may give it a lane. */
int member_resume(struct member *member, struct err *err);

/* Descriptors to poll for POLLIN, and how long at most; returns their count. Model: SLEEP, WATCH. */
int member_poll_fill(struct member *member, struct pollfd polls[MEMBER_POLL], int *timeout_ms);
/*
 * After poll(2), with the same array. Answers callers. Returns 1 when member_settle() is to be called, else 0.
 */
int member_poll_done(struct member *member, const struct pollfd polls[MEMBER_POLL], int count);
/* The workers this process started that are its children still, into `pids`, ended by 0 where there is room. */
void member_workers(const struct member *member, pid_t *pids, int room);
/*
 * Once a second, of who runs a job and of the second: is the standby dead or stopped, is a worker we started stopped?
 * Returns 1 when member_settle() is to be called.
 */
int member_tick(struct member *member);

#endif
