/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What one settle sees and changes: the working copy that view.c fills and that lanes.c (who gets which lane) and
 * roles.c (who watches) go by. All of it with the queue lock held.
 */
#ifndef PGPU_RUNNER_VIEW_H
#define PGPU_RUNNER_VIEW_H

#include "settle.h"

struct view {
	struct member *member;
	struct plan *plan;
	struct seat_view *seats; /* lanes, then standby, then second */
	int lanes;
	struct candidates waiting;
	struct served served;
	struct load load;	     /* of what runs, is frozen, or is to run: see elect.h */
	struct line_pending pending; /* `competing`: those that no lane was given for yet */
	int busy;		     /* lanes that are taken, granted, or being cleared */
	bool spool_runs;
	bool standby_granted; /* the standby, a worker, was given a lane and has not taken it yet */
	bool distrust;	      /* it did not take one in time */
	struct procid standby_owner;
	struct candidates services; /* standing jobs; not in `waiting` */
	struct seat_view *service;  /* heap, once there is one of them: their seat */
	bool kept;		    /* that is not free: no lane is given away */
	int64_t now;
};

int view_look(struct view *view, struct err *err);
void view_free(struct view *view);

/* What is to be done after the lock is dropped. */
void view_note_wake(struct view *view, const struct entry *entry);
void view_note_again(struct view *view, int64_t at_boot_ns);
void view_note_wall(struct view *view, int64_t at_wall_ns);
int view_note_holder(struct view *view, const struct entry *entry, int number, struct err *err);

bool view_is_me(const struct view *view, const struct procid *id);
struct candidate *view_find_ticket(const struct view *view, uint64_t id);
/* Whoever a seat was granted to lives, and may take it still. */
bool view_grantee_alive(const struct view *view, const struct seat_view *seat);
const struct seat_view *view_standby(const struct view *view);
/* One more element at the end of a heap array that doubles at each power of two; NULL without memory. */
void *view_grow(void *list_pointer, int count, size_t size);

/* A seat that is granted, or on which a worker is being started: 1 it is taken care of, 0 it is to be given away. */
int view_still_granted(struct view *view, const struct seat_view *seat, struct err *err);
/* Puts a grant to that ticket on file; 0 when nobody holds the ticket any more. */
int view_grant(struct view *view, const struct seat_view *seat, struct candidate *winner, struct err *err);
/* Locks the seat for a worker that is to be started on it, for the service `id` or whatever comes first (0). 0 when
 * none may be started now. */
int view_spawn(struct view *view, const struct seat_view *seat, uint64_t id, struct err *err);
/* The job of a dead holder of a seat is ours to clear. */
int view_adopt_seat(struct view *view, const struct seat_view *seat, struct err *err);
/* Its death was seen on a pidfd. */
bool view_is_gone(const struct member *member, const struct procid *id);
/* The job of a dead owner of a frozen ticket is ours to clear. */
int view_adopt_frozen(struct view *view, const char *file);

/*
 * gate.c: the card's memory. gate_needs_look(): somebody waits for it, a lane may be given (or is offered), and the
 * card was not looked at yet. gate_open() fills view->load.card; gate_note_patience() looks how long the first in line
 * waits for it; gate_take() is for a job that gets its lane.
 */
bool gate_needs_look(const struct view *view, bool offered);
void gate_open(struct view *view);
void gate_note_patience(struct view *view);
void gate_take(struct load *load, const struct candidate *winner);

/*
 * serve.c: standing jobs. serve_look() comes before the lanes: what is their seat's state, does ours go on or begin.
 * serve_needs_look(): the standby is to look at the card for them first. serve_fill() comes after the lanes: starts
 * one, has one leave, clears up after a dead one. serve_again() comes after the roles: who became the standby just now
 * is to look at once.
 */
int serve_look(struct view *view, struct err *err);
/* A standing job waits for the card, or has it: somebody is to watch. */
bool serve_watched(const struct view *view);
bool serve_needs_look(const struct view *view);
int serve_fill(struct view *view, struct err *err);
void serve_again(struct view *view);

/* lanes.c: every free lane goes to who comes first. roles.c: the standby and the second are filled, or dismissed. */
int lanes_fill(struct view *view, struct err *err);
int roles_fill(struct view *view, struct err *err);

#endif
