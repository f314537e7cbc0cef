/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Times as people and the log write them, against timegm(3) and mktime(3). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "conf/base/clock.h"
#include "conf/base/fmt.h"

#define COUNT(list) (sizeof(list) / sizeof(list)[0])

static void every_day_reads_as_it_was_written(void **state)
{
	(void)state;
	/* 1900 to 2262, in steps of a prime number of seconds that is a little less than a day. */
	for (int64_t at = INT64_C(-2208988800); at < INT64_C(9223372000); at += 86389) {
		char text[CLOCK_TEXT];
		int64_t back;
		time_t seconds = at;
		struct tm tm;

		clock_utc_format(at * NS_PER_S, text);
		assert_int_equal(clock_wall_parse(text, &back), 0);
		assert_true(back == at * NS_PER_S);
		gmtime_r(&seconds, &tm);
		char plain[80];
		fmt(plain, sizeof plain, "%04d-%02d-%02dT%02d:%02d:%02d+00:00", tm.tm_year + 1900, tm.tm_mon + 1,
		    tm.tm_mday, tm.tm_hour, tm.tm_min, tm.tm_sec);
		assert_string_equal(text, plain);
	}
}

static void offsets_and_local_time(void **state)
{
	(void)state;
	int64_t east, west, local;

	assert_int_equal(clock_wall_parse("2026-12-01T02:30:00+01:00", &east), 0);
	assert_int_equal(clock_wall_parse("2026-11-30T19:00-06:30", &west), 0);
	assert_true(east == INT64_C(1796088600) * NS_PER_S && east == west);
	setenv("TZ", "ABC-01", 1);
	tzset();
	assert_int_equal(clock_wall_parse("2026-12-01T02:30", &local), 0);
	assert_true(local == east);
	char text[CLOCK_TEXT];
	clock_wall_format(east, text);
	assert_string_equal(text, "2026-12-01T02:30:00+01:00");
}

static void what_is_no_time(void **state)
{
	(void)state;
	static const char *const bad[] = {
		"",
		"tomorrow",
		"2026-12-01",
		"2026-12-01T",
		"2026-12-01T2:30",
		"2026-1-01T02:30",
		"2026-13-01T02:30",
		"2026-00-01T02:30",
		"2026-02-29T02:30",
		"2100-02-29T02:30",
		"2026-04-31T02:30",
		"2026-12-00T02:30",
		"2026-12-01T24:00",
		"2026-12-01T02:60",
		"2026-12-01T02:30:61",
		"2026-12-01T02:30:00Z",
		"2026-12-01T02:30:00+1",
		"2026-12-01T02:30:00+0100",
		"2026-12-01T02:30:00+01:60",
		"2026-12-01T02:30:00 +01:00",
		"2026-12-01T02:30:00+01:00x",
		" 2026-12-01T02:30",
		"+026-12-01T02:30",
		"0000-12-01T02:30",
		"3000-12-01T02:30:00+00:00",
	};
	int64_t ignored;

	for (size_t i = 0; i < COUNT(bad); i++) {
		if (clock_wall_parse(bad[i], &ignored) == 0)
			fail_msg("'%s' was read as a time", bad[i]);
	}
	assert_int_equal(clock_wall_parse("2024-02-29T00:00", &ignored), 0);
	assert_int_equal(clock_wall_parse("2000-02-29T00:00", &ignored), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_day_reads_as_it_was_written),
		cmocka_unit_test(offsets_and_local_time),
		cmocka_unit_test(what_is_no_time),
	};

	return cmocka_run_group_tests_name("clock", tests, NULL, NULL);
}
