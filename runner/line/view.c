/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "view.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "conf/base/clock.h"
#include "conf/base/fmt.h"
#include "conf/base/scope.h"

/* A worker that has not taken its seat by then: whoever starts it may be stopped. */
#define SPAWN_PATIENCE_NS NS_PER_S

void *view_grow(void *list_pointer, int count, size_t size)
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
void view_note_wake(struct view *view, const struct entry *entry)
{
	struct plan *plan = view->plan;

	if (entry->owner.pid == 0 || procid_equal(&entry->owner, &view->member->job.owner))
		return;
	for (int i = 0; i < plan->wakes; i++) {
		if (procid_equal(&plan->wake[i].owner, &entry->owner))
			return;
	}
	struct entry *added = view_grow(&plan->wake, plan->wakes, sizeof *added);
	if (added) {
		*added = *entry;
		plan->wakes++;
	}
}

void view_note_again(struct view *view, int64_t at)
{
	if (view->plan->again_boot_ns == 0 || at < view->plan->again_boot_ns)
		view->plan->again_boot_ns = at;
}

void view_note_wall(struct view *view, int64_t at_wall_ns)
{
	if (at_wall_ns && (view->plan->again_wall_ns == 0 || at_wall_ns < view->plan->again_wall_ns))
		view->plan->again_wall_ns = at_wall_ns;
}

bool view_is_me(const struct view *view, const struct procid *id)
{
	return procid_equal(id, &view->member->job.owner);
}

/* By waiting alone, which is all that a job does that has not begun. */
static bool ages(const struct view *view, const char *class_name)
{
	const struct conf_class *class = conf_class_find(&view->member->line->conf, class_name);

	return class && class->turns_as[0] && class->turns_as_after_wait_ns;
}

/* A frozen job's ticket whose owner died: the job is to be cleared, by whoever locks the ticket first. */
int view_adopt_frozen(struct view *view, const char *file)
{
	struct plan *plan = view->plan;
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = 1 };
	struct err ignored = ERR_NONE;

	if (ticket_read(view->member->line, file, NULL) || plan->deads == PLAN_DEAD)
		return 0;
	SCOPE_FD int fd = openat(view->member->line->tickets_fd, file, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
	struct dead *dead = fd < 0 ? NULL : view_grow(&plan->dead, plan->deads, sizeof *dead);
	if (!dead || fcntl(fd, F_OFD_SETLK, &lock) < 0 || entry_read(fd, &dead->entry, &ignored) < 0)
		return 0;
	if (entry_rests(&dead->entry, view->now)) {
		view_note_again(view, dead->entry.again_boot_ns);
		return 0;
	}
	fmt(dead->ticket.file, sizeof dead->ticket.file, "%s", file);
	dead->ticket.fd = TAKE_FD(fd);
	dead->seat = SEAT_NONE;
	plan->deads++;
	plan->settled = false;
	return 0;
}

/* Its job is in memory, and its owner is watched: nobody else would notice that he died. */
static int count_frozen(struct view *view, const struct entry *entry)
{
	struct err ignored = ERR_NONE;

	view->spool_runs |= entry->kind == ENTRY_SPOOL;
	view->load.frozen++;
	view->load.frozen_bytes += entry->held_bytes ? entry->held_bytes : entry->reserved_bytes;
	return view_note_holder(view, entry, HOLDER_IN_LINE, &ignored);
}

/* Nobody holds it any more. Where that is not sure, its owner may still stand in line. */
static void drop_ticket(struct view *view, const char *file, const struct entry *entry)
{
	if (!ticket_dead(view->member->line, file)) {
		view_note_again(view, view->now + NS_PER_S);
		return;
	}
	if (entry->socket[0])
		unlink(entry->socket);
	unlinkat(view->member->line->tickets_fd, file, 0);
}

static struct candidate *add_candidate(struct view *view, const struct ticket_name *name, const char *file)
{
	struct candidate *added = candidates_add(&view->waiting);

	if (added)
		candidate_of_ticket(name, file, added);
	return added;
}

