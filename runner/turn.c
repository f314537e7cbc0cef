/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "conf/base/clock.h"
#include "conf/base/fmt.h"
#include "runner/hold.h"

/* Until what a class demands is tried again: of a job that would only have its lane again, and of one that could not be
 * frozen. */
#define SOON_NS	 NS_PER_S
#define LATER_NS (60 * NS_PER_S)

static const struct conf_class *class_of(const struct hold *hold)
{
	return conf_class_find(&hold->member->line->conf, hold->member->job.class_name);
}

/* Who is not heard goes on without an answer: the end of file says the same. */
void hold_turn_ask(struct hold *hold, int fd)
{
	struct askers *askers = &hold->askers;

	if (askers->count == HOLD_ASKERS)
		close(fd);
	else
		askers->fds[askers->count++] = fd;
}

static void answer(struct hold *hold, int64_t away_ns)
{
	struct askers *askers = &hold->askers;
	char text[48] = "kept";

	if (away_ns >= 0)
		fmt(text, sizeof text, "ok %lld", (long long)(away_ns / NS_PER_MS));
	while (askers->count) {
		int fd = askers->fds[--askers->count];
		/* Whoever asked may be gone. */
		(void)!send(fd, text, strlen(text), MSG_NOSIGNAL | MSG_DONTWAIT);
		close(fd);
	}
}

/* Its first turn, in time or not, says whether the job is one that takes turns; others look at its lane. */
static void note_first(struct hold *hold, int64_t ran_ns)
{
	const struct conf_class *class = class_of(hold);
	struct entry *job = &hold->member->job;
	struct err ignored = ERR_NONE;

	if (job->turned || !class || ran_ns >= class->turns_as_without_turn_ns)
		return;
	job->turned = true;
	hold_note(hold, &ignored);
}

void hold_turn_end(struct hold *hold)
{
	answer(hold, 0);
}

static int take_turn(struct hold *hold, struct err *err)
{
	int64_t away_ns = 0;

	if (hold_turn_aside(hold, &away_ns, err) < 0)
		return -1;
	if (away_ns < 0)
		hold->forced_at_ns = clock_awake_ns() + LATER_NS;
	answer(hold, away_ns);
	return 0;
}

int64_t hold_turn_at(const struct hold *hold)
{
	const struct conf_class *class = class_of(hold);

	if (hold->gone || hold->stop != STOP_NONE)
		return INT64_MAX;
	if (hold->member->closed)
		return hold->forced_at_ns;
	if (!hold->member->yield || !class || !class->turns_forced)
		return INT64_MAX;
	int64_t at_ns = hold->held_ns + class->min_hold_ns;
	return at_ns > hold->forced_at_ns ? at_ns : hold->forced_at_ns;
}

/* Whether somebody who is in line now would have the lane, were the job frozen. Where that cannot be told, nobody. */
static bool is_outranked(struct hold *hold, int64_t ran_ns)
{
	struct err ignored = ERR_NONE;

	if (hold->gone || hold->stop != STOP_NONE || !member_is_waited_for(hold->member))
		return false;
	hold->member->job.held_bytes = hold_memory(hold);
	return member_outranked(hold->member, ran_ns, &ignored) > 0;
}

/* The hours of its class are over: nobody has to want the lane. */
static int step_aside(struct hold *hold, struct err *err)
{
	if (hold->gone || hold->stop != STOP_NONE)
		return 0;
	hold->member->job.held_bytes = hold_memory(hold);
	return take_turn(hold, err);
}

int hold_turn(struct hold *hold, struct err *err)
{
	int64_t ran_ns = hold_ran_ns(hold);

	if (hold->askers.count > 0) {
		note_first(hold, ran_ns);
	} else {
		if (clock_awake_ns() < hold_turn_at(hold))
			return 0;
		/* The line may have changed since it was looked at. */
		member_settle_begun(hold->member);
		if (hold->member->closed)
			return step_aside(hold, err);
		if (!hold->member->yield)
			return 0;
	}
	if (is_outranked(hold, ran_ns))
		return take_turn(hold, err);
	answer(hold, 0);
	hold->forced_at_ns = clock_awake_ns() + SOON_NS;
	return 0;
}
