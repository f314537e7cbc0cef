/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "options.h"

#include <string.h>

#include "conf/base/fmt.h"
#include "conf/base/say.h"
#include "conf/base/text.h"

static int refuse_long(const struct options *options, const char *word, struct err *err)
{
	const char *names[64];
	size_t count = 0;
	char name[65], hint[96] = "";

	fmt(name, sizeof name, "%.*s", (int)(strchrnul(word, '=') - word) - 2, word + 2);
	for (const struct option *one = options->long_options; one->name[0] && count < 63; one++)
		names[count++] = one->name;
	names[count] = NULL;
	const char *near = text_nearest(name, names);
	if (near)
		fmt(hint, sizeof hint, ", did you mean '--%s'?", near);
	return err_set(err, EXIT_USAGE, "%s: unknown option '%.64s'%s", options->command, word, hint);
}

/* The word behind the arguments that were passed over, moved in front of them; NULL at the end. */
static char *take_word(struct options *options)
{
	char **first = options->argv + options->next, **taken = first + options->passed;

	if (options->next + options->passed >= options->argc)
		return NULL;
	char *word = *taken;
	memmove(first + 1, first, (size_t)options->passed * sizeof *first);
	*first = word;
	options->next++;
	return word;
}

static int read_letter(struct options *options, struct err *err)
{
	char letter = *options->bundle++;
	const char *known = letter == ':' || letter == '+' ? NULL : strchr(options->letters, letter);

	if (!known)
		return err_set(err, EXIT_USAGE, "%s: unknown option '-%c' (see pgpu %s --help)", options->command,
			       letter, options->command);
	if (known[1] != ':')
		return letter;
	options->value = *options->bundle ? options->bundle : take_word(options);
	options->bundle = NULL;
	return options->value ? letter
			      : err_set(err, EXIT_USAGE, "%s: option '-%c' needs a value", options->command, letter);
}

static int read_long(struct options *options, const char *word, struct err *err)
{
	size_t length = (size_t)(strchrnul(word, '=') - word) - 2;
	const struct option *one = options->long_options;

	while (one->name[0] && (strncmp(one->name, word + 2, length) != 0 || one->name[length]))
		one++;
	if (!one->name[0])
		return refuse_long(options, word, err);
	if (word[2 + length])
		options->value = word + 2 + length + 1;
	if (options->value && one->takes == OPTION_FLAG)
		return err_set(err, EXIT_USAGE, "%s: option '%.64s' takes no value", options->command, word);
	if (!options->value && one->takes == OPTION_VALUE)
		options->value = take_word(options);
	if (!options->value && one->takes == OPTION_VALUE)
		return err_set(err, EXIT_USAGE, "%s: option '%.64s' needs a value", options->command, word);
	return one->option;
}

static bool is_argument(const char *word)
{
	return word[0] != '-' || word[1] == '\0';
}

int options_next(struct options *options, struct err *err)
{
	options->value = NULL;
	if (options->bundle && *options->bundle)
		return read_letter(options, err);
	while (options->letters[0] != '+' && options->next + options->passed < options->argc &&
	       is_argument(options->argv[options->next + options->passed]))
		options->passed++;
	if (options->next + options->passed >= options->argc ||
	    is_argument(options->argv[options->next + options->passed]))
		return 0;
	const char *word = take_word(options);
	if (strcmp(word, "--") == 0)
		return 0;
	if (word[1] == '-')
		return read_long(options, word, err);
	options->bundle = word + 1;
	return read_letter(options, err);
}

int options_end(const struct options *options, struct err *err)
{
	if (options->next >= options->argc)
		return 0;
	return err_set(err, EXIT_USAGE, "%s: '%.64s' is one argument too many", options->command,
		       options->argv[options->next]);
}

int options_json_alone(const char *command, int argc, char **argv, const char *usage, bool *ret_json)
{
	static const struct option long_options[] = { { "json", OPTION_FLAG, 'j' },
						      { "help", OPTION_FLAG, 'h' },
						      { .name = "" } };
	struct options options = OPTIONS(command, argc, argv, "", long_options);
	struct err err = ERR_NONE;
	int option;

	*ret_json = false;
	while ((option = options_next(&options, &err)) > 0) {
		if (option == 'h')
			return print_usage(usage);
		*ret_json = true;
	}
	return option < 0 || options_end(&options, &err) < 0 ? say_err(&err) : -1;
}
