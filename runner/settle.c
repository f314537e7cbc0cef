/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "settle.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "conf/base/clock.h"
#include "conf/base/scope.h"

/* A worker that has not taken its seat by then: whoever starts it may be stopped. */
#define SPAWN_PATIENCE_NS NS_PER_S

/* What one settle sees; everything below has the queue lock. */
struct view {
	struct member *member;
	struct plan *plan;
	struct seat_view *seats; /* lanes, then standby, then second */
	int lanes;
	struct candidates waiting;
	struct served served;
	long spool_left;      /* pending records that no lane was given for yet */
	int busy;             /* lanes that are taken, granted, or being cleared */
	bool spool_runs;
	bool standby_granted; /* the standby, a worker, was given a lane and has not taken it yet */
	bool distrust;        /* it did not take one in time */
	struct procid standby_owner;
	int64_t now;
};

/* One more element at the end of a heap array that doubles at each power of two; NULL without memory. */
static void *grow(void *list_pointer, int count, size_t size)
{
	void **list = list_pointer;

	if ((count & (count - 1)) == 0) {
		void *more = realloc(*list, size * (size_t)(count ? 2 * count : 1));
		if (!more)
			return NULL;
		*list = more;
	}
	return (char *)*list + (size_t)count * size;
}

/* A wake that cannot be noted costs time, not truth: the files are written. */
static void note_wake(struct view *view, const struct entry *entry)
{
	struct plan *plan = view->plan;

	if (entry->owner.pid == 0 || procid_equal(&entry->owner, &view->member->job.owner))
		return;
	for (int i = 0; i < plan->wakes; i++) {
		if (procid_equal(&plan->wake[i].owner, &entry->owner))
			return;
	}
	struct entry *added = grow(&plan->wake, plan->wakes, sizeof *added);
	if (added) {
		*added = *entry;
		plan->wakes++;
	}
}

static void note_again(struct view *view, int64_t at)
{
	if (view->plan->again_boot_ns == 0 || at < view->plan->again_boot_ns)
		view->plan->again_boot_ns = at;
}

static bool is_me(const struct view *view, const struct procid *id)
{
	return procid_equal(id, &view->member->job.owner);
}

/* A rank for a class that is no longer in the table: its jobs come last, but they come. */
static int rank_of(const struct view *view, const char *class_name, int64_t waited_ns)
{
	const struct conf *conf = &view->member->line->conf;
	const struct conf_class *class = conf_class_find(conf, class_name);

	return class ? elect_rank(conf, class, waited_ns, 0, false)->rank : 100;
}

static bool ages_by_waiting(const struct view *view, const char *class_name)
{
	const struct conf_class *class = conf_class_find(&view->member->line->conf, class_name);

	return class && class->turns_as_after_wait_ns;
}

/* A frozen job's ticket whose owner died: the job is to be cleared, by whoever locks the ticket first. */
static int adopt_frozen(struct view *view, const char *file)
{
	struct plan *plan = view->plan;
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = 1 };
	struct err ignored = ERR_NONE;

	if (ticket_read(view->member->line, file, NULL) || plan->deads == PLAN_DEAD)
		return 0;
	SCOPE_FD int fd = openat(view->member->line->tickets_fd, file, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
	struct dead *dead = fd < 0 ? NULL : grow(&plan->dead, plan->deads, sizeof *dead);
	if (!dead || fcntl(fd, F_OFD_SETLK, &lock) < 0 || entry_read(fd, &dead->entry, &ignored) < 0)
		return 0;
	snprintf(dead->ticket.file, sizeof dead->ticket.file, "%s", file);
	dead->ticket.fd = TAKE_FD(fd);
	dead->seat = SEAT_NONE;
	plan->deads++;
	plan->settled = false;
	return 0;
}

static int add_ticket(const struct ticket_name *name, const char *file, void *context)
{
	struct view *view = context;
	struct entry entry;

	if (name->flag == TICKET_FROZEN)
		return adopt_frozen(view, file);
	struct candidate *added = candidates_add(&view->waiting);
	if (!added)
		return -1;
	added->id = name->id;
	added->barred = name->flag == TICKET_PASSED;
	memcpy(added->class_name, name->class_name, sizeof added->class_name);
	memcpy(added->session, name->session, sizeof added->session);
	snprintf(added->file, sizeof added->file, "%s", file);
	if (ages_by_waiting(view, name->class_name) && ticket_read(view->member->line, file, &entry))
		added->waited_ns = clock_wall_ns() - entry.arrived_wall_ns;
	return 0;
}

