/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "supervise.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/pidfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "conf/base/clock.h"
#include "conf/base/say.h"
#include "conf/base/scope.h"
#include "conf/base/text.h"
#include "runner/desk.h"
#include "runner/lineup.h"
#include "runner/stray.h"
#include "runner/terminal.h"

#define FREEZE_MS 2000
#define KILL_AGAIN_NS NS_PER_S
#define TICK_NS NS_PER_S

enum stop { STOP_NONE, STOP_LEFT, STOP_LIMIT, STOP_CANCEL, STOP_SIGNAL };

struct hold {
	struct member *member;
	struct task *task;
	struct cell cell;
	struct terminal terminal;
	struct launched first;
	char mark[128];          /* "NAME=VALUE" in the environment of every process of the job */
	char frozen_file[128];
	bool gone;               /* the first process was reaped */
	int status;
	struct rusage usage;
	enum stop stop;
	int64_t kill_at_ns;      /* awake; 0: not yet stopping */
	bool killed;
	int64_t began_ns;        /* awake */
	int64_t away_ns;         /* frozen since then */
	int64_t earlier_ns;      /* run in earlier holds */
	int64_t waited_ns;
	bool over_budget;
	int64_t tick_ns;
};

/* --- what the job is told ---------------------------------------------------------------------------------------------- */

static int64_t ran_ns(const struct hold *hold)
{
	return clock_awake_ns() - hold->began_ns - hold->away_ns;
}

static void write_frozen(const struct hold *hold, int64_t frozen_ns)
{
	char text[32];
	SCOPE_FD int fd = hold->frozen_file[0] ? open(hold->frozen_file, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600) : -1;
	int length = snprintf(text, sizeof text, "%020lld\n", (long long)(frozen_ns / NS_PER_MS));

	if (fd >= 0 && pwrite(fd, text, (size_t)length, 0) != length)
		say("cannot write %s", hold->frozen_file);
}

static bool wants_priority(const struct hold *hold)
{
	char *const *next = hold->task->environment;

	for (; *next; next++) {
		if (strcmp(*next, "PRIORITY=normal") == 0 || strncmp(*next, "AMD_PRIORITY=", 13) == 0)
			return false;
	}
	return hold->member->line->conf.amd_priority;
}

struct assignments {
	char queue_pid[32], turn[128], frozen[160], job[40];
	char **list;
};

static bool is_ours(const char *assignment)
{
	return strncmp(assignment, "GPU_QUEUE", 9) == 0 || strncmp(assignment, "PGPU_JOB_ID=", 12) == 0;
}

/* The job's environment with what tells it of its lane; an enclosing job's own marks never pass. */
static int build_environment(struct hold *hold, struct assignments *out, struct err *err)
{
	const struct member *member = hold->member;
	size_t count = 0, used = 0;

	for (char *const *next = hold->task->environment; *next; next++)
		count++;
	for (char *const *next = hold->task->extra; next && *next; next++)
		count++;
	out->list = malloc((count + 8) * sizeof *out->list);
	if (!out->list)
		return err_sys(err, "cannot start the job");
	for (char *const *next = hold->task->environment; *next; next++) {
		if (!is_ours(*next))
			out->list[used++] = *next;
	}
	for (char *const *next = hold->task->extra; next && *next; next++)
		out->list[used++] = *next;
	snprintf(out->queue_pid, sizeof out->queue_pid, "GPU_QUEUE_PID=%d", member->job.owner.pid);
	snprintf(out->job, sizeof out->job, "PGPU_JOB_ID=%llu", (unsigned long long)member->job.id);
	out->list[used++] = "GPU_QUEUE=1";
	out->list[used++] = out->queue_pid;
	out->list[used++] = out->job;
	snprintf(hold->mark, sizeof hold->mark, "%s", out->queue_pid);
	if (member->wake.path[0]) {
		snprintf(out->turn, sizeof out->turn, "GPU_QUEUE_TURN=%s", member->wake.path);
		snprintf(hold->frozen_file, sizeof hold->frozen_file, "%s.frozen", member->wake.path);
		snprintf(out->frozen, sizeof out->frozen, "GPU_QUEUE_FROZEN=%s", hold->frozen_file);
		snprintf(hold->mark, sizeof hold->mark, "%s", out->turn);
		out->list[used++] = out->turn;
		out->list[used++] = out->frozen;
	}
	if (wants_priority(hold))
		out->list[used++] = "AMD_PRIORITY=-512";
	out->list[used] = NULL;
	return 0;
}

