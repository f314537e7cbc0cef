/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "hold.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "conf/base/clock.h"
#include "conf/base/fmt.h"
#include "conf/base/say.h"
#include "conf/base/scope.h"
#include "conf/jobid.h"
#include "runner/cell/stray.h"
#include "runner/onend.h"

#define FREEZE_MS 2000
/* To die of SIGKILL, and then between two tries. */
#define DYING_NS      NS_PER_S
#define KILL_AGAIN_NS (ENTRY_AGAIN_S * NS_PER_S)

void hold_begin_held(struct hold *hold, int64_t now_ns)
{
	struct entry *job = &hold->member->job;

	hold->held_ns = now_ns;
	/* The two clocks were read a moment apart. */
	job->asleep_ns = (job->since_boot_ns - now_ns + NS_PER_S / 2) / NS_PER_S * NS_PER_S;
}

int64_t hold_ran_ns(const struct hold *hold)
{
	return clock_awake_ns() - hold->began_ns - hold->away_ns;
}

bool hold_cancelled(const struct hold *hold)
{
	return spool_ordered(hold->task->spool, hold->member->job.id) != ORDER_NONE;
}

int hold_note(struct hold *hold, struct err *err)
{
	struct member *member = hold->member;

	if (member->lane.fd < 0 && member->ticket.fd >= 0)
		return ticket_update(&member->ticket, &member->job, err);
	return seat_update(&member->lane, &member->job, err);
}

static bool first_time(const struct member *member, const char *name)
{
	SCOPE_FD int fd = member->wake.folder_fd < 0
				  ? -1
				  : openat(member->wake.folder_fd, name,
					   O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);

	return fd >= 0 || errno != EEXIST;
}

int hold_name_cell(struct hold *hold, struct err *err)
{
	struct member *member = hold->member;
	struct stat queue;

	hold->place = cell_place_find(member->line->conf.cells);
	member->job.cell[0] = '\0';
	if (!hold->place->available)
		return 0;
	if (fstat(member->line->queue_fd, &queue) < 0)
		return err_sys(err, "cannot make a cell");
	/* Several queues may share a cgroup folder: the queue's inode tells their cells apart, the generation a job's
	 * holds. */
	fmt(hold->cell_name, sizeof hold->cell_name, "pgpu-%llx-%s-%llu", (unsigned long long)queue.st_ino,
	    JOBID(member->job.id), (unsigned long long)member->lane.gen);
	cell_path(hold->place, hold->cell_name, member->job.cell);
	return 0;
}

static void say_missing(const struct hold *hold, const char *why)
{
	const struct cell_place *place = hold->place;
	const char *reason = why[0] ? why : place->reason;
	const char *name = hold->cell.fd < 0 ? "said-no-cell" : place->memory ? "said-no-limit" : "said-no-memory";
	char missing[CELL_MISSING];

	if (!first_time(hold->member, name))
		return;
	cell_missing(place, &hold->cell, missing);
	say("%s%s%s%s", hold->cell.fd < 0 ? "no cell: " : "", missing, reason[0] ? ": " : "", reason);
}

/* Without a cell the job runs all the same; which guarantee is missing is said once a login, and `status` always says
 * it. */
int hold_make_cell(struct hold *hold, struct err *err)
{
	struct member *member = hold->member;
	const struct cell_place *place = hold->place;
	struct cell_limits limits = { member->job.memory_bytes, member->line->conf.processes,
				      member->job.vram_max_bytes };
	struct err why = ERR_NONE;

	if (place->available && cell_make(place, hold->cell_name, &limits, &hold->cell, &why) < 0) {
		cell_place_forget();
		member->job.cell[0] = '\0';
		if (hold_note(hold, err) < 0)
			return -1;
	}
	if (hold->cell.fd < 0)
		hold->before_count = stray_children(getpid(), hold->before, HOLD_BEFORE);
	if (hold->cell.fd < 0 && prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) < 0)
		return err_sys(err, "cannot become the reaper of the job's orphans");
	if (hold->task->interactive && !say_is_quiet() &&
	    (hold->cell.fd < 0 || !place->memory || !place->pids || hold->cell.swaps))
		say_missing(hold, why.text);
	return 0;
}

/* Whoever holds a seat is a process of pgpu, also where its parent has died and we, the reaper, inherited it. */
static void spare_seat_owners(const struct hold *hold, struct stray *stray)
{
	struct seat_view *seats;
	struct err ignored = ERR_NONE;
	int lanes;
	int result = seat_read_all(hold->member->line, &seats, &lanes, &ignored);

	for (int i = 0; result == 0 && i < lanes + 2; i++) {
		if (seats[i].held && seats[i].entry.owner.ns == hold->member->job.owner.ns &&
		    seats[i].entry.owner.pid != getpid())
			stray_spare(stray, seats[i].entry.owner.pid);
	}
	free(seats);
	struct seat_view service;
	if (seat_read(hold->member->line, SEAT_STANDING, &service, &ignored) == 0 && service.held &&
	    service.entry.owner.ns == hold->member->job.owner.ns && service.entry.owner.pid != getpid())
		stray_spare(stray, service.entry.owner.pid);
}

/* But for the owners of seats. */
static struct stray stray_begin(const struct hold *hold)
{
	struct stray stray = { .supervisor = getpid(), .mark = hold->mark, .since = hold->member->job.main.start };
	pid_t workers[17];

