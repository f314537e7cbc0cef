/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `pgpu update`: changes the header of a spooled job that waits. Silent, like scontrol(1). */
#include "conf/base/print.h"
#include "conf/base/say.h"
#include "conf/jobid.h"
#include "runner/commands.h"
#include "runner/edit.h"
#include "runner/options.h"
#include "runner/queue.h"

static const char usage[] = "usage: pgpu update ID KEY=VALUE...\n"
			    "Changes the header of a spooled job that waits.\n"
			    "\n"
			    "KEY is one of class, session, name, budget, limit, memory, vram, begin, after, nice,\n"
			    "min-run-time, retries, as in a job file; begin=now and after=none are neither.\n"
			    "first=true puts the job first of its own session and class.\n"
			    "\n"
			    "      --help   print this\n";

static int read_words(struct edit *edit, const struct options *options, struct err *err)
{
	if (options->next >= options->argc)
		return err_set(err, EXIT_USAGE, "a job id is missing");
	if (jobid_parse(options->argv[options->next], &edit->id, err) < 0)
		return -1;
	if (options->next + 1 == options->argc)
		return err_set(err, EXIT_USAGE, "KEY=VALUE is missing");
	for (int i = options->next + 1; i < options->argc; i++) {
		if (edit_set(edit, options->argv[i], err) < 0)
			return -1;
	}
	return 0;
}

static int update(struct queue *queue, const struct edit *edit, struct err *err)
{
	if (queue_open(queue, QUEUE_STRICT, err) < 0)
		return -1;
	/* Its supervisor could do it with a longer message; no job has needed it. */
	if (queue->inside)
		return err_set(err, EXIT_FAILED, "cannot update job %s from inside a job", JOBID(edit->id));
	if (edit_job(&queue->line, &queue->spool, edit, err) < 0)
		return -1;
	if (queue_settle(queue, true, err) == 0)
		return 0;
	return err_wrap(err, "cannot look at the line after the update of job %s, which is changed", JOBID(edit->id));
}

int cmd_update(int argc, char **argv)
{
	static const struct option long_options[] = { { "help", OPTION_FLAG, 'h' }, { .name = "" } };
	struct options options = OPTIONS("update", argc, argv, "", long_options);
	struct edit edit = { 0 };
	struct err err = ERR_NONE;
	int option = options_next(&options, &err);

	if (option == 'h')
		return print_usage(usage);
	if (option == 0 && (option = read_words(&edit, &options, &err)) < 0)
		err_wrap(&err, "update");
	return option < 0 || update(&queue_only, &edit, &err) < 0 ? say_err(&err) : EXIT_OK;
}
