/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `pgpu queue`: what runs, what is frozen, and what waits, in the order in which it would start. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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
#include "runner/jobfilter.h"
#include "runner/jobtable.h"
#include "runner/line/ticket.h"
#include "runner/options.h"
#include "runner/queue.h"
#include "runner/snapshot.h"
#include "runner/waiting.h"
#include "runner/watch.h"
#include "submit/idwords.h"
#include "submit/spooltasks.h"

static const char usage[] =
	"usage: pgpu queue [options] [ID...]\n"
	"Lists running, frozen and waiting jobs, in the order in which they would start.\n"
	"\n"
	"      --as SESSION   only this session's (also --session)\n"
	"  -p, --class CLASS  only this class's (also --partition)\n"
	"  -J, --name NAME    only those of this name (also --job-name)\n"
	"      --state STATE  only those in one of these states: words or Slurm's letters, joined by commas\n"
	"      --all          ended ones too\n"
	"      --json         one JSON array\n"
	"      --format LIST  a line each of these fields of the JSON, with tabs between: id,state,why\n"
	"      --watch        stays, and shows what changes; keys cancel, hold, release, show the output\n"
	"      --every TIME   how often a list that stays draws its clocks anew, 2s by default\n"
	"      --color WHEN   auto, always or never; auto is on a terminal alone\n"
	"      --help         print this\n";

enum { OPT_HELP = 256, OPT_SESSION, OPT_STATE, OPT_ALL, OPT_JSON, OPT_FORMAT, OPT_WATCH, OPT_EVERY, OPT_COLOUR };

struct listing {
	struct queue *queue;
	struct jobfilter filter;
	struct idlist ids;
	bool *seen; /* of the ids */
	bool all, json, help;
	int shown;
	struct fields fields; /* of each a line */
	struct buf object;    /* that they are taken from */
	bool watch;
	int64_t every_ns;	 /* 0: as it is by default */
	int drawn;		 /* so often, by --watch */
	struct watch_page *page; /* NULL: it is printed */
	enum screen_colour colour;
	struct screen screen;
	struct table table;
	bool foresees; /* for people, and in JSON: it costs a look at the history */
	struct forecast forecast;
	struct buf out; /* what is not printed yet */
	int code;	/* of what was printed: not 0, and nobody reads the rest */
};

/* Else what the lane or the ticket says is enough. */
static bool wants_all(const struct listing *listing)
{
	return listing->json || listing->fields.count > 0;
}

/* A long list is printed as it is made: a screen of it is there at once, and whoever has enough ends it. */
enum { PRINT_BYTES = 32 << 10 };

static void print_rows(struct listing *listing)
{
	if (!listing->code)
		listing->code = print_buf(&listing->out);
	listing->out.size = 0;
}

static int read_format(const char *list, struct fields *fields, struct err *err)
{
	SCOPE_BUF struct buf sample = BUF_EMPTY;

	jobview_json_sample(&sample);
	return fields_parse(list, sample.text ? sample.text : "", "queue", fields, err);
}

static int read_every(const char *text, int64_t *ret_ns, struct err *err)
{
	if (text_duration_parse(text, false, ret_ns, err) < 0)
		return err_wrap(err, "queue: --every");
	/* Changes are shown at once, whatever it says. */
	if (*ret_ns < NS_PER_S || *ret_ns > 3600 * NS_PER_S)
		return err_set(err, EXIT_USAGE, "queue: --every is from 1s to 1h, not '%.40s'", text);
	return 0;
}

/* Of several answers one. */
static int check_answer(const struct listing *listing, struct err *err)
{
	if (listing->json && listing->fields.count)
		return err_set(err, EXIT_USAGE, "queue: --json and --format are two answers; ask for one");
	if (listing->watch && (listing->json || listing->fields.count))
		return err_set(err, EXIT_USAGE, "queue: --watch and %s are two answers; ask for one",
			       listing->json ? "--json" : "--format");
	if (listing->every_ns && !listing->watch)
		return err_set(err, EXIT_USAGE, "queue: --every is of --watch");
	return 0;
}

