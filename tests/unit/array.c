/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "conf/base/scope.h"
#include "submit/array.h"

static struct array list_of(const char *text)
{
	struct array array;
	struct err err = ERR_NONE;

	if (array_parse(text, &array, &err) < 0)
		fail_msg("'%s': %s", text, err.text);
	return array;
}

static void is(const char *text, const char *written, int32_t size, int cap)
{
	struct array array = list_of(text);
	SCOPE_BUF struct buf out = BUF_EMPTY;

	array_put(&array, &out);
	assert_string_equal(out.text, written);
	assert_int_equal(array_size(&array), size);
	assert_int_equal(array.cap, cap);
	for (int32_t i = 0; i < size; i++)
		assert_int_equal(array_position(&array, array_task(&array, i)), i);
}

static void lists_read_back(void **state)
{
	(void)state;
	is("1-250", "1-250", 250, 0);
	is("0-99%4", "0-99%4", 100, 4);
	is("1,5,9-20:2", "1,5,9-19:2", 8, 0);
	is("7", "7", 1, 0);
	is("5-5:3", "5", 1, 0);
	is("9,3-4,0", "9,3-4,0", 4, 0);
	is("16777214", "16777214", 1, 0);
	is("0-999999", "0-999999", 1000000, 0);
	is("1-9:2,2-8:2%1000", "1-9:2,2-8:2%1000", 9, 1000);
}

/* Every pair of small ranges, against what counting says. */
static void no_task_is_there_twice(void **state)
{
	enum { MOST = 7 };
	char text[64];
	struct array array;

	(void)state;
	for (int code = 0; code < MOST * MOST * MOST * MOST * 5 * 5; code++) {
		int first[2] = { code % MOST, code / MOST % MOST };
		int last[2] = { first[0] + code / 49 % MOST * 2, first[1] + code / 343 % MOST * 2 };
		int step[2] = { code / 2401 % 5 + 1, code / 12005 + 1 };
		bool seen[3 * MOST] = { false }, twice = false;
		for (int i = 0; i < 2; i++) {
			for (int task = first[i]; task <= last[i]; task += step[i]) {
				twice |= seen[task];
				seen[task] = true;
			}
		}
		snprintf(text, sizeof text, "%d-%d:%d,%d-%d:%d", first[0], last[0], step[0], first[1], last[1],
			 step[1]);
		if ((array_parse(text, &array, NULL) < 0) != twice)
			fail_msg("'%s'", text);
	}
	assert_int_equal(array_parse("0-16777200:1000,3-16777203:777", &array, NULL), -1);
	assert_int_equal(array_parse("0-16777200:1000,1-16777201:1000", &array, NULL), 0);
}

static void what_is_none_is_refused(void **state)
{
	static const char *const wrong[] = { "",	"a",	    "1-",	 "-1",	   "5-1",     "1,",    ",1",
					     "1 2",	"1-3:0",    "1%0",	 "1%1001", "1%",      "1-3,2", "1,1",
					     "1-5:2,3", "16777215", "0-1000000", "1.5",	   "1-3%2,4", "0x1",   "1--3" };

	(void)state;
	for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
		struct array array;
		struct err err = ERR_NONE;
		if (array_parse(wrong[i], &array, &err) == 0)
			fail_msg("accepted: %s", wrong[i]);
		assert_int_equal(err.code, EXIT_USAGE);
	}
}

static void a_task_that_it_has_not_has_no_position(void **state)
{
	struct array array = list_of("1-9:2,20");

	(void)state;
	assert_int_equal(array_position(&array, 2), -1);
	assert_int_equal(array_position(&array, 11), -1);
	assert_int_equal(array_position(&array, 20), 5);
	assert_int_equal(array_task(&array, 6), -1);
}

static void the_next_is_the_first_or_every_tenth(void **state)
{
	char states[26];
	int32_t order[25];

	(void)state;
	memset(states, ARRAY_WAITS, 25);
	for (int i = 0; i < 25; i++) {
		order[i] = array_next(states, 25, ARRAY_SPARSE);
		states[order[i]] = i % 2 ? ARRAY_APART : ARRAY_TAKEN;
	}
	const int32_t wanted[] = { 0, 10, 20, 1, 2, 3, 4, 5, 6, 7, 8, 9, 11 };
	for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++)
		assert_int_equal(order[i], wanted[i]);
	assert_int_equal(order[24], 24);
	assert_int_equal(array_next(states, 25, ARRAY_SPARSE), -1);
	assert_int_equal(array_next(states, 25, ARRAY_PLAIN), -1);
	states[7] = ARRAY_WAITS;
	assert_int_equal(array_next(states, 25, ARRAY_PLAIN), 7);
}

static void shows(const char *list, const char *states, const char *wanted)
{
	struct array array = list_of(list);
	char text[32];

	assert_int_equal(strlen(states), array_size(&array));
	array_show(&array, states, text, sizeof text);
	assert_string_equal(text, wanted);
}

static void those_that_wait_are_shown_as_ranges(void **state)
{
	(void)state;
	shows("0-9", "..........", "[0-9]");
	shows("0-9%2", "sssss.....", "[5-9%2]");
	shows("0-9", "s.ss..s.x.", "[1,4-5,7,9]");
	shows("1-9:2", ".....", "[1-9:2]");
	shows("1-9:2", "s.s..", "[3,7-9:2]");
	shows("0-9", "ssssssssss", "");
	shows("1000000-1000019", ".s.s.s.s.s.s.s.s.s.s", "[1000000,1000002,...]");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lists_read_back),
		cmocka_unit_test(no_task_is_there_twice),
		cmocka_unit_test(what_is_none_is_refused),
		cmocka_unit_test(a_task_that_it_has_not_has_no_position),
		cmocka_unit_test(the_next_is_the_first_or_every_tenth),
		cmocka_unit_test(those_that_wait_are_shown_as_ranges),
	};

	return cmocka_run_group_tests_name("array", tests, NULL, NULL);
}