/* --- cell or no cell --------------------------------------------------------------------------------------------------- */

static bool first_time(const struct member *member, const char *name)
{
	SCOPE_FD int fd = member->wake.folder_fd < 0 ? -1
						     : openat(member->wake.folder_fd, name,
							      O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);

	return fd >= 0 || errno != EEXIST;
}

/* Without a cell the job runs all the same; which guarantee is missing is said once a login, and `status` always says it. */
static int make_cell(struct hold *hold, struct err *err)
{
	struct member *member = hold->member;
	SCOPE_FREE struct cell_place *place = malloc(sizeof *place);
	struct stat queue;
	char name[96];
	struct err why = ERR_NONE;

	hold->cell = CELL_NONE;
	if (!place || fstat(member->line->queue_fd, &queue) < 0)
		return err_sys(err, "cannot make a cell");
	cell_place_find(member->line->conf.cells, place);
	/* Several queues may share a cgroup folder: the queue's inode tells their cells apart, the generation a job's holds. */
	snprintf(name, sizeof name, "pgpu-%llx-%llu-%llu", (unsigned long long)queue.st_ino, (unsigned long long)member->job.id,
		 (unsigned long long)member->lane.gen);
	if (place->available && cell_make(place, name, member->job.memory_bytes, &hold->cell, &why) < 0)
		snprintf(place->reason, sizeof place->reason, "%.180s", why.text);
	if (hold->cell.fd < 0 && prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) < 0)
		return err_sys(err, "cannot become the reaper of the job's orphans");
	if (hold->cell.fd < 0 && hold->task->interactive && first_time(member, "said-no-cell"))
		say("no cell: %s; children may escape and the memory ceiling is not enforced", place->reason);
	else if (hold->cell.fd >= 0 && !place->memory && hold->task->interactive && first_time(member, "said-no-memory"))
		say("the memory ceiling is not enforced: %s", place->reason);
	memcpy(member->job.cell, hold->cell.path, sizeof member->job.cell);
	return 0;
}

static struct stray stray_of(const struct hold *hold)
{
	struct stray stray = { .supervisor = getpid(), .mark = hold->mark };

	if (hold->task->launch.own_session)
		stray.session = hold->first.pid;
	member_workers(hold->member, stray.spared, STRAY_SPARED);
	return stray;
}

static void count_one(pid_t pid, void *context)
{
	(void)pid;
	++*(int *)context;
}

static int count_left(const struct hold *hold)
{
	int count = 0;

	if (hold->cell.fd >= 0) {
		cell_each(&hold->cell, count_one, &count);
	} else {
		struct stray stray = stray_of(hold);
		stray_each(&stray, count_one, &count);
	}
	return count;
}

/* True when nothing of the job lives. Without a cell: we are its orphans' reaper, so no child is no descendant. */
static bool is_empty(const struct hold *hold)
{
	if (!hold->gone)
		return false;
	if (hold->cell.fd >= 0)
		return !cell_populated(&hold->cell);
	while (waitpid(-1, NULL, WNOHANG) > 0)
		;
	if (waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD)
		return true;
	return count_left(hold) == 0;
}

static void signal_all(const struct hold *hold, int sig)
{
	if (hold->cell.fd >= 0) {
		cell_signal(&hold->cell, sig);
	} else {
		struct stray stray = stray_of(hold);
		stray_signal(&stray, sig);
	}
}

