/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "estimate.h"

#include <string.h>

#include "conf/base/clock.h"

void estimate_add(struct estimate *estimate, const struct estimate_job *job)
{
	if (estimate->count == ESTIMATE_JOBS)
		estimate->full = true;
	else
		estimate->jobs[estimate->count++] = *job;
}

static void note(struct estimate_past *past, int64_t ran_ns)
{
	past->ran_ns[past->count++ % ESTIMATE_PAST] = ran_ns;
}

int64_t estimate_sum_holds(struct estimate_away *away, const struct history_row *row)
{
	int at = 0;

	while (at < ESTIMATE_AWAY && away->list[at].id != row->id)
		at++;
	if (at == ESTIMATE_AWAY) {
		at = away->next;
		if (row->outcome != OUTCOME_TURN)
			return row->ran_ns;
		away->next = (at + 1) % ESTIMATE_AWAY;
		away->list[at].id = row->id;
		away->list[at].ran_ns = 0;
	}
	away->list[at].ran_ns += row->ran_ns;
	if (row->outcome != OUTCOME_TURN)
		away->list[at].id = 0;
	return away->list[at].ran_ns;
}

void estimate_learn(struct estimate *estimate, const struct history_row *row)
{
	if (row->ran_ns < 0)
		return;
	int64_t ran_ns = estimate_sum_holds(&estimate->away, row);
	if (row->outcome != OUTCOME_COMPLETED)
		return;
	for (int i = 0; i < estimate->count; i++) {
		struct estimate_job *job = &estimate->jobs[i];
		if (strcmp(job->session, row->session) == 0 && strcmp(job->name, row->name) == 0)
			note(&job->own, ran_ns);
		if (strcmp(job->class_name, row->class_name) == 0)
			note(&job->class, ran_ns);
	}
}

int64_t estimate_middle(int64_t *figures, int count)
{
	for (int i = 1; i < count; i++) {
		int64_t figure = figures[i];
		int at = i;
		for (; at > 0 && figures[at - 1] > figure; at--)
			figures[at] = figures[at - 1];
		figures[at] = figure;
	}
	return figures[count / 2];
}

static int64_t middle(const struct estimate_past *past)
{
	int count = past->count < ESTIMATE_PAST ? (int)past->count : ESTIMATE_PAST;
	int64_t figures[ESTIMATE_PAST];

	memcpy(figures, past->ran_ns, sizeof figures);
	return estimate_middle(figures, count);
}

/* INT64_MAX: unknown. */
static int64_t left_of(const struct estimate_job *job)
{
	const struct estimate_past *past = job->own.count ? &job->own : &job->class;
	int64_t whole_ns = past->count ? middle(past) : 0;

	return job->ran_ns < whole_ns ? whole_ns - job->ran_ns : INT64_MAX;
}

static int soonest(const int64_t *ends, int count)
{
	int found = 0;

	for (int i = 1; i < count; i++) {
		if (ends[i] < ends[found])
			found = i;
	}
	return found;
}

int64_t estimate_wait(const struct estimate *estimate, int lanes)
{
	int64_t ends[ESTIMATE_JOBS] = { 0 };
	int count = 0;

	for (int i = 0; i < estimate->count; i++) {
		if (estimate->jobs[i].runs)
			ends[count++] = left_of(&estimate->jobs[i]);
	}
	/* Fewer lanes than before: the first ends make nobody room. */
	for (; count > lanes; count--)
		ends[soonest(ends, count)] = ends[count - 1];
	for (int i = 0; i < estimate->count; i++) {
		int at = soonest(ends, lanes);
		int64_t left_ns = left_of(&estimate->jobs[i]);
		if (!estimate->jobs[i].runs)
			ends[at] = left_ns < INT64_MAX - ends[at] ? ends[at] + left_ns : INT64_MAX;
	}
	int64_t wait_ns = ends[soonest(ends, lanes)];
	/* With a lane free it is no lane that is waited for. */
	return estimate->full || wait_ns == INT64_MAX || wait_ns == 0 ? -1 : wait_ns;
}

int64_t estimate_round(int64_t ns)
{
	int64_t step_ns = ns < 60 * NS_PER_S ? NS_PER_S : ns < 3600 * NS_PER_S ? 60 * NS_PER_S : 600 * NS_PER_S;

	return (ns + step_ns - 1) / step_ns * step_ns;
}
