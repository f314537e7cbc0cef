/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "member.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "conf/base/clock.h"
#include "conf/base/rest.h"
#include "conf/base/say.h"
#include "conf/base/scope.h"
#include "settle.h"
#include "spawn.h"

enum { SPAWN_CREDIT = 6, ROUNDS = 16 };

/* How long a started job may take to say its first process, and a supervisor to notice that its job is gone. */
#define SETTLE_DOWN_NS (NS_PER_S / 2)

void member_open(struct member *member, struct line *line, enum member_kind kind)
{
	*member = (struct member){
		.line = line, .kind = kind, .ticket = TICKET_NONE, .lane = SEAT_NONE, .role = SEAT_NONE, .wall_fd = -1
	};
	member->wake = WAKE_NONE;
	member->spawn_credit = SPAWN_CREDIT;
	member->leaving = kind == MEMBER_GUEST;
	member->job.owner = *procid_self();
	member->job.worker = kind == MEMBER_WORKER;
	for (int i = 0; i < MEMBER_CALLS; i++)
		member->calls[i] = member->callers[i] = member->lookers[i] = -1;
	if (kind == MEMBER_GUEST)
		return;
	wake_open(&member->wake);
	memcpy(member->job.socket, member->wake.path, sizeof member->job.socket);
}

static void close_all(int fds[MEMBER_CALLS])
{
	for (int i = 0; i < MEMBER_CALLS; i++) {
		scope_close(&fds[i]);
		fds[i] = -1;
	}
}

static void unwatch(struct member *member, int i)
{
	scope_close(&member->watched[i].pidfd);
	member->watched[i] = member->watched[--member->watched_count];
}

void member_close(struct member *member)
{
	close_all(member->calls);
	close_all(member->callers);
	close_all(member->lookers);
	scope_close(&member->wall_fd);
	while (member->watched_count)
		unwatch(member, 0);
	free(member->watched);
	member->watched = NULL;
	free(member->card);
	member->card = NULL;
	seat_drop(&member->lane);
	seat_drop(&member->role);
	scope_close(&member->ticket.fd);
	wake_close(&member->wake);
}

/* Without room the oldest is let go: its answer was only one more reason to look. */
static void keep(int fds[MEMBER_CALLS], int fd)
{
	if (fd < 0)
		return;
	for (int i = 0; i < MEMBER_CALLS; i++) {
		if (fds[i] < 0) {
			fds[i] = fd;
			return;
		}
	}
	close(fds[0]);
	memmove(fds, fds + 1, (MEMBER_CALLS - 1) * sizeof *fds);
	fds[MEMBER_CALLS - 1] = fd;
}

static bool is_watched(const struct member *member, const struct procid *id, enum watched_role role)
{
	for (int i = 0; i < member->watched_count; i++) {
		if (member->watched[i].role == role && procid_equal(&member->watched[i].id, id))
			return true;
	}
	return false;
}

/* -1 when it is gone already. Of another pid namespace nothing can be told: its lock alone counts. */
static int watch(struct member *member, const struct entry *entry, const struct procid *id, enum watched_role role,
		 int lane)
{
	if (id->pid == 0 || id->ns != member->job.owner.ns || is_watched(member, id, role) ||
	    member->watched_count == MEMBER_WATCHED)
		return 0;
	if (!member->watched)
		member->watched = malloc(MEMBER_WATCHED * sizeof *member->watched);
	int pidfd = member->watched ? procid_open(id) : -1;
	if (pidfd < 0)
		return -1;
	member->watched[member->watched_count++] =
		(struct watched){ .id = *id, .role = role, .lane = lane, .gen = entry->gen, .pidfd = pidfd };
	return 0;
}

static bool still_wanted(const struct plan *plan, const struct watched *watched)
{
	for (int i = 0; i < plan->holder_count; i++) {
		const struct entry *entry = &plan->holders[i].entry;
		if (procid_equal(watched->role == WATCHED_MAIN ? &entry->main : &entry->owner, &watched->id))
			return true;
	}
	return false;
}

static void look_later(struct member *member, int lane, uint64_t gen, int64_t delay_ns)
{
	member->quiet[lane].gen = gen;
	member->quiet[lane].at_boot_ns = clock_boot_ns() + delay_ns;
}

