/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "options.h"

#include <stdio.h>
#include <string.h>

#include "conf/base/text.h"

static void hint_of(const struct options *options, const char *word, char *hint, size_t size)
{
	const char *names[64];
	size_t count = 0, length = strcspn(word, "=");
	char name[80];

	snprintf(name, sizeof name, "%.*s", (int)(length > 64 ? 64 : length), word);
	for (const struct option *one = options->long_options; one->name && count < 63; one++)
		names[count++] = one->name;
	names[count] = NULL;
	const char *near = text_nearest(name, names);
	hint[0] = '\0';
	if (near)
		snprintf(hint, size, ", did you mean '--%s'?", near);
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
		return err_set(err, EXIT_USAGE, "%s: unknown option '-%c' (see pgpu %s --help)", options->command, optopt, options->command);
	hint_of(options, word + 2, hint, sizeof hint);
	if (optopt)
		return err_set(err, EXIT_USAGE, "%s: option '%.64s' takes no value", options->command, word);
	return err_set(err, EXIT_USAGE, "%s: unknown option '%.64s'%s", options->command, word, hint);
}

int options_next(struct options *options, struct err *err)
{
	opterr = 0;
	options->index = -1;
	int option = getopt_long(options->argc, options->argv, options->short_options, options->long_options, &options->index);
	if (option == -1)
		return 0;
	return option == '?' || option == ':' ? refuse(options, option, err) : option;
}

int options_end(const struct options *options, struct err *err)
{
	if (optind >= options->argc)
		return 0;
	return err_set(err, EXIT_USAGE, "%s: '%.64s' is one argument too many", options->command, options->argv[optind]);
}

int options_job_id(const char *text, uint64_t *ret_id, struct err *err)
{
	int64_t id;

	if (text_number_parse(text, 1, INT64_MAX, &id, err) < 0)
		return err_set(err, EXIT_USAGE, "'%.64s' is not a job id", text);
	*ret_id = (uint64_t)id;
	return 0;
}
