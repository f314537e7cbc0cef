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
};

static int act_on(struct queue *queue, const struct verb *verb, uint64_t id, struct err *err)
{
	char message[64], answer[WAKE_MESSAGE];

	if (!queue->inside)
		return verb->act(&queue->line, &queue->spool, id, err);
	fmt(message, sizeof message, "%s %s", verb->name, JOBID(id));
	return desk_ask(&queue->supervisor, message, answer, err);
}

struct acting {
	struct queue *queue;
	const struct verb *verb;
	int code;
};

static int act_on_word(void *context, uint64_t id, struct err *err)
{
	struct acting *acting = context;
	struct err why = ERR_NONE;

	(void)err;
	if (act_on(acting->queue, acting->verb, id, &why) < 0)
		acting->code = say_err(&why);
	return 0;
}

static int accept_word(void *context, uint64_t id, struct err *err)
{
	(void)context;
	(void)id;
	(void)err;
	return 0;
}

/* One that cannot be is an error; the others are done. */
static int act_on_all(struct queue *queue, const struct verb *verb, const struct options *options)
{
	struct acting acting = { queue, verb, EXIT_OK };

	for (int i = options->next; i < options->argc; i++) {
		struct err err = ERR_NONE;
		if (idwords_each(options->argv[i], act_on_word, &acting, &err) < 0)
			say_err(&err);
	}
	int code = acting.code;
	struct err err = ERR_NONE;
	if (queue_settle(queue, true, &err) < 0)
		code = say_err(&err);
	return code;
}

static int manage(const struct verb *verb, int argc, char **argv)
{
	static const struct option long_options[] = { { "help", OPTION_FLAG, 'h' }, { .name = "" } };
	struct options options = OPTIONS(verb->name, argc, argv, "", long_options);
	struct err err = ERR_NONE;
	int option = options_next(&options, &err);

	if (option == 'h')
		return print_usage(verb->usage);
	if (option == 0 && options.next >= argc)
		option = err_set(&err, EXIT_USAGE, "%s: a job id is missing", verb->name);
	for (int i = options.next; option == 0 && i < argc; i++) {
		option = idwords_each(argv[i], accept_word, NULL, &err);
		if (option < 0)
			err_wrap(&err, "%s", verb->name);
	}
	if (option < 0 || queue_open(&queue_only, QUEUE_LENIENT, &err) < 0)
		return say_err(&err);
	return act_on_all(&queue_only, verb, &options);
}

static const struct verb verbs[] = {
	{ "hold",
	  "usage: pgpu hold ID...\n"
	  "Keeps spooled jobs that wait from starting.\n"
	  "\n"
	  "      --help   print this\n",
	  hold },
	{ "release",
	  "usage: pgpu release ID...\n"
	  "Lets held jobs go: they stand in line where they stood.\n"
	  "\n"
	  "      --help   print this\n",
	  release },
	{ "requeue",
	  "usage: pgpu requeue ID...\n"
	  "Puts spooled jobs back in line that run or have ended.\n"
	  "\n"
	  "      --help   print this\n",
	  requeue_job },
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
