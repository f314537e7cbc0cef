/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "supervise.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "conf/base/clock.h"
#include "conf/base/fmt.h"
#include "conf/base/rest.h"
#include "conf/base/say.h"
#include "conf/base/scope.h"
#include "conf/base/text.h"
#include "conf/jobid.h"
#include "runner/desk.h"
#include "runner/hold.h"
#include "runner/progress.h"
#include "runner/service.h"

#define TICK_NS NS_PER_S
/* Nobody looks at the progress of what is over so soon. */
#define SHORT_NS (100 * NS_PER_MS)

static int start(struct hold *hold, struct err *err)
{
	struct member *member = hold->member;
	struct task *task = hold->task;
	const struct conf_class *class = conf_class_find(&member->line->conf, member->job.class_name);
	int locks[4], used = 0;

	if (hold_name_cell(hold, err) < 0)
		return -1;
	SCOPE_FREE char **list = hold_environment(hold, err);
	if (!list)
		return -1;
	fmt(member->job.mark, sizeof member->job.mark, "%s", hold->mark);
	hold_write_frozen(hold, 0);
	/* On file before cell and job exist: whoever clears up after us finds them. */
	if (hold_note(hold, err) < 0 || hold_make_cell(hold, err) < 0)
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
	task->launch.dies_with_us = hold->cell.fd < 0;
	task->launch.capabilities = class ? class->capabilities : 0;
	task->launch.no_new_privileges = class && class->no_new_privileges;
	task->launch.own_group =
		task->interactive && hold->cell.fd < 0 && !hold->terminal.attached && !terminal_controls();
	hold->began_ns = clock_awake_ns();
	hold_begin_held(hold, hold->began_ns);
	if (launch(&task->launch, &hold->first, err) < 0)
		return -1;
	if (procid_read(hold->first.pid, &member->job.main) < 0)
		member->job.main = (struct procid){ .pid = hold->first.pid, .start = 0, .ns = member->job.owner.ns };
	return hold_note(hold, err);
}

static void obey_order(struct hold *hold)
{
	enum spool_order order = spool_ordered(hold->task->spool, hold->member->job.id);

	if (order == ORDER_NONE || (order == ORDER_CANCEL && hold->stop == STOP_CANCEL))
		return;
	if (hold->stop != STOP_CANCEL)
		hold_begin_stop(hold, STOP_CANCEL);
	if (order == ORDER_KILL && !hold->killed)
		hold_kill(hold);
}

static void reap_first(struct hold *hold)
{
	struct rusage usage;
	int status;

	if (!hold->gone && wait4(hold->first.pid, &status, WNOHANG, &usage) == hold->first.pid)
		hold_first_ended(hold, status, &usage);
}

/* Workers that we started, and without a cell the job's orphans: zombies else until the job ends. */
static void reap_all(struct hold *hold)
{
	struct rusage usage;
	int status;

	for (pid_t pid; (pid = wait4(-1, &status, WNOHANG, &usage)) > 0;) {
		if (pid == hold->first.pid && !hold->gone)
			hold_first_ended(hold, status, &usage);
	}
}

static int heed_signals(struct hold *hold, struct err *err)
{
	for (int sig; (sig = signals_next(hold->task->signals));) {
		switch (sig) {
		case SIGCHLD: reap_all(hold); break;
		case SIGTERM:
		case SIGHUP:
		case SIGUSR1:
		case SIGUSR2:
			if (!hold->gone)
				kill(hold->first.pid, sig); /* our child: its number is its own until it is reaped */
			break;
		case SIGTSTP:
			if (!hold->gone && hold_stop_aside(hold, err) < 0)
				return -1;
			obey_order(hold);
			break;
		case SIGURG: /* a message of somebody who did not find our socket */
			obey_order(hold);
			member_settle_begun(hold->member);
			break;
		default: break;
		}
	}
	return 0;
}

static void earlier(int64_t *at, int64_t other)
{
	if (other < *at)
		*at = other;
}