/* Of one that its name does not tell all of. */
static int add_read(struct view *view, const struct ticket_name *name, const char *file)
{
	bool begun = name->flag == TICKET_TURN || name->flag == TICKET_FROZEN;
	struct entry entry = { 0 };

	/* No election chooses it, to find that it is dead. */
	if (name->flag == TICKET_PASSED && !ticket_read(view->member->line, file, NULL)) {
		ticket_read(view->member->line, file, &entry);
		drop_ticket(view, file, &entry);
		return 0;
	}
	if (begun && !ticket_read(view->member->line, file, &entry))
		return view_adopt_frozen(view, file);
	if (begun && count_frozen(view, &entry) < 0)
		return -1;
	if (name->flag == TICKET_FROZEN)
		return 0;
	struct candidate *added = add_candidate(view, name, file);
	if (!added)
		return -1;
	if (begun || (ages(view, name->class_name) && ticket_read(view->member->line, file, &entry)))
		candidate_of_entry(&entry, view->now, added);
	return 0;
}

static int add_ticket(const struct ticket_name *name, const char *file, void *context)
{
	struct view *view = context;

	/* As most are, and there may be many. */
	if (name->flag == TICKET_PLAIN && !ages(view, name->class_name))
		return add_candidate(view, name, file) ? 0 : -1;
	return add_read(view, name, file);
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
	added->reserved_bytes = member->job.reserved_bytes;
	added->vram_bytes = member->job.vram_bytes;
	memcpy(added->card, member->job.card, sizeof added->card);
	return 0;
}

static void rate(struct view *view)
{
	const struct line *line = view->member->line;
	int64_t now_wall_ns = clock_wall_ns(), change_ns = 0;

	if (view->services.count && conf_is_drained(&line->conf) && line->conf.drained_until_s != CONF_NEVER)
		view_note_wall(view, line->conf.drained_until_s * NS_PER_S);
	for (size_t i = 0; i < view->waiting.count; i++) {
		struct candidate *one = &view->waiting.list[i];
		elect_rate(&line->conf, one);
		elect_bar_by_time(&line->conf, one, now_wall_ns, &change_ns);
		one->session_served = served_of(&view->served, one->session);
	}
	view_note_wall(view, change_ns);
	view_note_wall(view, view->pending.change_wall_ns);
}

/* Its death was seen on a pidfd; a lock of it that lives on is a copy in a process that was stopped while it started a
 * worker. */
bool view_is_gone(const struct member *member, const struct procid *id)
{
	for (int i = 0; i < MEMBER_GONE; i++) {
		if (id->pid && procid_equal(&member->gone[i], id))
			return true;
	}
	return false;
}

/* They compete for no lane. */
static int set_services_apart(struct view *view)
{
	struct candidates *waiting = &view->waiting;

	for (size_t i = waiting->count; i-- > 0;) {
		if (!waiting->list[i].standing)
			continue;
		struct candidate *service = candidates_add(&view->services);
		if (!service)
			return -1;
		*service = waiting->list[i];
		waiting->list[i] = waiting->list[--waiting->count];
	}
	return 0;
}

int view_look(struct view *view, struct err *err)
{
	struct member *member = view->member;
	struct line *line = member->line;

	view->now = clock_boot_ns();
	if (seat_read_all(line, &view->seats, &view->lanes, err) < 0)
		return -1;
	served_read(line, &view->served);
	for (int i = 0; i < view->lanes + 2; i++) {
		view->seats[i].held = view->seats[i].held && !view_is_gone(member, &view->seats[i].entry.owner);
		if (view->seats[i].unreadable)
			view_note_again(view, view->now + NS_PER_S);
	}
	if (ticket_each(line, add_ticket, view, err) < 0 || add_self(view) < 0)
		return err_sys(err, "cannot read the tickets");
	if (line->spool.list(line->spool.context, &view->waiting, &view->pending, err) < 0)
		return -1;
	if (set_services_apart(view) < 0)
		return err_sys(err, "cannot read the spool");
	rate(view);
	return 0;
}

struct candidate *view_find_ticket(const struct view *view, uint64_t id)
{
	for (size_t i = 0; i < view->waiting.count; i++) {
		if (view->waiting.list[i].id == id && !view->waiting.list[i].spooled)
			return &view->waiting.list[i];
	}
	return NULL;
}

const struct seat_view *view_standby(const struct view *view)
{
	return &view->seats[view->lanes];
}

bool view_grantee_alive(const struct view *view, const struct seat_view *seat)
{
	const struct seat_view *standby = view_standby(view);

	if (seat->entry.id == 0)
		return standby->held && procid_equal(&standby->entry.owner, &seat->entry.owner);
	struct candidate *ticket = view_find_ticket(view, seat->entry.id);
	return ticket && (ticket->file[0] == '\0' || ticket_read(view->member->line, ticket->file, NULL));
}