/* Who holds a lane, and the job's own process: when that is gone and the lane is not given up soon, its supervisor may
 * be stopped. */
static int watch_lane(struct member *member, const struct entry *entry, int lane)
{
	bool known = member->quiet[lane].gen == entry->gen;

	if (watch(member, entry, &entry->owner, WATCHED_HOLDER, lane) < 0)
		return 1;
	if (entry->state == ENTRY_GRANTED || entry->state == ENTRY_FREE || known)
		return 0;
	if (entry->main.pid == 0 || watch(member, entry, &entry->main, WATCHED_MAIN, lane) < 0)
		look_later(member, lane, entry->gen, SETTLE_DOWN_NS);
	return 0;
}

/* The standby and the second watch everybody, who runs a job watches those two; everyone else sleeps. 1: somebody is
 * gone. */
static int watch_others(struct member *member, const struct plan *plan)
{
	int gone = 0;

	member->watch_needed = plan->watch_needed;
	for (int i = member->watched_count - 1; i >= 0; i--) {
		if (!still_wanted(plan, &member->watched[i]))
			unwatch(member, i);
	}
	for (int i = 0; i < plan->holder_count && !member->leaving; i++) {
		const struct entry *entry = &plan->holders[i].entry;
		int number = plan->holders[i].number;
		if (procid_equal(&entry->owner, &member->job.owner))
			continue;
		if (number >= 0 && member->role.fd >= 0)
			gone |= watch_lane(member, entry, number);
		else if (number < 0 && (member->role.fd >= 0 || (member->lane.fd >= 0 && number != HOLDER_IN_LINE)))
			gone |= watch(member, entry, &entry->owner, WATCHED_WATCHER, number) < 0;
	}
	return gone;
}

/* Who leaves is no guard any more: 1 where the others are stopped, which the next settle mends. Without the lock. */
static int look_at_guards(struct member *member, const struct plan *plan)
{
	const struct procid *standby = NULL;
	bool beside = false;

	if (!member->leaving || !plan->settled || !plan->watch_needed)
		return 0;
	for (int i = 0; i < plan->holder_count; i++) {
		if (plan->holders[i].number == SEAT_STANDBY)
			standby = &plan->holders[i].entry.owner;
	}
	for (int i = 0; i < plan->holder_count && !beside && !member->looks; i++) {
		const struct procid *owner = &plan->holders[i].entry.owner;
		beside = plan->holders[i].number != HOLDER_IN_LINE && !procid_equal(owner, &member->job.owner) &&
			 !(standby && procid_equal(owner, standby)) && !procid_stopped(owner);
	}
	if (standby && !procid_equal(standby, &member->stopped) && procid_stopped(standby)) {
		member->stopped = *standby;
		return 1;
	}
	if (beside || member->looks)
		return 0;
	return member->looks = true;
}

/* Its lane, or its ticket, stays as it is; nobody else need lose time with it for a while. */
static void let_rest(struct member *member, struct dead *dead)
{
	struct entry entry = dead->entry;
	struct err ignored = ERR_NONE;

	member->blocked = true;
	entry.again_boot_ns = clock_boot_ns() + ENTRY_AGAIN_S * NS_PER_S;
	if (member->again_boot_ns == 0 || entry.again_boot_ns < member->again_boot_ns)
		member->again_boot_ns = entry.again_boot_ns;
	/* Its owner is dead. */
	if (entry.socket[0])
		unlink(entry.socket);
	entry.socket[0] = '\0';
	if (dead->seat.fd < 0) {
		ticket_update(&dead->ticket, &entry, &ignored);
		return;
	}
	entry.state = ENTRY_COMPLETING;
	seat_update(&dead->seat, &entry, &ignored);
}

