/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `pgpu drain` and `undrain`: what runs or is frozen goes on to its end, nothing else starts, over boots too. */
#include "conf/base/clock.h"
#include "conf/base/print.h"
#include "conf/base/say.h"
#include "conf/base/when.h"
#include "runner/commands.h"
#include "runner/options.h"
#include "runner/queue.h"

static const char drain_usage[] =
	"usage: pgpu drain [--until TIME]\n"
	"Lets running and frozen jobs end, and no other start.\n"
	"\n"
	"      --until TIME  jobs start again then: 22:00, tomorrow 02:30, 2026-12-01T02:30, now+1h\n"
	"      --help        print this\n";

static const char undrain_usage[] = "usage: pgpu undrain\n"
				    "Lets jobs start again.\n"
				    "\n"
				    "      --help   print this\n";

static int set(int64_t until_s)
{
	struct queue *const queue = &queue_only;
	struct err err = ERR_NONE;

	if (queue_open(queue, QUEUE_LENIENT, &err) < 0)
		return say_err(&err);
	/* Its supervisor could do it, but a job that keeps the queue from going on has lost its way. */
	if (queue->inside)
		err_set(&err, EXIT_FAILED, "cannot %s the queue from inside a job", until_s ? "drain" : "undrain");
	else if (line_drain(&queue->line, until_s, &err) == 0 && queue_settle(queue, true, &err) == 0)
		return EXIT_OK;
	return say_err(&err);
}

int cmd_drain(int argc, char **argv)
{
	static const struct option long_options[] = { { "until", OPTION_VALUE, 'u' },
						      { "help", OPTION_FLAG, 'h' },
						      { .name = "" } };
	struct options options = OPTIONS("drain", argc, argv, "", long_options);
	struct err err = ERR_NONE;
	int64_t until_ns = 0;
	int option;

	while ((option = options_next(&options, &err)) > 0) {
		if (option == 'h')
			return print_usage(drain_usage);
		if (when_next(options.value, clock_wall_ns(), &until_ns, &err) < 0) {
			err_wrap(&err, "drain: --until");
			return say_err(&err);
		}
	}
	if (option < 0 || options_end(&options, &err) < 0)
		return say_err(&err);
	return set(until_ns ? (until_ns + NS_PER_S - 1) / NS_PER_S : CONF_NEVER);
}

int cmd_undrain(int argc, char **argv)
{
	static const struct option long_options[] = { { "help", OPTION_FLAG, 'h' }, { .name = "" } };
	struct options options = OPTIONS("undrain", argc, argv, "", long_options);
	struct err err = ERR_NONE;
	int option = options_next(&options, &err);

	if (option == 'h')
		return print_usage(undrain_usage);
	return option < 0 || options_end(&options, &err) < 0 ? say_err(&err) : set(0);
}