/* A `run` that arrives competes before it has a ticket: where it wins at once it never needs one. */
static int add_self(struct view *view)
{
	const struct member *member = view->member;

	if (member->kind != MEMBER_RUN || !member->wants_lane || member->ticket.fd >= 0 || member->leaving)
		return 0;
	struct candidate *added = candidates_add(&view->waiting);
	if (!added)
		return -1;
	added->id = member->job.id;
	memcpy(added->class_name, member->job.class_name, sizeof added->class_name);
	memcpy(added->session, member->job.session, sizeof added->session);
	return 0;
}

static void rate(struct view *view)
{
	for (size_t i = 0; i < view->waiting.count; i++) {
		struct candidate *one = &view->waiting.list[i];
		one->rank = rank_of(view, one->class_name, one->waited_ns);
		one->session_served = served_of(&view->served, one->session);
	}
}

/* Its death was seen on a pidfd; a lock of it that lives on is a copy in a process that was stopped while it started a worker. */
static bool is_gone(const struct member *member, const struct procid *id)
{
	for (int i = 0; i < MEMBER_GONE; i++) {
		if (id->pid && procid_equal(&member->gone[i], id))
			return true;
	}
	return false;
}

static int look(struct view *view, struct err *err)
{
	struct member *member = view->member;
	struct line *line = member->line;

	view->now = clock_boot_ns();
	if (seat_read_all(line, &view->seats, &view->lanes, err) < 0 || served_read(line, &view->served, err) < 0)
		return -1;
	for (int i = 0; i < view->lanes + 2; i++)
		view->seats[i].held = view->seats[i].held && !is_gone(member, &view->seats[i].entry.owner);
	if (ticket_each(line, add_ticket, view, err) < 0 || add_self(view) < 0)
		return err_sys(err, "cannot read the tickets");
	view->spool_left = line->spool.list(line->spool.context, &view->waiting, err);
	if (view->spool_left < 0)
		return -1;
	rate(view);
	return 0;
}

static struct candidate *find_ticket(struct view *view, uint64_t id)
{
	for (size_t i = 0; i < view->waiting.count; i++) {
		if (view->waiting.list[i].id == id && !view->waiting.list[i].spooled)
			return &view->waiting.list[i];
	}
	return NULL;
}

static const struct seat_view *standby_of(const struct view *view)
{
	return &view->seats[view->lanes];
}

static bool grantee_alive(struct view *view, const struct seat_view *seat)
{
	const struct seat_view *standby = standby_of(view);

	if (seat->entry.id == 0)
		return standby->held && procid_equal(&standby->entry.owner, &seat->entry.owner);
	struct candidate *ticket = find_ticket(view, seat->entry.id);
	return ticket && (ticket->file[0] == '\0' || ticket_read(view->member->line, ticket->file, NULL));
}

/* A grantee that did not answer in time: its ticket is passed over, a standby is not asked again. */
static int pass_over(struct view *view, const struct seat_view *seat, struct err *err)
{
	if (seat->entry.id == 0) {
		view->distrust = true;
		view->member->stopped = seat->entry.owner;
		return 0;
	}
	struct candidate *ticket = find_ticket(view, seat->entry.id);
	if (!ticket || ticket->barred)
		return 0;
	ticket->barred = true;
	return ticket_flag(view->member->line, ticket->file, TICKET_PASSED, err);
}

/* Counts a lane or role that is granted and not taken yet. True: it is taken care of. */
static int still_granted(struct view *view, const struct seat_view *seat, struct err *err)
{
	int64_t ends = seat->entry.since_boot_ns + view->member->line->conf.take_ns;

	if (seat->held) {
		/* A worker is being started on it and has not said its name yet; whoever starts it may have been stopped. */
		view->plan->settled = false;
		if (view->plan->nudges < PLAN_SPAWNS && view->now >= seat->entry.since_boot_ns + SPAWN_PATIENCE_NS)
			view->plan->nudge[view->plan->nudges++] = seat->entry.main;
		note_again(view, view->now + SPAWN_PATIENCE_NS);
		return 1;
	}
	if (seat->entry.state != ENTRY_GRANTED || !grantee_alive(view, seat))
		return 0;
	if (view->now >= ends)
		return pass_over(view, seat, err) < 0 ? -1 : 0;
	view->plan->settled = false;
	note_again(view, ends);
	/* Whoever granted it may have been stopped before its wake. */
	note_wake(view, &seat->entry);
	return 1;
}