static int read_request(struct listing *listing, int argc, char **argv, struct err *err)
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
		{ "json", OPTION_FLAG, OPT_JSON },
		{ "format", OPTION_VALUE, OPT_FORMAT },
		{ "watch", OPTION_FLAG, OPT_WATCH },
		{ "every", OPTION_VALUE, OPT_EVERY },
		{ "color", OPTION_VALUE, OPT_COLOUR },
		{ "help", OPTION_FLAG, OPT_HELP },
		{ .name = "" },
	};
	struct options options = OPTIONS("queue", argc, argv, "p:J:", long_options);

	int result = 0;

	for (int option; result == 0 && (option = options_next(&options, err)) != 0;) {
		switch (option) {
		case OPT_SESSION: listing->filter.session = options.value; break;
		case 'p': listing->filter.class_name = options.value; break;
		case 'J': listing->filter.name = options.value; break;
		case OPT_STATE: listing->filter.states = options.value; break;
		case OPT_ALL: listing->all = true; break;
		case OPT_JSON: listing->json = true; break;
		case OPT_FORMAT: result = read_format(options.value, &listing->fields, err); break;
		case OPT_WATCH: listing->watch = true; break;
		case OPT_EVERY: result = read_every(options.value, &listing->every_ns, err); break;
		case OPT_COLOUR: result = screen_colour_parse(options.value, "queue", &listing->colour, err); break;
		case OPT_HELP: listing->help = true; return 0;
		default: return -1;
		}
	}
	if (result < 0 || check_answer(listing, err) < 0)
		return -1;
	if (jobfilter_check_states(&listing->filter, err) < 0)
		return err_wrap(err, "queue");
	if (idwords_read(argv + options.next, argc - options.next, &listing->ids, err) < 0)
		return -1;
	listing->seen = calloc(listing->ids.count + 1, sizeof *listing->seen);
	return listing->seen ? 0 : err_sys(err, "cannot list the queue");
}

/* A row of several tasks is that of each of them. */
static bool is_in_row(const struct listing *listing, const struct jobview *view, uint64_t id)
{
	struct err ignored = ERR_NONE;
	struct spool_name name;
	char file[256];

	return view->tasks[0] && jobid_array(id) == view->id &&
	       tasks_find(&listing->queue->spool, id, &name, file, &ignored) == 1;
}

static bool is_wanted(const struct listing *listing, const struct jobview *view)
{
	bool named = listing->ids.count == 0;

	for (size_t i = 0; i < listing->ids.count; i++) {
		uint64_t id = listing->ids.list[i];
		bool fits = id == view->id || id == jobid_array(view->id) || is_in_row(listing, view, id);
		listing->seen[i] |= fits;
		named |= fits;
	}
	return named && jobfilter_fits(&listing->filter, view);
}

/* Whatever waits behind those that a page has room for is not looked at. */
static void add_to_page(struct listing *listing, const struct jobview *view)
{
	char id[96];

	jobview_id(view, id);
	/* The cap of "12_[5-9%2]" is no part of the tasks' names. */
	char *cap = strchr(id, '%');
	if (cap)
		fmt(cap, sizeof id - (size_t)(cap - id), "]");
	buf_add(&listing->page->ids, id, strlen(id) + 1);
	if (++listing->page->count == WATCH_ROWS)
		listing->code = EXIT_FAILED;
}

static void put(struct listing *listing, const struct jobview *view)
{
	if (listing->code || !is_wanted(listing, view))
		return;
	if (listing->fields.count) {
		listing->object.size = 0;
		jobview_json(view, true, &listing->object);
		fields_put(&listing->fields, listing->object.text, &listing->out);
		listing->out.failed |= listing->object.failed;
	} else if (!listing->json) {
		jobtable_add(&listing->table, view);
	} else {
		buf_puts(&listing->out, listing->shown ? ",\n " : "");
		jobview_json(view, false, &listing->out);
	}
	listing->shown++;
	if (listing->page)
		add_to_page(listing, view);
	else if (listing->out.size >= PRINT_BYTES)
		print_rows(listing);
}

