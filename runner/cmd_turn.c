/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `pgpu turn`: between two passes of a job, a waiting job may go first. The job's own supervisor does it. */
#include <stdlib.h>

#include "conf/base/print.h"
#include "conf/base/say.h"
#include "runner/commands.h"
#include "runner/line/wake.h"
#include "runner/options.h"

static const char usage[] =
	"usage: pgpu turn\n"
	"Inside a job: offers its lane to whoever comes first, and returns when it is this job's turn again;\n"
	"at once when nobody does. Outside a job it does nothing.\n"
	"\n"
	"      --help  print this\n";

int cmd_turn(int argc, char **argv)
{
	static const struct option long_options[] = { { "help", OPTION_FLAG, 'h' }, { .name = "" } };
	struct options options = OPTIONS("turn", argc, argv, "", long_options);
	const char *path = getenv("GPU_QUEUE_TURN");
	char answer[WAKE_MESSAGE];
	struct err err = ERR_NONE;
	int option = options_next(&options, &err);

	if (option > 0)
		return print_usage(usage);
	if (option < 0 || options_end(&options, &err) < 0)
		return say_err(&err);
	/* Nobody there (outside a job, or the socket is lost): nobody to step aside for either. */
	if (path && *path)
		wake_ask(path, "turn", answer, -1);
	return EXIT_OK;
}
