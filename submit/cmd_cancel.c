/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * `pgpu cancel`: a waiting job leaves the line, a running one is ended. Returns when the jobs are gone, or says after
 * the grace and 5 s more which one is still being stopped. Inside a job the supervisor does it; nobody there waits,
 * least of all for himself.
 */
#include <stdlib.h>
#include <string.h>

#include "conf/base/buf.h"
#include "conf/base/clock.h"
#include "conf/base/fmt.h"
#include "conf/base/print.h"
#include "conf/base/say.h"
#include "conf/base/scope.h"
#include "conf/jobid.h"
#include "runner/await.h"
#include "runner/cancel.h"
#include "runner/commands.h"
#include "runner/desk.h"
#include "runner/line/wake.h"
#include "runner/options.h"
#include "runner/queue.h"
#include "runner/snapshot.h"
#include "submit/idwords.h"

static const char usage[] = "usage: pgpu cancel [options] ID...\n"
			    "       pgpu cancel [options] --as SESSION | --class CLASS | --all\n"
			    "Takes waiting jobs out of the line and ends running ones; a second cancel kills at once.\n"
			    "\n"
			    "      --as SESSION   this session's jobs (also --session)\n"
			    "  -p, --class CLASS  this class's jobs (also --partition); with --as: both must fit\n"
			    "      --all          all jobs\n"
			    "      --no-wait      returns at once\n"
			    "      --help         print this\n";

enum { OPT_HELP = 256, OPT_SESSION, OPT_ALL, OPT_NO_WAIT, PATIENCE_MS = 5000 };

struct request {
	const char *session, *class_name;
	bool all, no_wait, help;
	uint64_t *ids;
	int count, room;
	struct onends ends; /* what is to be started for those that waited */
};

static int add_id(struct request *request, uint64_t id, struct err *err)
{
	if (request->count == request->room) {
		int room = request->room ? request->room * 2 : 16;
		uint64_t *ids = realloc(request->ids, (size_t)room * sizeof *ids);
		if (!ids)
			return err_sys(err, "cannot cancel");
		request->ids = ids;
		request->room = room;
	}
	request->ids[request->count++] = id;
	return 0;
}

static int add_word(void *request, uint64_t id, struct err *err)
{
	return add_id(request, id, err);
}

static int read_request(struct request *request, int argc, char **argv, struct err *err)
{
	static const struct option long_options[] = {
		{ "as", OPTION_VALUE, OPT_SESSION }, { "session", OPTION_VALUE, OPT_SESSION },
		{ "class", OPTION_VALUE, 'p' },	     { "partition", OPTION_VALUE, 'p' },
		{ "all", OPTION_FLAG, OPT_ALL },     { "no-wait", OPTION_FLAG, OPT_NO_WAIT },
		{ "help", OPTION_FLAG, OPT_HELP },   { .name = "" },
	};
	struct options options = OPTIONS("cancel", argc, argv, "p:", long_options);

	for (int option; (option = options_next(&options, err)) != 0;) {
		switch (option) {
		case OPT_SESSION: request->session = options.value; break;
		case 'p': request->class_name = options.value; break;
		case OPT_ALL: request->all = true; break;
		case OPT_NO_WAIT: request->no_wait = true; break;
		case OPT_HELP: request->help = true; return 0;
		default: return -1;
		}
	}
	bool filtered = request->session || request->class_name || request->all;
	if (filtered == (options.next < argc))
		return err_set(err, EXIT_USAGE,
			       filtered ? "cancel: either ids or --as, --class, --all" : "cancel: a job id is missing");
	for (; options.next < argc; options.next++) {
		if (idwords_each(argv[options.next], add_word, request, err) < 0)
			return err_wrap(err, "cancel");
	}
	return 0;
}

static int add_if(struct request *request, uint64_t id, const char *session, const char *class_name, struct err *err)
{
	if (id == 0 || (request->session && strcmp(request->session, session) != 0) ||
	    (request->class_name && strcmp(request->class_name, class_name) != 0))
		return 0;
	return add_id(request, id, err);
}

