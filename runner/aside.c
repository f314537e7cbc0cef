/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <signal.h>
#include <stdlib.h>
#include <sys/pidfd.h>
#include <unistd.h>

#include "conf/base/clock.h"
#include "conf/base/say.h"
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

static void tell_waiting(void *context)
{
	(void)context;
	say("waiting for a lane again");
}

static int log_turn(struct hold *hold, struct err *err)
{
	struct verdict verdict = { .outcome = OUTCOME_TURN,
				   .ran_ns = hold_ran_ns(hold) - hold->earlier_ns,
				   .waited_ns = hold->waited_ns };
	struct history_row row;

	verdict.figures = (struct cell_figures){ -1, -1 };
	verdict_row(hold->member, &verdict, &row);
	hold->earlier_ns = hold_ran_ns(hold);
	return history_append(hold->member->line->queue_fd, &row, err);
}

int hold_step_aside(struct hold *hold, struct err *err)
{
	struct member *member = hold->member;
	struct lineup lineup = {
		.until_awake_ns = -1,
		.cancelled = is_over,
		.waiting = tell_waiting,
		.reaped = note_end,
		.context = hold,
	};
	int64_t left_ns = clock_awake_ns(), back_ns;
	int sig = 0, end;

	if (!hold_freeze(hold, true)) {
		hold_freeze(hold, false);
		say("the job could not be frozen; it keeps its lane");
		return 0;
	}
	log_turn(hold, err);
	member->job.ran_ns = hold->earlier_ns;
	if (member_pause(member, TICKET_FROZEN, err) < 0)
		return -1;
	terminal_restore(&hold->terminal);
	/* Giving the lane up takes its time; who cancelled meanwhile found nobody stopped whom to continue. */
	if (!is_over(hold))
		raise(SIGSTOP);
	/* Without a cell the SIGCONT that woke us woke the job too. */
	if (hold->cell.fd < 0)
		hold_freeze(hold, true);
	back_ns = clock_awake_ns();
	if (member_resume(member, err) < 0)
		return -1;
	end = lineup_wait(member, hold->task->signals, &lineup, &sig, err);
	hold->away_ns += clock_awake_ns() - left_ns;
	hold->waited_ns = clock_awake_ns() - back_ns;
	member->job.frozen_ns = hold->away_ns;
	member->job.waited_ns = hold->waited_ns;
	hold_write_frozen(hold, hold->away_ns);
	if (end < 0)
		return -1;
	if (end == LINEUP_LANE && hold_note(hold, err) < 0)
		return -1;
	hold_freeze(hold, false);
	hold_signal(hold, SIGCONT);
	if (end == LINEUP_CANCELLED && !hold->gone)
		hold_begin_stop(hold, STOP_CANCEL);
	if (end == LINEUP_SIGNAL) {
		pidfd_send_signal(hold->first.pidfd, sig, NULL, 0);
		hold->stop_signal = sig;
		hold_begin_stop(hold, STOP_SIGNAL);
	}
	return 0;
}
