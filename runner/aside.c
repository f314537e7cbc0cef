/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "conf/base/clock.h"
#include "conf/base/say.h"
#include "runner/desk.h"
#include "runner/hold.h"
#include "runner/line/lineup.h"

/* Nothing to wait for any more. */
static bool is_over(void *context)
{
	const struct hold *hold = context;

	return hold->gone || hold_cancelled(hold);
}

static void note_end(void *context, pid_t pid, int status, const struct rusage *usage)
{
	struct hold *hold = context;

	if (pid == hold->first.pid && !hold->gone)
		hold_first_ended(hold, status, usage);
}

/* Passed on, to be found when the job is thawed. What would end a program ends the wait. */
static bool pass_on(void *context, int sig)
{
	struct hold *hold = context;

	if (sig != SIGUSR1 && sig != SIGUSR2)
		return false;
	if (!hold->gone)
		kill(hold->first.pid, sig);
	return true;
}

/* A SIGCONT for all of a terminal wakes a job that has no cell, which is stopped by SIGSTOP alone. */
static void freeze_again(void *context)
{
	struct hold *hold = context;

	hold->continued = true;
	if (hold->cell.fd < 0)
		hold_freeze(hold, true);
}

/* The hold that ends here has its own line in the log. It is written when the lane has gone on. */
static void log_turn(struct hold *hold)
{
	struct verdict verdict = { .outcome = OUTCOME_TURN,
				   .ran_ns = hold->member->job.ran_ns - hold->logged_ns,
				   .waited_ns = hold->waited_ns,
				   .figures = { -1, -1 },
				   .gpu_ns = -1 };
	struct history_row row;
	struct err ignored = ERR_NONE;

	verdict_row(hold->member, &verdict, &row);
	hold->logged_ns = hold->member->job.ran_ns;
	hold->waited_ns = 0;
	history_append(hold->member->line->queue_fd, &row, hold->member->line->conf.log_bytes, &ignored);
}

static void tell_again(void *context)
{
	(void)context;
	say("waiting for a lane again");
}

static void log_given(void *context)
{
	log_turn(context);
}

static void keep_lane(struct hold *hold, const struct err *why)
{
	hold_thaw(hold);
	if (why)
		say_err(why);
	say("the job could not be frozen; it keeps its lane");
}

static bool freeze(struct hold *hold, int64_t left_ns)
{
	if (!hold_freeze(hold, true)) {
		keep_lane(hold, NULL);
		return false;
	}
	hold->thaw_at_ns = 0;
	hold->member->job.ran_ns = left_ns - hold->began_ns - hold->away_ns;
	return true;
}

/* With a lane again, the job goes on; else what ended the wait ends the job. Either way nothing stays frozen. */
static int wait_in_line(struct hold *hold, struct lineup *lineup, int64_t left_ns, int64_t back_ns, struct err *err)
{
	struct member *member = hold->member;
	int sig = SIGTERM, end = lineup_wait(member, hold->task->signals, lineup, &sig, err);
	int64_t now = clock_awake_ns();

	hold->away_ns += now - left_ns;
	hold->waited_ns += now - back_ns;
	member->job.frozen_ns = hold->away_ns;
	member->job.waited_ns += now - back_ns;
	member->job.held_bytes = 0;
	hold_write_frozen(hold, hold->away_ns);
	if (end < 0)
		return -1;
	if (end == LINEUP_LANE) {
		hold_begin_held(hold, now);
		if (hold_note(hold, err) < 0)
			return -1;
		hold_thaw(hold);
		if (hold->continued)
			hold_signal(hold, SIGCONT);
		hold->continued = false;
	} else if (!hold->gone) {
		hold->stop_signal = sig;
		hold_stop_by(hold, end == LINEUP_SIGNAL ? STOP_SIGNAL : STOP_CANCEL, sig);
	}
	return 0;
}

static struct lineup lineup_of(struct hold *hold, void (*waiting)(void *context))
{
	return (struct lineup){
		.until_awake_ns = -1,
		.cancelled = is_over,
		.waiting = waiting,
		.reaped = note_end,
		.continued = freeze_again,
		.passed_on = pass_on,
		.context = hold,
	};
}

int hold_stop_aside(struct hold *hold, struct err *err)
{
	struct member *member = hold->member;
	struct lineup lineup = lineup_of(hold, tell_again);
	int64_t left_ns = clock_awake_ns(), back_ns;

	member->job.held_bytes = hold_memory(hold);
	if (!freeze(hold, left_ns))
		return 0;
	if (member_pause(member, TICKET_FROZEN, err) < 0) {
		if (member->ticket.fd >= 0)
			return -1;
		keep_lane(hold, err);
		return 0;
	}
	log_turn(hold);
	terminal_restore(&hold->terminal);
	/* Giving the lane up takes its time; who cancelled meanwhile found nobody stopped whom to continue. */
	if (!is_over(hold))
		(void)raise(SIGSTOP);
	freeze_again(hold);
	back_ns = clock_awake_ns();
	if (member_resume(member, err) < 0)
		return -1;
	return wait_in_line(hold, &lineup, left_ns, back_ns, err);
}

int hold_turn_aside(struct hold *hold, int64_t *ret_away_ns, struct err *err)
{
	struct lineup lineup = lineup_of(hold, log_given);
	int64_t left_ns = clock_awake_ns(), away_ns = hold->away_ns;

	*ret_away_ns = -1;
	lineup.awake = true;
	if (!freeze(hold, left_ns))
		return 0;
	if (member_offer(hold->member, err) < 0) {
		keep_lane(hold, err);
		return 0;
	}
	if (wait_in_line(hold, &lineup, left_ns, left_ns, err) < 0)
		return -1;
	*ret_away_ns = hold->away_ns - away_ns;
	return 0;
}
