/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Moments as a person names them, at a clock and in a time zone of the test's own. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "conf/base/clock.h"
#include "conf/base/when.h"

/* The rules of central Europe, spelled out: no table of zones is needed. */
#define ZONE "CET-1CEST,M3.5.0,M10.5.0/3"

static int64_t at(const char *text)
{
	int64_t ns;

	assert_int_equal(clock_wall_parse(text, &ns), 0);
	return ns;
}

/* NOW, TEXT, WHAT, all with their offsets to UTC. */
static void means(const char *now, const char *text, const char *what)
{
	char found[CLOCK_TEXT];
	int64_t ns;

	assert_int_equal(when_last(text, at(now), &ns, NULL), 0);
	clock_wall_format(ns, found);
	assert_string_equal(found, what);
}

static void refuses(const char *text, const char *shown)
{
	struct err err = ERR_NONE;
	char wanted[128];
	int64_t ns = -7;

	assert_int_equal(when_last(text, at("2026-11-30T12:00:00+01:00"), &ns, &err), -1);
	assert_int_equal(err.code, EXIT_USAGE);
	snprintf(wanted, sizeof wanted, "'%s' is no time (08:30, yesterday 22:00, 2026-12-01T02:30, 8h)", shown);
	assert_string_equal(err.text, wanted);
	assert_int_equal(ns, -7);
}

#define NOON "2026-11-30T12:00:00+01:00"

static void so_long_ago(void **state)
{
	(void)state;
	means(NOON, "8h", "2026-11-30T04:00:00+01:00");
	means(NOON, "1h30m", "2026-11-30T10:30:00+01:00");
	means(NOON, "2d", "2026-11-28T12:00:00+01:00");
}

static void the_last_time_that_a_clock_showed(void **state)
{
	(void)state;
	means(NOON, "22:00", "2026-11-29T22:00:00+01:00");
	means(NOON, "12:00", "2026-11-30T12:00:00+01:00");
	means(NOON, "12:00:01", "2026-11-29T12:00:01+01:00");
	means(NOON, "00:00", "2026-11-30T00:00:00+01:00");
	means("2027-01-01T00:00:00+01:00", "23:59:59", "2026-12-31T23:59:59+01:00");
	means(NOON, "today 13:00", "2026-11-30T13:00:00+01:00");
	means(NOON, "yesterday 22:00", "2026-11-29T22:00:00+01:00");
	means(NOON, "tomorrow 13:00:05", "2026-12-01T13:00:05+01:00");
	static const char *const wrong[] = {
		"24:00",  "2:30",	 "22:60",	    "22",	   "22:00:",   "22:0", "",
		"22:00Z", "22:00+01:00", "tomorrow",	    "tomorrow ",   "today 22", "noon", " 22:00",
		"22:00 ", "now",	 "tomorrow  02:30", "22:00:00:00", "now-1h",   "8",    "today 1:30:00"
	};
	for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
		refuses(wrong[i], wrong[i]);
}

static void a_date(void **state)
{
	(void)state;
	means(NOON, "2026-11-01T02:30", "2026-11-01T02:30:00+01:00");
	means(NOON, "2026-11-01 02:30:15", "2026-11-01T02:30:15+01:00");
	means(NOON, "2026-11-01", "2026-11-01T00:00:00+01:00");
	means(NOON, "2026-12-01T02:30:00Z", "2026-12-01T03:30:00+01:00");
	means(NOON, "2026-12-01T02:30:00-05:00", "2026-12-01T08:30:00+01:00");
	means(NOON, "2024-02-29T00:00", "2024-02-29T00:00:00+01:00");
	static const char *const wrong[] = { "2027-02-29T00:00", "2026-13-01", "2026-12-01T",
					     "2026-12-1",	 "01.12.2026", "2026-12-01T02:30:00+1",
					     "2026-12-01x02:30" };
	for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
		refuses(wrong[i], wrong[i]);
	refuses("\033[2J22:00", "?[2J22:00");
	refuses("2026-12-01T02:30:00+01:00 and a text that is longer than any time",
		"2026-12-01T02:30:00+01:00 and a text that is lo");
}

