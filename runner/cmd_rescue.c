/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `pgpu rescue`: the rescue pass that every call does, asked for by name, with a line for each thing it mended. */

#include "conf/base/print.h"
#include "conf/base/say.h"
#include "conf/base/scope.h"
#include "runner/commands.h"
#include "runner/options.h"
#include "runner/queue.h"
#include "runner/rescue.h"
#include "submit/prune.h"

static const char usage[] = "usage: pgpu rescue\n"
			    "Clears up what a crash left and starts what can start; for boot and login units.\n"
			    "\n"
			    "      --help   print this\n";

int cmd_rescue(int argc, char **argv)
{
	static const struct option long_options[] = { { "help", OPTION_FLAG, 'h' }, { .name = "" } };
	struct options options = OPTIONS("rescue", argc, argv, "", long_options);
	struct err err = ERR_NONE;
	struct queue *const queue = &queue_only;
	int option = options_next(&options, &err);

	if (option == 'h')
		return print_usage(usage);
	if (option < 0 || options_end(&options, &err) < 0)
		return say_err(&err);
	int result = queue_open(queue, QUEUE_TELLING, &err);
	if (result == 0 && !queue->inside)
		result = rescue_pass(&queue->line, true, &err);
	if (result == 0 && !queue->inside)
		prune_daily(&queue->spool, &queue->line.conf);
	return result < 0 ? say_err(&err) : EXIT_OK;
}
