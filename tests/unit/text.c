/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What people may write for durations, sizes, numbers and names, and what each refusal says. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "conf/base/clock.h"
#include "conf/base/text.h"

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))
#define MINUTE	    (60 * NS_PER_S)
#define HOUR	    (60 * MINUTE)
#define DAY	    (24 * HOUR)

static void durations_are_read(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		int64_t ns;
	} cases[] = {
		{ "90s", 90 * NS_PER_S },	 { "15m", 15 * MINUTE },
		{ "1h30m", 90 * MINUTE },	 { "2d", 2 * DAY },
		{ "1.5h", 90 * MINUTE },	 { "0.5s", NS_PER_S / 2 },
		{ "0.000000001s", 1 },		 { "1d2h3m4s", DAY + 2 * HOUR + 3 * MINUTE + 4 * NS_PER_S },
		{ "1:30:00", 90 * MINUTE },	 { "2-12:00:00", 60 * HOUR },
		{ "100:00:00", 100 * HOUR },	 { "36500d", 36500 * DAY },
		{ "876000:00:00", 36500 * DAY },
	};

	for (size_t i = 0; i < COUNT(cases); i++) {
		int64_t ns = -1;
		struct err err = ERR_NONE;
		if (text_duration_parse(cases[i].text, false, &ns, &err) < 0)
			fail_msg("%s: %s", cases[i].text, err.text);
		assert_int_equal(ns, cases[i].ns);
	}
}

static void durations_are_refused(void **state)
{
	(void)state;
	static const struct {
		const char *text, *reason;
	} cases[] = {
		{ "30", "'30' is 30s or 30m; write one of them" },
		{ "1.5", "'1.5' is 1.5s or 1.5m; write one of them" },
		{ "1:30", "'1:30' is 1h30m or 1m30s; write one of them" },
		{ "1h30", "'1h30' is 1h30m or 1h30s; write one of them" },
		{ "1d5", "'1d5' is 1d5h or 1d5m; write one of them" },
		{ "5m30", "'5m30' ends without a unit; write 5m30s" },
		{ "15min", "'15min' is not a duration; write 15m" },
		{ "15 m", "'15 m' is not a duration; write 15m" },
		{ "2 hours", "'2 hours' is not a duration; write 2h" },
		{ "1h30min", "'1h30min' is not a duration; write 1h30m" },
		{ "0", "'0' is no time at all" },
		{ "0s", "'0s' is no time at all" },
		{ "0:00:00", "'0:00:00' is no time at all" },
		{ "", "a duration is missing" },
		{ "36501d", "'36501d' is longer than 100 years" },
		{ "99999999999d", "'99999999999d' is longer than 100 years" },
		{ "999999999:00:00", "'999999999:00:00' is longer than 100 years" },
		{ "999999-999999999:59:59", "'999999-999999999:59:59' is longer than 100 years" },
	};

	for (size_t i = 0; i < COUNT(cases); i++) {
		int64_t ns = 7;
		struct err err = ERR_NONE;
		assert_int_equal(text_duration_parse(cases[i].text, false, &ns, &err), -1);
		if (strncmp(err.text, cases[i].reason, strlen(cases[i].reason)) != 0)
			fail_msg("%s: %s", cases[i].text, err.text);
		assert_int_equal(err.code, EXIT_USAGE);
		assert_int_equal(ns, 7);
	}
}

static void what_is_no_duration_is_refused(void **state)
{
	(void)state;
	static const char *const cases[] = {
		"-5m",
		"+5m",
		"nan",
		"inf",
		"m",
		" 5m",
		"5m ",
		"1m1h",
		"1h1h",
		"5M",
		"1e3s",
		"0x10s",
		"5ours",
		"5ms",
		"1h 30m",
		".5h",
		"5.h",
		"1:75:00",
		"1::00",
		"1:-5:00:00",
		"-1:00:00",
		"1-2-3:00:00",
		"2-12",
		"1:30:00s",
		"1,5h",
		"0.0000000001s",
		"18446744073709551616s",
		"5s5",
		"5w",
		"1:30:00:00",
	};

	for (size_t i = 0; i < COUNT(cases); i++) {
		int64_t ns;
		struct err err = ERR_NONE;
		if (text_duration_parse(cases[i], true, &ns, &err) == 0)
			fail_msg("'%s' was read as %lld ns", cases[i], (long long)ns);
		assert_non_null(strstr(err.text, "is not a duration"));
	}
}

static void zero_is_off_where_it_is_allowed(void **state)
{
	(void)state;
	int64_t ns = 7;

	assert_int_equal(text_duration_parse("0", true, &ns, NULL), 0);
	assert_int_equal(ns, 0);
	assert_int_equal(text_duration_parse("0s", true, &ns, NULL), 0);
	assert_int_equal(text_duration_parse("30", true, &ns, NULL), -1);
}