/* Waiting ones first, so that none of them starts while the running ones are ended. */
static int collect(struct queue *queue, struct request *request, struct err *err)
{
	struct snapshot snapshot;
	int result = 0;

	if (request->class_name && !conf_class_need(&queue->line.conf, request->class_name, err))
		return err_wrap(err, "cancel");
	if (snapshot_take(&queue->line, &queue->spool, &snapshot, err) < 0)
		return -1;
	for (size_t i = 0; result == 0 && i < snapshot.waiting.count; i++) {
		const struct candidate *one = &snapshot.waiting.list[i];
		result = add_if(request, one->id, one->session, one->class_name, err);
	}
	for (int i = 0; result == 0 && i < snapshot.frozen_count; i++)
		result = add_if(request, snapshot.frozen[i].id, snapshot.frozen[i].session,
				snapshot.frozen[i].class_name, err);
	for (int i = 0; result == 0 && i < snapshot.lane_count; i++) {
		const struct entry *entry = &snapshot.lanes[i].entry;
		if (entry->state == ENTRY_RUNNING || entry->state == ENTRY_COMPLETING)
			result = add_if(request, entry->id, entry->session, entry->class_name, err);
	}
	snapshot_free(&snapshot);
	return result;
}

static int cancel_one(struct queue *queue, uint64_t id, struct onends *ends, struct err *err)
{
	static const char *const words[] = { "pending", "ordered", "ended", "unknown" };
	char message[64], answer[WAKE_MESSAGE];

	if (!queue->inside)
		return cancel_job(&queue->line, &queue->spool, id, ends, err);
	fmt(message, sizeof message, "cancel %s", JOBID(id));
	if (desk_ask(&queue->supervisor, message, answer, err) < 0)
		return -1;
	for (int i = 0; i < 4; i++) {
		if (strcmp(answer, words[i]) == 0)
			return i;
	}
	return err_set(err, EXIT_FAILED, "cannot cancel job %s: the supervisor said '%.60s'", JOBID(id), answer);
}

/* Marks what has to be waited for by leaving its id in the list; the others become 0. */
static int cancel_all(struct queue *queue, struct request *request, bool *ret_pending)
{
	int code = EXIT_OK;

	for (int i = 0; i < request->count; i++) {
		struct err err = ERR_NONE;
		SCOPE_BUF struct buf line = BUF_EMPTY;
		uint64_t id = request->ids[i];
		int result = cancel_one(queue, id, &request->ends, &err);
		if (result == CANCELLED_ENDED)
			err_set(&err, EXIT_FAILED, "cannot cancel job %s: it has ended", JOBID(id));
		else if (result == CANCELLED_UNKNOWN)
			err_set(&err, EXIT_FAILED, "cannot cancel job %s: no such id", JOBID(id));
		if (result < 0 || result == CANCELLED_ENDED || result == CANCELLED_UNKNOWN) {
			code = say_err(&err);
		} else {
			buf_printf(&line, "%s\n", JOBID(id));
			if (print_buf(&line) != EXIT_OK)
				code = EXIT_FAILED;
		}
		*ret_pending |= result == CANCELLED_PENDING;
		if (result != CANCELLED_ORDERED)
			request->ids[i] = 0;
	}
	return code;
}

static int wait_until_gone(struct queue *queue, const struct request *request)
{
	int code = EXIT_OK;
	int64_t until = clock_awake_ns() + queue->line.conf.grace_ns + PATIENCE_MS * NS_PER_MS;

	for (int i = 0; i < request->count; i++) {
		struct err err = ERR_NONE;
		SCOPE_VIEW struct jobview view = { 0 };
		int64_t left_ms = (until - clock_awake_ns()) / NS_PER_MS;
		if (request->ids[i] == 0)
			continue;
		int ended = await_end(queue, request->ids[i], left_ms < 0 ? 0 : (int)left_ms, NULL, NULL, &view, &err);
		if (ended == 0) {
			err_set(&err, EXIT_FAILED, "job %s is still being stopped%s%s", JOBID(request->ids[i]),
				view.sentence[0] ? ": " : "", view.sentence);
			code = say_err(&err);
		}
	}
	return code;
}

int cmd_cancel(int argc, char **argv)
{
	struct request request = { 0 };
	struct err err = ERR_NONE;
	struct queue *const queue = &queue_only;
	int code;

	if (read_request(&request, argc, argv, &err) < 0) {
		free(request.ids);
		return say_err(&err);
	}
	if (request.help)
		return print_usage(usage);
	if (queue_open(queue, QUEUE_LENIENT, &err) < 0 || (request.count == 0 && collect(queue, &request, &err) < 0)) {
		code = say_err(&err);
	} else {
		bool pending = false;
		code = cancel_all(queue, &request, &pending);
		onend_start(&request.ends);
		/* Who waited for those, or behind them, may be able to start. */
		if (pending && !queue->inside && queue_settle(queue, false, &err) < 0)
			code = say_err(&err);
		if (!queue->inside && !request.no_wait) {
			int waited = wait_until_gone(queue, &request);
			code = code ? code : waited;
		}
	}
	free(request.ids);
	return code;
}
