/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "reporthtml.h"

#include "conf/base/scope.h"
#include "conf/jobid.h"
#include "submit/markup.h"
#include "submit/reportcells.h"
#include "submit/reportsvg.h"
#include "submit/reporttail.h"

/* Written as XML as well. */
static const char head[] =
	"<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n"
	"<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\"/>\n"
	"<meta name=\"viewport\" content=\"width=device-width\"/>\n<title>pgpu report</title>\n<style>\n";

static const char style[] =
	"body{font:14px system-ui,sans-serif;max-width:1000px;margin:2em auto;padding:0 1em;background:var(--paper);"
	"color:var(--ink)}\nh1{font-size:1.4em}h2{font-size:1.15em;margin-top:2em}h3{font-size:1em;margin-bottom:.3em}"
	"\n"
	"svg{display:block;width:100%;height:auto}.wide{overflow-x:auto}\n"
	"table{border-collapse:collapse;width:100%}th{text-align:left;color:var(--faint);font-weight:normal}\n"
	"th,td{padding:.25em .6em;border-bottom:1px solid "
	"var(--grid);vertical-align:top}td:nth-child(3){overflow-wrap:anywhere;min-width:9em}\n"
	".n{text-align:right;white-space:nowrap;font-variant-numeric:tabular-nums}.bad{color:var(--bad)}\n"
	"p.path{color:var(--faint);margin:.3em 0;overflow-wrap:anywhere}"
	"pre{margin:0;padding:.6em;border:1px solid var(--grid);white-space:pre-wrap;overflow-wrap:anywhere}\n";

static void put_cell(const char *kind, const char *text, struct buf *out)
{
	buf_printf(out, "<td%s>", kind);
	markup_text(out, text);
	buf_puts(out, "</td>");
}

static void put_job(const struct report_job *job, struct buf *out)
{
	static const char figure[] = " class=\"n\"";
	struct report_cells cells;

	report_cells(job, &cells);
	buf_puts(out, "<tr>");
	put_cell(figure, JOBID(job->id), out);
	put_cell("", job->class_name, out);
	put_cell("", job->name, out);
	put_cell(report_failed(job) ? " class=\"bad\"" : "", cells.outcome, out);
	put_cell(figure, cells.waited, out);
	put_cell(figure, cells.ran, out);
	put_cell(figure, cells.frozen, out);
	put_cell(figure, cells.peak, out);
	put_cell(figure, cells.gpu, out);
	buf_puts(out, "</tr>\n");
}

static void put_table(const struct report *report, struct buf *out)
{
	static const char *const heads[] = {
		"Job", "Class", "Name", "Outcome", "Waited", "Ran", "Frozen", "Peak", "GPU"
	};

	buf_puts(out, "<h2>Jobs</h2>\n<div class=\"wide\"><table>\n<thead><tr>");
	for (size_t i = 0; i < sizeof heads / sizeof heads[0]; i++)
		buf_printf(out, "<th%s>%s</th>", i == 0 || i > 3 ? " class=\"n\"" : "", heads[i]);
	buf_puts(out, "</tr></thead>\n<tbody>\n");
	for (size_t i = 0; i < report->jobs.count; i++)
		put_job(&report->jobs.list[i], out);
	buf_puts(out, "</tbody>\n</table></div>\n");
}

static void put_tail(const char *label, const char *path, struct buf *out)
{
	struct err why = ERR_NONE;
	struct tail tail;
	bool failed = tail_read(path, &tail, &why) < 0;

	buf_printf(out, "<p class=\"path\">%s ", label);
	markup_text(out, failed ? why.text : path);
	buf_puts(out, failed || tail.count ? "</p>\n" : " is empty</p>\n");
	if (failed || tail.count == 0)
		return;
	buf_puts(out, "<pre>");
	for (int i = 0; i < tail.count; i++) {
		buf_puts(out, i ? "\n" : "");
		markup_text(out, tail.lines[i]);
	}
	buf_puts(out, "</pre>\n");
}

static void put_failure(const struct report_job *job, struct buf *out)
{
	buf_printf(out, "<h3>%s ", JOBID(job->id));
	report_put_job(job, markup_text, out);
	buf_puts(out, ": <span class=\"bad\">");
	report_put_why(job, markup_text, out);
	buf_puts(out, "</span></h3>\n");
	report_put_tails(job, put_tail, out);
}

int report_html(const struct report *report, struct buf *out, struct err *err)
{
	SCOPE_BUF struct buf headline = BUF_EMPTY;
	struct report_timeline timeline;
	struct report_sums sums;

	if (report_lay(report, &timeline, err) < 0)
		return -1;
	report_sum(report, &timeline.holds, &sums);
	report_headline(report, &sums, &headline);
	out->failed = out->failed || !buf_ok(&headline);
	buf_puts(out, head);
	reportsvg_style(out);
	buf_puts(out, style);
	buf_puts(out, "</style>\n</head>\n<body>\n<h1>pgpu report</h1>\n<p>");
	markup_text(out, headline.text ? headline.text : "");
	buf_puts(out, "</p>\n");
	if (report->jobs.count) {
		reportsvg_timeline(report, &timeline, false, out);
		put_table(report, out);
		report_put_failures(report, "<h2>Failures</h2>\n", put_failure, out);
	}
	buf_puts(out, "</body>\n</html>\n");
	report_timeline_free(&timeline);
	return 0;
}
