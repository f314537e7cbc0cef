/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `pgpu show`: everything known about jobs, ended ones too. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "conf/base/buf.h"
#include "conf/base/clock.h"
#include "conf/base/fmt.h"
#include "conf/base/print.h"
#include "conf/base/say.h"
#include "conf/base/scope.h"
#include "conf/base/text.h"
#include "conf/jobid.h"
#include "runner/commands.h"
#include "runner/fields.h"
#include "runner/jobview.h"
#include "runner/options.h"
#include "runner/waiting.h"
#include "submit/idwords.h"

static const char usage[] = "usage: pgpu show [options] ID...\n"
			    "Shows everything known about jobs.\n"
			    "\n"
			    "      --env          the values of its environment, too, not only the names\n"
			    "      --json         one JSON object, an array for several ids\n"
			    "      --format LIST  a line each of these fields of the JSON, with tabs between\n"
			    "      --help         print this\n";

static void put_text(struct buf *out, const char *label, const char *text)
{
	char shown[4096];

	if (!text || !*text)
		return;
	text_show(text, shown, sizeof shown);
	buf_printf(out, "%-10s %s\n", label, shown);
}

static void put_time(struct buf *out, const char *label, int64_t wall_ns)
{
	char text[CLOCK_TEXT];

	if (!wall_ns)
		return;
	clock_wall_format(wall_ns, text);
	put_text(out, label, text);
}

static void put_duration(struct buf *out, const char *label, int64_t ns)
{
	char text[TEXT_DURATION];

	if (ns < 0)
		return;
	text_duration_format(ns, text);
	put_text(out, label, text);
}

static void put_size(struct buf *out, const char *label, int64_t bytes)
{
	char text[TEXT_SIZE];

	if (bytes < 0)
		return;
	text_size_show((uint64_t)bytes, text);
	put_text(out, label, text);
}

/* "3 pending, 1 running, 8 completed" */
static void put_tasks(const struct jobview *view, struct buf *out)
{
	const char *comma = "";

	buf_printf(out, "%-10s ", "tasks");
	if (view->tasks_pending)
		buf_printf(out, "%ld pending", view->tasks_pending);
	comma = view->tasks_pending ? ", " : "";
	if (view->tasks_running)
		buf_printf(out, "%s%ld running", comma, view->tasks_running);
	comma = view->tasks_pending || view->tasks_running ? ", " : "";
	for (int outcome = 0; outcome < OUTCOMES; outcome++) {
		if (!view->tasks_ended[outcome])
			continue;
		buf_printf(out, "%s%ld %s", comma, view->tasks_ended[outcome], outcome_names[outcome]);
		comma = ", ";
	}
	buf_puts(out, "\n");
}

