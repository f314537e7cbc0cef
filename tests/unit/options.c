/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Options are taken as getopt_long(3) takes them; what is left of the words keeps its order. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "runner/options.h"

static const struct option long_options[] = {
	{ "name", OPTION_VALUE, 'n' },
	{ "json", OPTION_FLAG, 'j' },
	{ .name = "" },
};

/* What was read, a word an option, "NAME=VALUE"; then '|' and what is left; or the error's text. */
static const char *read_words(const char *letters, char *argv[])
{
	static char said[256];
	struct err err = ERR_NONE;
	int argc = 0, option;

	while (argv[argc])
		argc++;
	struct options options = OPTIONS("test", argc, argv, letters, long_options);
	said[0] = '\0';
	while ((option = options_next(&options, &err)) > 0) {
		size_t used = strlen(said);
		said[used] = (char)option;
		said[used + 1] = '\0';
		if (options.value)
			strcat(strcat(said, "="), options.value);
		strcat(said, " ");
	}
	if (option < 0)
		return strcpy(said, err.text);
	strcat(said, "|");
	for (int i = options.next; i < argc; i++)
		strcat(strcat(said, " "), argv[i]);
	return said;
}

#define READ(letters, ...) read_words(letters, (char *[]){ "test", __VA_ARGS__, NULL })

static void values_stand_in_the_word_or_behind_it(void **state)
{
	(void)state;
	assert_string_equal(READ("n:j", "--name=a", "--name", "b", "-nc", "-n", "d", "-jne"),
			    "n=a n=b n=c n=d j n=e |");
	assert_string_equal(READ("n:j", "--name=", "--json"), "n= j |");
	assert_string_equal(READ("n:j", "-n", "--json"), "n=--json |");
}

static void arguments_are_moved_behind(void **state)
{
	(void)state;
	assert_string_equal(READ("n:j", "1", "-n", "a", "2", "--json", "3"), "n=a j | 1 2 3");
	assert_string_equal(READ("n:j", "1", "-j", "2", "--", "-j", "3"), "j | 1 2 -j 3");
	assert_string_equal(READ("n:j", "-", "--json"), "j | -");
	assert_string_equal(READ("n:j", "--", "--json"), "| --json");
}

static void the_first_argument_ends_them(void **state)
{
	(void)state;
	assert_string_equal(READ("+n:j", "-j", "1", "-j"), "j | 1 -j");
	assert_string_equal(READ("+n:j", "-j", "--", "-j"), "j | -j");
}

static void what_is_wrong_is_named(void **state)
{
	(void)state;
	assert_string_equal(READ("n:j", "--nam", "a"), "test: unknown option '--nam', did you mean '--name'?");
	assert_string_equal(READ("n:j", "--names", "a"), "test: unknown option '--names', did you mean '--name'?");
	assert_string_equal(READ("n:j", "--=a"), "test: unknown option '--=a'");
	assert_string_equal(READ("n:j", "--json=1"), "test: option '--json=1' takes no value");
	assert_string_equal(READ("n:j", "1", "--name"), "test: option '--name' needs a value");
	assert_string_equal(READ("n:j", "-jn"), "test: option '-n' needs a value");
	assert_string_equal(READ("n:j", "-jx"), "test: unknown option '-x' (see pgpu test --help)");
	assert_string_equal(READ("+n:j", "-:"), "test: unknown option '-:' (see pgpu test --help)");
	assert_string_equal(READ("+n:j", "-+"), "test: unknown option '-+' (see pgpu test --help)");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(values_stand_in_the_word_or_behind_it),
		cmocka_unit_test(arguments_are_moved_behind),
		cmocka_unit_test(the_first_argument_ends_them),
		cmocka_unit_test(what_is_wrong_is_named),
	};

	return cmocka_run_group_tests_name("options", tests, NULL, NULL);
}