static bool freeze(const struct hold *hold, bool frozen)
{
	if (hold->cell.fd >= 0)
		return cell_freeze(&hold->cell, frozen, FREEZE_MS);
	signal_all(hold, frozen ? SIGSTOP : SIGCONT);
	return true;
}

static void kill_all(struct hold *hold)
{
	if (hold->cell.fd >= 0) {
		cell_kill(&hold->cell);
	} else {
		struct stray stray = stray_of(hold);
		stray_kill(&stray, 200);
	}
	hold->killed = true;
	hold->kill_at_ns = clock_awake_ns() + KILL_AGAIN_NS;
}

/* --- start ------------------------------------------------------------------------------------------------------------- */

static int note_lane(struct hold *hold, struct err *err)
{
	return seat_update(&hold->member->lane, &hold->member->job, err);
}

static int start(struct hold *hold, struct err *err)
{
	struct member *member = hold->member;
	struct task *task = hold->task;
	struct assignments assignments = { .list = NULL };
	int locks[4], used = 0;

	if (make_cell(hold, err) < 0 || build_environment(hold, &assignments, err) < 0)
		return -1;
	SCOPE_FREE char **list = assignments.list;
	snprintf(member->job.mark, sizeof member->job.mark, "%s", hold->mark);
	write_frozen(hold, 0);
	/* On file before the job exists: whoever clears up after us finds it. */
	if (note_lane(hold, err) < 0)
		return -1;
	if (member->lane.fd >= 0)
		locks[used++] = member->lane.fd;
	if (member->role.fd >= 0)
		locks[used++] = member->role.fd;
	if (member->ticket.fd >= 0)
		locks[used++] = member->ticket.fd;
	locks[used] = -1;
	task->launch.environment = list;
	task->launch.cell_fd = hold->cell.fd;
	task->launch.close_first = locks;
	task->launch.own_group = task->interactive && hold->cell.fd < 0 && !hold->terminal.attached;
	hold->began_ns = clock_awake_ns();
	if (launch(&task->launch, &hold->first, err) < 0)
		return -1;
	if (procid_read(hold->first.pid, &member->job.main) < 0)
		member->job.main = (struct procid){ .pid = hold->first.pid, .start = 0, .ns = member->job.owner.ns };
	return note_lane(hold, err);
}

/* --- stop -------------------------------------------------------------------------------------------------------------- */

static void begin_stop(struct hold *hold, enum stop why)
{
	if (hold->stop == STOP_NONE || why != STOP_LEFT)
		hold->stop = why;
	if (hold->kill_at_ns)
		return;
	hold->member->job.state = ENTRY_COMPLETING;
	struct err ignored = ERR_NONE;
	note_lane(hold, &ignored);
	signal_all(hold, SIGTERM);
	signal_all(hold, SIGCONT);
	if (hold->cell.fd >= 0)
		cell_freeze(&hold->cell, false, 0);
	hold->kill_at_ns = clock_awake_ns() + hold->member->line->conf.grace_ns;
}

static void obey_order(struct hold *hold)
{
	enum spool_order order = spool_ordered(hold->task->spool, hold->member->job.id);

	if (order == ORDER_NONE || (order == ORDER_CANCEL && hold->stop == STOP_CANCEL))
		return;
	if (hold->stop != STOP_CANCEL)
		begin_stop(hold, STOP_CANCEL);
	if (order == ORDER_KILL && !hold->killed)
		kill_all(hold);
}

static void reap_first(struct hold *hold)
{
	if (hold->gone || wait4(hold->first.pid, &hold->status, WNOHANG, &hold->usage) != hold->first.pid)
		return;
	hold->gone = true;
	if (is_empty(hold))
		return;
	int left = hold->stop == STOP_NONE ? count_left(hold) : 0;
	if (left > 0)
		say("%d process%s of the job %s left behind and ended", left, left == 1 ? "" : "es", left == 1 ? "was" : "were");
	begin_stop(hold, STOP_LEFT);
}