static void durations_are_written_shortest(void **state)
{
	(void)state;
	char text[TEXT_DURATION];

	text_duration_format(90 * MINUTE, text);
	assert_string_equal(text, "1h30m");
	text_duration_format(DAY + NS_PER_S, text);
	assert_string_equal(text, "1d1s");
	text_duration_format(0, text);
	assert_string_equal(text, "0s");
	text_duration_format(INT64_MAX, text);
	assert_string_equal(text, "106751d23h47m16s");
}

static void sizes_are_read(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		uint64_t bytes;
	} cases[] = {
		{ "512M", UINT64_C(512) << 20 },
		{ "24G", UINT64_C(24) << 30 },
		{ "24GiB", UINT64_C(24) << 30 },
		{ "32MiB", UINT64_C(32) << 20 },
		{ "1.5G", UINT64_C(1536) << 20 },
		{ "1.5T", UINT64_C(1536) << 30 },
		{ "1K", 1024 },
		{ "0.5K", 512 },
		{ "8388607T", UINT64_C(8388607) << 40 },
	};

	for (size_t i = 0; i < COUNT(cases); i++) {
		uint64_t bytes = 0;
		struct err err = ERR_NONE;
		if (text_size_parse(cases[i].text, &bytes, &err) < 0)
			fail_msg("%s: %s", cases[i].text, err.text);
		assert_true(bytes == cases[i].bytes);
	}
}

static void sizes_are_refused(void **state)
{
	(void)state;
	static const struct {
		const char *text, *reason;
	} cases[] = {
		{ "24", "'24' is 24M or 24G; write one of them" },
		{ "1024", "'1024' is 1024M or 1024G; write one of them" },
		{ "0", "'0' is no memory at all" },
		{ "0G", "'0G' is no memory at all" },
		{ "32GB", "'32GB' is not a size; write 32G (powers of 1024)" },
		{ "32 GiB", "'32 GiB' is not a size" },
		{ "24g", "'24g' is not a size" },
		{ "12X", "'12X' is not a size" },
		{ "G", "'G' is not a size" },
		{ "-1", "'-1' is not a size" },
		{ "1e3M", "'1e3M' is not a size" },
		{ "1.5Gi", "'1.5Gi' is not a size" },
		{ "1.1G", "'1.1G' is too large, or not a whole number of bytes" },
		{ "99999999999G", "'99999999999G' is too large" },
		{ "8388608T", "'8388608T' is too large" },
		{ "1844674407370955160T", "'1844674407370955160T' is too large" },
		{ "1844674407370955160.123456789T", "'1844674407370955160.123456789T' is too large" },
		{ "99999999999999999999999G", "'99999999999999999999999G' is not a size" },
		{ "", "a size is missing" },
	};

	for (size_t i = 0; i < COUNT(cases); i++) {
		uint64_t bytes = 7;
		struct err err = ERR_NONE;
		assert_int_equal(text_size_parse(cases[i].text, &bytes, &err), -1);
		if (strncmp(err.text, cases[i].reason, strlen(cases[i].reason)) != 0)
			fail_msg("%s: %s", cases[i].text, err.text);
		assert_int_equal(err.code, EXIT_USAGE);
		assert_int_equal(bytes, 7);
	}
}

static void sizes_are_written(void **state)
{
	(void)state;
	char text[TEXT_SIZE];

	text_size_format(UINT64_C(24) << 30, text);
	assert_string_equal(text, "24G");
	text_size_format(UINT64_C(1536) << 20, text);
	assert_string_equal(text, "1536M");
	text_size_format(1000, text);
	assert_string_equal(text, "1000B");
	text_size_show(UINT64_C(1536) << 20, text);
	assert_string_equal(text, "1.5G");
	text_size_show(UINT64_C(24) << 30, text);
	assert_string_equal(text, "24G");
}

static void numbers_are_whole_and_in_range(void **state)
{
	(void)state;
	static const char *const bad[] = {
		"", "-", "+5", " 5", "5 ", "5.0", "0x5", "101", "-11", "9223372036854775808",
	};
	int64_t number;

	for (size_t i = 0; i < COUNT(bad); i++)
		assert_int_equal(text_number_parse(bad[i], -10, 100, &number, NULL), -1);
	assert_int_equal(text_number_parse("-10", -10, 100, &number, NULL), 0);
	assert_int_equal(number, -10);
	assert_int_equal(text_number_parse("-1", 0, 100, &number, NULL), -1);
	assert_int_equal(text_number_parse("9223372036854775807", 0, INT64_MAX, &number, NULL), 0);
	assert_true(number == INT64_MAX);
}