static void put(const struct jobview *view, struct buf *out)
{
	char id[96], progress[PROGRESS_TEXT];

	jobview_id(view, id);
	buf_printf(out, "%-10s %s\n", "job", id);
	put_text(out, "name", view->name);
	buf_printf(out, "%-10s %s (%s)\n", "state", jobview_state(view), jobview_letters(view));
	if (view->whole)
		put_tasks(view, out);
	put_text(out, "why", view->sentence);
	if (view->exit_code >= 0)
		buf_printf(out, "%-10s %d\n", "exit code", view->exit_code);
	put_text(out, "kind", view->standing ? "spool, standing" : view->spooled ? "spool" : "run");
	put_text(out, "class", view->class_name);
	put_text(out, "session", view->session);
	put_text(out, "command", view->command);
	put_text(out, "folder", view->workdir);
	put_text(out, "output", view->output);
	put_text(out, "error", view->error);
	put_text(out, "array", view->array);
	put_text(out, "after", view->after);
	put_time(out, "begin", view->begin_wall_ns);
	put_time(out, "submitted", view->submitted_wall_ns);
	put_time(out, "started", view->started_wall_ns);
	put_time(out, "ended", view->ended_wall_ns);
	put_duration(out, "waited", view->waited_ns);
	put_duration(out, "starts in", view->outlook.starts_in_ns);
	put_duration(out, "ends in", view->outlook.ends_in_ns);
	put_text(out, "estimate",
		 view->outlook.by == FORECAST_PROGRESS ? "about, at the pace so far"
		 : view->outlook.by == FORECAST_LIKE   ? "about, as like jobs took"
		 : view->outlook.by == FORECAST_BUDGET ? "about, if each takes its budget"
						       : NULL);
	put_duration(out, "ran", view->ran_ns);
	put_duration(out, "frozen", view->frozen_ns > 0 ? view->frozen_ns : -1);
	progress_show(&view->progress, view->ran_ns, progress);
	put_text(out, "progress", progress);
	put_duration(out, "budget", view->budget_ns);
	put_duration(out, "limit", view->limit_ns);
	put_size(out, "ceiling", view->memory_bytes);
	put_size(out, "peak", view->peak_memory_bytes);
	put_size(out, "VRAM", view->vram_bytes);
	put_text(out, "card", view->card[0] ? view->card : NULL);
	put_duration(out, "CPU", view->cpu_ns);
	put_duration(out, "GPU", view->gpu_ns);
	if (view->lane >= 0)
		buf_printf(out, "%-10s %d\n", "lane", view->lane);
	if (view->pid > 0)
		buf_printf(out, "%-10s %d\n", "pid", view->pid);
	if (view->restarts)
		buf_printf(out, "%-10s %d\n", "restarts", view->restarts);
	if (view->retries)
		buf_printf(out, "%-10s %d of %d\n", "attempts", view->attempts, view->retries + 1);
	if (view->nice)
		buf_printf(out, "%-10s %d\n", "nice", view->nice);
	put_text(out, "cell", view->cell);
}

/* Of those that stand before it in line. */
static void foresee_ahead(struct queue *queue, const struct snapshot *snapshot, size_t index, struct forecast *forecast)
{
	for (size_t i = 0; i < index && forecast->waiting < FORECAST_AHEAD; i++) {
		const struct candidate *one = &snapshot->waiting.list[i];
		SCOPE_VIEW struct jobview view = { 0 };
		struct err ignored = ERR_NONE;
		if (one->barred || jobview_find(queue, one->id, &view, &ignored) < 0)
			continue;
		jobview_explain(&view, snapshot, &queue->line.conf, i);
		jobview_foresee(&view, forecast);
	}
}

/* Of those that run; the one with this id is that of `view`. */
static void foresee_running(const struct snapshot *snapshot, struct jobview *view, struct forecast *forecast)
{
	for (int i = 0; i < snapshot->lane_count; i++) {
		const struct entry *entry = &snapshot->lanes[i].entry;
		SCOPE_VIEW struct jobview one = { 0 };
		if (entry->state == ENTRY_FREE)
			continue;
		jobview_of_entry(entry, i, &one);
		jobview_foresee(&one, forecast);
		if (entry->id == view->id && view->state == VIEW_RUNNING)
			view->outlook = one.outlook;
	}
}

static void explain_waiting(struct queue *queue, const struct snapshot *snapshot, size_t index, struct jobview *view,
			    struct forecast *forecast)
{
	jobview_explain(view, snapshot, &queue->line.conf, index);
	if (snapshot->waiting.list[index].barred)
		return;
	foresee_ahead(queue, snapshot, index, forecast);
	jobview_foresee(view, forecast);
}