/* A lane whose supervisor died while its job ran: ours to clear. */
static int adopt_dead(struct view *view, const struct seat_view *seat, struct err *err)
{
	struct plan *plan = view->plan;

	view->busy++;
	plan->settled = false;
	if (seat->entry.kind == ENTRY_SPOOL)
		view->spool_runs = true;
	struct dead *dead = plan->deads == PLAN_DEAD ? NULL : grow(&plan->dead, plan->deads, sizeof *dead);
	if (!dead)
		return 0;
	struct entry entry = seat->entry;
	dead->entry = seat->entry;
	dead->ticket = TICKET_NONE;
	entry.state = ENTRY_COMPLETING;
	entry.owner = view->member->job.owner;
	memcpy(entry.socket, view->member->job.socket, sizeof entry.socket);
	if (seat_take(view->member->line, seat, &entry, &dead->seat, err) < 0)
		return -1;
	plan->deads++;
	return 0;
}

static int note_holder(struct view *view, const struct entry *entry, int number, struct err *err)
{
	struct plan *plan = view->plan;
	struct seat_view *added = grow(&plan->holders, plan->holder_count, sizeof *added);

	if (!added)
		return err_sys(err, "cannot look at the lanes");
	added->entry = *entry;
	added->number = number;
	added->held = true;
	plan->holder_count++;
	return 0;
}

static bool lane_mine(const struct view *view, const struct seat_view *seat)
{
	const struct member *member = view->member;

	return member->lane.fd >= 0 && member->lane.number == seat->number && member->lane.gen == seat->entry.gen;
}

static int take_for_self(struct view *view, const struct seat_view *seat, struct candidate *winner, struct err *err)
{
	struct member *member = view->member;
	struct line *line = member->line;
	struct entry *job = &member->job;

	if (winner->spooled && line->spool.take(line->spool.context, winner, job, err) < 0)
		return -1;
	job->state = ENTRY_RUNNING;
	job->started_wall_ns = clock_wall_ns();
	job->main = (struct procid){ 0 };
	job->cell[0] = '\0';
	if (lane_mine(view, seat) ? seat_update(&member->lane, job, err) < 0 : seat_take(line, seat, job, &member->lane, err) < 0)
		return -1;
	member->ended = false;
	member->wants_lane = false;
	ticket_remove(line, &member->ticket);
	winner->barred = true;
	if (winner->spooled) {
		view->spool_runs = true;
		view->spool_left--;
	}
	note_wake(view, &standby_of(view)->entry);
	if (note_holder(view, job, seat->number, err) < 0)
		return -1;
	return served_touch(line, &view->served, job->session, err);
}

static int grant_to_ticket(struct view *view, const struct seat_view *seat, struct candidate *winner, struct err *err)
{
	struct line *line = view->member->line;
	struct entry entry = { 0 };

	winner->barred = true;
	if (!ticket_read(line, winner->file, &entry)) {
		/* Nobody holds it any more; a job that had begun is cleared first. */
		if (entry.main.pid)
			return adopt_frozen(view, winner->file);
		if (entry.socket[0])
			unlink(entry.socket);
		unlinkat(line->tickets_fd, winner->file, 0);
		return 0;
	}
	if (seat_grant(line, seat, &entry, err) < 0)
		return -1;
	note_wake(view, &entry);
	note_again(view, view->now + line->conf.take_ns);
	view->standby_owner = seat->number == SEAT_STANDBY ? entry.owner : view->standby_owner;
	view->plan->settled = false;
	return 1;
}

static int spawn_on(struct view *view, const struct seat_view *seat, struct err *err)
{
	struct plan *plan = view->plan;
	struct entry entry = { .state = ENTRY_GRANTED, .worker = true, .main = view->member->job.owner };

	plan->settled = false;
	if (plan->spawns == PLAN_SPAWNS || view->member->spawn_credit - plan->spawns <= 0)
		return 0;
	if (seat_take(view->member->line, seat, &entry, &plan->spawn[plan->spawns], err) < 0)
		return -1;
	plan->spawns++;
	return 1;
}