/* --- Ctrl-Z ------------------------------------------------------------------------------------------------------------ */

static bool order_given(void *context)
{
	struct hold *hold = context;

	return spool_ordered(hold->task->spool, hold->member->job.id) != ORDER_NONE;
}

static void tell_waiting(void *context)
{
	(void)context;
	say("waiting for a lane again");
}

static int log_turn(struct hold *hold, struct err *err)
{
	struct verdict verdict = { .outcome = OUTCOME_TURN, .ran_ns = ran_ns(hold) - hold->earlier_ns, .waited_ns = hold->waited_ns };
	struct history_row row;

	verdict.figures = (struct cell_figures){ -1, -1 };
	verdict_row(hold->member, &verdict, &row);
	hold->earlier_ns = ran_ns(hold);
	return history_append(hold->member->line->queue_fd, &row, err);
}

/* The job is frozen, its lane goes on, and we stop; brought back, we stand in line again and thaw it on the new lane. */
static int step_aside(struct hold *hold, struct err *err)
{
	struct member *member = hold->member;
	struct lineup lineup = { .until_awake_ns = -1, .cancelled = order_given, .waiting = tell_waiting, .context = hold };
	int64_t left_ns = clock_awake_ns(), back_ns;
	int sig = 0, end;

	if (!freeze(hold, true)) {
		freeze(hold, false);
		say("the job could not be frozen; it keeps its lane");
		return 0;
	}
	log_turn(hold, err);
	if (member_pause(member, TICKET_FROZEN, err) < 0)
		return -1;
	terminal_restore(&hold->terminal);
	raise(SIGSTOP);
	/* Without a cell the SIGCONT that woke us woke the job too. */
	if (hold->cell.fd < 0)
		freeze(hold, true);
	back_ns = clock_awake_ns();
	if (member_resume(member, err) < 0)
		return -1;
	end = lineup_wait(member, hold->task->signals, &lineup, &sig, err);
	hold->away_ns += clock_awake_ns() - left_ns;
	hold->waited_ns = clock_awake_ns() - back_ns;
	member->job.frozen_ns = hold->away_ns;
	member->job.waited_ns = hold->waited_ns;
	write_frozen(hold, hold->away_ns);
	if (end < 0)
		return -1;
	if (end == LINEUP_LANE && note_lane(hold, err) < 0)
		return -1;
	freeze(hold, false);
	signal_all(hold, SIGCONT);
	if (end == LINEUP_SIGNAL) {
		pidfd_send_signal(hold->first.pidfd, sig, NULL, 0);
		begin_stop(hold, STOP_SIGNAL);
	}
	return 0;
}

/* --- watch ------------------------------------------------------------------------------------------------------------- */

static int heed_signals(struct hold *hold, struct err *err)
{
	for (int sig; (sig = signals_next(hold->task->signals));) {
		switch (sig) {
		case SIGTERM:
		case SIGHUP:
		case SIGUSR1:
		case SIGUSR2:
			if (!hold->gone)
				pidfd_send_signal(hold->first.pidfd, sig, NULL, 0);
			break;
		case SIGTSTP:
			if (!hold->gone && step_aside(hold, err) < 0)
				return -1;
			break;
		case SIGURG:
			if (member_settle(hold->member, err) < 0)
				return -1;
			break;
		default: break;
		}
	}
	return 0;
}

static void check_clock(struct hold *hold)
{
	const struct entry *job = &hold->member->job;
	int64_t ran = ran_ns(hold);
	char text[TEXT_DURATION];

	if (hold->gone || hold->stop != STOP_NONE)
		return;
	if (job->budget_ns && ran >= job->budget_ns && !hold->over_budget) {
		hold->over_budget = true;
		text_duration_format(job->budget_ns, text);
		say("job %llu has passed its budget of %s", (unsigned long long)job->id, text);
	}
	if (job->limit_ns && ran >= job->limit_ns) {
		text_duration_format(job->limit_ns, text);
		say("job %llu is stopped: past its limit of %s", (unsigned long long)job->id, text);
		begin_stop(hold, STOP_LIMIT);
	}
}