static void words_of_truth(void **state)
{
	(void)state;
	bool value = false;

	assert_int_equal(text_bool_parse("true", &value, NULL), 0);
	assert_true(value);
	assert_int_equal(text_bool_parse("yes", &value, NULL), -1);
	assert_int_equal(text_bool_parse("True", &value, NULL), -1);
}

static void the_nearest_word_is_found(void **state)
{
	(void)state;
	static const char *const words[] = {
		"interactive", "test", "clip", "render", "bench", "truth", "search", NULL
	};
	char hint[64];

	assert_string_equal(text_nearest("rendr", words), "render");
	assert_string_equal(text_nearest("inter", words), "interactive");
	assert_string_equal(text_nearest("benhc", words), "bench");
	assert_null(text_nearest("blender-night", words));
	assert_null(text_nearest("", words));
	assert_null(text_nearest("x", words));
	text_hint("serch", words, hint, sizeof hint);
	assert_string_equal(hint, ", did you mean 'search'?");
	text_hint("zzz", words, hint, sizeof hint);
	assert_string_equal(hint, "");
}

static void names_are_cleaned_and_checked(void **state)
{
	(void)state;
	char text[8];

	text_session_clean("a b/c", text, sizeof text);
	assert_string_equal(text, "a_b_c");
	text_session_clean("", text, sizeof text);
	assert_string_equal(text, "_");
	text_session_clean("longer-than-it", text, sizeof text);
	assert_string_equal(text, "longer_");
	assert_true(text_class_ok("night_2-b"));
	assert_true(text_class_ok("abcdefghijklmnopqrstuvwxyz012345"));
	assert_false(text_class_ok("abcdefghijklmnopqrstuvwxyz0123456"));
	assert_false(text_class_ok("-x"));
	assert_false(text_class_ok(""));
	assert_false(text_class_ok("n\xc3\xa4"
				   "chtlich"));
}

static void bytes_for_display(void **state)
{
	(void)state;
	char text[16];

	assert_int_equal(text_utf8_length("\xe2\x82\xac"), 3);
	assert_int_equal(text_utf8_length("\xc0\x80"), 0);
	assert_int_equal(text_utf8_length("\xed\xa0\x80"), 0);
	assert_int_equal(text_utf8_length("\xe2\x82"), 0);
	assert_true(text_printable("a\tb\n\xe2\x82\xac", 7));
	assert_false(text_printable("\x1b[0m", 4));
	assert_false(text_printable("\xe2\x82\xac", 2));
	text_show("a\x1b[\xff\xe2\x82\xac\xc2\x85", text, sizeof text);
	assert_string_equal(text, "a?[?\xe2\x82\xac?");
	assert_int_equal(text_order_length("\n"), 1);
	assert_int_equal(text_order_length("\x7f"), 1);
	assert_int_equal(text_order_length("\xff"), 1);
	assert_int_equal(text_order_length("\xc2\x9b"), 2);
	assert_int_equal(text_order_length("\xc2\xa0"), 0);
	assert_int_equal(text_order_length("~"), 0);
	text_show("12\xe2\x82\xac", text, 5);
	assert_string_equal(text, "12");
}

/* The civil date from the count of days, against the C library's, over leap years and centuries. */
static void utc_is_the_librarys_utc(void **state)
{
	(void)state;

	for (int64_t seconds = -INT64_C(8000000000); seconds < INT64_C(9000000000); seconds += 86399 * 7 + 12345) {
		char ours[CLOCK_TEXT], theirs[CLOCK_TEXT];
		time_t when = (time_t)seconds;
		struct tm tm;

		assert_non_null(gmtime_r(&when, &tm));
		strftime(theirs, sizeof theirs, "%Y-%m-%dT%H:%M:%S+00:00", &tm);
		clock_utc_format(seconds * NS_PER_S, ours);
		assert_string_equal(ours, theirs);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(utc_is_the_librarys_utc),
		cmocka_unit_test(durations_are_read),
		cmocka_unit_test(durations_are_refused),
		cmocka_unit_test(what_is_no_duration_is_refused),
		cmocka_unit_test(zero_is_off_where_it_is_allowed),
		cmocka_unit_test(durations_are_written_shortest),
		cmocka_unit_test(sizes_are_read),
		cmocka_unit_test(sizes_are_refused),
		cmocka_unit_test(sizes_are_written),
		cmocka_unit_test(numbers_are_whole_and_in_range),
		cmocka_unit_test(words_of_truth),
		cmocka_unit_test(the_nearest_word_is_found),
		cmocka_unit_test(names_are_cleaned_and_checked),
		cmocka_unit_test(bytes_for_display),
	};

	return cmocka_run_group_tests_name("text", tests, NULL, NULL);
}