/* The standby, where it is a worker that answers, else a new worker. */
static int give_to_worker(struct view *view, const struct seat_view *seat, struct err *err)
{
	const struct seat_view *standby = standby_of(view);
	bool ready = standby->held && standby->entry.state == ENTRY_RUNNING && standby->entry.worker &&
		     !is_me(view, &standby->entry.owner) && !view->standby_granted && !view->distrust &&
		     !procid_equal(&standby->entry.owner, &view->member->stopped);
	struct entry entry = { .owner = standby->entry.owner, .worker = true };

	if (!ready)
		return spawn_on(view, seat, err);
	memcpy(entry.socket, standby->entry.socket, sizeof entry.socket);
	if (seat_grant(view->member->line, seat, &entry, err) < 0)
		return -1;
	view->standby_granted = true;
	note_wake(view, &entry);
	note_again(view, view->now + view->member->line->conf.take_ns);
	view->plan->settled = false;
	return 1;
}

static bool may_take_spooled(const struct view *view, const struct seat_view *seat)
{
	const struct member *member = view->member;

	return member->kind == MEMBER_WORKER && !member->leaving && (member->lane.fd < 0 || lane_mine(view, seat));
}

/* After a lane was promised to "whatever spooled job comes first": the next one of that session comes later. */
static void promise_spooled(struct view *view, struct candidate *winner)
{
	winner->session_served = ++view->served.last;
	view->spool_runs = true;
	if (--view->spool_left > 0)
		return;
	for (size_t i = 0; i < view->waiting.count; i++)
		view->waiting.list[i].barred |= view->waiting.list[i].spooled;
}

/* Elects for one free lane. 1: somebody has it or is to have it. */
static int fill_lane(struct view *view, const struct seat_view *seat, struct err *err)
{
	struct member *member = view->member;
	struct candidate *winner;

	while ((winner = elect(&view->waiting))) {
		bool self = member->kind == MEMBER_RUN && winner->id == member->job.id && member->wants_lane && !member->leaving;
		if (self || (winner->spooled && may_take_spooled(view, seat)))
			return take_for_self(view, seat, winner, err) < 0 ? -1 : 1;
		int given = winner->spooled ? give_to_worker(view, seat, err) : grant_to_ticket(view, seat, winner, err);
		if (given != 0 && winner->spooled && given > 0)
			promise_spooled(view, winner);
		if (given != 0)
			return given;
		if (winner->spooled)
			return 0;
	}
	return 0;
}

/* What a lane is: 1 free to give, 0 busy, -1 error. */
static int judge_lane(struct view *view, const struct seat_view *seat, struct err *err)
{
	const struct entry *entry = &seat->entry;
	struct member *member = view->member;

	if (entry->state == ENTRY_FREE || (lane_mine(view, seat) && member->ended))
		return 1;
	if (entry->state == ENTRY_GRANTED && !seat->held && is_me(view, &entry->owner) && !member->leaving)
		return 1;
	if (entry->state == ENTRY_GRANTED) {
		int busy = still_granted(view, seat, err);
		if (busy <= 0)
			return busy < 0 ? -1 : 1;
		struct candidate *ticket = find_ticket(view, entry->id);
		if (ticket)
			ticket->barred = true;
		else if (entry->owner.pid)
			view->standby_granted = true;
		view->spool_runs |= entry->worker;
	} else if (!seat->held) {
		return adopt_dead(view, seat, err);
	} else {
		view->spool_runs |= entry->kind == ENTRY_SPOOL;
	}
	view->busy++;
	return note_holder(view, entry, seat->number, err);
}

static int fill_lanes(struct view *view, struct err *err)
{
	bool available[CONF_LANES] = { false };
	struct member *member = view->member;

	for (int lane = 0; lane < view->lanes; lane++) {
		int judged = judge_lane(view, &view->seats[lane], err);
		if (judged < 0)
			return -1;
		available[lane] = judged;
	}
	for (int lane = 0; lane < view->lanes; lane++) {
		if (!available[lane] || view->busy >= member->line->conf.lanes)
			continue;
		int given = fill_lane(view, &view->seats[lane], err);
		if (given < 0)
			return -1;
		view->busy += given;
	}
	/* Ours, over, and for nobody. */
	if (member->lane.fd >= 0 && member->ended) {
		member->ended = false;
		return seat_free(&member->lane, err);
	}
	return 0;
}

