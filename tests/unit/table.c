/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Lists in columns: bytes for a program, cells for a terminal. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "runner/table.h"

enum { ID, NAME, TIME, WHY };
static const struct table_column columns[] = {
	[ID] = { "ID", .bytes = 4, .right = true },
	[NAME] = { "NAME", .bytes = 6, .gap = 1, .cut = true },
	[TIME] = { "TIME", .bytes = 5, .gap = 1, .right = true },
	[WHY] = { "WHY", .gap = 2 },
};
static const struct table_step steps[] = { { WHY, 10 }, { NAME, 4 }, { TIME, 0 }, { WHY, 0 } };
static const struct table_form form = TABLE_FORM(columns, steps);

static struct screen screen;
static struct buf out;

static int begin(void **state)
{
	(void)state;
	screen = (struct screen){ .terminal = true, .utf8 = true };
	screen_speak();
	return 0;
}

static int end(void **state)
{
	(void)state;
	buf_free(&out);
	return 0;
}

static void draws(int cells, const char *const rows[][4], int count, const char *wanted)
{
	struct table table = TABLE(&form, &screen, &out);

	screen.cells = cells;
	out.size = 0;
	for (int i = 0; i < count; i++)
		table_add(&table, rows[i], NULL);
	table_end(&table);
	assert_string_equal(out.text ? out.text : "", wanted);
}

static void fits(int cells, const char *wanted)
{
	static const char *const rows[][4] = { { "12", "dusk", "1m", "on lane 0" },
					       { "7", "a longer one", "10h5m", "2 of 2 lanes busy" } };

	draws(cells, rows, 2, wanted);
}

static void test_wide_enough(void **state)
{
	(void)state;
	fits(200, "ID NAME          TIME  WHY\n"
		  "12 dusk            1m  on lane 0\n"
		  " 7 a longer one 10h5m  2 of 2 lanes busy\n");
	fits(40, "ID NAME          TIME  WHY\n"
		 "12 dusk            1m  on lane 0\n"
		 " 7 a longer one 10h5m  2 of 2 lanes busy\n");
}

static void test_each_step_goes_no_further_than_needed(void **state)
{
	(void)state;
	fits(39, "ID NAME          TIME  WHY\n"
		 "12 dusk            1m  on lane 0\n"
		 " 7 a longer one 10h5m  2 of 2 lanes bu\xe2\x80\xa6\n");
	fits(31, "ID NAME        TIME  WHY\n"
		 "12 dusk          1m  on lane 0\n"
		 " 7 a longer \xe2\x80\xa6 10h5m  2 of 2 la\xe2\x80\xa6\n");
}

static void test_what_is_left_over_comes_back(void **state)
{
	(void)state;
	/* Without its time 6 cells are left: the sentence gets them. */
	fits(24, "ID NAME  WHY\n"
		 "12 dusk  on lane 0\n"
		 " 7 a l\xe2\x80\xa6  2 of 2 lanes b\xe2\x80\xa6\n");
	fits(10, "ID NAME\n"
		 "12 dusk\n"
		 " 7 a long\xe2\x80\xa6\n");
}

static void test_wide_and_joining_characters(void **state)
{
	(void)state;
	/* Two cells each; e and its accent are one; a variation selector is left out, a C1 order shown as "?". */
	static const char *const rows[][4] = { { "1", "\xe6\x98\xa0\xe7\x94\xbb", "1s", "x" },
					       { "2", "ae\xcc\x81z", "1s", "x" },
					       { "3", "\xe2\x9d\xa4\xef\xb8\x8f", "1s", "\xf0\x9f\x8e\xac|\xc2\x9b" } };

	draws(80, rows, 3,
	      "ID NAME TIME  WHY\n"
	      " 1 \xe6\x98\xa0\xe7\x94\xbb   1s  x\n"
	      " 2 ae\xcc\x81z    1s  x\n"
	      " 3 \xe2\x9d\xa4      1s  \xf0\x9f\x8e\xac|?\n");
}

