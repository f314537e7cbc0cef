/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "conf/base/clock.h"
#include "conf/base/fmt.h"
#include "runner/hold.h"

#define FORCE_AGAIN_NS (60 * NS_PER_S)

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

/* Its first turn, in time or not, says whether the job is one that takes turns. */
static void note_first(struct hold *hold)
{
	const struct conf_class *class = class_of(hold);

	if (!hold->member->job.turned && class && class->turns_as_without_turn_ns &&
	    hold_ran_ns(hold) < class->turns_as_without_turn_ns)
		hold->member->job.turned = true;
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
	answer(hold, away_ns);
	return 0;
}

int64_t hold_turn_at(const struct hold *hold)
{
	const struct conf_class *class = class_of(hold);

	if (!hold->member->yield || !class || !class->turns_forced || hold->gone || hold->stop != STOP_NONE)
		return INT64_MAX;
	int64_t at_ns = hold->held_ns + class->min_hold_ns;
	/* What could not be frozen now will not be in a moment, and each try holds it up. */
	if (hold->kept_ns && at_ns < hold->kept_ns + FORCE_AGAIN_NS)
		at_ns = hold->kept_ns + FORCE_AGAIN_NS;
	return at_ns;
}

int hold_turn(struct hold *hold, struct err *err)
{
	bool ending = hold->gone || hold->stop != STOP_NONE;

	if (hold->askers.count == 0 && clock_awake_ns() < hold_turn_at(hold))
		return 0;
	if (hold->askers.count == 0) {
		/* The line may have changed since it was looked at. */
		if (member_settle(hold->member, err) < 0)
			return -1;
		if (!hold->member->yield)
			return 0;
		hold->member->job.held_bytes = hold_memory(hold);
		return take_turn(hold, err);
	}
	note_first(hold);
	int outranked = 0;
	if (!ending && member_is_waited_for(hold->member)) {
		hold->member->job.held_bytes = hold_memory(hold);
		outranked = member_outranked(hold->member, hold_ran_ns(hold), err);
	}
	if (outranked < 0)
		return -1;
	if (outranked)
		return take_turn(hold, err);
	answer(hold, 0);
	return 0;
}