int view_adopt_seat(struct view *view, const struct seat_view *seat, struct err *err)
{
	struct plan *plan = view->plan;

	plan->settled = false;
	if (seat->entry.kind == ENTRY_SPOOL)
		view->spool_runs = true;
	struct dead *dead = plan->deads == PLAN_DEAD ? NULL : view_grow(&plan->dead, plan->deads, sizeof *dead);
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

/* A grantee that did not answer in time: its ticket is passed over, a standby is not asked again. A begun job stays one
 * that is frozen, and counts as such: it is in memory, and to be cleared should its owner die. */
static int pass_over(struct view *view, const struct seat_view *seat, struct err *err)
{
	if (seat->entry.id == 0) {
		view->distrust = true;
		view->member->stopped = seat->entry.owner;
		return 0;
	}
	struct candidate *ticket = view_find_ticket(view, seat->entry.id);
	if (!ticket || ticket->barred)
		return 0;
	ticket->barred = true;
	return ticket_flag(view->member->line, ticket->file, ticket->begun ? TICKET_FROZEN : TICKET_PASSED, err);
}

/* Counts a lane or role that is granted and not taken yet. True: it is taken care of. */
int view_still_granted(struct view *view, const struct seat_view *seat, struct err *err)
{
	int64_t ends = seat->entry.since_boot_ns + view->member->line->conf.take_ns;

	if (seat->held) {
		/* A worker is being started on it and has not said its name yet; whoever starts it may have been
		 * stopped. */
		view->plan->settled = false;
		if (view->plan->nudges < PLAN_SPAWNS && view->now >= seat->entry.since_boot_ns + SPAWN_PATIENCE_NS)
			view->plan->nudge[view->plan->nudges++] = seat->entry.main;
		view_note_again(view, view->now + SPAWN_PATIENCE_NS);
		return 1;
	}
	if (seat->entry.state != ENTRY_GRANTED || !view_grantee_alive(view, seat))
		return 0;
	if (view->now >= ends)
		return pass_over(view, seat, err) < 0 ? -1 : 0;
	view->plan->settled = false;
	view_note_again(view, ends);
	/* Whoever granted it may have been stopped before its wake. */
	view_note_wake(view, &seat->entry);
	return 1;
}

int view_note_holder(struct view *view, const struct entry *entry, int number, struct err *err)
{
	struct plan *plan = view->plan;
	struct seat_view *added = view_grow(&plan->holders, plan->holder_count, sizeof *added);

	if (!added)
		return err_sys(err, "cannot look at the lanes");
	added->entry = *entry;
	added->number = number;
	added->held = true;
	plan->holder_count++;
	return 0;
}

int view_grant(struct view *view, const struct seat_view *seat, struct candidate *winner, struct err *err)
{
	struct line *line = view->member->line;
	struct entry entry = { 0 };

	winner->barred = true;
	if (!ticket_read(line, winner->file, &entry)) {
		/* A job that had begun is cleared first. */
		if (entry.main.pid)
			return view_adopt_frozen(view, winner->file);
		drop_ticket(view, winner->file, &entry);
		return 0;
	}
	if (seat_grant(line, seat, &entry, err) < 0)
		return -1;
	view_note_wake(view, &entry);
	view_note_again(view, view->now + line->conf.take_ns);
	view->standby_owner = seat->number == SEAT_STANDBY ? entry.owner : view->standby_owner;
	view->plan->settled = false;
	return 1;
}

int view_spawn(struct view *view, const struct seat_view *seat, uint64_t id, struct err *err)
{
	struct plan *plan = view->plan;
	struct entry entry = { .state = ENTRY_GRANTED,
			       .worker = true,
			       .main = view->member->job.owner,
			       .id = id,
			       .kind = id ? ENTRY_SPOOL : ENTRY_RUN };

	/* Promised is the memory of that lane's card. */
	fmt(entry.card, sizeof entry.card, "%s", conf_lane_card(&view->member->line->conf, seat->number));
	plan->settled = false;
	if (plan->spawns == PLAN_SPAWNS || view->member->spawn_credit - plan->spawns <= 0) {
		view_note_again(view, view->now + NS_PER_S);
		return 0;
	}
	if (seat_take(view->member->line, seat, &entry, &plan->spawn[plan->spawns], err) < 0)
		return -1;
	plan->spawns++;
	return 1;
}

void view_free(struct view *view)
{
	free(view->seats);
	free(view->load.rooms);
	free(view->service);
	candidates_free(&view->waiting);
	candidates_free(&view->services);
	served_free(&view->served);
}