static void earlier(int64_t *at, int64_t other)
{
	if (other < *at)
		*at = other;
}

static int next_timeout(const struct hold *hold, int timeout_ms)
{
	const struct entry *job = &hold->member->job;
	int64_t now = clock_awake_ns(), at = INT64_MAX, base = hold->began_ns + hold->away_ns;

	if (timeout_ms >= 0)
		earlier(&at, now + timeout_ms * NS_PER_MS);
	if (hold->kill_at_ns)
		earlier(&at, hold->kill_at_ns);
	if (hold->stop == STOP_NONE && job->budget_ns && !hold->over_budget)
		earlier(&at, base + job->budget_ns);
	if (hold->stop == STOP_NONE && job->limit_ns)
		earlier(&at, base + job->limit_ns);
	/* Somebody watches us; we look once a second whether he is stopped. */
	if (hold->member->standby.owner.pid)
		earlier(&at, hold->tick_ns);
	if (at == INT64_MAX)
		return -1;
	int64_t left = (at - now + NS_PER_MS - 1) / NS_PER_MS;
	return left < 0 ? 0 : left > 3600000 ? 3600000 : (int)left;
}

struct desk_call {
	struct hold *hold;
	bool settle;
};

static void on_message(void *context, int fd, const char *message)
{
	struct desk_call *call = context;

	call->settle |= desk_answer(call->hold->member->line, call->hold->task->spool, fd, message);
}

static int tick(struct hold *hold, struct err *err)
{
	if (clock_awake_ns() < hold->tick_ns)
		return 0;
	hold->tick_ns = clock_awake_ns() + TICK_NS;
	return member_tick(hold->member) ? member_settle(hold->member, err) : 0;
}

static int sleep_once(struct hold *hold, struct err *err)
{
	struct pollfd polls[MEMBER_POLL + 3];
	struct desk_call call = { .hold = hold };
	int timeout_ms;
	int count = member_poll_fill(hold->member, polls, &timeout_ms);

	polls[count] = (struct pollfd){ .fd = hold->task->signals->fd, .events = POLLIN };
	polls[count + 1] = (struct pollfd){ .fd = hold->gone ? -1 : hold->first.pidfd, .events = POLLIN };
	polls[count + 2] = (struct pollfd){ .fd = hold->gone ? hold->cell.events_fd : -1, .events = POLLPRI };
	if (poll(polls, (nfds_t)count + 3, next_timeout(hold, timeout_ms)) < 0 && errno != EINTR)
		return err_sys(err, "cannot watch the job");
	if (polls[count + 1].revents)
		reap_first(hold);
	if (polls[count].revents && heed_signals(hold, err) < 0)
		return -1;
	int news = member_poll_done(hold->member, polls, count, on_message, &call);
	if (news)
		obey_order(hold);
	if ((news || call.settle) && !is_empty(hold) && member_settle(hold->member, err) < 0)
		return -1;
	return tick(hold, err);
}

static int watch(struct hold *hold, struct err *err)
{
	hold->tick_ns = clock_awake_ns() + TICK_NS;
	obey_order(hold);
	while (!is_empty(hold)) {
		if (sleep_once(hold, err) < 0)
			return -1;
		check_clock(hold);
		if (hold->kill_at_ns && clock_awake_ns() >= hold->kill_at_ns && !is_empty(hold))
			kill_all(hold);
	}
	return 0;
}

/* --- end --------------------------------------------------------------------------------------------------------------- */

