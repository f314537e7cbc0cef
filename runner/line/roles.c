/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "conf/base/clock.h"
#include "view.h"

/* How often a standby looks whether somebody beside it can act: nothing else tells it that one is stopped. */
#define STOPPED_LOOK_NS (300 * NS_PER_S)

static bool is_standby(const struct view *view)
{
	return view->member->role.fd >= 0 && view->member->role.number == SEAT_STANDBY;
}

/* To know who is stopped takes a file of /proc: the standby looks, and who leaves and had to. */
static bool looks(const struct view *view)
{
	return view->member->looks || is_standby(view);
}

static bool may_watch(const struct member *member, int number)
{
	if (member->leaving || member->lane.fd >= 0 || (member->role.fd >= 0 && member->role.number != number))
		return false;
	return member->kind == MEMBER_WORKER || member->ticket.fd >= 0;
}

static int watch_self(struct view *view, const struct seat_view *seat, bool mine, struct err *err)
{
	struct member *member = view->member;
	struct entry entry = { .state = ENTRY_RUNNING,
			       .owner = member->job.owner,
			       .worker = member->kind == MEMBER_WORKER && member->ticket.fd < 0 };

	memcpy(entry.socket, member->job.socket, sizeof entry.socket);
	entry.since_boot_ns = view->now;
	entry.again_wall_ns = view->plan->again_wall_ns;
	if (seat->number == SEAT_STANDBY)
		view->standby_owner = entry.owner;
	if (mine && seat->entry.state == ENTRY_RUNNING && seat->entry.worker == entry.worker)
		return seat->entry.again_wall_ns == entry.again_wall_ns ? 0 : seat_update(&member->role, &entry, err);
	/* Whoever runs a job is to know whom to watch, and the two watchers each other. */
	for (int i = 0; i < view->plan->holder_count; i++)
		view_note_wake(view, &view->plan->holders[i].entry);
	view_note_wake(view, &view->seats[view->lanes].entry);
	view_note_wake(view, &view->seats[view->lanes + 1].entry);
	return mine ? seat_update(&member->role, &entry, err)
		    : seat_take(member->line, seat, &entry, &member->role, err);
}

/* A waiting run that can watch for the line: the first in order that lives and has no grant. */
static int grant_role(struct view *view, const struct seat_view *seat, struct err *err)
{
	const struct member *member = view->member;

	for (;;) {
		struct candidate *best = NULL;
		for (size_t i = 0; i < view->waiting.count; i++) {
			struct candidate *next = &view->waiting.list[i];
			bool fit = (!next->barred || next->gate != WAITS_LANE) && !next->spooled && next->file[0] &&
				   !(member->ticket.fd >= 0 && next->id == member->job.id);
			if (fit && (!best || elect_compare(next, best) < 0))
				best = next;
		}
		if (!best)
			return 0;
		int given = view_grant(view, seat, best, err);
		if (given != 0)
			return given;
	}
}

static int fill_role(struct view *view, const struct seat_view *seat, bool needed, struct err *err)
{
	struct member *member = view->member;
	bool mine = member->role.fd >= 0 && member->role.number == seat->number && member->role.gen == seat->entry.gen;
	/* Who had it and was seen stopped. One that it is granted to is given his time, and passed over after it. */
	bool stopped = seat->held && seat->entry.owner.pid &&
		       (procid_equal(&member->stopped, &seat->entry.owner) ||
			(seat->number == SEAT_SECOND && looks(view) && procid_stopped(&seat->entry.owner)));

	/* Given to somebody else while we were stopped. */
	if (!mine && member->role.number == seat->number)
		seat_drop(&member->role);
	if (!needed) {
		/* Who was to take it may have ended without. */
		if (!seat->held && seat->entry.state == ENTRY_GRANTED)
			return seat_take_back(member->line, seat, err);
		if (seat->held && !mine)
			view_note_wake(view, &seat->entry);
		return mine ? seat_free(&member->role, err) : 0;
	}
	if (mine && may_watch(member, seat->number))
		return watch_self(view, seat, true, err);
	if (!mine && !stopped) {
		bool to_me = seat->entry.state == ENTRY_GRANTED && view_is_me(view, &seat->entry.owner);
		if (seat->held && seat->entry.state == ENTRY_RUNNING) {
			/* It sleeps to another moment than the one that is next now. */
			if (seat->entry.again_wall_ns != view->plan->again_wall_ns)
				view_note_wake(view, &seat->entry);
			return view_note_holder(view, &seat->entry, seat->number, err);
		}
		int granted = to_me && !seat->held ? 0 : view_still_granted(view, seat, err);
		if (granted != 0)
			return granted < 0 ? -1 : 0;
	}
	if (may_watch(member, seat->number))
		return watch_self(view, seat, false, err);
	int given = grant_role(view, seat, err);
	if (given == 0)
		given = view_spawn(view, seat, 0, err);
	if (given == 0)
		view->plan->settled = false;
	if (mine)
		seat_drop(&member->role);
	return given < 0 ? -1 : 0;
}

/* Jobs in line, and whether any of them or a spooled one that runs needs somebody to watch. */
static bool watch_needed(const struct view *view)
{
	if (view->pending.competing > 0 || view->pending.timed > 0 || view->spool_runs || serve_watched(view))
		return true;
	for (size_t i = 0; i < view->waiting.count; i++) {
		const struct candidate *one = &view->waiting.list[i];
		if (!one->spooled && one->file[0] && (!one->barred || one->gate != WAITS_LANE))
			return true;
	}
	return false;
}

/* A holder of a lane who is somebody else than the standby, and not stopped. Who finds a second, or one granted, looks
 * as well: it may be there for that. */
static bool holder_beside_standby(const struct view *view)
{
	const struct member *member = view->member;
	const struct entry *second = &view->seats[view->lanes + 1].entry;
	bool look = looks(view) || (second->gen && second->state != ENTRY_FREE);

	for (int i = 0; i < view->plan->holder_count; i++) {
		const struct procid *owner = &view->plan->holders[i].entry.owner;
		bool gone = member->leaving && view_is_me(view, owner);
		int number = view->plan->holders[i].number;
		if ((number >= 0 || number == SEAT_STANDING) && !gone &&
		    (view->standby_owner.pid == 0 || !procid_equal(owner, &view->standby_owner)) &&
		    !(look && procid_stopped(owner)))
			return true;
	}
	return view->plan->spawns > 0 || !view->plan->settled;
}

int roles_fill(struct view *view, struct err *err)
{
	bool needed = view->plan->watch_needed = watch_needed(view);
	const struct seat_view *standby = view_standby(view);

	view->standby_owner = standby->entry.owner;
	if (fill_role(view, standby, needed, err) < 0)
		return -1;
	bool alone = needed && !holder_beside_standby(view);
	if (needed && is_standby(view))
		view_note_again(view, view->now + STOPPED_LOOK_NS);
	return fill_role(view, standby + 1, alone, err);
}
