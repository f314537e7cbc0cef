/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "reporttext.h"

#include <stdlib.h>
#include <string.h>

#include "conf/base/scope.h"
#include "conf/jobid.h"
#include "submit/reportcells.h"
#include "submit/reporttail.h"

enum { WIDTH = 96 }; /* characters of the timeline */

/* Its letter is the first of its name that none before has, else a digit or '+'. */
static void give_letters(const struct report *report, char letters[REPORT_CLASSES + 1])
{
	letters[0] = '\0';
	for (int i = 0; i < report->class_count; i++) {
		const char *name = report->classes[i];
		while (*name && (strchr(letters, *name) || text_order_length(name) || text_utf8_length(name) != 1))
			name++;
		letters[i] = *name ? *name : i < 10 ? (char)('0' + i) : '+';
		letters[i + 1] = '\0';
	}
}

/* Which character of the timeline a moment falls into. */
static int column(const struct report *report, int64_t wall_ns)
{
	double span = (double)(report->until_wall_ns - report->since_wall_ns);
	int at = span > 0 ? (int)((double)(wall_ns - report->since_wall_ns) / span * WIDTH) : 0;

	return at < WIDTH ? at : WIDTH - 1;
}

/* One line: the bars of a row in the letters of their classes, or without letters in one of their own. */
static void put_row(const struct report *report, const struct report_bars *bars, int row, const char *letters,
		    const char *label, struct buf *out)
{
	char line[WIDTH + 1];

	memset(line, '.', WIDTH);
	line[WIDTH] = '\0';
	for (size_t i = 0; i < bars->count; i++) {
		const struct report_bar *bar = &bars->list[i];
		if (bar->row != row)
			continue;
		int from = column(report, bar->start_wall_ns), to = column(report, bar->ended_wall_ns);
		memset(line + from, letters ? letters[bar->job->class_number] : '~', (size_t)(to - from) + 1);
	}
	buf_printf(out, "%6s |%s|\n", label, line);
}

static void put_timeline(const struct report *report, const struct report_timeline *timeline, struct buf *out)
{
	char letters[REPORT_CLASSES + 1], since[CLOCK_TEXT], until[CLOCK_TEXT], name[CONF_CLASS_NAME];

	give_letters(report, letters);
	report_moment(report->since_wall_ns, since);
	report_moment(report->until_wall_ns, until);
	buf_printf(out, "\n%6s  %-*.16s%.16s\n", "", WIDTH - 16, since, until);
	for (int row = 0; row < timeline->holds.rows; row++)
		put_row(report, &timeline->holds, row, letters, row ? "" : "held", out);
	for (int row = 0; row < timeline->frozen.rows; row++)
		put_row(report, &timeline->frozen, row, NULL, row ? "" : "frozen", out);
	buf_printf(out, "%6s", "");
	for (int i = 0; i < report->class_count; i++) {
		text_show(report->classes[i], name, sizeof name);
		buf_printf(out, "  %c %s", letters[i], name);
	}
	buf_puts(out, "\n");
}

static void put_table(const struct report *report, struct buf *out)
{
	struct report_cells cells;
	char class_name[CONF_CLASS_NAME], name[25];

	buf_printf(out, "\n%6s %-12s %-24s %-10s %9s %9s %9s %14s %4s\n", "JOB", "CLASS", "NAME", "OUTCOME", "WAITED",
		   "RAN", "FROZEN", "PEAK", "GPU");
	for (size_t i = 0; i < report->jobs.count; i++) {
		const struct report_job *job = &report->jobs.list[i];
		report_cells(job, &cells);
		text_show(job->class_name, class_name, sizeof class_name);
		text_show(job->name, name, sizeof name);
		buf_printf(out, "%6s %-12s %-24s %-10s %9s %9s %9s %14s %4s\n", JOBID(job->id), class_name, name,
			   cells.outcome, cells.waited, cells.ran, cells.frozen, cells.peak, cells.gpu);
	}
}

static void put_shown(struct buf *out, const char *text)
{
	SCOPE_FREE char *shown = malloc(strlen(text) + 1);

	if (shown)
		text_show(text, shown, strlen(text) + 1);
	out->failed = out->failed || !shown;
	buf_puts(out, shown ? shown : "");
}

static void put_tail(const char *label, const char *path, struct buf *out)
{
	struct err why = ERR_NONE;
	struct tail tail;

	buf_printf(out, "       %s ", label);
	if (tail_read(path, &tail, &why) < 0) {
		put_shown(out, why.text);
		buf_puts(out, "\n");
		return;
	}
	put_shown(out, path);
	buf_puts(out, tail.count ? "\n" : " is empty\n");
	for (int i = 0; i < tail.count; i++) {
		buf_puts(out, "       | ");
		put_shown(out, tail.lines[i]);
		buf_puts(out, "\n");
	}
}

static void put_failure(const struct report_job *job, struct buf *out)
{
	buf_printf(out, "%6s ", JOBID(job->id));
	report_put_job(job, put_shown, out);
	buf_puts(out, ": ");
	report_put_why(job, put_shown, out);
	buf_puts(out, "\n");
	report_put_tails(job, put_tail, out);
}

int report_text(const struct report *report, struct buf *out, struct err *err)
{
	struct report_timeline timeline;
	struct report_sums sums;

	if (report_lay(report, &timeline, err) < 0)
		return -1;
	report_sum(report, &timeline.holds, &sums);
	report_headline(report, &sums, out);
	if (report->jobs.count) {
		put_timeline(report, &timeline, out);
		put_table(report, out);
		report_put_failures(report, "\nFailures:\n", put_failure, out);
	}
	report_timeline_free(&timeline);
	return 0;
}
