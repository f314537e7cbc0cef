/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A seat is a lane or a role (standby, second): one file in the boot's folder, made once and then only locked and
 * overwritten.
 *
 * Its holder has byte `gen` of the file locked with an OFD lock (fcntl(2), F_OFD_SETLK): the kernel drops it with the
 * last descriptor of the holder's open file, and anybody can ask with F_OFD_GETLK, without disturbing it, whether it is
 * held. Each change of hands counts `gen` up, so that giver and taker can both be locked for a moment, and so that a
 * process that was passed over while it was stopped finds that its byte no longer counts.
 *
 * All but seat_read() is called with the queue lock.
 */
#ifndef PGPU_RUNNER_SEAT_H
#define PGPU_RUNNER_SEAT_H

#include "line.h"

/* Ordinals of seats: lanes count from 0, roles below, and then the seat of a standing job (standing.h); -3 is
 * HOLDER_IN_LINE. */
enum { SEAT_STANDBY = -1, SEAT_SECOND = -2, SEAT_STANDING = -4 };

struct seat {
	int fd; /* -1: no seat */
	int number;
	uint64_t gen; /* the byte that is ours */
};

#define SEAT_NONE ((struct seat){ .fd = -1 })

/* What stands on file of a seat, and whether its holder lives. */
struct seat_view {
	int number;
	struct entry entry;
	bool held;
	bool unreadable; /* `entry` is made up: busy while any byte is locked, else free */
};

void seat_name(int number, char name[32]);
/* Reads one seat; a missing file is a free one. `held` is about byte entry.gen. */
int seat_read(struct line *line, int number, struct seat_view *ret_view, struct err *err);
/*
 * All seats there are, lanes first: those of the configuration and whatever more has a file, then standby and second.
 * `*ret_views` is malloc'd (also on failure: free it); `*ret_lanes` is the number of lanes.
 */
int seat_read_all(struct line *line, struct seat_view **ret_views, int *ret_lanes, struct err *err);

/* Locks byte view->entry.gen + 1 and puts it on file as the seat's generation, with `entry` as text. */
int seat_take(struct line *line, const struct seat_view *view, struct entry *entry, struct seat *ret_seat,
	      struct err *err);
/* Puts a grant on file: generation counted up, not locked. */
int seat_grant(struct line *line, const struct seat_view *view, struct entry *entry, struct err *err);
/* Writes a granted seat free that its grantee has not locked; who looks later finds no grant. */
int seat_take_back(struct line *line, const struct seat_view *view, struct err *err);
/* Overwrites the text of a seat that is ours, with or without the queue lock; `entry->gen` is set to ours. */
int seat_update(const struct seat *seat, struct entry *entry, struct err *err);
/* True while the seat on file still has our generation. */
bool seat_ours(const struct seat *seat);
/* Writes it free if it is still ours, and drops the lock. */
int seat_free(struct seat *seat, struct err *err);
/* Drops the lock alone: the seat is on file for somebody else. */
void seat_drop(struct seat *seat);

#endif