/* Why it waits, as `queue` says it. */
static void explain(struct queue *queue, struct jobview *view)
{
	struct snapshot snapshot;
	struct forecast forecast;
	struct err ignored = ERR_NONE;

	if (snapshot_take(&queue->line, &queue->spool, &snapshot, &ignored) < 0)
		return;
	waiting_forecast(queue, &forecast);
	foresee_running(&snapshot, view, &forecast);
	for (size_t i = 0; i < snapshot.waiting.count; i++) {
		/* Of a task that waits, its array stands in line. */
		if (snapshot.waiting.list[i].id == view->id ||
		    (jobid_task(view->id) >= 0 && snapshot.waiting.list[i].id == jobid_array(view->id)))
			explain_waiting(queue, &snapshot, i, view, &forecast);
	}
	for (size_t i = 0; i < snapshot.services.count; i++) {
		if (snapshot.services.list[i].id != view->id)
			continue;
		fmt(view->reason, sizeof view->reason, "%s",
		    snapshot_standing(&snapshot, &queue->line.conf, i, view->sentence));
	}
	forecast_free(&forecast);
	snapshot_free(&snapshot);
}

/* Those that wait have no part in it. */
static void foresee_end(struct queue *queue, struct jobview *view)
{
	struct snapshot snapshot;
	struct forecast forecast;
	struct err ignored = ERR_NONE;

	if (snapshot_take_begun(&queue->line, &snapshot, &ignored) < 0)
		return;
	waiting_forecast(queue, &forecast);
	foresee_running(&snapshot, view, &forecast);
	forecast_free(&forecast);
	snapshot_free(&snapshot);
}

static void put_json_name(struct buf *out, const char *variable)
{
	SCOPE_FREE char *name = strndup(variable, strcspn(variable, "="));

	buf_json(out, name);
}

/* "env":["A"], or with its values "env":{"A":"b"}. */
static void put_json_env(const char *label, char *const *list, bool values, struct buf *out)
{
	buf_printf(out, ",\"%s\":%c", label, values ? '{' : '[');
	for (size_t i = 0; list && list[i]; i++) {
		buf_puts(out, i ? "," : "");
		put_json_name(out, list[i]);
		if (!values)
			continue;
		buf_puts(out, ":");
		buf_json(out, strchrnul(list[i], '=') + (strchr(list[i], '=') != NULL));
	}
	buf_printf(out, "%c", values ? '}' : ']');
}

static void put_env(const char *label, char *const *list, bool values, struct buf *out)
{
	SCOPE_BUF struct buf names = BUF_EMPTY;

	for (size_t i = 0; list && list[i]; i++) {
		if (values)
			put_text(out, label, list[i]);
		else
			buf_printf(&names, "%s%.*s", i ? " " : "", (int)strcspn(list[i], "="), list[i]);
	}
	put_text(out, label, names.text);
}

/* What the header sets, and what was taken over at the submit. One without a record has nothing of the kind. */
static void show_env(struct queue *queue, uint64_t id, bool json, bool values, struct buf *out)
{
	SCOPE_JOB struct job job = JOB_EMPTY;
	SCOPE_FREE char **list = NULL;
	SCOPE_FREE char *block = NULL;
	struct job_facts facts = { 0 };
	struct spool_name name;
	enum spool_state state;
	char file[256];
	struct err ignored = ERR_NONE;

	if (spool_find(&queue->spool, id, &state, &name, file, &ignored) != 1 ||
	    spool_read(&queue->spool, state, file, &job, &facts, &ignored) < 0)
		return;
	/* An environment that is gone is an empty list. */
	spool_load_environment(&queue->spool, facts.env_name, &list, &block, &ignored);
	if (json) {
		out->size--; /* the object's end */
		put_json_env("env", job.env, values, out);
		put_json_env("environment", list, values, out);
		buf_puts(out, "}");
	} else {
		put_env("env", job.env, values, out);
		put_env("environ", list, values, out);
	}
	job_facts_free(&facts);
}

struct request {
	bool json, values, help;
	struct fields fields;
};

