/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * `pgpu cancel`: a waiting job leaves the line, a running one is ended. Returns when the jobs are gone, or says after
 * the grace and 5 s more which one is still being stopped. Inside a job the supervisor does it; nobody there waits,
 * least of all for himself.
 */
#include <string.h>

#include "conf/base/buf.h"
#include "conf/base/clock.h"
#include "conf/base/fmt.h"
#include "conf/base/print.h"
#include "conf/base/say.h"
#include "conf/base/scope.h"
#include "conf/base/sigspec.h"
#include "conf/base/text.h"
#include "conf/idlist.h"
#include "conf/jobid.h"
#include "runner/await.h"
#include "runner/cancel.h"
#include "runner/commands.h"
#include "runner/desk.h"
#include "runner/jobfilter.h"
#include "runner/line/wake.h"
#include "runner/options.h"
#include "runner/queue.h"
#include "submit/idwords.h"
#include "submit/spooltasks.h"

static const char usage[] =
	"usage: pgpu cancel [options] ID...\n"
	"       pgpu cancel [options] [--as SESSION] [--class CLASS] [--name NAME] [--state STATE,...] [ID...]\n"
	"       pgpu cancel [options] --all\n"
	"Takes waiting jobs out of the line and ends running ones; a second cancel kills at once.\n"
	"\n"
	"      --as SESSION   this session's jobs (also --session); of several of these all must fit\n"
	"  -p, --class CLASS  this class's jobs (also --partition)\n"
	"  -J, --name NAME    jobs of this name (also --job-name)\n"
	"      --state STATE  jobs in one of these states: words or Slurm's letters, joined by commas\n"
	"      --all          all jobs\n"
	"  -s, --signal SIG   sends this signal to the running ones instead, and ends none\n"
	"      --dry-run      prints what would be done to each, and does nothing\n"
	"      --no-wait      returns at once\n"
	"      --help         print this\n";

enum { OPT_HELP = 256, OPT_SESSION, OPT_STATE, OPT_ALL, OPT_DRY_RUN, OPT_NO_WAIT, PATIENCE_MS = 5000 };

struct request {
	struct jobfilter filter;
	int sig; /* 0: they are ended */
	bool all, dry_run, no_wait, help;
	struct idlist ids;  /* 0: needs nothing more */
	bool records;	    /* each is that of one record; else of an array's it is all of its tasks */
	struct onends ends; /* what is to be started for those that waited */
};

static int add_id(struct idlist *ids, uint64_t id, struct err *err)
{
	return idlist_add(ids, id) < 0 ? err_sys(err, "cannot cancel") : 0;
}

static int read_signal(struct request *request, const char *text, struct err *err)
{
	return sigspec_signal(text, &request->sig, err) < 0 ? err_wrap(err, "cancel: --signal") : 0;
}

static int read_options(struct request *request, struct options *options, struct err *err)
{
	for (int option; (option = options_next(options, err)) != 0;) {
		switch (option) {
		case OPT_SESSION: request->filter.session = options->value; break;
		case 'p': request->filter.class_name = options->value; break;
		case 'J': request->filter.name = options->value; break;
		case OPT_STATE: request->filter.states = options->value; break;
		case OPT_ALL: request->all = true; break;
		case OPT_DRY_RUN: request->dry_run = true; break;
		case OPT_NO_WAIT: request->no_wait = true; break;
		case OPT_HELP: request->help = true; return 0;
		case 's':
			if (read_signal(request, options->value, err) < 0)
				return -1;
			break;
		default: return -1;
		}
	}
	return 0;
}

static int read_request(struct request *request, int argc, char **argv, struct err *err)
{
	static const struct option long_options[] = {
		{ "as", OPTION_VALUE, OPT_SESSION },
		{ "session", OPTION_VALUE, OPT_SESSION },
		{ "class", OPTION_VALUE, 'p' },
		{ "partition", OPTION_VALUE, 'p' },
		{ "name", OPTION_VALUE, 'J' },
		{ "job-name", OPTION_VALUE, 'J' },
		{ "state", OPTION_VALUE, OPT_STATE },
		{ "all", OPTION_FLAG, OPT_ALL },
		{ "signal", OPTION_VALUE, 's' },
		{ "dry-run", OPTION_FLAG, OPT_DRY_RUN },
		{ "no-wait", OPTION_FLAG, OPT_NO_WAIT },
		{ "help", OPTION_FLAG, OPT_HELP },
		{ .name = "" },
	};
	struct options options = OPTIONS("cancel", argc, argv, "p:J:s:", long_options);

	if (read_options(request, &options, err) < 0)
		return -1;
	if (request->help)
		return 0;
	if (jobfilter_check_states(&request->filter, err) < 0)
		return err_wrap(err, "cancel");
	bool named = options.next < argc;
	if (named ? request->all : !request->all && !jobfilter_is_set(&request->filter))
		return err_set(err, EXIT_USAGE, named ? "cancel: either ids or --all" : "cancel: a job id is missing");
	return idwords_read(argv + options.next, argc - options.next, &request->ids, err) < 0 ? err_wrap(err, "cancel")
											      : 0;
}

