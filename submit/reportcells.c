/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "reportcells.h"

#include "conf/base/fmt.h"

static void put_duration(int64_t ns, char text[TEXT_DURATION])
{
	if (ns < 0)
		fmt(text, TEXT_DURATION, "-");
	else
		text_duration_format(ns, text);
}

static void put_peak(const struct report_job *job, char *text, size_t size)
{
	char peak[TEXT_SIZE] = "-", ceiling[TEXT_SIZE];

	if (job->peak_memory_bytes >= 0)
		text_size_show((uint64_t)job->peak_memory_bytes, peak);
	if (job->memory_bytes >= 0)
		text_size_show((uint64_t)job->memory_bytes, ceiling);
	fmt(text, size, "%s%s%s", peak, job->memory_bytes >= 0 ? " of " : "", job->memory_bytes >= 0 ? ceiling : "");
}

/* Two figures that were taken at different moments: a little more than all of it is all of it. */
static void put_gpu(const struct report_job *job, char *text, size_t size)
{
	double share = job->ran_ns > 0 ? (double)job->gpu_ns / (double)job->ran_ns * 100 + 0.5 : 0;

	if (job->gpu_ns < 0 || job->ran_ns <= 0)
		fmt(text, size, "-");
	else
		fmt(text, size, "%d%%", share > 100 ? 100 : (int)share);
}

void report_cells(const struct report_job *job, struct report_cells *ret_cells)
{
	ret_cells->outcome = outcome_names[job->outcome];
	put_duration(job->waited_ns, ret_cells->waited);
	put_duration(job->ran_ns, ret_cells->ran);
	put_duration(job->frozen_ns, ret_cells->frozen);
	put_peak(job, ret_cells->peak, sizeof ret_cells->peak);
	put_gpu(job, ret_cells->gpu, sizeof ret_cells->gpu);
}

void report_moment(int64_t wall_ns, char text[CLOCK_TEXT])
{
	char stamp[CLOCK_TEXT];

	clock_wall_format(wall_ns, stamp);
	fmt(text, CLOCK_TEXT, "%.10s %.8s", stamp, stamp[0] ? stamp + 11 : "");
}

void report_headline(const struct report *report, const struct report_sums *sums, struct buf *out)
{
	char since[CLOCK_TEXT], until[CLOCK_TEXT], span[TEXT_DURATION], held[TEXT_DURATION], busy[TEXT_DURATION];
	int64_t span_ns = report->until_wall_ns - report->since_wall_ns;
	long open = sums->outcomes[OUTCOME_TURN], jobs = (long)report->jobs.count - open;
	const char *comma = ": ";

	report_moment(report->since_wall_ns, since);
	report_moment(report->until_wall_ns, until);
	text_duration_format(span_ns, span);
	text_duration_format(sums->held_ns, held);
	text_duration_format(sums->busy_ns, busy);
	buf_printf(out, "From %s to %s, %s: %ld %s ended", since, until, span, jobs, jobs == 1 ? "job" : "jobs");
	for (int i = OUTCOME_NONE + 1; i < OUTCOME_TURN; i++) {
		if (!sums->outcomes[i])
			continue;
		buf_printf(out, "%s%ld %s", comma, sums->outcomes[i], outcome_names[i]);
		comma = ", ";
	}
	if (open)
		buf_printf(out, "; %ld gave the lane up and did not come back", open);
	buf_puts(out, ".\n");
	if (report->jobs.count && span_ns > 0)
		buf_printf(out, "The lanes were held for %s in all, at least one of them for %s, %d%% of the time.\n",
			   held, busy, (int)((double)sums->busy_ns / (double)span_ns * 100 + 0.5));
}

void report_put_job(const struct report_job *job, report_show *show, struct buf *out)
{
	show(out, job->name);
	buf_puts(out, " (");
	show(out, job->class_name);
	buf_puts(out, ", ");
	show(out, job->session);
	buf_puts(out, ")");
}

void report_put_why(const struct report_job *job, report_show *show, struct buf *out)
{
	buf_printf(out, "%s, exit code %d", outcome_names[job->outcome], job->exit_code);
	if (!job->reason)
		return;
	buf_puts(out, ": ");
	show(out, job->reason);
}

void report_put_tails(const struct report_job *job, void (*put)(const char *label, const char *path, struct buf *out),
		      struct buf *out)
{
	if (job->output)
		put("output", job->output, out);
	if (job->error)
		put("error", job->error, out);
}

void report_put_failures(const struct report *report, const char *title,
			 void (*put)(const struct report_job *job, struct buf *out), struct buf *out)
{
	const char *before = title;

	for (size_t i = 0; i < report->jobs.count; i++) {
		if (!report_failed(&report->jobs.list[i]))
			continue;
		buf_puts(out, before);
		put(&report->jobs.list[i], out);
		before = "";
	}
}
