/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `pgpu log`: the history of holds, as it stands in log.tsv. */
#include <stdlib.h>

#include "conf/base/buf.h"
#include "conf/base/clock.h"
#include "conf/base/fmt.h"
#include "conf/base/json.h"
#include "conf/base/print.h"
#include "conf/base/say.h"
#include "conf/base/scope.h"
#include "conf/base/text.h"
#include "runner/commands.h"
#include "runner/options.h"
#include "runner/queue.h"
#include "submit/foreign.h"
#include "submit/history.h"

static const char usage[] = "usage: pgpu log [options]\n"
			    "Prints the history: one line for each time a job held a lane.\n"
			    "\n"
			    "      --since TIME   only what ended after 2026-12-01T02:30, or in the last 8h\n"
			    "      --foreign      instead: foreign processes that wanted a standing job's card\n"
			    "      --json         one JSON array\n"
			    "      --help         print this\n";

struct listing {
	int64_t since_wall_ns;
	bool json, foreign;
	int shown;
	struct buf out;
};

static void put_json(const struct history_row *row, struct buf *out)
{
	char ended[CLOCK_TEXT];

	clock_wall_format(row->ended_wall_ns, ended);
	buf_puts(out, "{\"ended\":");
	buf_json(out, ended);
	buf_printf(out, ",\"job\":\"%llu\"", (unsigned long long)row->id);
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

static void put_line(const struct history_row *row, bool first, struct buf *out)
{
	char ended[CLOCK_TEXT], name[40], waited[TEXT_DURATION] = "-", ran[TEXT_DURATION] = "-";

	clock_wall_format(row->ended_wall_ns, ended);
	text_show(row->name, name, 21);
	if (row->waited_ns >= 0)
		text_duration_format(row->waited_ns, waited);
	if (row->ran_ns >= 0)
		text_duration_format(row->ran_ns, ran);
	if (first)
		buf_printf(out, "%-19s %6s %-12s %-12s %-20s %9s %9s %5s %s\n", "ENDED", "JOB", "CLASS", "SESSION",
			   "NAME", "WAITED", "RAN", "CODE", "OUTCOME");
	buf_printf(out, "%.19s %6llu %-12s %-12.12s %-20s %9s %9s ", ended, (unsigned long long)row->id,
		   row->class_name, row->session, name, waited, ran);
	if (row->outcome != OUTCOME_TURN)
		buf_printf(out, "%5d", row->exit_code);
	else
		buf_printf(out, "%5s", "");
	buf_printf(out, " %s\n", outcome_names[row->outcome]);
}

static int put(const struct history_row *row, void *context)
{
	struct listing *listing = context;

	if (row->ended_wall_ns < listing->since_wall_ns)
		return 0;
	if (listing->json) {
		buf_puts(&listing->out, listing->shown ? ",\n " : "");
		put_json(row, &listing->out);
	} else {
		put_line(row, listing->shown == 0, &listing->out);
	}
	listing->shown++;
	return 0;
}

/* All that was noticed of one process. */
struct wanted {
	struct foreign_row
		row; /* the last; kfd, where it ever was; its most VRAM; the last job that made room for it */
	int64_t first_wall_ns;
	int times;
};

struct wanted_list {
	int64_t since_wall_ns;
	struct wanted *list;
	size_t count, room;
};

static struct wanted *find_wanted(struct wanted_list *wanted, const struct foreign_row *row)
{
	for (size_t i = wanted->count; i-- > 0;) {
		if (wanted->list[i].row.pid == row->pid && wanted->list[i].row.start == row->start)
			return &wanted->list[i];
	}
	return NULL;
}

static int add_wanted(const struct foreign_row *row, void *context)
{
	struct wanted_list *wanted = context;
	struct wanted *one = find_wanted(wanted, row);

	if (row->seen_wall_ns < wanted->since_wall_ns)
		return 0;
	if (!one && wanted->count == wanted->room) {
		size_t room = wanted->room ? wanted->room * 2 : 64;
		struct wanted *list = realloc(wanted->list, room * sizeof *list);
		if (!list)
			return -1;
		wanted->list = list;
		wanted->room = room;
	}
	if (!one) {
		one = &wanted->list[wanted->count++];
		*one = (struct wanted){ .row = *row, .first_wall_ns = row->seen_wall_ns, .times = 1 };
		return 0;
	}
	struct foreign_row before = one->row;
	one->row = *row;
	one->row.kfd |= before.kfd;
	one->row.id = row->id ? row->id : before.id;
	one->row.vram_bytes = row->vram_bytes > before.vram_bytes ? row->vram_bytes : before.vram_bytes;
	one->times++;
	return 0;
}

static void put_wanted_json(const struct wanted *one, bool first, struct buf *out)
{
	buf_printf(out, "%s{\"pid\":%d", first ? "" : ",\n ", one->row.pid);
	json_text(out, "comm", one->row.comm[0] ? one->row.comm : NULL);
	buf_printf(out, ",\"kfd\":%s", one->row.kfd ? "true" : "false");
	json_count(out, "vram_bytes", one->row.vram_bytes);
	json_time(out, "first", one->first_wall_ns);
	json_time(out, "last", one->row.seen_wall_ns);
	json_count(out, "times", one->times);
	if (one->row.id)
		buf_printf(out, ",\"job\":\"%llu\"}", (unsigned long long)one->row.id);
	else
		buf_puts(out, ",\"job\":null}");
}

static void put_wanted_line(const struct wanted *one, bool first, struct buf *out)
{
	char when[CLOCK_TEXT], last[CLOCK_TEXT], name[40], bytes[TEXT_SIZE] = "?", job[24] = "-";

	clock_wall_format(one->first_wall_ns, when);
	clock_wall_format(one->row.seen_wall_ns, last);
	text_show(one->row.comm[0] ? one->row.comm : "?", name, 21);
	if (one->row.vram_bytes >= 0)
		text_size_show((uint64_t)one->row.vram_bytes, bytes);
	if (one->row.id)
		fmt(job, sizeof job, "%llu", (unsigned long long)one->row.id);
	if (first)
		buf_printf(out, "%-19s %-19s %10s %-20s %-3s %9s %5s %6s\n", "FIRST", "LAST", "PID", "NAME", "KFD",
			   "VRAM", "TIMES", "JOB");
	buf_printf(out, "%.19s %.19s %10d %-20s %-3s %9s %5d %6s\n", when, last, one->row.pid, name,
		   one->row.kfd ? "yes" : "no", bytes, one->times, job);
}

static int list_foreign(const struct queue *queue, struct listing *listing, struct err *err)
{
	struct wanted_list wanted = { .since_wall_ns = listing->since_wall_ns };
	int result = foreign_each(queue->line.queue_fd, add_wanted, &wanted, err);

	for (size_t i = 0; result == 0 && i < wanted.count; i++) {
		if (listing->json)
			put_wanted_json(&wanted.list[i], i == 0, &listing->out);
		else
			put_wanted_line(&wanted.list[i], i == 0, &listing->out);
	}
	free(wanted.list);
	return result;
}

static int read_since(const char *text, int64_t *ret_wall_ns, struct err *err)
{
	int64_t ago_ns;

	if (clock_wall_parse(text, ret_wall_ns) == 0)
		return 0;
	if (text_duration_parse(text, false, &ago_ns, err) < 0)
		return err_set(err, EXIT_USAGE,
			       "log: --since '%.64s' is neither a time (2026-12-01T02:30) nor a duration (8h)", text);
	*ret_wall_ns = clock_wall_ns() - ago_ns;
	return 0;
}

int cmd_log(int argc, char **argv)
{
	static const struct option long_options[] = {
		{ "since", OPTION_VALUE, 's' },
		{ "foreign", OPTION_FLAG, 'f' },
		{ "json", OPTION_FLAG, 'j' },
		{ "help", OPTION_FLAG, 'h' },
		{ .name = "" },
	};
	struct options options = OPTIONS("log", argc, argv, "", long_options);
	struct listing listing = { .out = BUF_EMPTY };
	struct err err = ERR_NONE;
	struct queue *const queue = &queue_only;
	int code, option;

	while ((option = options_next(&options, &err)) > 0) {
		if (option == 'h')
			return print_usage(usage);
		listing.json |= option == 'j';
		listing.foreign |= option == 'f';
		if (option == 's' && read_since(options.value, &listing.since_wall_ns, &err) < 0)
			return say_err(&err);
	}
	if (option < 0 || options_end(&options, &err) < 0)
		return say_err(&err);
	buf_puts(&listing.out, listing.json ? "[" : "");
	int result = queue_open(queue, QUEUE_LENIENT, &err);
	if (result == 0 && listing.foreign)
		result = list_foreign(queue, &listing, &err);
	else if (result == 0)
		result = history_each(queue->line.queue_fd, put, &listing, &err);
	if (result < 0) {
		code = say_err(&err);
	} else {
		buf_puts(&listing.out, listing.json ? "]\n" : "");
		code = print_buf(&listing.out);
	}
	buf_free(&listing.out);
	return code;
}