static int clear_one(struct member *member, struct dead *dead, struct err *err)
{
	struct line *line = member->line;
	struct line_spool *spool = &line->spool;

	if (spool->clear(spool->context, &dead->entry, err) < 0) {
		let_rest(member, dead);
		return 0;
	}
	if (dead->seat.fd >= 0 && dead->seat.number == SEAT_STANDING && dead->entry.held_bytes && line->card.back)
		line->card.back(line->card.context, dead->entry.held_bytes);
	if (line_lock(line, err) < 0)
		return -1;
	int result = spool->lost(spool->context, &dead->entry, err);
	/* Its record still says running: the seat keeps its text, and whoever looks next clears up again. */
	if (result < 0) {
		line_unlock(line);
		return -1;
	}
	if (dead->seat.fd >= 0 && seat_free(&dead->seat, err) < 0)
		result = -1;
	ticket_remove(line, &dead->ticket);
	line_unlock(line);
	if (dead->entry.socket[0])
		unlink(dead->entry.socket);
	return result < 0 ? -1 : 1;
}

/* 1: something changed, so settle again. */
static int clear_dead(struct member *member, struct plan *plan, struct err *err)
{
	int changed = 0;

	for (int i = 0; i < plan->deads; i++) {
		int cleared = clear_one(member, &plan->dead[i], err);
		if (cleared < 0)
			return -1;
		changed |= cleared;
	}
	if (changed && member->line->spool.sync(member->line->spool.context, err) < 0)
		return -1;
	return changed;
}

static void carry_out(struct member *member, struct plan *plan)
{
	for (int i = 0; i < plan->wakes; i++)
		keep(member->calls, wake_look(&plan->wake[i]));
	for (int i = 0; i < plan->nudges; i++) {
		if (procid_stopped(&plan->nudge[i]))
			procid_signal(&plan->nudge[i], SIGCONT);
	}
	for (int i = 0; i < plan->spawns; i++) {
		struct err err = ERR_NONE;
		pid_t pid = 0;
		int ready = spawn_worker(&plan->spawn[i], &pid, &err);
		member->spawn_credit--;
		memmove(member->workers + 1, member->workers, sizeof member->workers - sizeof member->workers[0]);
		member->workers[0] = pid;
		/* The seat is on file for a worker that is not there: again in a second. */
		if (ready < 0) {
			say_err(&err);
			plan->again_boot_ns = clock_boot_ns() + NS_PER_S;
		}
		keep(member->calls, ready);
	}
}

/* Without memory nothing is known, and nobody is held back. */
void member_look_at_card(struct member *member)
{
	struct line_card *card = &member->line->card;

	member->card_seen = true;
	if (!member->card)
		member->card = malloc(sizeof *member->card);
	if (!member->card)
		return;
	card->look(card->context, member->card);
	if (member->card->contended && member->standing_waits)
		card->noticed(card->context, member->card);
}

/*
 * A timer by the wall clock: it goes off after a suspend as well, and when the clock is set (timerfd_create(2),
 * TFD_TIMER_CANCEL_ON_SET). Only those who watch for the line have one, and whose own job is to be frozen by the clock.
 */
static void set_wall_timer(struct member *member, const struct plan *plan)
{
	int64_t at_ns = member->role.fd >= 0 ? plan->again_wall_ns : 0;

	if (plan->closes_wall_ns && (at_ns == 0 || plan->closes_wall_ns < at_ns))
		at_ns = plan->closes_wall_ns;
	if (at_ns == member->again_wall_ns)
		return;
	if (member->wall_fd < 0)
		member->wall_fd = timerfd_create(CLOCK_REALTIME, TFD_CLOEXEC | TFD_NONBLOCK);
	struct itimerspec at = { .it_value = { at_ns / NS_PER_S, at_ns % NS_PER_S } };
	const int flags = TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET;
	/* Without it the member looks again as often as it would poll for anything else. */
	if (member->wall_fd >= 0 && timerfd_settime(member->wall_fd, flags, &at, NULL) == 0)
		member->again_wall_ns = at_ns;
	else if (at_ns)
		member->again_boot_ns = clock_boot_ns() + NS_PER_S;
}

