/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lineup.h"

#include <errno.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include "conf/base/clock.h"
#include "conf/base/rest.h"

static void note_continued(const struct lineup *lineup)
{
	if (lineup->continued)
		lineup->continued(lineup->context);
}

/* Whose job has begun goes on trying. */
static int look(struct member *member, struct err *err)
{
	if (member->job.main.pid == 0)
		return member_settle(member, err);
	member_settle_begun(member);
	return 0;
}

/* Ctrl-Z: the watch goes to somebody else, the ticket says that it is not to be asked, and then we stop like any other
 * program. */
static int stop_here(struct member *member, const struct lineup *lineup, struct err *err)
{
	if (member_pause(member, member->job.main.pid ? TICKET_FROZEN : TICKET_PASSED, err) < 0)
		return -1;
	if (!lineup->cancelled(lineup->context))
		(void)raise(SIGSTOP);
	note_continued(lineup);
	return member_resume(member, err) < 0 ? -1 : look(member, err);
}

static void reap(const struct lineup *lineup)
{
	struct rusage usage;
	int status;

	for (pid_t pid; (pid = wait4(-1, &status, WNOHANG, &usage)) > 0;) {
		if (lineup->reaped)
			lineup->reaped(lineup->context, pid, status, &usage);
	}
}

/* 0 to go on, a signal that ends the wait, or -1. */
static int heed_signals(struct member *member, struct signals *signals, const struct lineup *lineup, struct err *err)
{
	for (int sig; (sig = signals_next(signals));) {
		switch (sig) {
		case SIGCHLD: reap(lineup); break;
		case SIGCONT: note_continued(lineup); __attribute__((fallthrough));
		case SIGURG:
			/* Said by somebody who could not reach the socket, or back after a stop: the files have the
			 * news. */
			if (look(member, err) < 0)
				return -1;
			break;
		case SIGTSTP:
			if (stop_here(member, lineup, err) < 0)
				return -1;
			break;
		default:
			if (!lineup->passed_on || !lineup->passed_on(lineup->context, sig))
				return sig;
			break;
		}
	}
	return 0;
}

static int time_left(const struct lineup *lineup, int timeout_ms)
{
	if (lineup->until_awake_ns < 0)
		return timeout_ms;
	int left = clock_left_ms(lineup->until_awake_ns, clock_awake_ns());
	return timeout_ms < 0 || left < timeout_ms ? left : timeout_ms;
}

/* One sleep and what came of it; -1, 0, or a signal. */
static int sleep_once(struct member *member, struct signals *signals, const struct lineup *lineup, struct err *err)
{
	struct pollfd polls[MEMBER_POLL + 1];
	int timeout_ms;
	int count = member_poll_fill(member, polls, &timeout_ms);

	polls[count] = (struct pollfd){ .fd = signals->fd, .events = POLLIN };
	if (rest_poll(polls, count + 1, time_left(lineup, timeout_ms)) < 0 && errno != EINTR)
		return err_sys(err, "cannot wait in line");
	/* First: a signal may make it settle, and what is opened then has the number of what was polled. */
	int news = member_poll_done(member, polls, count);
	int sig = polls[count].revents ? heed_signals(member, signals, lineup, err) : 0;
	if (sig != 0)
		return sig;
	if (news && look(member, err) < 0)
		return -1;
	return 0;
}

int lineup_wait(struct member *member, struct signals *signals, const struct lineup *lineup, int *ret_signal,
		struct err *err)
{
	enum lineup_end end = LINEUP_LANE;
	bool told = false;

	member->wants_lane = true;
	if (look(member, err) < 0)
		return -1;
	while (member->lane.fd < 0) {
		/* An order is on file before its message: looked at after each settle, it is not missed. */
		if (lineup->cancelled(lineup->context))
			end = LINEUP_CANCELLED;
		else if (lineup->until_awake_ns >= 0 && clock_awake_ns() >= lineup->until_awake_ns)
			end = LINEUP_TIMEOUT;
		if (end != LINEUP_LANE)
			break;
		if (!told) {
			lineup->waiting(lineup->context);
			/* Of the program only what a look at the line needs stays in memory: the next look may be
			 * the one that gives us a lane. */
			told = true;
			if (lineup->awake)
				continue;
			rest_text();
			if (look(member, err) < 0)
				return -1;
			rest_heap();
			continue;
		}
		int sig = sleep_once(member, signals, lineup, err);
		if (sig < 0)
			return -1;
		if (sig > 0) {
			*ret_signal = sig;
			end = LINEUP_SIGNAL;
			break;
		}
	}
	if (end == LINEUP_LANE)
		return end;
	int left = member->job.main.pid ? member_pause(member, TICKET_FROZEN, err) : member_leave(member, err);
	return left < 0 ? -1 : (int)end;
}