struct selection {
	struct idlist *ids;
	uint64_t array; /* tasks of this one alone; 0: any job */
	struct err *err;
};

static int select_one(const struct jobview *view, void *context)
{
	struct selection *selection = context;

	return selection->array && jobid_array(view->id) != selection->array
		       ? 0
		       : add_id(selection->ids, view->id, selection->err);
}

/* Of the named ids those that fit; an id that is nowhere is left for the error that it makes. */
static int keep_fitting(struct queue *queue, struct request *request, struct err *err)
{
	SCOPE_IDLIST struct idlist named = request->ids;

	request->ids = (struct idlist){ 0 };
	for (size_t i = 0; i < named.count; i++) {
		SCOPE_VIEW struct jobview view = { 0 };
		struct selection tasks = { &request->ids, named.list[i], err };
		int result = jobview_find(queue, named.list[i], &view, err);
		if (result == 0 && view.whole)
			result = jobfilter_each_live(queue, &request->filter, select_one, &tasks, err);
		else if (result == 0 && (view.state == VIEW_UNKNOWN || view.state == VIEW_GONE ||
					 jobfilter_fits(&request->filter, &view)))
			result = add_id(&request->ids, named.list[i], err);
		if (result < 0)
			return -1;
	}
	return 0;
}

/* What a filter chose is one record: of an array, that which stands for the tasks that wait. */
static int collect(struct queue *queue, struct request *request, struct err *err)
{
	struct selection all = { &request->ids, 0, err };

	if (jobfilter_check_class(&request->filter, &queue->line.conf, err) < 0)
		return err_wrap(err, "cancel");
	request->records = request->ids.count == 0 || jobfilter_is_set(&request->filter);
	if (request->ids.count == 0)
		return jobfilter_each_live(queue, &request->filter, select_one, &all, err);
	return request->records ? keep_fitting(queue, request, err) : 0;
}

static int print_line(struct buf *line)
{
	return buf_ok(line) ? print_buf(line) : EXIT_FAILED;
}

/* "12 is ended: frames (render, film)" */
static int tell_one(const struct request *request, const struct jobview *view)
{
	SCOPE_BUF struct buf line = BUF_EMPTY;
	char name[64], signal_name[24];

	text_show(view->name ? view->name : "?", name, sizeof name);
	sigspec_name(request->sig, signal_name);
	buf_printf(&line, "%s ", JOBID(view->id));
	if (request->sig)
		buf_printf(&line, "gets %s", signal_name);
	else
		buf_puts(&line, view->state == VIEW_PENDING ? "leaves the line" : "is ended");
	buf_printf(&line, ": %s (%s, %s)\n", name, view->class_name, view->session);
	return print_line(&line);
}

/* What is no job to do anything to, as an error. */
static int check_one(const struct request *request, const struct jobview *view, struct err *err)
{
	const char *verb = request->sig ? "signal" : "cancel";

	if (view->state == VIEW_UNKNOWN)
		return err_set(err, EXIT_FAILED, "cannot %s job %s: no such id", verb, JOBID(view->id));
	if (view->state == VIEW_ENDED || view->state == VIEW_GONE)
		return err_set(err, EXIT_FAILED, "cannot %s job %s: it has ended", verb, JOBID(view->id));
	if (request->sig && view->state == VIEW_PENDING)
		return err_set(err, EXIT_FAILED, "cannot signal job %s: it waits", JOBID(view->id));
	return 0;
}

static int signal_one(struct queue *queue, const struct request *request, uint64_t id, struct err *err)
{
	SCOPE_BUF struct buf line = BUF_EMPTY;

	if (signal_job(&queue->line, &queue->spool, id, request->sig, err) < 0)
		return -1;
	buf_printf(&line, "%s\n", JOBID(id));
	return print_line(&line);
}

