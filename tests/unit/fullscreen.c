/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Keys as terminals send them, and what of a page is written. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "runner/fullscreen.h"

static void key(const char *text, int wanted, size_t used)
{
	size_t found;

	assert_int_equal(fullscreen_key(text, strlen(text), &found), wanted);
	assert_int_equal(found, used);
}

static void keys(void **state)
{
	(void)state;
	key("q", 'q', 1);
	key("qc", 'q', 1);
	key("\r", KEY_ENTER, 1);
	key("\n", KEY_ENTER, 1);
	key("\033[A", KEY_UP, 3);
	key("\033OB", KEY_DOWN, 3);
	key("\033[1;5Aq", KEY_UP, 6);
	key("\033[H", KEY_HOME, 3);
	key("\033[4~", KEY_END, 4);
	key("\033[5~q", KEY_PAGE_UP, 4);
	key("\033[6~", KEY_PAGE_DOWN, 4);
	key("\033[99~c", KEY_NONE, 5);
	key("\033", KEY_ESCAPE, 1);
	key("\033[", KEY_NONE, 2);
	key("\033[1;5", KEY_NONE, 5);
	key("", KEY_NONE, 0);
	key("\xc3\xa9", 0xc3, 1);
}

static struct fullscreen screen;

static int begin(void **state)
{
	(void)state;
	screen = (struct fullscreen){ .lines = 3, .cells = 20, .shown = calloc(3, sizeof(char *)) };
	return screen.shown ? 0 : -1;
}

static int end(void **state)
{
	(void)state;
	for (int i = 0; i < 3; i++)
		free(screen.shown[i]);
	free(screen.shown);
	buf_free(&screen.out);
	return 0;
}

static void puts_line(int line, const char *text, bool chosen, const char *wanted)
{
	buf_free(&screen.out);
	fullscreen_put(&screen, line, text, chosen);
	assert_string_equal(screen.out.text ? screen.out.text : "", wanted);
}

static void only_what_differs(void **state)
{
	(void)state;
	puts_line(1, "one", false, "\033[?2026h\033[2;1Hone\033[K\033[0m");
	puts_line(1, "one", false, "");
	puts_line(1, "one", true, "\033[?2026h\033[2;1H\033[7mone\033[K\033[0m");
	puts_line(1, "one", true, "");
	puts_line(1, "", true, "\033[?2026h\033[2;1H\033[7m\033[K\033[0m");
	puts_line(3, "beyond", false, "");
	puts_line(-1, "before", false, "");
}

static void a_chosen_line_has_no_colours(void **state)
{
	(void)state;
	puts_line(0, "a \033[32mR\033[0m b", false, "\033[?2026h\033[1;1Ha \033[32mR\033[0m b\033[K\033[0m");
	puts_line(0, "a \033[32mR\033[0m b", true, "\033[?2026h\033[1;1H\033[7ma R b\033[K\033[0m");
	puts_line(0, "cut \033[3", true, "\033[?2026h\033[1;1H\033[7mcut \033[K\033[0m");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(keys),
		cmocka_unit_test_setup_teardown(only_what_differs, begin, end),
		cmocka_unit_test_setup_teardown(a_chosen_line_has_no_colours, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
