/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fmt() says what snprintf(3) says, for every conversion that pgpu uses; numbers are read as strtoull(3) reads them. */
#include <errno.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "conf/base/fmt.h"

#define SAME(...)                                                                                                      \
	do {                                                                                                           \
		char ours[200], theirs[200];                                                                           \
		int length = fmt(ours, sizeof ours, __VA_ARGS__);                                                      \
		assert_int_equal(length, snprintf(theirs, sizeof theirs, __VA_ARGS__));                                \
		assert_string_equal(ours, theirs);                                                                     \
	} while (0)

static void texts(void **state)
{
	(void)state;
	SAME("plain");
	SAME("%s|%s|%c|100%%", "a", "", 'x');
	SAME("%10s|%-10s|%2s", "right", "left", "longer");
	SAME("%.3s|%.0s|%.10s|%.*s", "abcdef", "gone", "short", 2, "xyz");
	SAME("%*s|%-12.12s|%-64.64s", 7, "w", "a name that is too long", "padded");
	SAME("\303\244 %s", "\342\202\254");
	static const char unended[3] = { 'a', 'b', 'c' };
	SAME("%.3s", unended);
}

static void numbers(void **state)
{
	(void)state;
	SAME("%d %d %d %d", 0, -1, INT_MAX, INT_MIN);
	SAME("%u %u", 0U, UINT_MAX);
	SAME("%ld %lld %lld", LONG_MIN, LLONG_MIN, LLONG_MAX);
	SAME("%lu %llu %zu", ULONG_MAX, ULLONG_MAX, SIZE_MAX);
	SAME("%x %02x %016llx %04x %o %04o", 0xabcU, 7U, 0x1234ULL, 0xfffffU, 8U, 022U);
	SAME("%020llu|%03lld|%09lld|%02u|%04u", 5ULL, 7LL, -12LL, 123U, 9U);
	SAME("%5d|%-5d|%6llu|%05d|%-5u|", 42, 42, 7ULL, -42, 1U);
}

static void what_does_not_fit_is_cut_and_counted(void **state)
{
	(void)state;
	char text[6] = "?????";

	assert_int_equal(fmt(text, sizeof text, "%s-%d", "abcdef", 12), 9);
	assert_string_equal(text, "abcde");
	assert_int_equal(fmt(text, 1, "%d", 12345), 5);
	assert_string_equal(text, "");
	assert_int_equal(fmt(NULL, 0, "%s", "four"), 4);
}

static void memory_of_its_own(void **state)
{
	(void)state;
	char *text = fmt_new("%s/%d", "folder", 7);

	assert_string_equal(text, "folder/7");
	free(text);
}

static void reading(void **state)
{
	(void)state;
	const char *end, *text = "  42 rest";

	assert_true(fmt_read(text, &end) == 42 && end == text + 4);
	text = "x";
	assert_true(fmt_read(text, &end) == 0 && end == text);
	text = "  ";
	assert_true(fmt_read(text, &end) == 0 && end == text);
	errno = 0;
	assert_true(fmt_read("18446744073709551615", NULL) == UINT64_MAX && errno == 0);
	assert_true(fmt_read("18446744073709551616", &end) == UINT64_MAX && errno == ERANGE && *end == '\0');
	errno = 0;
	assert_true(fmt_read_signed("-9223372036854775807", NULL) == -INT64_MAX && errno == 0);
	assert_true(fmt_read_signed("9223372036854775807", NULL) == INT64_MAX && errno == 0);
	assert_true(fmt_read_signed("9223372036854775808", NULL) == INT64_MAX && errno == ERANGE);
	assert_true(fmt_read_signed("-99999999999999999999", NULL) == INT64_MIN);
	text = "- 5";
	assert_true(fmt_read_signed(text, &end) == 0 && end == text);
	text = " -5.";
	assert_true(fmt_read_signed(text, &end) == -5 && end == text + 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(texts),
		cmocka_unit_test(numbers),
		cmocka_unit_test(what_does_not_fit_is_cut_and_counted),
		cmocka_unit_test(memory_of_its_own),
		cmocka_unit_test(reading),
	};

	return cmocka_run_group_tests_name("fmt", tests, NULL, NULL);
}
