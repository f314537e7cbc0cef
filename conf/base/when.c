/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "when.h"

#include <stdbool.h>
#include <string.h>
#include <time.h>

#include "clock.h"
#include "fmt.h"
#include "text.h"

enum { DATE = sizeof "2026-12-01" - 1 };

static int refuse(const char *text, const char *examples, struct err *err)
{
	char shown[48];

	text_show(text, shown, sizeof shown);
	return err_set(err, EXIT_USAGE, "'%s' is no time (%s)", shown, examples);
}

/* A date, or a date and a time with a blank between them. */
static int of_date(const char *text, int64_t *ret_wall_ns)
{
	char whole[64];
	size_t length = strlen(text);

	if (length < DATE || length + 8 > sizeof whole)
		return -1;
	fmt(whole, sizeof whole, length == DATE ? "%sT00:00" : "%s", text);
	if (whole[DATE] == ' ')
		whole[DATE] = 'T';
	if (length > DATE && text[length - 1] == 'Z')
		memcpy(whole + length - 1, "+00:00", sizeof "+00:00");
	return clock_wall_parse(whole, ret_wall_ns);
}

int when_on_day(const char *clock, int days, int64_t now_wall_ns, int64_t *ret_wall_ns)
{
	time_t now = (time_t)(now_wall_ns / NS_PER_S);
	struct tm day;
	char whole[64];

	if (strlen(clock) > sizeof "00:00:00" || !localtime_r(&now, &day))
		return -1;
	/* At noon no day is skipped, and none comes twice. */
	day.tm_hour = 12;
	day.tm_mday += days;
	day.tm_isdst = -1;
	if (mktime(&day) == -1)
		return -1;
	fmt(whole, sizeof whole, "%04d-%02d-%02dT%s", day.tm_year + 1900, day.tm_mon + 1, day.tm_mday, clock);
	/* A clock that ends in a zone is none. */
	return strchr(clock, '+') || strchr(clock, '-') || strchr(clock, 'Z') ? -1
									      : clock_wall_parse(whole, ret_wall_ns);
}

static const char *behind(const char *text, const char *word)
{
	size_t length = strlen(word);

	return strncmp(text, word, length) == 0 ? text + length : NULL;
}

/* A day by its name, or a date. `clock_alone` is set for a time without a day, which is then of today. */
static int of_text(const char *text, int64_t now_wall_ns, int64_t *ret_wall_ns, bool *clock_alone)
{
	static const struct {
		char name[12];
		int days;
	} names[] = { { "today ", 0 }, { "tomorrow ", 1 }, { "yesterday ", -1 } };
	const char *rest;

	*clock_alone = text[0] && text[1] && text[2] == ':';
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
		if ((rest = behind(text, names[i].name)))
			return when_on_day(rest, names[i].days, now_wall_ns, ret_wall_ns);
	}
	return *clock_alone ? when_on_day(text, 0, now_wall_ns, ret_wall_ns) : of_date(text, ret_wall_ns);
}

int when_last(const char *text, int64_t now_wall_ns, int64_t *ret_wall_ns, struct err *err)
{
	int64_t span_ns, at_ns;
	bool clock_alone;

	/* 12:00:01 is a time, though it could be a duration. */
	int result = of_text(text, now_wall_ns, &at_ns, &clock_alone);
	if (result == 0 && clock_alone && at_ns > now_wall_ns)
		result = when_on_day(text, -1, now_wall_ns, &at_ns);
	if (result < 0 && !clock_alone && text_duration_parse(text, false, &span_ns, NULL) == 0 &&
	    span_ns < now_wall_ns) {
		at_ns = now_wall_ns - span_ns;
		result = 0;
	}
	if (result < 0)
		return refuse(text, "08:30, yesterday 22:00, 2026-12-01T02:30, 8h", err);
	*ret_wall_ns = at_ns;
	return 0;
}

int when_moment(const char *text, int64_t now_wall_ns, int64_t *ret_wall_ns, struct err *err)
{
	const char *span = behind(text, "now+");
	int64_t at_ns;
	bool clock_alone = false;

	if (span && text_duration_parse(span, false, &at_ns, err) < 0)
		return -1;
	if (span) {
		*ret_wall_ns = now_wall_ns + at_ns;
		return 0;
	}
	int result = of_text(text, now_wall_ns, &at_ns, &clock_alone);
	if (result == 0 && clock_alone && at_ns <= now_wall_ns)
		result = when_on_day(text, 1, now_wall_ns, &at_ns);
	if (result < 0)
		return refuse(text, "22:00, tomorrow 02:30, 2026-12-01T02:30, now+1h", err);
	*ret_wall_ns = at_ns;
	return 0;
}

int when_next(const char *text, int64_t now_wall_ns, int64_t *ret_wall_ns, struct err *err)
{
	int64_t at_ns;

	if (when_moment(text, now_wall_ns, &at_ns, err) < 0)
		return -1;
	if (at_ns <= now_wall_ns)
		return err_set(err, EXIT_USAGE, "'%.40s' is over", text);
	*ret_wall_ns = at_ns;
	return 0;
}
