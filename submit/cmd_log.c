/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `pgpu log`: the history of holds, as it stands in log.tsv. */
#include <stdlib.h>
#include <string.h>

#include "conf/base/buf.h"
#include "conf/base/clock.h"
#include "conf/base/fmt.h"
#include "conf/base/json.h"
#include "conf/base/print.h"
#include "conf/base/say.h"
#include "conf/base/scope.h"
#include "conf/base/text.h"
#include "conf/base/when.h"
#include "conf/jobid.h"
#include "runner/commands.h"
#include "runner/fields.h"
#include "runner/options.h"
#include "runner/queue.h"
#include "runner/table.h"
#include "submit/foreignlist.h"
#include "submit/history.h"
#include "submit/historysum.h"

static const char usage[] = "usage: pgpu log [options]\n"
			    "Prints the history: one line for each time a job held a lane.\n"
			    "\n"
			    "      --since TIME    only what ended after 22:00, 2026-12-01T02:30, or in the last 8h\n"
			    "      --as SESSION    only this session's (also --session)\n"
			    "  -p, --class CLASS   only this class's (also --partition)\n"
			    "      --outcome WORD  only what ended so: a word or Slurm's letters\n"
			    "      --sum WHAT      a line for each class or session, with their sums\n"
			    "      --foreign       instead: foreign processes that wanted a standing job's card\n"
			    "      --json          one JSON array\n"
			    "      --format LIST   a line each of these fields of the JSON, with tabs between\n"
			    "      --color WHEN    auto, always or never; auto is on a terminal alone\n"
			    "      --help          print this\n";

struct listing {
	int64_t since_wall_ns;
	const char *session, *class_name;
	enum outcome outcome; /* OUTCOME_NONE: any */
	bool summed, foreign, json, help;
	const char *format;
	struct fields fields;
	struct buf object; /* that they are taken from */
	struct history_sums sums;
	enum screen_colour colour;
	struct screen screen;
	struct table table;
	int shown;
	struct buf out;
};

static void put_json(const struct history_row *row, struct buf *out)
{
	char ended[CLOCK_TEXT];

	clock_wall_format(row->ended_wall_ns, ended);
	buf_puts(out, "{\"ended\":");
	buf_json(out, ended);
	buf_printf(out, ",\"job\":\"%s\"", JOBID(row->id));
	json_text(out, "kind", row->spooled ? "spool" : "run");
	json_text(out, "session", row->session);
	json_text(out, "class", row->class_name);
	json_text(out, "name", row->name);
	json_text(out, "command", row->command);
	json_seconds(out, "waited_s", row->waited_ns);
	json_seconds(out, "ran_s", row->ran_ns);
	json_seconds(out, "frozen_s", row->frozen_ns);
	json_seconds(out, "cpu_s", row->cpu_ns);
	json_seconds(out, "gpu_s", row->gpu_ns);
	json_count(out, "peak_memory_bytes", row->peak_memory_bytes);
	json_count(out, "exit_code", row->outcome == OUTCOME_TURN ? -1 : row->exit_code);
	json_text(out, "outcome", outcome_names[row->outcome]);
	buf_puts(out, "}");
}

enum { ENDED, JOB, CLASS, SESSION, NAME, WAITED, RAN, CODE, OUTCOME, COLUMNS };

static const struct table_column columns[COLUMNS] = {
	[ENDED] = { "ENDED", .bytes = 19, .cut = true },
	[JOB] = { "JOB", .bytes = 6, .gap = 1, .right = true },
	[CLASS] = { "CLASS", .bytes = 12, .gap = 1 },
	[SESSION] = { "SESSION", .bytes = 12, .gap = 1, .cut = true },
	[NAME] = { "NAME", .bytes = 20, .gap = 1, .cut = true },
	[WAITED] = { "WAITED", .bytes = 9, .gap = 1, .right = true },
	[RAN] = { "RAN", .bytes = 9, .gap = 1, .right = true },
	[CODE] = { "CODE", .bytes = 5, .gap = 1, .right = true },
	[OUTCOME] = { "OUTCOME", .gap = 1 },
};
static const struct table_step steps[] = {
	{ NAME, 20 }, { SESSION, 12 }, { CLASS, 8 }, { NAME, 12 }, { SESSION, 7 }, { WAITED, 0 }, { SESSION, 0 },
	{ CLASS, 0 }, { CODE, 0 },     { NAME, 8 },  { RAN, 0 },   { NAME, 0 },	   { ENDED, 0 },
};
static const struct table_form form = TABLE_FORM(columns, steps);