int member_settle(struct member *member, struct err *err)
{
	struct line *line = member->line;

	member->blocked = false;
	member->card_seen = false;
	for (int round = 0; round < ROUNDS; round++) {
		struct plan plan;
		if (line_lock(line, err) < 0)
			return -1;
		int result = settle(member, &plan, err), again = 0;
		line_unlock(line);
		if (result == 2) {
			member_look_at_card(member);
			continue;
		}
		if (result == 1) {
			if (line_reserve(line, 1, err) < 0)
				return -1;
			continue;
		}
		if (result == 0) {
			carry_out(member, &plan);
			member->settled = plan.settled;
			member->yield = plan.yield;
			member->closed = plan.closed;
			member->again_boot_ns = plan.again_boot_ns;
			set_wall_timer(member, &plan);
			again = watch_others(member, &plan) | look_at_guards(member, &plan);
			int cleared = clear_dead(member, &plan, err);
			result = cleared < 0 ? -1 : 0;
			again |= cleared;
		}
		plan_free(&plan);
		if (result < 0)
			return -1;
		if (!again)
			break;
	}
	if (member->settled)
		close_all(member->lookers);
	return 0;
}

void member_settle_begun(struct member *member)
{
	struct err err = ERR_NONE;

	if (member_settle(member, &err) == 0) {
		member->troubled = false;
		return;
	}
	if (!member->troubled)
		say_err(&err);
	member->troubled = true;
	member->again_boot_ns = clock_boot_ns() + NS_PER_S;
}

int member_poll_fill(struct member *member, struct pollfd polls[MEMBER_POLL], int *timeout_ms)
{
	int count = 0;

	polls[count++] = (struct pollfd){ .fd = member->wake.fd, .events = POLLIN };
	for (int i = 0; i < MEMBER_CALLS; i++) {
		if (member->calls[i] >= 0)
			polls[count++] = (struct pollfd){ .fd = member->calls[i], .events = POLLIN };
		if (member->callers[i] >= 0)
			polls[count++] = (struct pollfd){ .fd = member->callers[i], .events = POLLIN };
	}
	for (int i = 0; i < member->watched_count; i++)
		polls[count++] = (struct pollfd){ .fd = member->watched[i].pidfd, .events = POLLIN };
	if (member->wall_fd >= 0)
		polls[count++] = (struct pollfd){ .fd = member->wall_fd, .events = POLLIN };
	*timeout_ms = -1;
	if (member->again_boot_ns)
		*timeout_ms = clock_left_ms(member->again_boot_ns, clock_boot_ns());
	for (int lane = 0; lane < CONF_LANES; lane++) {
		int64_t at_ns = member->quiet[lane].at_boot_ns;
		int ms = at_ns ? clock_left_ms(at_ns, clock_boot_ns()) : -1;
		if (ms >= 0 && (*timeout_ms < 0 || ms < *timeout_ms))
			*timeout_ms = ms;
	}
	/* The second has nobody but the standby to watch, and nobody else to notice when that is stopped. */
	if (member->role.fd >= 0 && member->role.number == SEAT_SECOND && (*timeout_ms < 0 || *timeout_ms > 1000))
		*timeout_ms = 1000;
	return count;
}

static bool is_ready(const struct pollfd *polls, int count, int fd)
{
	for (int i = 0; i < count; i++) {
		if (polls[i].fd == fd && polls[i].revents)
			return true;
	}
	return false;
}

/* Reads what a caller has to say, and lets go of it when it has. */
static enum message hear(struct member *member, int *caller)
{
	char text[WAKE_MESSAGE];
	int got = wake_receive(*caller, text), fd = *caller;
	enum message done = MESSAGE_DONE;

	if (got < 0)
		return MESSAGE_DONE;
	*caller = -1;
	if (got > 0 && strcmp(text, "look") == 0) {
		keep(member->lookers, fd);
		return MESSAGE_SETTLE;
	}
	if (got > 0 && member->on_message)
		done = member->on_message(member->message_context, fd, text);
	if (done != MESSAGE_KEPT)
		close(fd);
	return done;
}

/* A lane whose first process is gone, or unknown, and that is still held: is its supervisor stopped? */
static int look_at_quiet(struct member *member, int lane)
{
	struct seat_view view;
	struct err ignored = ERR_NONE;

	if (!member->quiet[lane].at_boot_ns || clock_boot_ns() < member->quiet[lane].at_boot_ns)
		return 0;
	member->quiet[lane].at_boot_ns = 0;
	if (seat_read(member->line, lane, &view, &ignored) < 0 || view.entry.gen != member->quiet[lane].gen ||
	    !view.held)
		return 1;
	if (view.entry.main.pid && procid_alive(&view.entry.main)) {
		watch(member, &view.entry, &view.entry.main, WATCHED_MAIN, lane);
		return 0;
	}
	if (procid_stopped(&view.entry.owner))
		procid_signal(&view.entry.owner, SIGCONT);
	look_later(member, lane, view.entry.gen, NS_PER_S);
	return 0;
}

