/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report.h"

#include <stdlib.h>
#include <string.h>

struct collecting {
	struct report *report;
	struct report_jobs open; /* whose last row was a turn */
	struct err *err;
};

static void free_job(struct report_job *job)
{
	free(job->name);
	free(job->reason);
	free(job->output);
	free(job->error);
	free(job->holds);
}

static void free_jobs(struct report_jobs *jobs)
{
	for (size_t i = 0; i < jobs->count; i++)
		free_job(&jobs->list[i]);
	free(jobs->list);
	*jobs = (struct report_jobs){ 0 };
}

void report_free(struct report *report)
{
	free_jobs(&report->jobs);
}

/* The list, with room for one more of `size` bytes; NULL without memory, and the old one stays. */
static void *with_room(void *list, size_t count, size_t *room, size_t size)
{
	size_t wanted = *room ? *room * 2 : 4;
	void *larger = count < *room ? list : reallocarray(list, wanted, size);

	if (larger && count == *room)
		*room = wanted;
	return larger;
}

/* Moves it there. */
static int add_job(struct report_jobs *jobs, const struct report_job *job)
{
	struct report_job *list = with_room(jobs->list, jobs->count, &jobs->room, sizeof *list);

	if (!list)
		return -1;
	jobs->list = list;
	list[jobs->count++] = *job;
	return 0;
}

/* A log that somebody else wrote to may hold any figure. */
static void add_known(int64_t *sum, int64_t figure)
{
	if (figure >= 0 && __builtin_add_overflow(*sum < 0 ? 0 : *sum, figure, sum))
		*sum = INT64_MAX;
}

static int add_hold(struct report_job *job, const struct history_row *row)
{
	struct report_hold *list = with_room(job->holds, job->hold_count, &job->hold_room, sizeof *list);
	struct report_hold hold = { .ended_wall_ns = row->ended_wall_ns, .outcome = row->outcome };

	if (!list)
		return -1;
	job->holds = list;
	if (__builtin_sub_overflow(row->ended_wall_ns, row->ran_ns < 0 ? 0 : row->ran_ns, &hold.start_wall_ns))
		hold.start_wall_ns = INT64_MIN;
	/* A standing job that made room was ended, and its figures are known then. */
	hold.frozen = row->outcome == OUTCOME_TURN && row->cpu_ns < 0;
	list[job->hold_count++] = hold;
	job->outcome = row->outcome;
	job->exit_code = row->exit_code;
	job->ended_wall_ns = row->ended_wall_ns;
	add_known(&job->waited_ns, row->waited_ns);
	add_known(&job->ran_ns, row->ran_ns);
	add_known(&job->frozen_ns, row->frozen_ns);
	add_known(&job->gpu_ns, row->gpu_ns);
	if (row->peak_memory_bytes > job->peak_memory_bytes)
		job->peak_memory_bytes = row->peak_memory_bytes;
	return 0;
}

/* Takes the holds that it has had out of those that are open, or begins it. */
static int take_job(struct report_jobs *open, const struct history_row *row, struct report_job *ret_job)
{
	for (size_t i = 0; i < open->count; i++) {
		if (open->list[i].id != row->id)
			continue;
		*ret_job = open->list[i];
		open->list[i] = open->list[--open->count];
		return 0;
	}
	*ret_job = (struct report_job){ .id = row->id,
					.spooled = row->spooled,
					.name = strdup(row->name),
					.waited_ns = -1,
					.ran_ns = -1,
					.frozen_ns = -1,
					.gpu_ns = -1,
					.peak_memory_bytes = -1,
					.memory_bytes = -1 };
	memcpy(ret_job->class_name, row->class_name, sizeof ret_job->class_name);
	memcpy(ret_job->session, row->session, sizeof ret_job->session);
	return ret_job->name ? 0 : -1;
}

static int add_row(const struct history_row *row, void *context)
{
	struct collecting *collecting = context;
	struct report_jobs *open = &collecting->open;
	bool ends = row->outcome != OUTCOME_TURN, early = row->ended_wall_ns < collecting->report->since_wall_ns;
	struct report_job job;

	if (row->ended_wall_ns > collecting->report->until_wall_ns || (early && ends && open->count == 0))
		return 0;
	int result = take_job(open, row, &job);
	if (result == 0 && early && ends) {
		free_job(&job);
		return 0;
	}
	if (result == 0)
		result = add_hold(&job, row);
	if (result == 0)
		result = add_job(ends ? &collecting->report->jobs : open, &job);
	if (result == 0)
		return 0;
	free_job(&job);
	return err_set(collecting->err, EXIT_FAILED, "cannot read log.tsv: out of memory");
}

/* What gave its lane up in the span and has not come back. */
static int add_open(struct report *report, struct report_jobs *open, struct err *err)
{
	while (open->count) {
		struct report_job *last = &open->list[open->count - 1];
		if (last->ended_wall_ns < report->since_wall_ns)
			free_job(last);
		else if (add_job(&report->jobs, last) < 0)
			return err_set(err, EXIT_FAILED, "cannot read log.tsv: out of memory");
		open->count--;
	}
	return 0;
}

static int compare_ends(const void *left, const void *right)
{
	const struct report_job *a = left, *b = right;

	if (a->ended_wall_ns != b->ended_wall_ns)
		return a->ended_wall_ns < b->ended_wall_ns ? -1 : 1;
	return a->id < b->id ? -1 : a->id > b->id;
}

static void number_class(struct report *report, struct report_job *job)
{
	int i = 0;

	while (i < report->class_count && strcmp(report->classes[i], job->class_name) != 0)
		i++;
	if (i == report->class_count && i < REPORT_CLASSES)
		memcpy(report->classes[report->class_count++], job->class_name, sizeof job->class_name);
	job->class_number = i < REPORT_CLASSES ? i : REPORT_CLASSES - 1;
}

int report_collect(struct report *report, int queue_fd, struct err *err)
{
	struct collecting collecting = { .report = report, .err = err };
	int result = history_each(queue_fd, add_row, &collecting, err);

	if (result == 0)
		result = add_open(report, &collecting.open, err);
	free_jobs(&collecting.open);
	if (report->jobs.count)
		qsort(report->jobs.list, report->jobs.count, sizeof *report->jobs.list, compare_ends);
	for (size_t i = 0; i < report->jobs.count; i++)
		number_class(report, &report->jobs.list[i]);
	return result;
}

bool report_failed(const struct report_job *job)
{
	return job->outcome != OUTCOME_COMPLETED && job->outcome != OUTCOME_CANCELLED && job->outcome != OUTCOME_TURN;
}