static void foresee(struct listing *listing, struct jobview *view)
{
	if (listing->foresees)
		jobview_foresee(view, &listing->forecast);
}

/* What the record knows beside what the lane says. */
static void put_running(struct listing *listing, const struct seat_view *lane)
{
	struct err err = ERR_NONE;
	SCOPE_VIEW struct jobview view = { 0 };

	if (lane->entry.id == 0 || (lane->entry.state != ENTRY_RUNNING && lane->entry.state != ENTRY_COMPLETING))
		return;
	/* A table's columns are all on the lane, but for the moment in which a worker has the job and not its record
	 * yet. */
	if (lane->entry.kind == ENTRY_SPOOL && (wants_all(listing) || !lane->entry.name[0])) {
		int found = jobview_find(listing->queue, lane->entry.id, &view, &err);
		if (found == 0 && view.state != VIEW_ENDED && view.state != VIEW_GONE) {
			foresee(listing, &view);
			put(listing, &view);
		}
		/* An ended job that still keeps its lane is a row of the table, too. */
		if (found < 0 || view.state != VIEW_ENDED || !(lane->entry.settling_bytes || lane->entry.settling_pid))
			return;
		jobview_free(&view);
	}
	jobview_of_entry(&lane->entry, lane->number, &view);
	foresee(listing, &view);
	put(listing, &view);
}

static void put_waiting(struct listing *listing, const struct snapshot *snapshot, size_t index)
{
	const struct candidate *one = &snapshot->waiting.list[index];
	SCOPE_VIEW struct jobview view = { 0 };
	struct err err = ERR_NONE;
	struct spool_name name;
	struct entry entry;

	/* Who is not listed may be ahead. */
	bool counts = listing->foresees && !one->barred && listing->forecast.waiting < FORECAST_AHEAD;
	if (one->spooled && !counts && !jobfilter_may_fit(&listing->filter, one))
		return;
	if (one->spooled) {
		/* Gone from pending/ since we looked: it has started, or it was set aside and said so. */
		if (spool_name_parse(one->file, &name) < 0 ||
		    jobview_of_record(listing->queue, SPOOL_PENDING, &name, one->file, &view, &err) < 0)
			return;
	} else {
		if (!ticket_read(&listing->queue->line, one->file, &entry))
			return;
		if (entry.kind == ENTRY_RUN || !wants_all(listing))
			jobview_of_entry(&entry, -1, &view);
		else if (jobview_find(listing->queue, entry.id, &view, &err) < 0)
			return;
	}
	jobview_explain(&view, snapshot, &listing->queue->line.conf, index);
	foresee(listing, &view);
	put(listing, &view);
}

/* Its record is in pending/ whether it runs or not. */
static void put_standing(struct listing *listing, const struct snapshot *snapshot, size_t index)
{
	SCOPE_VIEW struct jobview view = { 0 };
	struct err err = ERR_NONE;

	if (jobview_find(listing->queue, snapshot->services.list[index].id, &view, &err) < 0 ||
	    view.state == VIEW_ENDED || view.state == VIEW_GONE || view.state == VIEW_UNKNOWN)
		return;
	fmt(view.reason, sizeof view.reason, "%s",
	    snapshot_standing(snapshot, &listing->queue->line.conf, index, view.sentence));
	put(listing, &view);
}

struct ended {
	struct spool_name name;
	char file[256];
	bool shown;
};

struct ended_list {
	struct listing *listing;
	struct ended *list;
	size_t count, room;
	bool failed;
};