static int show_one(struct queue *queue, uint64_t id, const struct request *request, struct buf *out, struct err *err)
{
	SCOPE_VIEW struct jobview view = { 0 };
	SCOPE_BUF struct buf object = BUF_EMPTY;
	bool json = request->json || request->fields.count;
	struct buf *to = request->fields.count ? &object : out;

	if (jobview_find(queue, id, &view, err) < 0)
		return -1;
	if (view.state == VIEW_UNKNOWN || view.state == VIEW_GONE)
		return err_set(err, EXIT_FAILED, "cannot show job %s: %s", JOBID(id),
			       view.state == VIEW_GONE ? "it is gone" : "no such id");
	if (view.state == VIEW_RUNNING && !view.standing)
		foresee_end(queue, &view);
	if (view.state == VIEW_PENDING || (view.standing && view.state != VIEW_ENDED))
		explain(queue, &view);
	if (json)
		jobview_json(&view, true, to);
	else
		put(&view, to);
	if (view.spooled)
		show_env(queue, id, json, request->values, to);
	if (request->fields.count)
		fields_put(&request->fields, object.text, out);
	out->failed |= object.failed;
	return 0;
}

static int show_all(struct queue *queue, const struct idlist *ids, const struct request *request, struct buf *out)
{
	const char *between = request->json ? ",\n " : request->fields.count ? "" : "\n";
	int code = EXIT_OK, shown = 0;
	size_t count = ids->count;

	buf_puts(out, request->json && count > 1 ? "[" : "");
	for (size_t i = 0; i < count; i++) {
		struct err err = ERR_NONE;
		size_t before = out->size;
		if (shown)
			buf_puts(out, between);
		if (show_one(queue, ids->list[i], request, out, &err) < 0) {
			code = say_err(&err);
			out->size = before;
			continue;
		}
		shown++;
	}
	if (request->json && (count > 1 || shown))
		buf_puts(out, count > 1 ? "]\n" : "\n");
	return code;
}

static int read_format(const char *list, struct fields *fields, struct err *err)
{
	SCOPE_BUF struct buf sample = BUF_EMPTY;

	jobview_json_sample(&sample);
	/* show_env() adds two. */
	sample.size -= sample.size > 0;
	buf_puts(&sample, ",\"env\":[],\"environment\":[]}");
	return fields_parse(list, sample.text ? sample.text : "", "show", fields, err);
}

static int read_request(struct options *options, struct request *request, struct err *err)
{
	int result = 0;

	for (int option; result == 0 && (option = options_next(options, err)) != 0;) {
		switch (option) {
		case 'h': request->help = true; return 0;
		case 'e': request->values = true; break;
		case 'j': request->json = true; break;
		case 'f': result = read_format(options->value, &request->fields, err); break;
		default: return -1;
		}
	}
	if (result == 0 && request->json && request->fields.count)
		return err_set(err, EXIT_USAGE, "show: --json and --format are two answers; ask for one");
	if (result == 0 && options->next >= options->argc)
		return err_set(err, EXIT_USAGE, "show: a job id is missing");
	return result;
}

int cmd_show(int argc, char **argv)
{
	static const struct option long_options[] = { { "json", OPTION_FLAG, 'j' },
						      { "env", OPTION_FLAG, 'e' },
						      { "format", OPTION_VALUE, 'f' },
						      { "help", OPTION_FLAG, 'h' },
						      { .name = "" } };
	struct options options = OPTIONS("show", argc, argv, "", long_options);
	struct err err = ERR_NONE;
	struct queue *const queue = &queue_only;
	struct request request = { 0 };
	SCOPE_BUF struct buf out = BUF_EMPTY;
	SCOPE_IDLIST struct idlist ids = { 0 };
	int code, printed = EXIT_OK;

	if (read_request(&options, &request, &err) < 0 ||
	    (!request.help && idwords_read(argv + options.next, argc - options.next, &ids, &err) < 0) ||
	    (!request.help && queue_open(queue, QUEUE_LENIENT, &err) < 0))
		code = say_err(&err);
	else
		code = request.help ? print_usage(usage) : show_all(queue, &ids, &request, &out);
	if (out.size)
		printed = print_buf(&out);
	fields_free(&request.fields);
	return code ? code : printed;
}
