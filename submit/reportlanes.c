/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "reportlanes.h"

#include <stdlib.h>

#include "conf/base/clock.h"

void report_timeline_free(struct report_timeline *timeline)
{
	free(timeline->holds.list);
	free(timeline->frozen.list);
	*timeline = (struct report_timeline){ 0 };
}

static int add_bar(const struct report *report, struct report_bars *bars, struct report_bar bar)
{
	if (bar.start_wall_ns < report->since_wall_ns)
		bar.start_wall_ns = report->since_wall_ns;
	/* Ends before the span, or the clock was put back meanwhile. */
	if (bar.ended_wall_ns < bar.start_wall_ns)
		return 0;
	if (bars->count == bars->room) {
		size_t room = bars->room ? bars->room * 2 : 16;
		struct report_bar *list = reallocarray(bars->list, room, sizeof *list);
		if (!list)
			return -1;
		bars->list = list;
		bars->room = room;
	}
	bars->list[bars->count++] = bar;
	return 0;
}

static int add_holds(const struct report *report, const struct report_job *job, struct report_bars *bars)
{
	int result = 0;

	for (size_t i = 0; result == 0 && i < job->hold_count; i++) {
		const struct report_hold *hold = &job->holds[i];
		result = add_bar(report, bars,
				 (struct report_bar){ .job = job,
						      .start_wall_ns = hold->start_wall_ns,
						      .ended_wall_ns = hold->ended_wall_ns,
						      .outcome = hold->outcome });
	}
	return result;
}

static int add_frozen(const struct report *report, const struct report_job *job, struct report_bars *bars)
{
	int result = 0;

	for (size_t i = 0; result == 0 && i + 1 < job->hold_count; i++) {
		if (!job->holds[i].frozen)
			continue;
		result = add_bar(report, bars,
				 (struct report_bar){ .job = job,
						      .start_wall_ns = job->holds[i].ended_wall_ns,
						      .ended_wall_ns = job->holds[i + 1].start_wall_ns,
						      .outcome = OUTCOME_TURN });
	}
	return result;
}

/*
 * The whole second by which it had begun. Ends are known in whole seconds, so that a bar seems to begin up to a second
 * too early; counted up, who came after another one has ended is never before it.
 */
static int64_t begun_s(const struct report_bar *bar)
{
	return (bar->start_wall_ns + NS_PER_S - 1) / NS_PER_S;
}

static int compare(const void *left, const void *right)
{
	const struct report_bar *a = left, *b = right;

	if (begun_s(a) != begun_s(b))
		return begun_s(a) < begun_s(b) ? -1 : 1;
	if (a->ended_wall_ns != b->ended_wall_ns)
		return a->ended_wall_ns < b->ended_wall_ns ? -1 : 1;
	return a->job->id < b->job->id ? -1 : a->job->id > b->job->id;
}

/* Ends are known in whole seconds, so that one who follows may seem to begin up to a second before it. */
static int first_free(const int64_t free_at[REPORT_ROWS], int64_t start_wall_ns)
{
	int row = 0;

	while (row < REPORT_ROWS - 1 && free_at[row] > start_wall_ns && free_at[row] - start_wall_ns > NS_PER_S)
		row++;
	return row;
}

static void give_rows(struct report_bars *bars)
{
	int64_t free_at[REPORT_ROWS];

	for (int row = 0; row < REPORT_ROWS; row++)
		free_at[row] = INT64_MIN;
	for (size_t i = 0; i < bars->count; i++) {
		struct report_bar *bar = &bars->list[i];
		int64_t *freed = &free_at[bar->row = first_free(free_at, bar->start_wall_ns)];
		if (bar->start_wall_ns < *freed && *freed <= bar->ended_wall_ns)
			bar->start_wall_ns = *freed;
		if (*freed < bar->ended_wall_ns)
			*freed = bar->ended_wall_ns;
		if (bars->rows <= bar->row)
			bars->rows = bar->row + 1;
	}
}

static void lay(struct report_bars *bars)
{
	if (bars->count)
		qsort(bars->list, bars->count, sizeof *bars->list, compare);
	give_rows(bars);
}

int report_lay(const struct report *report, struct report_timeline *ret_timeline, struct err *err)
{
	struct report_timeline timeline = { 0 };

	for (size_t i = 0; i < report->jobs.count; i++) {
		const struct report_job *job = &report->jobs.list[i];
		if (add_holds(report, job, &timeline.holds) == 0 && add_frozen(report, job, &timeline.frozen) == 0)
			continue;
		report_timeline_free(&timeline);
		return err_set(err, EXIT_FAILED, "cannot draw the timeline: out of memory");
	}
	lay(&timeline.holds);
	lay(&timeline.frozen);
	*ret_timeline = timeline;
	return 0;
}

void report_sum(const struct report *report, const struct report_bars *holds, struct report_sums *ret_sums)
{
	int64_t seen = report->since_wall_ns;

	*ret_sums = (struct report_sums){ 0 };
	for (size_t i = 0; i < report->jobs.count; i++)
		ret_sums->outcomes[report->jobs.list[i].outcome]++;
	for (size_t i = 0; i < holds->count; i++) {
		const struct report_bar *bar = &holds->list[i];
		if (__builtin_add_overflow(ret_sums->held_ns, bar->ended_wall_ns - bar->start_wall_ns,
					   &ret_sums->held_ns))
			ret_sums->held_ns = INT64_MAX;
		if (bar->ended_wall_ns <= seen)
			continue;
		ret_sums->busy_ns += bar->ended_wall_ns - (bar->start_wall_ns > seen ? bar->start_wall_ns : seen);
		seen = bar->ended_wall_ns;
	}
}
