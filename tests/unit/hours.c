/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Windows of the day, over midnight and over the nights that daylight saving makes longer and shorter. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "conf/base/clock.h"
#include "conf/base/hours.h"

static int64_t at(const char *text)
{
	int64_t ns;

	assert_int_equal(clock_wall_parse(text, &ns), 0);
	return ns;
}

static void is(const char *hours, const char *now, bool open, const char *change)
{
	int64_t change_ns;

	if (hours_open(hours, at(now), &change_ns) != open)
		fail_msg("%s at %s is %s", hours, now, open ? "closed" : "open");
	if (change_ns != at(change)) {
		char text[CLOCK_TEXT];
		clock_wall_format(change_ns, text);
		fail_msg("%s at %s changes at %s, not %s", hours, now, text, change);
	}
}

static void a_window_over_midnight(void **state)
{
	(void)state;
	is("22:00-07:00", "2026-12-01T21:59:59", false, "2026-12-01T22:00");
	is("22:00-07:00", "2026-12-01T22:00", true, "2026-12-02T07:00");
	is("22:00-07:00", "2026-12-02T06:59:59", true, "2026-12-02T07:00");
	is("22:00-07:00", "2026-12-02T07:00", false, "2026-12-02T22:00");
	is("22:00-07:00", "2026-12-31T23:00", true, "2027-01-01T07:00");
}

static void several_windows(void **state)
{
	(void)state;
	is("12:00-13:30,22:00-07:00", "2026-12-01T12:15", true, "2026-12-01T13:30");
	is("12:00-13:30,22:00-07:00", "2026-12-01T13:30", false, "2026-12-01T22:00");
	is("18:00-24:00", "2026-12-01T19:00", true, "2026-12-02T00:00");
	is("00:00-24:00", "2026-12-01T19:00", true, "2026-12-02T00:00");
	is("00:00-06:00", "2026-12-01T06:00", false, "2026-12-02T00:00");
}

/* In Berlin 2026-03-29 has no 02:30, and 2026-10-25 has it twice. */
static void nights_of_daylight_saving(void **state)
{
	(void)state;
	is("22:00-07:00", "2026-03-28T23:00", true, "2026-03-29T07:00+02:00");
	is("22:00-07:00", "2026-10-24T23:00", true, "2026-10-25T07:00+01:00");
	is("02:30-05:00", "2026-03-29T01:59:59+01:00", false, "2026-03-29T03:30+02:00");
	is("02:30-05:00", "2026-03-29T03:30+02:00", true, "2026-03-29T05:00+02:00");
	is("02:30-05:00", "2026-10-25T02:30+02:00", true, "2026-10-25T05:00+01:00");
	is("02:30-05:00", "2026-10-25T02:10+01:00", true, "2026-10-25T05:00+01:00");
}

static void what_is_no_window_is_refused(void **state)
{
	static const char *const wrong[] = { "",
					     "22:00",
					     "22:00-",
					     "22-07",
					     "22:00-22:00",
					     "24:00-07:00",
					     "22:60-07:00",
					     "22:00-25:00",
					     "22:00-07:00,",
					     ",22:00-07:00",
					     "22:00 - 07:00",
					     "22:00-07:00;1:00-2:00",
					     "1:00-2:00",
					     "01:00-02:00,03:00-04:00,05:00-06:00,07:00-08:00,09:00-10:00" };

	(void)state;
	for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
		struct err err = ERR_NONE;
		int64_t change_ns;
		if (hours_check(wrong[i], &err) == 0)
			fail_msg("accepted: %s", wrong[i]);
		assert_int_equal(err.code, EXIT_USAGE);
		assert_true(hours_open(wrong[i], NS_PER_S, &change_ns));
		assert_int_equal(change_ns, 0);
	}
	assert_int_equal(hours_check("01:00-02:00,03:00-04:00,05:00-06:00,07:00-08:00", NULL), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_window_over_midnight),
		cmocka_unit_test(several_windows),
		cmocka_unit_test(nights_of_daylight_saving),
		cmocka_unit_test(what_is_no_window_is_refused),
	};

	setenv("TZ", "CET-1CEST,M3.5.0,M10.5.0/3", 1);
	tzset();
	return cmocka_run_group_tests_name("hours", tests, NULL, NULL);
}
