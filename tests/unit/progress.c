/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a job says of how far it is: hostile text, and the time that is left. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "conf/base/clock.h"
#include "runner/progress.h"

/* The bytes end exactly where the text does, so that a sanitizer sees a read beyond them. */
static bool parse(const char *text, size_t size, struct progress *ret)
{
	char *copy = malloc(size ? size : 1);

	assert_non_null(copy);
	memcpy(copy, text, size);
	bool parsed = progress_parse(copy, size, ret);
	free(copy);
	return parsed;
}

static void is(const char *text, uint64_t done, uint64_t total, const char *words)
{
	struct progress found;

	if (!parse(text, strlen(text), &found))
		fail_msg("refused: %s", text);
	assert_int_equal(found.done, done);
	assert_int_equal(found.total, total);
	assert_string_equal(found.words, words);
}

static void is_none(const char *text, size_t size)
{
	struct progress found = { .done = 1, .total = 1 };

	if (parse(text, size, &found))
		fail_msg("taken: %s", text);
	assert_int_equal(found.total, 0);
}

static void what_is_read(void **state)
{
	(void)state;
	is("37/250\n", 37, 250, "");
	is("37/250", 37, 250, "");
	is("37/250 the last frames\n", 37, 250, "the last frames");
	is("37/250   x  ", 37, 250, "x  ");
	is("0/1", 0, 1, "");
	is("250/250 \n", 250, 250, "");
	is("007/0250", 7, 250, "");
	is("1/2 a\n2/2 b\n", 1, 2, "a");
	is("1/2 \x1b[31mred\x07\xc2\x9b\xff", 1, 2, "?[31mred???");
	is("9223372036854775798/9223372036854775799", INT64_C(9223372036854775798), INT64_C(9223372036854775799), "");
	is("1/2 \xc3\xa4\xc3\xb6", 1, 2, "\xc3\xa4\xc3\xb6");
}

static void what_is_none(void **state)
{
	static const char *const none[] = {
		"",
		"\n",
		"/",
		"1/",
		"/2",
		"37",
		"37 250",
		"0/0",
		"3/2",
		"-1/2",
		"+1/2",
		"1/-2",
		" 1/2",
		"1 /2",
		"1/ 2",
		"1/2x",
		"1/2\tx",
		"0x1/2",
		"1.5/2",
		"1e1/20",
		"\n1/2",
		"1/2\r\n",
		"half/2",
		"1//2",
		"9223372036854775808/9223372036854775809",
		"1/99999999999999999999999",
	};

	(void)state;
	for (size_t i = 0; i < sizeof none / sizeof none[0]; i++)
		is_none(none[i], strlen(none[i]));
	is_none("1/2 a\0b", 7);
	is_none("1\0/2", 4);
}

static void long_words_are_cut_between_characters(void **state)
{
	char text[PROGRESS_READ + 1] = "1/2 ";
	struct progress found;

	(void)state;
	for (size_t i = 4; i + 1 < sizeof text; i += 2)
		memcpy(text + i, "\xc3\xa4", 2);
	assert_true(parse(text, PROGRESS_READ, &found));
	assert_int_equal(strlen(found.words), sizeof found.words - 2);
	assert_string_equal(found.words + sizeof found.words - 4, "\xc3\xa4");
}

static int64_t left_s(uint64_t done, uint64_t total, int64_t ran_s)
{
	const struct progress progress = { .done = done, .total = total };
	int64_t left_ns = progress_left_ns(&progress, ran_s < 0 ? -1 : ran_s * NS_PER_S);

	return left_ns < 0 ? -1 : left_ns / NS_PER_S;
}

static void time_left(void **state)
{
	(void)state;
	assert_int_equal(left_s(50, 100, 60), 60);
	assert_int_equal(left_s(37, 250, 37), 213);
	assert_int_equal(left_s(250, 250, 100), 0);
	assert_int_equal(left_s(1, 4, 0), 0);
	assert_int_equal(left_s(0, 4, 10), -1);
	assert_int_equal(left_s(0, 0, 10), -1);
	assert_int_equal(left_s(1, 4, -1), -1);
	assert_int_equal(left_s(1, INT64_MAX, 1000000), -1);
	assert_int_equal(left_s(INT64_MAX - 1, INT64_MAX, 1000000), 0);
}

static void shows(uint64_t done, uint64_t total, int64_t ran_s, const char *words, const char *wanted)
{
	struct progress progress = { .done = done, .total = total };
	char text[PROGRESS_TEXT];

	strcpy(progress.words, words);
	progress_show(&progress, ran_s * NS_PER_S, text);
	assert_string_equal(text, wanted);
}

static void for_people(void **state)
{
	(void)state;
	shows(37, 250, 37, "", "37/250 14%, about 4m left");
	shows(37, 250, 37, "of dusk", "37/250 14%, about 4m left: of dusk");
	shows(0, 250, 37, "", "0/250 0%");
	shows(249, 250, 1, "", "249/250 99%, about 1s left");
	shows(250, 250, 37, "done", "250/250 100%: done");
	shows(0, 0, 37, "x", "");
}

static void for_programs(void **state)
{
	const struct progress none = { 0 }, half = { .done = 1, .total = 2 }, begun = { .total = 2 };
	struct buf out = BUF_EMPTY;

	(void)state;
	progress_json(&none, NS_PER_S, &out);
	progress_json(&half, 1500 * NS_PER_MS, &out);
	progress_json(&begun, NS_PER_S, &out);
	assert_string_equal(out.text, ",\"progress\":null,\"progress\":{\"done\":1,\"total\":2,\"left_s\":1.500}"
				      ",\"progress\":{\"done\":0,\"total\":2,\"left_s\":null}");
	buf_free(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_read),
		cmocka_unit_test(what_is_none),
		cmocka_unit_test(long_words_are_cut_between_characters),
		cmocka_unit_test(time_left),
		cmocka_unit_test(for_people),
		cmocka_unit_test(for_programs),
	};

	return cmocka_run_group_tests_name("progress", tests, NULL, NULL);
}