static void put_line(struct listing *listing, const struct history_row *row)
{
	char ended[CLOCK_TEXT], waited[TEXT_DURATION] = "-", ran[TEXT_DURATION] = "-", code[16] = "";
	const struct jobid_text job = jobid_text(row->id);

	clock_wall_format(row->ended_wall_ns, ended);
	/* Without the offset. */
	ended[sizeof "2026-12-01T02:30:00" - 1] = '\0';
	if (row->waited_ns >= 0)
		text_duration_format(row->waited_ns, waited);
	if (row->ran_ns >= 0)
		text_duration_format(row->ran_ns, ran);
	if (row->outcome != OUTCOME_TURN)
		fmt(code, sizeof code, "%d", row->exit_code);
	const char *const texts[COLUMNS] = {
		[ENDED] = ended,
		[JOB] = job.text,
		[CLASS] = row->class_name,
		[SESSION] = row->session,
		[NAME] = row->name,
		[WAITED] = waited,
		[RAN] = ran,
		[CODE] = code,
		[OUTCOME] = outcome_names[row->outcome],
	};
	table_add(&listing->table, texts,
		  (const enum paint[COLUMNS]){ [OUTCOME] = row->outcome == OUTCOME_COMPLETED ? PAINT_GOOD
							   : row->outcome == OUTCOME_TURN    ? PAINT_NONE
											     : PAINT_BAD });
}

static bool is_wanted(const struct listing *listing, const struct history_row *row)
{
	return row->ended_wall_ns >= listing->since_wall_ns &&
	       (!listing->session || strcmp(listing->session, row->session) == 0) &&
	       (!listing->class_name || strcmp(listing->class_name, row->class_name) == 0) &&
	       (listing->outcome == OUTCOME_NONE || listing->outcome == row->outcome);
}

static void put_sum_json(const struct history_sum *sum, bool by_session, struct buf *out)
{
	buf_puts(out, by_session ? "{\"session\":" : "{\"class\":");
	buf_json(out, sum->name);
	json_count(out, "jobs", sum->jobs);
	json_count(out, "failed", sum->failed);
	json_seconds(out, "waited_s", sum->waited_ns);
	json_seconds(out, "ran_s", sum->ran_ns);
	json_seconds(out, "cpu_s", sum->cpu_ns);
	json_seconds(out, "gpu_s", sum->gpu_ns);
	json_count(out, "peak_memory_bytes", sum->peak_memory_bytes);
	buf_puts(out, "}");
}

static void put_sum_line(const struct history_sum *sum, struct buf *out)
{
	char waited[TEXT_DURATION], ran[TEXT_DURATION], cpu[TEXT_DURATION], gpu[TEXT_DURATION] = "-",
									    peak[TEXT_SIZE] = "-";
	char name[sizeof sum->name];

	text_show(sum->name, name, sizeof name);
	text_duration_format(sum->waited_ns, waited);
	text_duration_format(sum->ran_ns, ran);
	text_duration_format(sum->cpu_ns, cpu);
	if (sum->gpu_ns >= 0)
		text_duration_format(sum->gpu_ns, gpu);
	if (sum->peak_memory_bytes >= 0)
		text_size_show((uint64_t)sum->peak_memory_bytes, peak);
	buf_printf(out, "%-20.20s %6ld %6ld %10s %10s %10s %10s %10s\n", name, sum->jobs, sum->failed, waited, ran, cpu,
		   gpu, peak);
}

static void put_fields(struct listing *listing)
{
	fields_put(&listing->fields, listing->object.text, &listing->out);
	listing->out.failed |= listing->object.failed;
}

static void put_sums(struct listing *listing)
{
	struct history_sums *sums = &listing->sums;

	history_sums_sort(sums);
	if (listing->fields.count) {
		for (size_t i = 0; i < sums->count; i++) {
			listing->object.size = 0;
			put_sum_json(&sums->list[i], sums->by_session, &listing->object);
			put_fields(listing);
		}
		return;
	}
	if (!listing->json && sums->count)
		buf_printf(&listing->out, "%-20s %6s %6s %10s %10s %10s %10s %10s\n",
			   sums->by_session ? "SESSION" : "CLASS", "JOBS", "FAILED", "WAITED", "RAN", "CPU", "GPU",
			   "PEAK");
	for (size_t i = 0; i < sums->count; i++) {
		if (listing->json)
			buf_puts(&listing->out, i ? ",\n " : "");
		if (listing->json)
			put_sum_json(&sums->list[i], sums->by_session, &listing->out);
		else
			put_sum_line(&sums->list[i], &listing->out);
	}
}

static int put(const struct history_row *row, void *context)
{
	struct listing *listing = context;

	if (!is_wanted(listing, row))
		return 0;
	if (listing->summed)
		return history_sums_add(&listing->sums, row);
	if (listing->fields.count) {
		listing->object.size = 0;
		put_json(row, &listing->object);
		put_fields(listing);
	} else if (listing->json) {
		buf_puts(&listing->out, listing->shown ? ",\n " : "");
		put_json(row, &listing->out);
	} else {
		put_line(listing, row);
	}
	listing->shown++;
	return 0;
}

static int read_since(const char *text, int64_t *ret_wall_ns, struct err *err)
{
	return when_last(text, clock_wall_ns(), ret_wall_ns, err) < 0 ? err_wrap(err, "log: --since") : 0;
}

