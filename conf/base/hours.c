/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "hours.h"

#include <string.h>

#include "clock.h"
#include "fmt.h"
#include "when.h"

enum { CLOCK = sizeof "22:00" };

struct window {
	char from[CLOCK], to[CLOCK];
};

/* "22:00", or as an end "24:00", which is the next day's midnight. */
static bool take_clock(const char **at, bool is_end, char clock[CLOCK])
{
	const char *p = *at;

	for (int i = 0; i < 5; i++) {
		if (i == 2 ? p[i] != ':' : p[i] < '0' || p[i] > '9')
			return false;
	}
	fmt(clock, CLOCK, "%.5s", p);
	*at = p + 5;
	if (is_end && strcmp(clock, "24:00") == 0)
		memcpy(clock, "00:00", CLOCK);
	return strcmp(clock, "24:00") < 0 && clock[3] < '6';
}

/* The count of windows, or -1. */
static int take_windows(const char *text, struct window windows[HOURS_WINDOWS])
{
	const char *at = text;

	if (strlen(text) >= HOURS_TEXT)
		return -1;
	for (int count = 0; count < HOURS_WINDOWS; at++) {
		struct window *window = &windows[count++];
		if (!take_clock(&at, false, window->from) || *at++ != '-' || !take_clock(&at, true, window->to) ||
		    (strcmp(window->from, window->to) == 0 && strncmp(at - 5, "24:00", 5) != 0))
			return -1;
		if (*at == '\0')
			return count;
		if (*at != ',')
			return -1;
	}
	return -1;
}

int hours_check(const char *text, struct err *err)
{
	struct window windows[HOURS_WINDOWS];

	if (take_windows(text, windows) > 0)
		return 0;
	return err_set(err, EXIT_USAGE, "'%.64s' is no window of the day (22:00-07:00, or 12:00-13:30,22:00-07:00)",
		       text);
}

static void note_change(int64_t at_ns, int64_t now_ns, int64_t *change_ns)
{
	if (at_ns > now_ns && (*change_ns == 0 || at_ns < *change_ns))
		*change_ns = at_ns;
}

bool hours_open(const char *text, int64_t now_wall_ns, int64_t *ret_change_ns)
{
	struct window windows[HOURS_WINDOWS];
	int count = take_windows(text, windows);
	bool open = count <= 0;

	*ret_change_ns = 0;
	for (int i = 0; i < count; i++) {
		int later = strcmp(windows[i].to, windows[i].from) <= 0;
		/* Yesterday's may last until now; one that is over for today comes again tomorrow. */
		for (int day = -1; day <= 2; day++) {
			int64_t from_ns, to_ns;
			if (when_on_day(windows[i].from, day, now_wall_ns, &from_ns) < 0 ||
			    when_on_day(windows[i].to, day + later, now_wall_ns, &to_ns) < 0)
				continue;
			open |= from_ns <= now_wall_ns && now_wall_ns < to_ns;
			note_change(from_ns, now_wall_ns, ret_change_ns);
			note_change(to_ns, now_wall_ns, ret_change_ns);
		}
	}
	return open;
}
