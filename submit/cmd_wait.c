/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `pgpu wait`: blocks until the jobs have ended; exits with the code of the last one named. */

#include "conf/base/print.h"
#include "conf/base/say.h"
#include "conf/base/scope.h"
#include "conf/jobid.h"
#include "runner/await.h"
#include "runner/commands.h"
#include "runner/options.h"

static const char usage[] = "usage: pgpu wait ID...\n"
			    "Waits until the jobs have ended; exits with the code of the last one named.\n"
			    "\n"
			    "      --help   print this\n";

/* Inside a job, waiting for one that has not ended may be waiting for one's own lane. */
static int wait_one(struct queue *queue, uint64_t id, int *ret_code, struct err *err)
{
	SCOPE_VIEW struct jobview view = { 0 };
	int ended = await_end(queue, id, queue->inside ? 0 : -1, NULL, NULL, &view, err);

	if (ended == 0)
		return err_set(err, EXIT_USAGE, "wait: job %s has not ended, and a job must not wait in its lane",
			       JOBID(id));
	*ret_code = view.exit_code;
	return ended < 0 ? -1 : 0;
}

int cmd_wait(int argc, char **argv)
{
	static const struct option long_options[] = { { "help", OPTION_FLAG, 'h' }, { .name = "" } };
	struct options options = OPTIONS("wait", argc, argv, "", long_options);
	struct err err = ERR_NONE;
	struct queue *const queue = &queue_only;
	int option = options_next(&options, &err), code = EXIT_OK;
	uint64_t id;

	if (option == 'h')
		return print_usage(usage);
	if (option == 0 && options.next >= argc)
		option = err_set(&err, EXIT_USAGE, "wait: a job id is missing");
	for (int i = options.next; option == 0 && i < argc; i++)
		option = jobid_parse(argv[i], &id, &err);
	if (option < 0)
		return say_err(&err);
	int result = queue_open(queue, QUEUE_LENIENT, &err);
	for (; result == 0 && options.next < argc; options.next++) {
		jobid_parse(argv[options.next], &id, &err);
		result = wait_one(queue, id, &code, &err);
	}
	return result < 0 ? say_err(&err) : code;
}