static int read_outcome(const char *word, enum outcome *ret_outcome, struct err *err)
{
	const char *names[OUTCOMES];
	char hint[64];

	for (int i = OUTCOME_NONE + 1; i < OUTCOMES; i++) {
		names[i - 1] = outcome_names[i];
		if (strcmp(word, outcome_names[i]) != 0 && strcmp(word, outcome_letters[i]) != 0)
			continue;
		*ret_outcome = (enum outcome)i;
		return 0;
	}
	names[OUTCOMES - 1] = NULL;
	text_hint(word, names, hint, sizeof hint);
	return err_set(err, EXIT_USAGE, "log: unknown outcome '%.40s'%s", word, hint);
}

static int read_sum(struct listing *listing, const char *word, struct err *err)
{
	listing->summed = true;
	listing->sums.by_session = strcmp(word, "session") == 0;
	if (listing->sums.by_session || strcmp(word, "class") == 0)
		return 0;
	return err_set(err, EXIT_USAGE, "log: --sum is class or session, not '%.40s'", word);
}

/* Once it is known what is listed. */
static int read_format(struct listing *listing, struct err *err)
{
	SCOPE_BUF struct buf sample = BUF_EMPTY;
	SCOPE_FREE struct history_row *row = calloc(1, sizeof *row);

	if (listing->json || listing->foreign)
		return err_set(err, EXIT_USAGE, "log: --format and %s do not go together",
			       listing->json ? "--json" : "--foreign");
	if (!row)
		return err_sys(err, "cannot list the history");
	if (listing->summed)
		put_sum_json(&(struct history_sum){ 0 }, listing->sums.by_session, &sample);
	else
		put_json(row, &sample);
	return fields_parse(listing->format, sample.text ? sample.text : "", "log", &listing->fields, err);
}

static int read_request(struct listing *listing, int argc, char **argv, struct err *err)
{
	static const struct option long_options[] = {
		{ "since", OPTION_VALUE, 's' },
		{ "as", OPTION_VALUE, 'a' },
		{ "session", OPTION_VALUE, 'a' },
		{ "class", OPTION_VALUE, 'p' },
		{ "partition", OPTION_VALUE, 'p' },
		{ "outcome", OPTION_VALUE, 'o' },
		{ "sum", OPTION_VALUE, 'S' },
		{ "json", OPTION_FLAG, 'j' },
		{ "format", OPTION_VALUE, 'F' },
		{ "color", OPTION_VALUE, 'c' },
		{ "foreign", OPTION_FLAG, 'f' },
		{ "help", OPTION_FLAG, 'h' },
		{ .name = "" },
	};
	struct options options = OPTIONS("log", argc, argv, "p:", long_options);
	int result = 0;

	for (int option; result == 0 && (option = options_next(&options, err)) != 0;) {
		switch (option) {
		case 's': result = read_since(options.value, &listing->since_wall_ns, err); break;
		case 'a': listing->session = options.value; break;
		case 'p': listing->class_name = options.value; break;
		case 'o': result = read_outcome(options.value, &listing->outcome, err); break;
		case 'S': result = read_sum(listing, options.value, err); break;
		case 'f': listing->foreign = true; break;
		case 'j': listing->json = true; break;
		case 'c': result = screen_colour_parse(options.value, "log", &listing->colour, err); break;
		case 'F': listing->format = options.value; break;
		case 'h': listing->help = true; return 0;
		default: return -1;
		}
	}
	if (result == 0 && listing->format)
		result = read_format(listing, err);
	return result < 0 ? -1 : options_end(&options, err);
}

int cmd_log(int argc, char **argv)
{
	struct listing listing = { .out = BUF_EMPTY };
	struct err err = ERR_NONE;
	struct queue *const queue = &queue_only;
	int code;

	if (read_request(&listing, argc, argv, &err) < 0)
		return say_err(&err);
	if (listing.help)
		return print_usage(usage);
	buf_puts(&listing.out, listing.json ? "[" : "");
	if (!listing.json && !listing.fields.count)
		screen_look(listing.colour, &listing.screen);
	listing.table = TABLE(&form, &listing.screen, &listing.out);
	int result = queue_open(queue, QUEUE_LENIENT, &err);
	if (result == 0 && listing.foreign)
		result = foreign_list(queue->line.queue_fd, listing.since_wall_ns, listing.json, &listing.out, &err);
	else if (result == 0)
		result = history_each(queue->line.queue_fd, put, &listing, &err);
	table_end(&listing.table);
	if (result < 0) {
		code = say_err(&err);
	} else {
		if (listing.summed)
			put_sums(&listing);
		buf_puts(&listing.out, listing.json ? "]\n" : "");
		code = print_buf(&listing.out);
	}
	history_sums_free(&listing.sums);
	fields_free(&listing.fields);
	buf_free(&listing.object);
	buf_free(&listing.out);
	return code;
}
