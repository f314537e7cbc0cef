/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "array.h"

#include <errno.h>
#include <string.h>

#include "conf/base/fmt.h"
#include "conf/base/text.h"
#include "conf/jobid.h"

static int refuse(const char *text, const char *why, struct err *err)
{
	char shown[64];

	text_show(text, shown, sizeof shown);
	return err_set(err, EXIT_USAGE, "'%s' %s", shown, why);
}

static bool take_figure(const char **at, int32_t least, int32_t most, int32_t *ret_figure)
{
	const char *end;

	if (**at < '0' || **at > '9')
		return false;
	errno = 0;
	uint64_t figure = fmt_read(*at, &end);
	if (errno || figure < (uint64_t)least || figure > (uint64_t)most)
		return false;
	*ret_figure = (int32_t)figure;
	*at = end;
	return true;
}

/* "7", "1-9" or "1-9:2"; the last becomes a member of it. */
static bool take_range(const char **at, struct array_range *range)
{
	range->step = 1;
	if (!take_figure(at, 0, JOBID_TASK_MAX, &range->first))
		return false;
	range->last = range->first;
	if (**at != '-')
		return true;
	++*at;
	if (!take_figure(at, range->first, JOBID_TASK_MAX, &range->last))
		return false;
	if (**at == ':') {
		++*at;
		if (!take_figure(at, 1, JOBID_TASK_MAX, &range->step))
			return false;
	}
	range->last -= (range->last - range->first) % range->step;
	return true;
}

static int32_t range_size(const struct array_range *range)
{
	return (range->last - range->first) / range->step + 1;
}

static bool is_member(const struct array_range *range, int32_t task)
{
	return task >= range->first && task <= range->last && (task - range->first) % range->step == 0;
}

static int32_t common_divisor(int32_t a, int32_t b)
{
	while (b) {
		int32_t rest = a % b;
		a = b;
		b = rest;
	}
	return a;
}

/* A number that both have, or -1. Where steps and firsts allow one, it comes within as many members as the other's step
 * has: nothing is expanded, since whoever opens an array's file under the queue lock parses its list. */
static int32_t find_shared(const struct array_range *a, const struct array_range *b)
{
	int32_t last = a->last < b->last ? a->last : b->last;

	if (a->last < b->first || b->last < a->first || (a->first - b->first) % common_divisor(a->step, b->step) != 0)
		return -1;
	int32_t task = a->first;
	if (task < b->first)
		task += (b->first - task + a->step - 1) / a->step * a->step;
	for (int32_t tries = b->step; tries > 0 && task <= last; tries--, task += a->step) {
		if (is_member(b, task))
			return task;
	}
	return -1;
}

/* The number of a task that is there twice, or -1. */
static int32_t find_twice(const struct array *array)
{
	for (int i = 1; i < array->count; i++) {
		for (int j = 0; j < i; j++) {
			int32_t shared = find_shared(&array->ranges[i], &array->ranges[j]);
			if (shared >= 0)
				return shared;
		}
	}
	return -1;
}

static int check(const char *text, const struct array *array, struct err *err)
{
	int64_t size = 0;

	for (int i = 0; i < array->count; i++)
		size += range_size(&array->ranges[i]);
	if (size > ARRAY_TASKS)
		return err_set(err, EXIT_USAGE, "'%.64s' has %lld tasks, more than %d", text, (long long)size,
			       ARRAY_TASKS);
	int32_t twice = find_twice(array);
	return twice < 0 ? 0 : err_set(err, EXIT_USAGE, "'%.64s' has task %d twice", text, twice);
}

