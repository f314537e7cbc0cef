/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "reportsvg.h"

#include <time.h>

#include "conf/base/clock.h"
#include "conf/base/fmt.h"
#include "conf/base/text.h"
#include "conf/jobid.h"
#include "submit/markup.h"
#include "submit/reportcells.h"

/* In pixels of a picture that is WIDTH wide. */
enum { WIDTH = 1000, LEFT = 60, SPAN = 920, TOP = 28, PITCH = 26, BAR = 20, LEGEND = 30, CHARACTER = 7, COLOURS = 8 };

static const char style[] =
	":root{color-scheme:light dark;--paper:#fcfcfa;--ink:#1c1c1a;--faint:#66645e;--grid:#dcdad3;--bad:#c22f2f;"
	"--label:#fff;--c0:#2a6fc9;--c1:#b3541e;--c2:#13805c;--c3:#6a4fb5;--c4:#a33b6f;--c5:#5f7d1a;--c6:#0f7f8f;"
	"--c7:#7a6a58}\n"
	"@media (prefers-color-scheme:dark){:root{--paper:#1a1a19;--ink:#f0efe9;--faint:#a8a69e;--grid:#3d3c38;"
	"--bad:#ff7b72;--label:#111;--c0:#6ea8f0;--c1:#e2935c;--c2:#4fbf94;--c3:#a692ea;--c4:#e182b0;--c5:#a9c653;"
	"--c6:#4cbccb;--c7:#bba993}}\n"
	"svg{font:12px system-ui,sans-serif}svg text{fill:var(--faint)}svg "
	".name{fill:var(--label);pointer-events:none}\n"
	".paper{fill:var(--paper)}.hold{stroke:var(--paper)}.grid{stroke:var(--grid)}.turn{stroke:var(--ink);stroke-"
	"width:3}"
	".cross{stroke:var(--bad);stroke-width:3;fill:none}.failed{stroke:var(--bad);stroke-width:2}"
	".frozen{fill-opacity:.2;stroke-width:1;stroke-dasharray:4 3}\n";

void reportsvg_style(struct buf *out)
{
	buf_puts(out, style);
	for (int i = 0; i < COLOURS; i++)
		buf_printf(out, ".c%d{fill:var(--c%d)}.frozen.c%d{stroke:var(--c%d)}", i, i, i, i);
	buf_puts(out, "\n");
}

/* In tenths. */
static int place(const struct report *report, int64_t wall_ns)
{
	double part =
		(double)(wall_ns - report->since_wall_ns) / (double)(report->until_wall_ns - report->since_wall_ns);

	return LEFT * 10 + (int)(part * SPAN * 10 + 0.5);
}

/* The shortest step that gives no more than a dozen lines. */
static int64_t step_seconds(int64_t span_s)
{
	static const int64_t steps[] = { 1,    2,    5,	   10,	  15,	 30,	60,    120,    300,    600,    900,
					 1800, 3600, 7200, 10800, 21600, 43200, 86400, 172800, 604800, 2592000 };
	enum { STEPS = sizeof steps / sizeof steps[0] };
	int64_t step = steps[STEPS - 1];

	for (int i = STEPS - 1; i >= 0 && span_s / steps[i] <= 12; i--)
		step = steps[i];
	while (span_s / step > 12)
		step *= 2;
	return step;
}

static int64_t offset_seconds(int64_t wall_ns)
{
	time_t seconds = (time_t)(wall_ns / NS_PER_S);
	struct tm local;

	return localtime_r(&seconds, &local) ? local.tm_gmtoff : 0;
}

/* A line wherever the clock shows a multiple of the step, below its time, or its day where days are counted. */
static void put_grid(const struct report *report, int bottom, struct buf *out)
{
	/* The first whole second in the span, and the last. */
	int64_t since_s = report->since_wall_ns / NS_PER_S + (report->since_wall_ns % NS_PER_S > 0);
	int64_t until_s = report->until_wall_ns / NS_PER_S;
	int64_t step = step_seconds(until_s - since_s), offset = offset_seconds(report->since_wall_ns);
	char stamp[CLOCK_TEXT];

	for (int64_t at = (since_s + offset + step - 1) / step * step - offset; at <= until_s; at += step) {
		int x = place(report, at * NS_PER_S);
		clock_wall_format(at * NS_PER_S, stamp);
		buf_puts(out, "<path class=\"grid\" d=\"M");
		markup_tenths(out, x);
		buf_printf(out, " %dV%d\"/><text text-anchor=\"middle\" y=\"%d\" x=\"", TOP - 6, bottom, TOP - 12);
		markup_tenths(out, x);
		buf_printf(out, "\">%.*s</text>\n",
			   step >= 86400 ? 10
			   : step < 60	 ? 8
					 : 5,
			   stamp[0] ? stamp + (step >= 86400 ? 0 : 11) : "");
	}
}

