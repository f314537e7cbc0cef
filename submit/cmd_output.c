/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `pgpu output`: a job's output file, followed until the job ends where that is asked for. */
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "conf/base/file.h"
#include "conf/base/print.h"
#include "conf/base/say.h"
#include "conf/base/scope.h"
#include "conf/jobid.h"
#include "runner/commands.h"
#include "runner/follow.h"
#include "runner/jobview.h"
#include "runner/options.h"

static const char usage[] = "usage: pgpu output [options] ID\n"
			    "Prints the output file of a spooled job.\n"
			    "\n"
			    "  -f, --follow   goes on until the job has ended\n"
			    "      --help     print this\n";

static int32_t first_task(const struct jobview *view)
{
	struct array array;

	return view->array && array_parse(view->array, &array, NULL) == 0 ? array_task(&array, 0) : 0;
}

static int output(struct queue *queue, uint64_t id, bool follow, struct err *err)
{
	SCOPE_VIEW struct jobview view = { 0 };

	if (jobview_find(queue, id, &view, err) < 0)
		return -1;
	if (view.state == VIEW_UNKNOWN || view.state == VIEW_GONE)
		return err_set(err, EXIT_FAILED, "cannot print the output of job %s: %s", JOBID(id),
			       view.state == VIEW_GONE ? "it is gone" : "no such id");
	if (view.whole)
		return err_set(err, EXIT_FAILED, "cannot print the output of job %s: each task has its own (%s_%d)",
			       JOBID(id), JOBID(id), (int)first_task(&view));
	if (!view.output)
		return err_set(err, EXIT_FAILED,
			       "cannot print the output of job %s: a blocking run has none of its own", JOBID(id));
	if (follow && queue->inside && view.state != VIEW_ENDED)
		return err_set(err, EXIT_USAGE, "output: job %s has not ended, and a job must not wait in its lane",
			       JOBID(id));
	return follow_output(queue, &view, follow, err);
}

int cmd_output(int argc, char **argv)
{
	static const struct option long_options[] = { { "follow", OPTION_FLAG, 'f' },
						      { "help", OPTION_FLAG, 'h' },
						      { .name = "" } };
	struct options options = OPTIONS("output", argc, argv, "f", long_options);
	struct err err = ERR_NONE;
	struct queue *const queue = &queue_only;
	bool follow = false;
	uint64_t id = 0;
	int option;

	while ((option = options_next(&options, &err)) > 0) {
		if (option == 'h')
			return print_usage(usage);
		follow = true;
	}
	if (option == 0 && options.next >= argc)
		option = err_set(&err, EXIT_USAGE, "output: a job id is missing");
	if (option == 0 && (jobid_parse(argv[options.next++], &id, &err) < 0 || options_end(&options, &err) < 0))
		option = -1;
	if (option < 0)
		return say_err(&err);
	int result = queue_open(queue, QUEUE_LENIENT, &err);
	if (result == 0)
		result = output(queue, id, follow, &err);
	return result < 0 ? say_err(&err) : EXIT_OK;
}