static void test_no_half_of_a_wide_character(void **state)
{
	(void)state;
	static const char *const rows[][4] = { { "1", "\xe6\x98\xa0\xe7\x94\xbb\xe6\x98\xa0\xe7\x94\xbb", "1s",
						 "0123456789" } };

	draws(24, rows, 1,
	      "ID NAME TIME  WHY\n"
	      " 1 \xe6\x98\xa0\xe2\x80\xa6    1s  0123456789\n");
}

static void test_long_lists_keep_their_first_widths(void **state)
{
	(void)state;
	struct table table = TABLE(&form, &screen, &out);

	screen.cells = 80;
	out.size = 0;
	for (int i = 0; i < TABLE_SAMPLE; i++)
		table_add(&table, (const char *const[4]){ "1", "short", "1s", "" }, NULL);
	assert_true(out.size > 0);
	size_t before = out.size;
	table_add(&table, (const char *const[4]){ "123", "much longer", "1s", "" }, NULL);
	table_end(&table);
	/* A column that had nothing in it is not there. */
	assert_string_equal(out.text + before, "1\xe2\x80\xa6 much\xe2\x80\xa6   1s\n");
}

static void test_for_a_program(void **state)
{
	(void)state;
	screen = (struct screen){ 0 };
	static const char *const rows[][4] = { { "12", "dusk", "1m", "on lane 0" },
					       { "123456", "du", "1m", "pushes nothing" },
					       { "12345678", "dusk12345", "1m", "" } };

	draws(0, rows, 3,
	      "  ID NAME    TIME  WHY\n"
	      "  12 dusk      1m  on lane 0\n"
	      "123456 du      1m  pushes nothing\n"
	      "12345678 dusk12 1m  \n");
}

static void test_colours_are_around_texts_alone(void **state)
{
	(void)state;
	static const char *const texts[] = { "1", "a", "1s", "x" };
	static const enum paint paints[] = { [NAME] = PAINT_BAD, [TIME] = PAINT_GOOD, [WHY] = PAINT_NONE };
	struct table table = TABLE(&form, &screen, &out);

	screen.colour = true;
	screen.cells = 80;
	out.size = 0;
	table_add(&table, texts, paints);
	table_end(&table);
	assert_string_equal(strchr(out.text, '\n') + 1, " 1 \033[31ma\033[0m      \033[32m1s\033[0m  x\n");
	screen = (struct screen){ .colour = true };
	table = TABLE(&form, &screen, &out);
	out.size = 0;
	table_add(&table, texts, paints);
	assert_string_equal(strchr(out.text, '\n') + 1, "   1 \033[31ma\033[0m         \033[32m1s\033[0m  x\n");
}

static void bar(int64_t part, int64_t whole, const char *wanted)
{
	char text[SCREEN_BAR + 1];

	screen_bar(part, whole, text);
	assert_string_equal(text, wanted);
}

static void test_bars(void **state)
{
	(void)state;
	bar(0, 8, "--------");
	bar(3, 8, "###-----");
	bar(799, 800, "#######-");
	bar(8, 8, "########");
	bar(9, 8, "#######!");
	bar(INT64_MAX, INT64_MAX, "########");
	bar(-1, 8, "");
	bar(1, -1, "");
	bar(1, 0, "");
}

static void test_nothing(void **state)
{
	(void)state;
	draws(80, NULL, 0, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_wide_enough, begin, end),
		cmocka_unit_test_setup_teardown(test_each_step_goes_no_further_than_needed, begin, end),
		cmocka_unit_test_setup_teardown(test_what_is_left_over_comes_back, begin, end),
		cmocka_unit_test_setup_teardown(test_wide_and_joining_characters, begin, end),
		cmocka_unit_test_setup_teardown(test_no_half_of_a_wide_character, begin, end),
		cmocka_unit_test_setup_teardown(test_long_lists_keep_their_first_widths, begin, end),
		cmocka_unit_test_setup_teardown(test_for_a_program, begin, end),
		cmocka_unit_test_setup_teardown(test_colours_are_around_texts_alone, begin, end),
		cmocka_unit_test(test_bars),
		cmocka_unit_test_setup_teardown(test_nothing, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