static bool may_watch(const struct member *member, int number)
{
	if (member->leaving || member->lane.fd >= 0 || (member->role.fd >= 0 && member->role.number != number))
		return false;
	return member->kind == MEMBER_WORKER || (member->kind == MEMBER_RUN && member->ticket.fd >= 0);
}

static int watch_self(struct view *view, const struct seat_view *seat, bool mine, struct err *err)
{
	struct member *member = view->member;
	struct entry entry = { .state = ENTRY_RUNNING, .owner = member->job.owner, .worker = member->kind == MEMBER_WORKER };

	memcpy(entry.socket, member->job.socket, sizeof entry.socket);
	entry.since_boot_ns = view->now;
	if (seat->number == SEAT_STANDBY)
		view->standby_owner = entry.owner;
	if (mine && seat->entry.state == ENTRY_RUNNING)
		return 0;
	/* Whoever runs a job is to know whom to watch, and the two watchers each other. */
	for (int i = 0; i < view->plan->holder_count; i++)
		note_wake(view, &view->plan->holders[i].entry);
	note_wake(view, &view->seats[view->lanes].entry);
	note_wake(view, &view->seats[view->lanes + 1].entry);
	return mine ? seat_update(&member->role, &entry, err) : seat_take(member->line, seat, &entry, &member->role, err);
}

/* A waiting run that can watch for the line: the first in order that lives and has no grant. */
static int grant_role(struct view *view, const struct seat_view *seat, struct err *err)
{
	const struct member *member = view->member;

	for (;;) {
		struct candidate *best = NULL;
		for (size_t i = 0; i < view->waiting.count; i++) {
			struct candidate *next = &view->waiting.list[i];
			bool fit = !next->barred && !next->spooled && next->file[0] &&
				   !(member->kind == MEMBER_RUN && next->id == member->job.id);
			if (fit && (!best || elect_compare(next, best) < 0))
				best = next;
		}
		if (!best)
			return 0;
		int given = grant_to_ticket(view, seat, best, err);
		if (given != 0)
			return given;
	}
}

static int fill_role(struct view *view, const struct seat_view *seat, bool needed, struct err *err)
{
	struct member *member = view->member;
	bool mine = member->role.fd >= 0 && member->role.number == seat->number && member->role.gen == seat->entry.gen;
	bool stopped = seat->entry.owner.pid && procid_equal(&member->stopped, &seat->entry.owner);

	/* Given to somebody else while we were stopped. */
	if (!mine && member->role.number == seat->number)
		seat_drop(&member->role);
	if (!needed) {
		if (seat->held && !mine)
			note_wake(view, &seat->entry);
		return mine ? seat_free(&member->role, err) : 0;
	}
	if (mine && may_watch(member, seat->number))
		return watch_self(view, seat, true, err);
	if (!mine && !stopped) {
		bool to_me = seat->entry.state == ENTRY_GRANTED && is_me(view, &seat->entry.owner);
		if (seat->held && seat->entry.state == ENTRY_RUNNING) {
			return note_holder(view, &seat->entry, seat->number, err);
		}
		int granted = to_me && !seat->held ? 0 : still_granted(view, seat, err);
		if (granted != 0)
			return granted < 0 ? -1 : 0;
	}
	if (may_watch(member, seat->number))
		return watch_self(view, seat, false, err);
	int given = grant_role(view, seat, err);
	if (given == 0)
		given = spawn_on(view, seat, err);
	if (given == 0)
		view->plan->settled = false;
	if (mine)
		seat_drop(&member->role);
	return given < 0 ? -1 : 0;
}

/* Jobs in line, and whether any of them or a spooled one that runs needs somebody to watch. */
static bool watch_needed(const struct view *view)
{
	if (view->spool_left > 0 || view->spool_runs)
		return true;
	for (size_t i = 0; i < view->waiting.count; i++) {
		const struct candidate *one = &view->waiting.list[i];
		bool self = view->member->kind == MEMBER_RUN && one->id == view->member->job.id;
		if (!one->spooled && one->file[0] && (self ? view->member->ticket.fd >= 0 : !one->barred))
			return true;
	}
	return false;
}