static int next_timeout(const struct hold *hold, int timeout_ms)
{
	int64_t now = clock_awake_ns(), at = hold->rules_at_ns;

	if (timeout_ms >= 0)
		earlier(&at, now + timeout_ms * NS_PER_MS);
	if (hold->kill_at_ns)
		earlier(&at, hold->kill_at_ns);
	if (hold->task->service)
		earlier(&at, hold_service_at(hold));
	else
		earlier(&at, hold_turn_at(hold));
	earlier(&at, hold->card_at_ns);
	if (hold->thaw_at_ns)
		earlier(&at, hold->thaw_at_ns);
	/* Somebody watches us; we look once a second whether he is stopped. */
	if (hold->member->watch_needed || hold->look_at_memory)
		earlier(&at, hold->tick_ns);
	if (at == INT64_MAX)
		return -1;
	return clock_left_ms(at, now);
}

/* "signal SIG ID": of the job that is supervised here by now. */
static void send_signal(struct hold *hold, int fd, const char *text)
{
	const char *next, *end;
	uint64_t sig = fmt_read(text, &next);
	bool right =
		*next == ' ' && jobid_read(next + 1, &end) == hold->member->job.id && sig && sig <= (uint64_t)SIGRTMAX;
	const char *answer = right && !hold_empty(hold) ? "ok" : "error it does not run";

	if (*answer == 'o')
		hold_signal(hold, (int)sig);
	/* Whoever asked may be gone. */
	if (send(fd, answer, strlen(answer), MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
		return;
}

static enum message on_message(void *context, int fd, const char *text)
{
	struct hold *hold = context;

	/* Nobody comes before a service that is let go on. */
	if (strcmp(text, "turn") == 0 && hold->task->service)
		return MESSAGE_DONE;
	if (strcmp(text, "turn") == 0) {
		/* A process of the job before, which died before it was heard, or one that was killed since. */
		if (!wake_is_there(fd))
			return MESSAGE_DONE;
		hold_turn_ask(hold, fd);
		return MESSAGE_KEPT;
	}
	if (strncmp(text, "signal ", 7) == 0) {
		send_signal(hold, fd, text + 7);
		return MESSAGE_DONE;
	}
	return desk_answer(hold->member->line, hold->task->spool, fd, text) ? MESSAGE_SETTLE : MESSAGE_DONE;
}

static void tick(struct hold *hold)
{
	if (clock_awake_ns() < hold->tick_ns)
		return;
	hold->tick_ns = clock_awake_ns() + TICK_NS;
	if (hold->look_at_memory)
		hold_ceiling_look(hold);
	if (member_tick(hold->member))
		member_settle_begun(hold->member);
}

static int sleep_once(struct hold *hold, struct err *err)
{
	struct pollfd polls[MEMBER_POLL + 3];
	int timeout_ms;
	int count = member_poll_fill(hold->member, polls, &timeout_ms);

	polls[count] = (struct pollfd){ .fd = hold->task->signals->fd, .events = POLLIN };
	polls[count + 1] = (struct pollfd){ .fd = hold->gone ? -1 : hold->first.pidfd, .events = POLLIN };
	polls[count + 2] = (struct pollfd){ .fd = hold->gone ? hold->cell.events_fd : -1, .events = POLLPRI };
	if (rest_poll(polls, count + 3, next_timeout(hold, timeout_ms)) < 0 && errno != EINTR)
		return err_sys(err, "cannot watch the job");
	if (polls[count + 1].revents)
		reap_first(hold);
	/* First: a signal may make it settle, and what is opened then has the number of what was polled. */
	int news = member_poll_done(hold->member, polls, count);
	if (polls[count].revents && heed_signals(hold, err) < 0)
		return -1;
	if (news)
		obey_order(hold);
	if (news && !hold_empty(hold))
		member_settle_begun(hold->member);
	if (hold->task->service)
		hold_service_look(hold);
	else if (hold_turn(hold, err) < 0)
		return -1;
	if (!hold_empty(hold))
		tick(hold);
	if (hold->thaw_at_ns && clock_awake_ns() >= hold->thaw_at_ns)
		hold_thaw(hold);
	return 0;
}

static int watch(struct hold *hold, struct err *err)
{
	char text[CLOCK_TEXT];

	hold->tick_ns = clock_awake_ns() + TICK_NS;
	/* The log's line wants the local time: its zone is read here, while the job starts, and not when somebody waits
	 * for our end. */
	clock_wall_format(clock_wall_ns(), text);
	hold->member->on_message = on_message;
	hold->member->message_context = hold;
	hold_ceiling_begin(hold);
	if (hold->task->service)
		hold->rules_at_ns = INT64_MAX;
	else
		hold_rules_begin(hold);
	hold_gpu_begin(hold);
	obey_order(hold);
	if (hold->task->service)
		hold->task->service->look_at_ns = clock_awake_ns();
	else
		hold_rules_look(hold);
	while (!hold_empty(hold)) {
		if (sleep_once(hold, err) < 0)
			return -1;
		if (!hold->task->service)
			hold_rules_look(hold);
		hold_gpu_watch(hold);
		if (hold->kill_at_ns && clock_awake_ns() >= hold->kill_at_ns && !hold_empty(hold))
			hold_kill(hold);
	}
	return 0;
}

/* Whatever it did, it was not its work: a render that finds no scene ends well at once. */
static void judge_haste(const struct hold *hold, struct verdict *verdict)
{
	char ran[TEXT_DURATION], least[TEXT_DURATION];
	int64_t ran_ns = hold_ran_ns(hold), least_ns = hold->task->min_run_ns;

	if (verdict->outcome != OUTCOME_COMPLETED || ran_ns >= least_ns)
		return;
	text_duration_format(ran_ns, ran);
	text_duration_format(least_ns, least);
	verdict->outcome = OUTCOME_FAILED;
	verdict->exit_code = EXIT_FAILED;
	err_set(&verdict->why, EXIT_OK, "ended after %s, min-run-time is %s", ran, least);
}

static void judge(const struct hold *hold, struct verdict *verdict)
{
	verdict->signal = WIFSIGNALED(hold->status) ? WTERMSIG(hold->status) : 0;
	verdict->exit_code = verdict->signal ? EXIT_SIGNAL + verdict->signal : WEXITSTATUS(hold->status);
	/* Deaf to what ended its wait, and killed after the grace: the reason counts. */
	if (hold->stop == STOP_SIGNAL && verdict->signal == SIGKILL && hold->killed)
		verdict->exit_code = EXIT_SIGNAL + hold->stop_signal;
	verdict->outcome = verdict->exit_code == 0 ? OUTCOME_COMPLETED : OUTCOME_FAILED;
	judge_haste(hold, verdict);
	if (hold->stop == STOP_LIMIT || hold->stop == STOP_STALLED) {
		verdict->outcome = hold->stop == STOP_LIMIT ? OUTCOME_TIMEOUT : OUTCOME_STALLED;
		verdict->exit_code = EXIT_STOPPED;
		/* A `run` has said it already. */
		if (!hold->task->interactive)
			verdict->why = hold->stalled;
	}
	/* It made room, and how it took that is nobody's business. */
	if (hold->stop == STOP_STANDING)
		verdict->outcome = OUTCOME_TURN;
	if (hold->stop == STOP_CANCEL || hold_cancelled(hold)) {
		verdict->outcome = OUTCOME_CANCELLED;
		verdict->exit_code = EXIT_SIGNAL + SIGTERM;
		verdict->why = ERR_NONE;
	}
	verdict->ran_ns = hold_ran_ns(hold) - hold->logged_ns;
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

/* Whether there is such a file only a system call tells. A `run` that is over at once is spared it: what so short a job
 * wrote there is left to the end of the runtime folder, and read by nobody. */
static void forget_progress(const struct hold *hold, int64_t ran_ns)
{
	char path[PROGRESS_PATH];

	if (!hold->frozen_file[0] || (hold->task->interactive && ran_ns < SHORT_NS))
		return;
	progress_path(hold->member->wake.path, path);
	unlink(path);
}

/* `ran_ns` in all its holds. */
static void put_away(struct hold *hold, int64_t ran_ns)
{
	cell_remove(&hold->cell);
	hold_gpu_end(hold);
	hold->member->job.cell[0] = '\0';
	hold->member->job.stuck = 0;
	terminal_restore(&hold->terminal);
	if (hold->frozen_file[0])
		unlink(hold->frozen_file);
	forget_progress(hold, ran_ns);
	if (hold->first.pidfd >= 0)
		close(hold->first.pidfd);
}

/* We cannot go on. The lane is not to pass on before the job is gone: what cannot be killed is left to a rescuer, with
 * its lane and its cell. */
static void end_at_once(struct hold *hold)
{
	enum { GONE_MS = 3000 };

	hold_kill(hold);
	if (hold->cell.fd >= 0 ? cell_wait_empty(&hold->cell, GONE_MS) : hold_count(hold) == 0)
		return;
	cell_close(&hold->cell);
	seat_drop(&hold->member->lane);
}

int supervise(struct member *member, struct task *task, struct verdict *ret_verdict, struct err *err)
{
	struct hold hold = { .member = member, .task = task, .cell = CELL_NONE, .first.pidfd = -1 };
	struct verdict verdict = { .why.text = "", .figures = { -1, -1 }, .gpu_ns = -1 };

	hold.waited_ns = member->job.waited_ns;
	if (task->interactive)
		terminal_save(&hold.terminal);
	if (hold_cancelled(&hold)) {
		verdict.outcome = OUTCOME_CANCELLED;
		verdict.exit_code = EXIT_SIGNAL + SIGTERM;
		verdict.waited_ns = hold.waited_ns;
		*ret_verdict = verdict;
		return 0;
	}
	if (start(&hold, err) < 0) {
		if (hold.first.pidfd >= 0)
			end_at_once(&hold);
		put_away(&hold, INT64_MAX);
		if (err->code != EXIT_NO_START) {
			ret_verdict->unstarted = hold.first.pidfd < 0;
			return -1;
		}
		verdict.why = *err;
		verdict.outcome = OUTCOME_FAILED;
		verdict.exit_code = EXIT_NO_START;
		*ret_verdict = verdict;
		return 0;
	}
	int watched = watch(&hold, err);
	member->on_message = NULL;
	if (watched < 0) {
		end_at_once(&hold);
		put_away(&hold, INT64_MAX);
		return -1;
	}
	judge(&hold, &verdict);
	read_figures(&hold, &verdict);
	hold_ceiling_judge(&hold, &verdict);
	hold_vram_judge(&hold, &verdict);
	hold_gpu_judge(&hold, &verdict);
	hold_turn_end(&hold);
	put_away(&hold, verdict.ran_ns + hold.logged_ns);
	*ret_verdict = verdict;
	return 0;
}

void row_of_entry(const struct entry *entry, struct history_row *ret_row)
{
	*ret_row = HISTORY_ROW;
	ret_row->ended_wall_ns = clock_wall_ns();
	ret_row->id = entry->id;
	ret_row->spooled = entry->kind == ENTRY_SPOOL;
	fmt(ret_row->class_name, sizeof ret_row->class_name, "%s", entry->class_name);
	fmt(ret_row->session, sizeof ret_row->session, "%s", entry->session);
	fmt(ret_row->name, sizeof ret_row->name, "%s", entry->name);
	fmt(ret_row->command, sizeof ret_row->command, "%s", entry->command);
}

void verdict_row(const struct member *member, const struct verdict *verdict, struct history_row *ret_row)
{
	row_of_entry(&member->job, ret_row);
	ret_row->waited_ns = verdict->waited_ns;
	ret_row->ran_ns = verdict->ran_ns;
	ret_row->frozen_ns = verdict->frozen_ns;
	ret_row->cpu_ns = verdict->figures.cpu_ns;
	ret_row->gpu_ns = verdict->gpu_ns;
	ret_row->peak_memory_bytes = verdict->figures.peak_memory_bytes;
	ret_row->exit_code = verdict->exit_code;
	ret_row->outcome = verdict->outcome;
}