static void put_title(const struct report_bar *bar, bool frozen, struct buf *out)
{
	char from[CLOCK_TEXT], to[CLOCK_TEXT], lasted[TEXT_DURATION];

	report_moment(bar->start_wall_ns, from);
	report_moment(bar->ended_wall_ns, to);
	text_duration_format(bar->ended_wall_ns - bar->start_wall_ns, lasted);
	buf_printf(out, "<title>%s ", JOBID(bar->job->id));
	report_put_job(bar->job, markup_text, out);
	buf_printf(out, ": %s, %s to %s, %s</title>", frozen ? "frozen" : outcome_names[bar->outcome], from, to,
		   lasted);
}

static int count_characters(const char *text)
{
	int count = 0;

	for (; *text; text++)
		count += ((unsigned char)*text & 0xc0) != 0x80;
	return count;
}

/* A short hold is to be seen as well. */
static int bar_width(int from, int to)
{
	return to - from < 10 ? 10 : to - from;
}

static void put_bar(const struct report *report, const struct report_bar *bar, int y, bool frozen, struct buf *out)
{
	int from = place(report, bar->start_wall_ns), to = place(report, bar->ended_wall_ns);
	int width = bar_width(from, to);
	bool failed = !frozen && bar->outcome != OUTCOME_TURN && report_failed(bar->job);

	buf_printf(out, "<g><rect class=\"%s c%d%s\" data-job=\"%s\" y=\"%d\" height=\"%d\" x=\"",
		   frozen ? "frozen" : "hold", bar->job->class_number % COLOURS, failed ? " failed" : "",
		   JOBID(bar->job->id), y, BAR);
	markup_tenths(out, from);
	buf_puts(out, "\" width=\"");
	markup_tenths(out, width);
	buf_puts(out, "\">");
	put_title(bar, frozen, out);
	buf_puts(out, "</rect>");
	if (!frozen && (failed || bar->outcome == OUTCOME_TURN)) {
		buf_printf(out, "<path class=\"%s\" d=\"M", failed ? "cross" : "turn");
		markup_tenths(out, from + width - (failed ? 50 : 15));
		buf_printf(out, failed ? " %dl10 10m-10 0l10 -10\"/>" : " %dv%d\"/>", failed ? y + 5 : y, BAR);
	}
	if (!frozen && (count_characters(bar->job->name) + 2) * CHARACTER * 10 < width) {
		buf_printf(out, "<text class=\"name\" y=\"%d\" x=\"", y + 14);
		markup_tenths(out, from + 50);
		buf_puts(out, "\">");
		markup_text(out, bar->job->name);
		buf_puts(out, "</text>");
	}
	buf_puts(out, "</g>\n");
}

static void put_bars(const struct report *report, const struct report_bars *bars, int top, bool frozen, struct buf *out)
{
	if (bars->rows)
		buf_printf(out, "<text x=\"4\" y=\"%d\">%s</text>\n", top + 14, frozen ? "frozen" : "held");
	for (size_t i = 0; i < bars->count; i++)
		put_bar(report, &bars->list[i], top + bars->list[i].row * PITCH, frozen, out);
}

static void put_legend(const struct report *report, int y, struct buf *out)
{
	int x = LEFT;

	for (int i = 0; i < report->class_count && x < WIDTH - 100; i++) {
		buf_printf(out,
			   "<rect class=\"c%d\" x=\"%d\" y=\"%d\" width=\"12\" height=\"12\"/><text x=\"%d\" y=\"%d\">",
			   i % COLOURS, x, y, x + 17, y + 10);
		markup_text(out, report->classes[i]);
		buf_puts(out, "</text>\n");
		x += 40 + count_characters(report->classes[i]) * CHARACTER;
	}
}

void reportsvg_timeline(const struct report *report, const struct report_timeline *timeline, bool alone,
			struct buf *out)
{
	const struct report_bars *holds = &timeline->holds, *frozen = &timeline->frozen;
	int below = TOP + holds->rows * PITCH, bottom = below + frozen->rows * PITCH, height = bottom + LEGEND;

	buf_printf(out,
		   "<svg %sviewBox=\"0 0 %d %d\" width=\"%d\" height=\"%d\" role=\"img\" aria-label=\"timeline\">\n",
		   alone ? "xmlns=\"http://www.w3.org/2000/svg\" " : "", WIDTH, height, WIDTH, height);
	if (alone) {
		buf_puts(out, "<style>\n");
		reportsvg_style(out);
		buf_puts(out, "</style>\n<rect class=\"paper\" width=\"100%\" height=\"100%\"/>\n");
	}
	put_grid(report, bottom, out);
	put_bars(report, holds, TOP, false, out);
	put_bars(report, frozen, below, true, out);
	put_legend(report, bottom + 8, out);
	buf_puts(out, "</svg>\n");
}

int report_svg(const struct report *report, struct buf *out, struct err *err)
{
	struct report_timeline timeline;

	if (report_lay(report, &timeline, err) < 0)
		return -1;
	reportsvg_timeline(report, &timeline, true, out);
	report_timeline_free(&timeline);
	return 0;
}
