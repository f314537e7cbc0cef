/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `pgpu wait`: blocks until the jobs have ended; exits with the code of the last one named, or of the first to end. */
#include <stdlib.h>

#include "conf/base/buf.h"
#include "conf/base/print.h"
#include "conf/base/say.h"
#include "conf/base/scope.h"
#include "conf/jobid.h"
#include "runner/await.h"
#include "runner/commands.h"
#include "runner/options.h"
#include "submit/idwords.h"

static const char usage[] = "usage: pgpu wait [options] ID...\n"
			    "Waits until the jobs have ended; exits with the code of the last one named.\n"
			    "\n"
			    "      --any    until one has: prints its id and exits with its code\n"
			    "      --help   print this\n";

/* Inside a job, waiting for one that has not ended may be waiting for one's own lane. */
static int refuse_inside(uint64_t id, struct err *err)
{
	return err_set(err, EXIT_USAGE, "wait: job %s has not ended, and a job must not wait in its lane", JOBID(id));
}

static int wait_all(struct queue *queue, const struct idlist *ids, int *ret_code, struct err *err)
{
	SCOPE_VIEW struct jobview view = { 0 };
	int ended = await_all(queue, ids, queue->inside ? 0 : -1, &view, err);

	if (ended == 0)
		return refuse_inside(view.id, err);
	*ret_code = view.exit_code;
	return ended < 0 ? -1 : 0;
}

static int wait_any(struct queue *queue, const struct idlist *ids, int *ret_code, struct err *err)
{
	SCOPE_FREE struct awaited *jobs = calloc(ids->count, sizeof *jobs);
	SCOPE_VIEW struct jobview view = { 0 };
	SCOPE_BUF struct buf line = BUF_EMPTY;
	int index;

	if (!jobs)
		return err_sys(err, "cannot wait");
	for (size_t i = 0; i < ids->count; i++)
		jobs[i].id = ids->list[i];
	int ended = await_any(queue, jobs, (int)ids->count, queue->inside ? 0 : -1, &index, &view, err);
	if (ended == 0)
		return refuse_inside(jobs[0].id, err);
	if (ended < 0)
		return -1;
	buf_printf(&line, "%s\n", JOBID(jobs[index].id));
	*ret_code = print_buf(&line) == EXIT_OK ? view.exit_code : EXIT_FAILED;
	return 0;
}

int cmd_wait(int argc, char **argv)
{
	static const struct option long_options[] = { { "any", OPTION_FLAG, 'a' },
						      { "help", OPTION_FLAG, 'h' },
						      { .name = "" } };
	struct options options = OPTIONS("wait", argc, argv, "", long_options);
	SCOPE_IDLIST struct idlist ids = { 0 };
	struct err err = ERR_NONE;
	struct queue *const queue = &queue_only;
	bool any = false;
	int option, code = EXIT_OK;

	while ((option = options_next(&options, &err)) > 0) {
		if (option == 'h')
			return print_usage(usage);
		any = true;
	}
	if (option == 0 && options.next >= argc)
		option = err_set(&err, EXIT_USAGE, "wait: a job id is missing");
	if (option == 0)
		option = idwords_read(argv + options.next, argc - options.next, &ids, &err);
	if (option < 0)
		return say_err(&err);
	int result = queue_open(queue, QUEUE_LENIENT, &err);
	if (result == 0)
		result = any ? wait_any(queue, &ids, &code, &err) : wait_all(queue, &ids, &code, &err);
	return result < 0 ? say_err(&err) : code;
}