/* On 2026-03-29 the clock goes from 02:00 to 03:00, on 2026-10-25 from 03:00 to 02:00. */
static void nights_when_the_clock_changes(void **state)
{
	(void)state;
	means("2026-03-29T12:00:00+02:00", "02:30", "2026-03-29T03:30:00+02:00");
	means("2026-03-29T12:00:00+02:00", "01:30", "2026-03-29T01:30:00+01:00");
	means("2026-03-29T12:00:00+02:00", "yesterday 12:00", "2026-03-28T12:00:00+01:00");
	means("2026-03-29T12:00:00+02:00", "1d", "2026-03-28T11:00:00+01:00");
	means("2026-10-25T12:00:00+01:00", "02:30", "2026-10-25T02:30:00+02:00");
	means("2026-10-25T12:00:00+01:00", "03:30", "2026-10-25T03:30:00+01:00");
	means("2026-10-25T12:00:00+01:00", "yesterday 12:00", "2026-10-24T12:00:00+02:00");
	means("2026-10-25T02:40:00+01:00", "2026-10-25T02:30+01:00", "2026-10-25T02:30:00+01:00");
}

static void comes(const char *now, const char *text, const char *what)
{
	char found[CLOCK_TEXT];
	int64_t ns;

	assert_int_equal(when_next(text, at(now), &ns, NULL), 0);
	clock_wall_format(ns, found);
	assert_string_equal(found, what);
}

static void comes_not(const char *text, const char *why)
{
	struct err err = ERR_NONE;
	int64_t ns = -7;

	assert_int_equal(when_next(text, at(NOON), &ns, &err), -1);
	assert_int_equal(err.code, EXIT_USAGE);
	assert_string_equal(err.text, why);
	assert_int_equal(ns, -7);
}

static void the_next_time_that_a_clock_shows(void **state)
{
	(void)state;
	comes(NOON, "22:00", "2026-11-30T22:00:00+01:00");
	comes(NOON, "12:00", "2026-12-01T12:00:00+01:00");
	comes(NOON, "12:00:01", "2026-11-30T12:00:01+01:00");
	comes(NOON, "tomorrow 02:30", "2026-12-01T02:30:00+01:00");
	comes(NOON, "today 12:01", "2026-11-30T12:01:00+01:00");
	comes(NOON, "2026-12-24", "2026-12-24T00:00:00+01:00");
	comes(NOON, "now+1h30m", "2026-11-30T13:30:00+01:00");
	comes("2026-03-28T22:00:00+01:00", "02:30", "2026-03-29T03:30:00+02:00");
	comes("2026-10-24T22:00:00+02:00", "02:30", "2026-10-25T02:30:00+02:00");
	comes("2026-10-25T02:40:00+02:00", "02:30", "2026-10-26T02:30:00+01:00");
	comes_not("today 11:59", "'today 11:59' is over");
	comes_not("2026-11-30T12:00", "'2026-11-30T12:00' is over");
	comes_not("now+30", "'30' is 30s or 30m; write one of them");
	comes_not("8h", "'8h' is no time (22:00, tomorrow 02:30, 2026-12-01T02:30, now+1h)");
}

static void other_zones(void **state)
{
	(void)state;
	setenv("TZ", "IST-5:30", 1);
	tzset();
	means("2026-03-29T22:00:00+05:30", "02:30", "2026-03-29T02:30:00+05:30");
	means("2026-07-01T22:00:00+05:30", "2026-07-01", "2026-07-01T00:00:00+05:30");
	/* Half an hour of daylight saving, in the southern summer. */
	setenv("TZ", "LHST-10:30LHDT-11,M10.1.0,M4.1.0", 1);
	tzset();
	means("2026-10-04T22:00:00+11:00", "02:15", "2026-10-04T02:45:00+11:00");
	means("2026-01-02T22:00:00+11:00", "02:15", "2026-01-02T02:15:00+11:00");
	means("2026-07-02T22:00:00+10:30", "02:15", "2026-07-02T02:15:00+10:30");
	setenv("TZ", ZONE, 1);
	tzset();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(so_long_ago),
		cmocka_unit_test(the_last_time_that_a_clock_showed),
		cmocka_unit_test(a_date),
		cmocka_unit_test(nights_when_the_clock_changes),
		cmocka_unit_test(the_next_time_that_a_clock_shows),
		cmocka_unit_test(other_zones),
	};

	setenv("TZ", ZONE, 1);
	tzset();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