static int add_ended(const struct spool_name *name, const char *file, void *context)
{
	struct ended_list *ended = context;

	if (ended->count == ended->room) {
		size_t room = ended->room ? ended->room * 2 : 64;
		struct ended *list = realloc(ended->list, room * sizeof *list);
		if (!list)
			return -1;
		ended->list = list;
		ended->room = room;
	}
	struct ended *added = &ended->list[ended->count++];
	added->name = *name;
	added->shown = false;
	fmt(added->file, sizeof added->file, "%s", file);
	return 0;
}

static int compare_ids(const void *left, const void *right)
{
	uint64_t a = ((const struct ended *)left)->name.id, b = ((const struct ended *)right)->name.id;

	return a < b ? -1 : a > b;
}

static void put_ended(struct listing *listing, struct ended *ended, const struct history_row *row)
{
	SCOPE_VIEW struct jobview view = { 0 };
	struct err err = ERR_NONE;

	ended->shown = true;
	if (jobview_of_record(listing->queue, SPOOL_ENDED, &ended->name, ended->file, &view, &err) < 0)
		return;
	if (row)
		jobview_add_row(&view, row);
	put(listing, &view);
}

/* A row of the log: with its record where it is kept, alone where it is a `run`'s or the record is gone. */
static int put_row_of_log(const struct history_row *row, void *context)
{
	struct ended_list *ended = context;
	struct ended wanted = { .name.id = row->id };
	struct ended *found =
		ended->count ? bsearch(&wanted, ended->list, ended->count, sizeof wanted, compare_ids) : NULL;
	SCOPE_VIEW struct jobview view = { 0 };

	if (ended->listing->code)
		return 1;
	if (row->outcome == OUTCOME_TURN || (found && (found->shown || found->name.outcome != row->outcome)))
		return 0;
	if (found)
		put_ended(ended->listing, found, row);
	else if (!row->spooled && jobview_of_row(row, &view) == 0)
		put(ended->listing, &view);
	return 0;
}

/* In the order in which they ended; those whose line in the log was lost come last. */
static int list_ended(struct listing *listing, struct err *err)
{
	struct ended_list ended = { .listing = listing };
	int result = spool_each(&listing->queue->spool, SPOOL_ENDED, add_ended, &ended, err);

	if (result == 0 && ended.count)
		qsort(ended.list, ended.count, sizeof *ended.list, compare_ids);
	if (result == 0)
		result = history_each(listing->queue->line.queue_fd, put_row_of_log, &ended, err);
	for (size_t i = 0; result == 0 && i < ended.count; i++) {
		if (!ended.list[i].shown)
			put_ended(listing, &ended.list[i], NULL);
	}
	free(ended.list);
	return result;
}

/* An id that is nowhere is an error, as for squeue(1); the others are listed. */
static int report_unseen(const struct listing *listing)
{
	int code = EXIT_OK;

	for (size_t i = 0; i < listing->ids.count; i++) {
		struct err err = ERR_NONE;
		uint64_t id = listing->ids.list[i];
		if (listing->seen[i])
			continue;
		err_set(&err, EXIT_FAILED, "cannot list job %s: %s", JOBID(id),
			line_id_known(&listing->queue->line, id) ? "it is gone" : "no such id");
		code = say_err(&err);
	}
	return code;
}

static bool wants_forecast(const struct listing *listing)
{
	static const char *const names[] = { "starts_in_s", "ends_in_s", "estimated_by", "why" };
	bool named = false;

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		named |= fields_have(&listing->fields, names[i]);
	return listing->json || listing->screen.terminal || named;
}