	if (hold->task->launch.own_session)
		stray.session = hold->first.pid;
	member_workers(hold->member, workers, 17);
	for (int i = 0; i < 17 && workers[i]; i++)
		stray_spare(&stray, workers[i]);
	for (int i = 0; i < hold->before_count; i++)
		stray_spare(&stray, hold->before[i]);
	stray_spare(&stray, hold_gpu_reader(hold));
	int ends = onend_started(workers);
	for (int i = 0; i < ends; i++)
		stray_spare(&stray, workers[i]);
	return stray;
}

static struct stray stray_of(const struct hold *hold)
{
	struct stray stray = stray_begin(hold);

	spare_seat_owners(hold, &stray);
	return stray;
}

static void count_one(pid_t pid, void *context)
{
	(void)pid;
	++*(int *)context;
}

void hold_each(const struct hold *hold, void (*visit)(pid_t pid, void *context), void *context)
{
	if (hold->cell.fd >= 0) {
		cell_each(&hold->cell, visit, context);
	} else {
		struct stray stray = stray_of(hold);
		stray_each(&stray, visit, context);
	}
}

int hold_count(const struct hold *hold)
{
	int count = 0;

	hold_each(hold, count_one, &count);
	return count;
}

/* True when nothing of the job lives. Without a cell: we are its orphans' reaper, so no child is no descendant. */
bool hold_empty(struct hold *hold)
{
	pid_t child;

	if (!hold->gone || hold->empty)
		return hold->empty;
	if (hold->cell.fd >= 0)
		return hold->empty = !cell_populated(&hold->cell);
	do
		child = waitpid(-1, NULL, WNOHANG);
	while (child > 0);
	if (child < 0 && errno == ECHILD)
		return hold->empty = true;
	struct stray stray = stray_begin(hold);
	if (stray_childless(&stray))
		return hold->empty = true;
	spare_seat_owners(hold, &stray);
	int count = 0;
	return hold->empty = stray_each(&stray, count_one, &count) == 0;
}

void hold_signal(const struct hold *hold, int sig)
{
	if (hold->cell.fd >= 0) {
		cell_signal(&hold->cell, sig);
	} else {
		struct stray stray = stray_of(hold);
		stray_signal(&stray, sig);
	}
}

bool hold_freeze(const struct hold *hold, bool frozen)
{
	if (hold->cell.fd >= 0)
		return cell_freeze(&hold->cell, frozen, FREEZE_MS);
	hold_signal(hold, frozen ? SIGSTOP : SIGCONT);
	return true;
}

void hold_thaw(struct hold *hold)
{
	bool again = hold->thaw_at_ns != 0;

	/* A job that froze a cgroup of its own is as it wants to be. */
	if (hold_freeze(hold, false) || errno == ETIMEDOUT) {
		hold->thaw_at_ns = 0;
		return;
	}
	if (!again)
		say("cannot thaw job %s: %s; trying again", JOBID(hold->member->job.id), strerror(errno));
	hold->thaw_at_ns = clock_awake_ns() + NS_PER_S;
}

static void keep_first(pid_t pid, void *context)
{
	if (*(pid_t *)context == 0)
		*(pid_t *)context = pid;
}

static void note_stuck(struct hold *hold)
{
	pid_t pid = 0;
	struct err ignored = ERR_NONE;

	hold_each(hold, keep_first, &pid);
	if (pid == hold->member->job.stuck)
		return;
	hold->member->job.stuck = pid;
	hold_note(hold, &ignored);
}

void hold_kill(struct hold *hold)
{
	if (hold->killed && clock_awake_ns() >= hold->kill_at_ns)
		note_stuck(hold);
	if (hold->cell.fd >= 0) {
		cell_kill(&hold->cell);
	} else {
		struct stray stray = stray_of(hold);
		stray_kill(&stray, 200);
	}
	hold->killed = true;
	hold->kill_at_ns = clock_awake_ns() + (hold->member->job.stuck ? KILL_AGAIN_NS : DYING_NS);
}

void hold_begin_stop(struct hold *hold, enum stop why)
{
	hold_stop_by(hold, why, SIGTERM);
}

void hold_stop_by(struct hold *hold, enum stop why, int sig)
{
	if (hold->stop == STOP_NONE || why != STOP_LEFT)
		hold->stop = why;
	if (hold->kill_at_ns)
		return;
	hold->member->job.state = ENTRY_COMPLETING;
	struct err ignored = ERR_NONE;
	/* The grace is what it is now, not what it was when the job began: whoever cancels counts with it. */
	line_conf_again(hold->member->line, &ignored);
	hold_note(hold, &ignored);
	int64_t grace_ns = hold->member->line->conf.grace_ns;
	if (hold->cell.fd >= 0) {
		grace_ns = cell_is_full(&hold->cell) ? 0 : grace_ns;
		cell_terminate(&hold->cell, sig);
	} else {
		hold_signal(hold, sig);
		hold_signal(hold, SIGCONT);
	}
	hold->kill_at_ns = clock_awake_ns() + grace_ns;
}

void hold_end_now(struct hold *hold, enum stop why)
{
	struct err ignored = ERR_NONE;

	hold_kill(hold);
	if (hold->stop == STOP_NONE || hold->stop == STOP_LEFT)
		hold->stop = why;
	hold->member->job.state = ENTRY_COMPLETING;
	hold_note(hold, &ignored);
}

void hold_first_ended(struct hold *hold, int status, const struct rusage *usage)
{
	hold->gone = true;
	hold->status = status;
	hold->usage = *usage;
	if (hold_empty(hold))
		return;
	hold_gpu_again(hold);
	int left = hold->stop == STOP_NONE ? hold_count(hold) : 0;
	if (left > 0)
		say("%d process%s of the job %s left behind and ended", left, left == 1 ? "" : "es",
		    left == 1 ? "was" : "were");
	hold_begin_stop(hold, STOP_LEFT);
}