static void note_gone(struct member *member, const struct watched *watched)
{
	if (watched->role == WATCHED_MAIN)
		look_later(member, watched->lane, watched->gen, SETTLE_DOWN_NS);
	else
		member->gone[member->gone_next++ % MEMBER_GONE] = watched->id;
}

/* Whoever has said something is heard at once: many may call, and only the silent ones take room. */
static int accept_all(struct member *member)
{
	int again = 0;

	for (int fd; (fd = wake_accept(&member->wake)) >= 0;) {
		enum message heard = hear(member, &fd);
		again |= heard == MESSAGE_SETTLE;
		keep(member->callers, fd);
		/* Its caller waits for an answer; the next poll shows who else is there. */
		if (heard == MESSAGE_KEPT)
			break;
	}
	return again;
}

int member_poll_done(struct member *member, const struct pollfd polls[MEMBER_POLL], int count)
{
	int again = is_ready(polls, count, member->wake.fd) ? accept_all(member) : 0;

	for (int i = 0; i < MEMBER_CALLS; i++) {
		if (member->calls[i] >= 0 && is_ready(polls, count, member->calls[i])) {
			close(member->calls[i]);
			member->calls[i] = -1;
			again |= !member->settled;
		}
		if (member->callers[i] >= 0)
			again |= hear(member, &member->callers[i]) == MESSAGE_SETTLE;
	}
	for (int i = member->watched_count - 1; i >= 0; i--) {
		struct watched *watched = &member->watched[i];
		/* Asked once more: a live holder that is taken for dead loses its job. */
		if (!is_ready(polls, count, watched->pidfd) ||
		    poll(&(struct pollfd){ .fd = watched->pidfd, .events = POLLIN }, 1, 0) != 1)
			continue;
		note_gone(member, watched);
		again |= watched->role != WATCHED_MAIN;
		unwatch(member, i);
	}
	if (member->wall_fd >= 0 && is_ready(polls, count, member->wall_fd)) {
		uint64_t times;
		/* Over, or the clock was set: it is to be set anew. */
		if (read(member->wall_fd, &times, sizeof times) < 0 && errno == EAGAIN)
			times = 0;
		member->again_wall_ns = 0;
		again = 1;
	}
	for (int lane = 0; lane < CONF_LANES; lane++)
		again |= look_at_quiet(member, lane);
	if (member->role.fd >= 0 && member->role.number == SEAT_SECOND)
		again |= member_tick(member);
	if (member->again_boot_ns && clock_boot_ns() >= member->again_boot_ns) {
		member->spawn_credit += member->spawn_credit < 1;
		again = 1;
	}
	return again;
}

void member_workers(const struct member *member, pid_t *pids, int room)
{
	int used = 0;

	for (size_t i = 0; i < sizeof member->workers / sizeof member->workers[0] && used < room; i++) {
		if (member->workers[i] > 0)
			pids[used++] = member->workers[i];
	}
	if (used < room)
		pids[used] = 0;
}

/* A worker stopped before it said that it is settled would keep us, or leave its seat unwatched. */
static void wake_workers(struct member *member)
{
	struct procid id;

	for (size_t i = 0; i < sizeof member->workers / sizeof member->workers[0]; i++) {
		pid_t *pid = &member->workers[i];
		/* Ended, or reaped elsewhere: the number may be anybody's by now. */
		if (*pid > 0 && waitpid(*pid, NULL, WNOHANG) != 0)
			*pid = 0;
		if (*pid > 0 && procid_read(*pid, &id) == 0 && procid_stopped(&id))
			procid_signal(&id, SIGCONT);
	}
}

int member_tick(struct member *member)
{
	struct seat_view standby;
	struct err ignored = ERR_NONE;

	member->spawn_credit = SPAWN_CREDIT;
	if (!member->settled)
		wake_workers(member);
	if (!member->watch_needed || seat_read(member->line, SEAT_STANDBY, &standby, &ignored) < 0)
		return 0;
	if (!standby.held)
		return standby.entry.state != ENTRY_GRANTED || !member->settled;
	if (procid_equal(&standby.entry.owner, &member->stopped) || !procid_stopped(&standby.entry.owner))
		return 0;
	member->stopped = standby.entry.owner;
	return 1;
}