/* For --signal and --dry-run, which end nothing. */
static int visit_all(struct queue *queue, const struct request *request)
{
	int code = EXIT_OK;

	for (size_t i = 0; i < request->ids.count; i++) {
		SCOPE_VIEW struct jobview view = { 0 };
		struct err err = ERR_NONE;
		uint64_t id = request->ids.list[i];
		int result = jobview_find(queue, id, &view, &err);
		if (request->records && view.whole)
			view.state = view.tasks_pending ? VIEW_PENDING : VIEW_ENDED;
		if (result == 0)
			result = check_one(request, &view, &err);
		if (result == 0)
			result = request->dry_run ? tell_one(request, &view) : signal_one(queue, request, id, &err);
		if (result < 0)
			code = say_err(&err);
		else if (result > 0)
			code = result;
	}
	return code;
}

static int cancel_one(struct queue *queue, struct request *request, uint64_t id, struct err *err)
{
	static const char *const words[] = { "pending", "ordered", "ended", "unknown" };
	char message[64], answer[WAKE_MESSAGE];

	if (!queue->inside)
		return (request->records ? cancel_record : cancel_job)(&queue->line, &queue->spool, id, &request->ends,
								       err);
	fmt(message, sizeof message, "%s %s", request->records ? "cancel-one" : "cancel", JOBID(id));
	if (desk_ask(&queue->supervisor, message, answer, err) < 0)
		return -1;
	for (int i = 0; i < 4; i++) {
		if (strcmp(answer, words[i]) == 0)
			return i;
	}
	return err_set(err, EXIT_FAILED, "cannot cancel job %s: the supervisor said '%.60s'", JOBID(id), answer);
}

static bool is_listed(const struct idlist *ids, uint64_t id)
{
	for (size_t i = 0; i < ids->count; i++) {
		if (ids->list[i] == id)
			return true;
	}
	return false;
}

/* Tasks of an array that started after we chose, and before the record that spoke for them was cancelled. */
static int add_started(struct queue *queue, struct request *request, uint64_t id, struct err *err)
{
	SCOPE_IDLIST struct idlist live = { 0 };
	struct selection tasks = { &live, id, err };

	if (jobfilter_each_live(queue, &request->filter, select_one, &tasks, err) < 0)
		return -1;
	for (size_t i = 0; i < live.count; i++) {
		if (!is_listed(&request->ids, live.list[i]) && add_id(&request->ids, live.list[i], err) < 0)
			return -1;
	}
	return 0;
}

/* Marks what has to be waited for by leaving its id in the list; the others become 0. */
static int cancel_all(struct queue *queue, struct request *request, bool *ret_pending)
{
	int code = EXIT_OK;

	for (size_t i = 0; i < request->ids.count; i++) {
		struct err err = ERR_NONE;
		SCOPE_BUF struct buf line = BUF_EMPTY;
		uint64_t id = request->ids.list[i];
		int result = cancel_one(queue, request, id, &err);
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
		if (result == CANCELLED_PENDING && request->records && jobid_task(id) < 0 &&
		    tasks_wait(&queue->spool, id) && add_started(queue, request, id, &err) < 0)
			code = say_err(&err);
		if (result != CANCELLED_ORDERED)
			request->ids.list[i] = 0;
	}
	return code;
}

static int wait_until_gone(struct queue *queue, const struct request *request)
{
	int code = EXIT_OK;
	int64_t until = clock_awake_ns() + queue->line.conf.grace_ns + PATIENCE_MS * NS_PER_MS;

	for (size_t i = 0; i < request->ids.count; i++) {
		struct err err = ERR_NONE;
		uint64_t id = request->ids.list[i];
		SCOPE_VIEW struct jobview view = { 0 };
		int64_t left_ms = (until - clock_awake_ns()) / NS_PER_MS;
		if (id == 0)
			continue;
		int ended = await_gone(queue, id, left_ms < 0 ? 0 : (int)left_ms, &view, &err);
		if (ended == 0) {
			err_set(&err, EXIT_FAILED, "job %s is still being stopped%s%s", JOBID(id),
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
		idlist_free(&request.ids);
		return say_err(&err);
	}
	if (request.help)
		return print_usage(usage);
	if (queue_open(queue, QUEUE_LENIENT, &err) < 0 || collect(queue, &request, &err) < 0) {
		code = say_err(&err);
	} else if (request.sig || request.dry_run) {
		code = visit_all(queue, &request);
	} else {
		bool pending = false;
		code = cancel_all(queue, &request, &pending);
		onend_start(&request.ends);
		/* Who waited for those, or behind them, may start now; that nobody can is no fault of the cancel. */
		if (pending && !queue->inside && queue_settle(queue, false, &err) < 0)
			say_err(&err);
		if (!queue->inside && !request.no_wait) {
			int waited = wait_until_gone(queue, &request);
			code = code ? code : waited;
		}
	}
	idlist_free(&request.ids);
	return code;
}