/* A holder of a lane who is somebody else than the standby. */
static bool holder_beside_standby(const struct view *view)
{
	const struct member *member = view->member;

	for (int i = 0; i < view->plan->holder_count; i++) {
		const struct procid *owner = &view->plan->holders[i].entry.owner;
		bool gone = member->leaving && is_me(view, owner);
		if (view->plan->holders[i].number >= 0 && !gone &&
		    (view->standby_owner.pid == 0 || !procid_equal(owner, &view->standby_owner)))
			return true;
	}
	return view->plan->spawns > 0 || !view->plan->settled;
}

static int fill_roles(struct view *view, struct err *err)
{
	bool needed = view->plan->watch_needed = watch_needed(view);
	const struct seat_view *standby = standby_of(view);

	view->standby_owner = standby->entry.owner;
	if (fill_role(view, standby, needed, err) < 0)
		return -1;
	return fill_role(view, standby + 1, needed && !holder_beside_standby(view), err);
}

/* An arriving `run` that did not get a lane stands in line from now on. */
static int stand_in_line(struct view *view, struct err *err)
{
	struct member *member = view->member;

	if (member->kind != MEMBER_RUN || !member->wants_lane || member->ticket.fd >= 0 || member->leaving)
		return 0;
	if (ticket_make(member->line, &member->job, TICKET_PLAIN, &member->ticket, err) < 0)
		return -1;
	struct candidate *self = find_ticket(view, member->job.id);
	if (self)
		memcpy(self->file, member->ticket.file, sizeof self->file);
	return 0;
}

/* Passed over while it was stopped, and here again. */
static int come_back(struct member *member, struct err *err)
{
	struct ticket_name name;

	if (member->ticket.fd < 0 || member->leaving)
		return 0;
	ticket_refresh(member->line, &member->ticket);
	if (ticket_name_parse(member->ticket.file, &name) == 0 && name.flag == TICKET_PASSED)
		return ticket_flag(member->line, member->ticket.file, TICKET_PLAIN, err);
	return 0;
}

void plan_free(struct plan *plan)
{
	free(plan->wake);
	free(plan->holders);
	for (int i = 0; i < plan->spawns; i++)
		seat_drop(&plan->spawn[i]);
	for (int i = 0; i < plan->deads; i++) {
		seat_drop(&plan->dead[i].seat);
		scope_close(&plan->dead[i].ticket.fd);
	}
	free(plan->dead);
	*plan = (struct plan){ 0 };
}

static int take_id(struct member *member, struct err *err)
{
	if (!member->wants_id)
		return 0;
	int taken = line_take_ids(member->line, 1, &member->job.id, err);
	member->wants_id = taken != 0;
	return taken;
}

/*
 * Who leaves a line that nobody watches has nobody to hand on to: while anything waits, the standby's seat is not free. So a plain `run`
 * looks at that one seat, and at nothing else.
 */
static int leave_alone(struct member *member, struct err *err)
{
	struct seat_view standby;

	if (!member->leaving || member->kind != MEMBER_RUN || member->lane.fd < 0 || member->role.fd >= 0)
		return 0;
	if (seat_read(member->line, SEAT_STANDBY, &standby, err) < 0)
		return -1;
	if (standby.entry.state != ENTRY_FREE || standby.held)
		return 0;
	member->ended = false;
	return seat_free(&member->lane, err) < 0 ? -1 : 1;
}

int settle(struct member *member, struct plan *ret_plan, struct err *err)
{
	struct view view = { .member = member, .plan = ret_plan };
	int result = -1, taken;

	*ret_plan = (struct plan){ .settled = true };
	if ((taken = take_id(member, err)) != 0)
		return taken;
	if ((taken = leave_alone(member, err)) != 0)
		return taken < 0 ? -1 : 0;

	if (line_conf_again(member->line, err) == 0 && come_back(member, err) == 0 && look(&view, err) == 0 && fill_lanes(&view, err) == 0 &&
	    stand_in_line(&view, err) == 0 && fill_roles(&view, err) == 0)
		result = 0;
	free(view.seats);
	candidates_free(&view.waiting);
	served_free(&view.served);
	return result;
}