enum { PATIENCE_LEAST_MS = 10, PATIENCE_MOST_MS = 1000 };

/*
 * Sleeps until somebody whom we called has answered or gone; 1 then. What we wait for may also be another process's to
 * bring about (a worker that it is starting), and that one owes us no answer: so we look again by ourselves, soon at
 * first.
 */
static int wait_for_news(struct member *member, int patience_ms, struct err *err)
{
	struct pollfd polls[MEMBER_POLL];
	int timeout_ms;

	for (;;) {
		int count = member_poll_fill(member, polls, &timeout_ms);
		if (timeout_ms < 0 || timeout_ms > patience_ms)
			timeout_ms = patience_ms;
		int ready = rest_poll(polls, count, timeout_ms);
		if (ready < 0 && errno != EINTR)
			return err_sys(err, "cannot wait for the next in line");
		if (ready == 0)
			return 0;
		if (ready > 0 && member_poll_done(member, polls, count))
			return 1;
	}
}

/* Until what must hold holds without us. */
static int stay_until_settled(struct member *member, struct err *err)
{
	int patience_ms = PATIENCE_LEAST_MS;
	/* Each that does not answer costs take_ns; a line of stopped processes must not keep us for ever. */
	int64_t until = clock_boot_ns() + 20 * member->line->conf.take_ns;

	for (;;) {
		if (member_settle(member, err) < 0)
			return -1;
		/* An unkillable process blocks its lane, not us: whoever comes next tries it again. */
		if (member->settled || member->blocked || clock_boot_ns() >= until)
			return 0;
		int news = wait_for_news(member, patience_ms, err);
		if (news < 0)
			return -1;
		if (news > 0)
			continue;
		wake_workers(member);
		if (patience_ms == PATIENCE_MOST_MS)
			member->spawn_credit += member->spawn_credit < 1;
		patience_ms = patience_ms * 2 < PATIENCE_MOST_MS ? patience_ms * 2 : PATIENCE_MOST_MS;
	}
}

int member_leave(struct member *member, struct err *err)
{
	member->leaving = true;
	member->wants_lane = false;
	member->ended = member->lane.fd >= 0;
	if (member->ticket.fd >= 0) {
		if (line_lock(member->line, err) < 0)
			return -1;
		ticket_remove(member->line, &member->ticket);
		line_unlock(member->line);
	}
	return stay_until_settled(member, err);
}

int member_pause(struct member *member, enum ticket_flag flag, struct err *err)
{
	int result = 0;

	if (line_lock(member->line, err) < 0)
		return -1;
	if (member->ticket.fd < 0) {
		result = ticket_make(member->line, &member->job, flag, &member->ticket, err);
	} else {
		ticket_refresh(member->line, &member->ticket);
		result = ticket_flag(member->line, member->ticket.file, flag, err);
	}
	line_unlock(member->line);
	if (result < 0)
		return -1;
	member->leaving = true;
	member->wants_lane = false;
	member->ended = member->lane.fd >= 0;
	return stay_until_settled(member, err);
}

int member_offer(struct member *member, struct err *err)
{
	if (line_lock(member->line, err) < 0)
		return -1;
	int result = ticket_make(member->line, &member->job, TICKET_TURN, &member->ticket, err);
	line_unlock(member->line);
	if (result < 0)
		return -1;
	member->ended = true;
	member->wants_lane = true;
	return 0;
}

int member_resume(struct member *member, struct err *err)
{
	member->leaving = member->looks = false;
	member->wants_lane = true;
	if (line_lock(member->line, err) < 0)
		return -1;
	ticket_refresh(member->line, &member->ticket);
	bool begun = member->job.main.pid != 0;
	int result = ticket_flag(member->line, member->ticket.file, begun ? TICKET_TURN : TICKET_PLAIN, err);
	member->job.state = begun ? ENTRY_FROZEN : ENTRY_WAITING;
	if (result == 0)
		result = ticket_update(&member->ticket, &member->job, err);
	line_unlock(member->line);
	return result;
}
