/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * `pgpu hold`, `release` and `requeue`: one change to each of some spooled jobs. Silent, like scontrol(1). Inside a job
 * its supervisor does it.
 */
#include "conf/base/fmt.h"
#include "conf/base/print.h"
#include "conf/base/say.h"
#include "conf/jobid.h"
#include "runner/cancel.h"
#include "runner/commands.h"
#include "runner/desk.h"
#include "runner/held.h"
#include "runner/line/pause.h"
#include "runner/line/wake.h"
#include "runner/options.h"
#include "runner/queue.h"
#include "submit/idwords.h"

static int hold(struct line *line, struct spool *spool, uint64_t id, struct err *err)
{
	return held_set(line, spool, id, true, err);
}

static int release(struct line *line, struct spool *spool, uint64_t id, struct err *err)
{
	return held_set(line, spool, id, false, err);
}

/* The name is the command's and the message's to a supervisor (supervise.h). */
struct verb {
	const char *name, *usage;
	int (*act)(struct line *line, struct spool *spool, uint64_t id, struct err *err);
	bool classes; /* knows --class */
};

static int act_on(struct queue *queue, const struct verb *verb, uint64_t id, struct err *err)
{
	char message[64], answer[WAKE_MESSAGE];

	if (!queue->inside)
		return verb->act(&queue->line, &queue->spool, id, err);
	fmt(message, sizeof message, "%s %s", verb->name, JOBID(id));
	return desk_ask(&queue->supervisor, message, answer, err);
}

/* One that cannot be is an error; the others are done. */
static int act_on_all(struct queue *queue, const struct verb *verb, const struct idlist *ids)
{
	struct err err = ERR_NONE;
	int code = EXIT_OK;

	for (size_t i = 0; i < ids->count; i++) {
		struct err why = ERR_NONE;
		if (act_on(queue, verb, ids->list[i], &why) < 0)
			code = say_err(&why);
	}
	if (queue_settle(queue, true, &err) < 0)
		code = say_err(&err);
	return code;
}

/* A paused class goes on. */
static int release_class(struct queue *queue, const char *class_name, struct err *err)
{
	if (queue_open(queue, QUEUE_LENIENT, err) < 0)
		return -1;
	if (!conf_class_need(&queue->line.conf, class_name, err))
		return err_wrap(err, "release");
	if (queue->inside)
		return err_set(err, EXIT_FAILED, "cannot release class %s from inside a job", class_name);
	return pause_release(&queue->line, class_name, err) < 0 ? -1 : queue_settle(queue, true, err);
}

static int manage(const struct verb *verb, int argc, char **argv)
{
	static const struct option long_options[] = { { "class", OPTION_VALUE, 'p' },
						      { "partition", OPTION_VALUE, 'p' },
						      { "help", OPTION_FLAG, 'h' },
						      { .name = "" } };
	struct options options = OPTIONS(verb->name, argc, argv, verb->classes ? "p:" : "",
					 verb->classes ? long_options : long_options + 2);
	SCOPE_IDLIST struct idlist ids = { 0 };
	const char *class_name = NULL;
	struct err err = ERR_NONE;
	int option;

	while ((option = options_next(&options, &err)) == 'p')
		class_name = options.value;
	if (option == 'h')
		return print_usage(verb->usage);
	if (option == 0 && class_name && options.next < argc)
		option = err_set(&err, EXIT_USAGE, "%s: either ids or --class", verb->name);
	if (option == 0 && class_name)
		return release_class(&queue_only, class_name, &err) < 0 ? say_err(&err) : EXIT_OK;
	if (option == 0 && options.next >= argc)
		option = err_set(&err, EXIT_USAGE, "%s: a job id is missing", verb->name);
	if (option == 0 && idwords_read(argv + options.next, argc - options.next, &ids, &err) < 0)
		option = err_wrap(&err, "%s", verb->name);
	if (option < 0 || queue_open(&queue_only, QUEUE_LENIENT, &err) < 0)
		return say_err(&err);
	return act_on_all(&queue_only, verb, &ids);
}

static const struct verb verbs[] = {
	{ "hold",
	  "usage: pgpu hold ID...\n"
	  "Keeps spooled jobs that wait from starting.\n"
	  "\n"
	  "      --help   print this\n",
	  hold, false },
	{ "release",
	  "usage: pgpu release ID...\n"
	  "       pgpu release --class CLASS\n"
	  "Lets held jobs go: they stand in line where they stood. Or lets a paused class go on.\n"
	  "\n"
	  "  -p, --class CLASS  the class that pause-after-failures has paused (also --partition)\n"
	  "      --help         print this\n",
	  release, true },
	{ "requeue",
	  "usage: pgpu requeue ID...\n"
	  "Puts spooled jobs back in line that run or have ended.\n"
	  "\n"
	  "      --help   print this\n",
	  requeue_job, false },
};

int cmd_hold(int argc, char **argv)
{
	return manage(&verbs[0], argc, argv);
}

int cmd_release(int argc, char **argv)
{
	return manage(&verbs[1], argc, argv);
}

int cmd_requeue(int argc, char **argv)
{
	return manage(&verbs[2], argc, argv);
}
