/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "options.h"

#include <stdbool.h>
#include <string.h>

#include "conf/base/fmt.h"
#include "conf/base/text.h"

static void hint_of(const struct options *options, const char *word, char *hint, size_t size)
{
	const char *names[64];
	size_t count = 0, length = (size_t)(strchrnul(word, '=') - word);
	char name[80];

	fmt(name, sizeof name, "%.*s", (int)(length > 64 ? 64 : length), word);
	for (const struct option *one = options->long_options; one->name && count < 63; one++)
		names[count++] = one->name;
	names[count] = NULL;
	const char *near = text_nearest(name, names);
	hint[0] = '\0';
	if (near)
		fmt(hint, size, ", did you mean '--%s'?", near);
}

static int refuse(const struct options *options, int why, struct err *err)
{
	const char *word = options->argv[optind - 1];
	char hint[96] = "";

	if (why == ':' && optopt && strncmp(word, "--", 2) != 0)
		return err_set(err, EXIT_USAGE, "%s: option '-%c' needs a value", options->command, optopt);
	if (why == ':')
		return err_set(err, EXIT_USAGE, "%s: option '%.64s' needs a value", options->command, word);
	if (optopt && strncmp(word, "--", 2) != 0)
		return err_set(err, EXIT_USAGE, "%s: unknown option '-%c' (see pgpu %s --help)", options->command,
			       optopt, options->command);
	hint_of(options, word + 2, hint, sizeof hint);
	if (optopt)
		return err_set(err, EXIT_USAGE, "%s: option '%.64s' takes no value", options->command, word);
	return err_set(err, EXIT_USAGE, "%s: unknown option '%.64s'%s", options->command, word, hint);
}

/* The word that getopt took for the long option it returned. */
static const char *long_word(const struct options *options)
{
	const struct option *option = &options->long_options[options->index];
	bool behind = optarg && option->has_arg == required_argument && options->argv[optind - 1] == optarg;

	return options->argv[optind - (behind ? 2 : 1)];
}

/* getopt takes any beginning of a name; `cancel --a` must not mean --all one day and --as the next. */
static bool is_cut(const struct options *options)
{
	const char *word = long_word(options) + 2, *name = options->long_options[options->index].name;
	size_t length = (size_t)(strchrnul(word, '=') - word);

	return strlen(name) != length || strncmp(word, name, length) != 0;
}

static int refuse_cut(const struct options *options, struct err *err)
{
	return err_set(err, EXIT_USAGE, "%s: unknown option '%.64s', did you mean '--%s'?", options->command,
		       long_word(options), options->long_options[options->index].name);
}

int options_next(struct options *options, struct err *err)
{
	opterr = 0;
	if (options->index == -2)
		optind = 0; /* getopt starts anew; a program that parses twice is our unit test */
	options->index = -1;
	int option = getopt_long(options->argc, options->argv, options->short_options, options->long_options,
				 &options->index);
	if (option == -1)
		return 0;
	if (option == '?' || option == ':')
		return refuse(options, option, err);
	return options->index >= 0 && is_cut(options) ? refuse_cut(options, err) : option;
}

int options_end(const struct options *options, struct err *err)
{
	if (optind >= options->argc)
		return 0;
	return err_set(err, EXIT_USAGE, "%s: '%.64s' is one argument too many", options->command,
		       options->argv[optind]);
}

int options_job_id(const char *text, uint64_t *ret_id, struct err *err)
{
	int64_t id;

	if (text_number_parse(text, 1, INT64_MAX, &id, err) < 0)
		return err_set(err, EXIT_USAGE, "'%.64s' is not a job id", text);
	*ret_id = (uint64_t)id;
	return 0;
}