static void judge(const struct hold *hold, struct verdict *verdict)
{
	verdict->signal = WIFSIGNALED(hold->status) ? WTERMSIG(hold->status) : 0;
	verdict->exit_code = verdict->signal ? EXIT_SIGNAL + verdict->signal : WEXITSTATUS(hold->status);
	verdict->outcome = verdict->exit_code == 0 ? OUTCOME_COMPLETED : OUTCOME_FAILED;
	if (hold->stop == STOP_LIMIT) {
		verdict->outcome = OUTCOME_TIMEOUT;
		verdict->exit_code = EXIT_STOPPED;
	}
	if (hold->stop == STOP_CANCEL || order_given((void *)(uintptr_t)hold)) {
		verdict->outcome = OUTCOME_CANCELLED;
		verdict->exit_code = EXIT_SIGNAL + SIGTERM;
	}
	verdict->ran_ns = ran_ns(hold) - hold->earlier_ns;
	verdict->frozen_ns = hold->away_ns;
	verdict->waited_ns = hold->waited_ns;
}

static void read_figures(struct hold *hold, struct verdict *verdict)
{
	cell_read_figures(&hold->cell, &verdict->figures);
	if (verdict->figures.cpu_ns < 0)
		verdict->figures.cpu_ns = (hold->usage.ru_utime.tv_sec + hold->usage.ru_stime.tv_sec) * NS_PER_S +
					  (hold->usage.ru_utime.tv_usec + hold->usage.ru_stime.tv_usec) * 1000;
}

static void put_away(struct hold *hold)
{
	cell_remove(&hold->cell);
	hold->member->job.cell[0] = '\0';
	terminal_restore(&hold->terminal);
	if (hold->frozen_file[0])
		unlink(hold->frozen_file);
	if (hold->first.pidfd >= 0)
		close(hold->first.pidfd);
}

int supervise(struct member *member, struct task *task, struct verdict *ret_verdict, struct err *err)
{
	struct hold hold = { .member = member, .task = task, .cell = CELL_NONE, .first.pidfd = -1 };
	struct verdict verdict = { .why.text = "", .figures = { -1, -1 } };

	hold.waited_ns = member->job.waited_ns;
	if (task->interactive)
		terminal_save(&hold.terminal);
	if (order_given(&hold)) {
		verdict.outcome = OUTCOME_CANCELLED;
		verdict.exit_code = EXIT_SIGNAL + SIGTERM;
		verdict.waited_ns = hold.waited_ns;
		*ret_verdict = verdict;
		return 0;
	}
	if (start(&hold, err) < 0) {
		put_away(&hold);
		if (err->code != EXIT_NO_START)
			return -1;
		verdict.why = *err;
		verdict.outcome = OUTCOME_FAILED;
		verdict.exit_code = EXIT_NO_START;
		*ret_verdict = verdict;
		return 0;
	}
	if (watch(&hold, err) < 0) {
		kill_all(&hold);
		put_away(&hold);
		return -1;
	}
	judge(&hold, &verdict);
	read_figures(&hold, &verdict);
	put_away(&hold);
	*ret_verdict = verdict;
	return 0;
}

void verdict_row(const struct member *member, const struct verdict *verdict, struct history_row *ret_row)
{
	const struct entry *job = &member->job;

	*ret_row = HISTORY_ROW;
	ret_row->ended_wall_ns = clock_wall_ns();
	ret_row->id = job->id;
	ret_row->spooled = job->kind == ENTRY_SPOOL;
	snprintf(ret_row->class_name, sizeof ret_row->class_name, "%s", job->class_name);
	snprintf(ret_row->session, sizeof ret_row->session, "%s", job->session);
	snprintf(ret_row->name, sizeof ret_row->name, "%s", job->name);
	snprintf(ret_row->command, sizeof ret_row->command, "%s", job->command);
	ret_row->waited_ns = verdict->waited_ns;
	ret_row->ran_ns = verdict->ran_ns;
	ret_row->frozen_ns = verdict->frozen_ns;
	ret_row->cpu_ns = verdict->figures.cpu_ns;
	ret_row->peak_memory_bytes = verdict->figures.peak_memory_bytes;
	ret_row->exit_code = verdict->exit_code;
	ret_row->outcome = verdict->outcome;
}
