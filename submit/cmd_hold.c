/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * `pgpu hold` and `pgpu release`: spooled jobs that wait are kept from starting, and let go. Silent, like scontrol(1).
 * Inside a job its supervisor does it.
 */
#include "conf/base/fmt.h"
#include "conf/base/print.h"
#include "conf/base/say.h"
#include "runner/commands.h"
#include "runner/desk.h"
#include "runner/held.h"
#include "runner/line/wake.h"
#include "runner/options.h"
#include "runner/queue.h"

static const char hold_usage[] = "usage: pgpu hold ID...\n"
				 "Keeps spooled jobs that wait from starting.\n"
				 "\n"
				 "      --help   print this\n";

static const char release_usage[] = "usage: pgpu release ID...\n"
				    "Lets held jobs go: they stand in line where they stood.\n"
				    "\n"
				    "      --help   print this\n";

static int set_one(struct queue *queue, uint64_t id, bool held, struct err *err)
{
	char message[64], answer[WAKE_MESSAGE];

	if (!queue->inside)
		return held_set(&queue->line, &queue->spool, id, held, err);
	fmt(message, sizeof message, "%s %llu", held ? "hold" : "release", (unsigned long long)id);
	return desk_ask(&queue->supervisor, message, answer, err);
}

/* One that cannot be is an error; the others are done. */
static int set_all(struct queue *queue, const struct options *options, bool held)
{
	int code = EXIT_OK;
	bool changed = false;

	for (int i = options->next; i < options->argc; i++) {
		struct err err = ERR_NONE;
		uint64_t id;
		if (options_job_id(options->argv[i], &id, &err) < 0 || set_one(queue, id, held, &err) < 0)
			code = say_err(&err);
		else
			changed = true;
	}
	struct err err = ERR_NONE;
	if (changed && !held && queue_settle(queue, &err) < 0)
		code = say_err(&err);
	return code;
}

static int hold_or_release(int argc, char **argv, bool held)
{
	static const struct option long_options[] = { { "help", OPTION_FLAG, 'h' }, { .name = "" } };
	struct options options = OPTIONS(held ? "hold" : "release", argc, argv, "", long_options);
	struct err err = ERR_NONE;
	int option = options_next(&options, &err);
	uint64_t id;

	if (option == 'h')
		return print_usage(held ? hold_usage : release_usage);
	if (option == 0 && options.next >= argc)
		option = err_set(&err, EXIT_USAGE, "%s: a job id is missing", argv[0]);
	for (int i = options.next; option == 0 && i < argc; i++) {
		option = options_job_id(argv[i], &id, &err);
		if (option < 0)
			err_wrap(&err, "%s", argv[0]);
	}
	if (option < 0 || queue_open(&queue_only, QUEUE_LENIENT, &err) < 0)
		return say_err(&err);
	return set_all(&queue_only, &options, held);
}

int cmd_hold(int argc, char **argv)
{
	return hold_or_release(argc, argv, true);
}

int cmd_release(int argc, char **argv)
{
	return hold_or_release(argc, argv, false);
}