int array_parse(const char *text, struct array *ret_array, struct err *err)
{
	struct array array = { 0 };
	const char *at = text;

	for (;; at++) {
		if (array.count == ARRAY_RANGES)
			return err_set(err, EXIT_USAGE, "'%.64s' has more than %d ranges", text, ARRAY_RANGES);
		if (!take_range(&at, &array.ranges[array.count++]))
			return refuse(text, "is no list of tasks (1-250, 0-99%4, 1,5,9-20:2)", err);
		if (*at != ',')
			break;
	}
	if (*at == '%' && (at++, !take_figure(&at, 1, ARRAY_CAP, &array.cap)))
		return refuse(text, "has no count behind '%' (1 to 1000)", err);
	if (*at)
		return refuse(text, "is no list of tasks (1-250, 0-99%4, 1,5,9-20:2)", err);
	if (check(text, &array, err) < 0)
		return -1;
	*ret_array = array;
	return 0;
}

static void put_range(const struct array_range *range, struct buf *out)
{
	buf_printf(out, "%d", range->first);
	if (range->last > range->first)
		buf_printf(out, "-%d", range->last);
	if (range->last > range->first && range->step > 1)
		buf_printf(out, ":%d", range->step);
}

void array_put(const struct array *array, struct buf *out)
{
	for (int i = 0; i < array->count; i++) {
		if (i)
			buf_puts(out, ",");
		put_range(&array->ranges[i], out);
	}
	if (array->cap)
		buf_printf(out, "%%%d", array->cap);
}

int32_t array_size(const struct array *array)
{
	int32_t size = 0;

	for (int i = 0; i < array->count; i++)
		size += range_size(&array->ranges[i]);
	return size;
}

int32_t array_task(const struct array *array, int32_t position)
{
	for (int i = 0; i < array->count; i++) {
		int32_t size = range_size(&array->ranges[i]);
		if (position < size)
			return array->ranges[i].first + position * array->ranges[i].step;
		position -= size;
	}
	return -1;
}

int32_t array_position(const struct array *array, int32_t task)
{
	int32_t before = 0;

	for (int i = 0; i < array->count; i++) {
		const struct array_range *range = &array->ranges[i];
		if (is_member(range, task))
			return before + (task - range->first) / range->step;
		before += range_size(range);
	}
	return -1;
}

int32_t array_next(const char *states, int32_t size, enum array_order order)
{
	enum { TENTH = 10 };

	for (int32_t i = 0; order == ARRAY_SPARSE && i < size; i += TENTH) {
		if (states[i] == ARRAY_WAITS)
			return i;
	}
	const char *found = memchr(states, ARRAY_WAITS, (size_t)size);
	return found ? (int32_t)(found - states) : -1;
}

/* The range of waiting tasks that begins at `*position`, as long as they go on by one step. */
static struct array_range run_of(const struct array *array, const char *states, int32_t size, int32_t *position)
{
	struct array_range run = { array_task(array, *position), 0, 1 };

	run.last = run.first;
	while (++*position < size && states[*position] == ARRAY_WAITS) {
		int32_t next = array_task(array, *position), step = next - run.last;
		if (step < 1 || (run.last > run.first && step != run.step))
			break;
		run.step = step;
		run.last = next;
	}
	return run;
}

void array_show(const struct array *array, const char *states, char *text, int size)
{
	int32_t count = array_size(array), position = 0;
	int room = size - (int)sizeof ",...%1000]", used = 0;
	SCOPE_BUF struct buf one = BUF_EMPTY;

	text[0] = '\0';
	while (position < count) {
		if (states[position] != ARRAY_WAITS) {
			position++;
			continue;
		}
		struct array_range run = run_of(array, states, count, &position);
		one.size = 0;
		put_range(&run, &one);
		if (!buf_ok(&one) || used + (int)one.size + 1 > room) {
			used += fmt(text + used, (size_t)(size - used), "%s...", used ? "," : "[");
			break;
		}
		used += fmt(text + used, (size_t)(size - used), "%s%.*s", used ? "," : "[", (int)one.size, one.text);
	}
	if (used && array->cap)
		used += fmt(text + used, (size_t)(size - used), "%%%d", array->cap);
	if (used)
		fmt(text + used, (size_t)(size - used), "]");
}
