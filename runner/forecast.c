/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "forecast.h"

#include <stdlib.h>

#include "conf/base/clock.h"

struct forecast_row {
	uint64_t own, class; /* session and name; class: as numbers, which are compared faster */
	int64_t ran_ns;
};

/* Beyond it no sum is taken. */
#define LONGEST_NS (INT64_MAX / 2)

void forecast_begin(struct forecast *forecast, int lanes)
{
	forecast->lanes = lanes < CONF_LANES ? lanes : CONF_LANES;
}

void forecast_free(struct forecast *forecast)
{
	free(forecast->rows);
	*forecast = (struct forecast){ 0 };
}

/* FNV-1a, the text's NUL with it. */
static uint64_t add_text(uint64_t sum, const char *text)
{
	do
		sum = (sum ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
	while (*text++);
	return sum;
}

static uint64_t sum_of(const char *first, const char *second)
{
	uint64_t sum = add_text(UINT64_C(0xcbf29ce484222325), first);

	return second ? add_text(sum, second) : sum;
}

int forecast_learn(struct forecast *forecast, const struct history_row *row)
{
	if (row->ran_ns < 0)
		return 0;
	int64_t ran_ns = estimate_sum_holds(&forecast->away, row);
	if (row->outcome != OUTCOME_COMPLETED)
		return 0;
	if (forecast->count == forecast->room) {
		size_t room = forecast->room ? forecast->room * 2 : 256;
		struct forecast_row *rows = realloc(forecast->rows, room * sizeof *rows);
		if (!rows)
			return -1;
		forecast->rows = rows;
		forecast->room = room;
	}
	forecast->rows[forecast->count++] = (struct forecast_row){ .own = sum_of(row->session, row->name),
								   .class = sum_of(row->class_name, NULL),
								   .ran_ns = ran_ns };
	return 0;
}

/* How long its like took; 0: there is none. */
static int64_t whole_ns(const struct forecast *forecast, const struct forecast_job *job)
{
	uint64_t own = sum_of(job->session, job->name), class = sum_of(job->class_name, NULL);
	int64_t of_own[ESTIMATE_PAST], of_class[ESTIMATE_PAST];
	int owns = 0, classes = 0;

	for (size_t i = forecast->count; i-- > 0 && owns < ESTIMATE_PAST;) {
		const struct forecast_row *row = &forecast->rows[i];
		if (row->own == own)
			of_own[owns++] = row->ran_ns;
		if (row->class == class && classes < ESTIMATE_PAST)
			of_class[classes++] = row->ran_ns;
	}
	return owns ? estimate_middle(of_own, owns) : classes ? estimate_middle(of_class, classes) : 0;
}

/* INT64_MAX: unknown. */
static int64_t left_of(const struct forecast *forecast, const struct forecast_job *job, enum forecast_by *ret_by)
{
	int64_t like_ns = whole_ns(forecast, job);

	*ret_by = FORECAST_PROGRESS;
	if (job->left_ns > 0 && job->limit_ns > job->ran_ns && job->left_ns > job->limit_ns - job->ran_ns)
		return job->limit_ns - job->ran_ns;
	if (job->left_ns > 0)
		return job->left_ns;
	/* There it is stopped. */
	if (job->limit_ns > job->ran_ns && like_ns > job->limit_ns)
		like_ns = job->limit_ns;
	*ret_by = FORECAST_LIKE;
	if (like_ns > job->ran_ns)
		return like_ns - job->ran_ns;
	*ret_by = FORECAST_BUDGET;
	if (job->budget_ns > job->ran_ns)
		return job->budget_ns - job->ran_ns;
	if (job->limit_ns > job->ran_ns)
		return job->limit_ns - job->ran_ns;
	*ret_by = FORECAST_NOTHING;
	return INT64_MAX;
}

static int soonest(const struct forecast *forecast, int count)
{
	int found = 0;

	for (int i = 1; i < count; i++) {
		if (forecast->ends_ns[i] < forecast->ends_ns[found])
			found = i;
	}
	return found;
}

void forecast_runs(struct forecast *forecast, const struct forecast_job *job, struct outlook *ret_outlook)
{
	enum forecast_by by;
	int64_t left_ns = left_of(forecast, job, &by);

	*ret_outlook = OUTLOOK_NONE;
	if (left_ns < INT64_MAX)
		*ret_outlook = (struct outlook){ .starts_in_ns = -1, .ends_in_ns = estimate_round(left_ns), .by = by };
	if (forecast->busy == CONF_LANES)
		return;
	forecast->ends_ns[forecast->busy] = left_ns;
	forecast->by[forecast->busy++] = by;
}

/* Fewer lanes than before: the first ends make nobody room. */
static void trim(struct forecast *forecast)
{
	for (; forecast->busy > forecast->lanes; forecast->busy--) {
		int at = soonest(forecast, forecast->busy);
		forecast->ends_ns[at] = forecast->ends_ns[forecast->busy - 1];
		forecast->by[at] = forecast->by[forecast->busy - 1];
	}
}

void forecast_waits(struct forecast *forecast, const struct forecast_job *job, struct outlook *ret_outlook)
{
	enum forecast_by by;

	*ret_outlook = OUTLOOK_NONE;
	trim(forecast);
	if (forecast->waiting++ >= FORECAST_AHEAD || forecast->lanes == 0)
		return;
	int at = soonest(forecast, forecast->lanes);
	int64_t starts_ns = forecast->ends_ns[at], left_ns = left_of(forecast, job, &by);
	bool ends = left_ns < LONGEST_NS && starts_ns < LONGEST_NS - left_ns;
	if (starts_ns > 0 && starts_ns < INT64_MAX) {
		ret_outlook->starts_in_ns = estimate_round(starts_ns);
		ret_outlook->starts_by = ret_outlook->by = forecast->by[at];
	}
	forecast->ends_ns[at] = ends ? starts_ns + left_ns : INT64_MAX;
	forecast->by[at] = by > forecast->by[at] ? by : forecast->by[at];
	if (ends && !job->several) {
		ret_outlook->ends_in_ns = estimate_round(forecast->ends_ns[at]);
		ret_outlook->by = forecast->by[at];
	}
}