static int list(struct listing *listing, struct err *err)
{
	struct snapshot snapshot;

	if (jobfilter_check_class(&listing->filter, &listing->queue->line.conf, err) < 0)
		return err_wrap(err, "queue");
	if (snapshot_take(&listing->queue->line, &listing->queue->spool, &snapshot, err) < 0)
		return -1;
	listing->foresees = wants_forecast(listing) && snapshot.busy + snapshot.waiting.count > 0;
	if (listing->foresees)
		waiting_forecast(listing->queue, &listing->forecast);
	for (int i = 0; i < snapshot.lane_count; i++)
		put_running(listing, &snapshot.lanes[i]);
	for (int i = 0; i < snapshot.frozen_count; i++) {
		SCOPE_VIEW struct jobview view = { 0 };
		jobview_of_entry(&snapshot.frozen[i], -1, &view);
		fmt(view.sentence, sizeof view.sentence, "frozen; its process is stopped");
		put(listing, &view);
	}
	for (size_t i = 0; i < snapshot.waiting.count && !listing->code; i++)
		put_waiting(listing, &snapshot, i);
	for (size_t i = 0; i < snapshot.services.count; i++)
		put_standing(listing, &snapshot, i);
	snapshot_free(&snapshot);
	if (!listing->all && listing->ids.count == 0)
		return 0;
	return list_ended(listing, err);
}

static void free_listing(struct listing *listing)
{
	fields_free(&listing->fields);
	buf_free(&listing->object);
	forecast_free(&listing->forecast);
	buf_free(&listing->out);
	idlist_free(&listing->ids);
	free(listing->seen);
}

/* What was asked for, as it is now. */
static int draw_page(void *context, const struct screen *screen, struct watch_page *page, struct err *err)
{
	struct listing *asked = context;
	struct listing listing = {
		.queue = asked->queue,
		.filter = asked->filter,
		.ids = asked->ids,
		.seen = asked->seen,
		.all = asked->all,
		.screen = *screen,
		.page = page,
	};

	if (asked->drawn++)
		queue_close(listing.queue);
	listing.table = TABLE(&jobtable_form, &listing.screen, &listing.out);
	int result = queue_open(listing.queue, QUEUE_LENIENT, err) < 0 ? -1 : list(&listing, err);
	table_end(&listing.table);
	page->text = listing.out;
	/* These are those of who asked. */
	listing.out = BUF_EMPTY;
	listing.ids = (struct idlist){ 0 };
	listing.seen = NULL;
	free_listing(&listing);
	return result;
}

static int watch(struct listing *listing, struct err *err)
{
	const char *kind = getenv("TERM");
	struct watch_source source = {
		.draw = draw_page,
		.context = listing,
		.queue = listing->queue,
		.screen = listing->screen,
		.every_ns = listing->every_ns ? listing->every_ns : 2 * NS_PER_S,
	};

	if (!listing->screen.terminal || !isatty(STDIN_FILENO))
		return err_set(err, EXIT_FAILED, "cannot watch the queue: standard %s is no terminal",
			       listing->screen.terminal ? "input" : "output");
	if (!kind || !*kind || strcmp(kind, "dumb") == 0)
		return err_set(err, EXIT_FAILED, "cannot watch the queue: a terminal of the kind '%.40s' has one line",
			       kind ? kind : "");
	return watch_run(&source, err);
}

static int print_list(struct listing *listing)
{
	struct err err = ERR_NONE;

	if (listing->json)
		buf_puts(&listing->out, "[");
	listing->table = TABLE(&jobtable_form, &listing->screen, &listing->out);
	int result = queue_open(listing->queue, QUEUE_LENIENT, &err) < 0 || list(listing, &err) < 0 ? -1 : 0;
	table_end(&listing->table);
	if (result < 0)
		return say_err(&err);
	if (listing->json)
		buf_puts(&listing->out, "]\n");
	print_rows(listing);
	int unseen = report_unseen(listing);
	return listing->code ? listing->code : unseen;
}

int cmd_queue(int argc, char **argv)
{
	struct listing listing = { .queue = &queue_only, .out = BUF_EMPTY };
	struct err err = ERR_NONE;
	int code;

	if (read_request(&listing, argc, argv, &err) < 0) {
		code = say_err(&err);
	} else if (listing.help) {
		code = print_usage(usage);
	} else {
		if (!listing.json && !listing.fields.count)
			screen_look(listing.colour, &listing.screen);
		code = listing.watch ? watch(&listing, &err) : print_list(&listing);
		if (code < 0)
			code = say_err(&err);
	}
	free_listing(&listing);
	return code;
}
