/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "eligible.h"

#include <string.h>

#include "conf/base/clock.h"

struct eligible eligible_now(const struct conf *conf)
{
	struct eligible eligible = { .conf = conf, .now_wall_ns = clock_wall_ns() };

	for (int i = 0; i < conf->class_count; i++) {
		eligible.any_hours |= conf->classes[i].hours[0] != '\0';
		eligible.any_paused |= conf->classes[i].paused;
	}
	if (eligible.any_hours)
		memset(eligible.open, -1, sizeof eligible.open);
	return eligible;
}

static void note_change(struct eligible *eligible, int64_t at_wall_ns)
{
	if (at_wall_ns && (eligible->change_wall_ns == 0 || at_wall_ns < eligible->change_wall_ns))
		eligible->change_wall_ns = at_wall_ns;
}

/* The windows of a class are looked at once, however many jobs it has. */
static bool is_open(struct eligible *eligible, const char *class_name)
{
	const struct conf_class *class = conf_class_find(eligible->conf, class_name);
	int64_t change_ns;

	if (!class || !class->hours[0])
		return true;
	signed char *open = &eligible->open[class - eligible->conf->classes];
	if (*open < 0) {
		*open = hours_open(class->hours, eligible->now_wall_ns, &change_ns);
		note_change(eligible, change_ns);
	}
	return *open;
}

static bool is_paused(const struct eligible *eligible, const struct spool_name *name)
{
	const struct conf_class *class = conf_class_find(eligible->conf, name->class_name);

	return class && class->paused && !name->standing;
}

enum waits_for eligible_judge(struct eligible *eligible, const struct spool_name *name)
{
	if (name->held)
		return WAITS_HELD;
	if (name->after)
		return WAITS_AFTER;
	if (eligible->any_paused && is_paused(eligible, name))
		return WAITS_PAUSED;
	if (name->begin_s > eligible->now_wall_ns / NS_PER_S) {
		note_change(eligible, name->begin_s * NS_PER_S);
		return name->tries ? WAITS_RETRY : WAITS_BEGIN;
	}
	return eligible->any_hours && !is_open(eligible, name->class_name) ? WAITS_HOURS : WAITS_LANE;
}
