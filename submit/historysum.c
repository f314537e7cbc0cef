/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "historysum.h"

#include <stdlib.h>
#include <string.h>

#include "conf/base/fmt.h"

static struct history_sum *find(struct history_sums *sums, const char *name)
{
	for (size_t i = 0; i < sums->count; i++) {
		if (strcmp(sums->list[i].name, name) == 0)
			return &sums->list[i];
	}
	if (sums->count == sums->room) {
		size_t room = sums->room ? sums->room * 2 : 16;
		struct history_sum *list = realloc(sums->list, room * sizeof *list);
		if (!list)
			return NULL;
		sums->list = list;
		sums->room = room;
	}
	struct history_sum *added = &sums->list[sums->count++];
	*added = (struct history_sum){ .gpu_ns = -1, .peak_memory_bytes = -1 };
	fmt(added->name, sizeof added->name, "%s", name);
	return added;
}

static void add_known(int64_t *sum, int64_t figure)
{
	if (figure >= 0)
		*sum = (*sum < 0 ? 0 : *sum) + figure;
}

int history_sums_add(struct history_sums *sums, const struct history_row *row)
{
	struct history_sum *sum = find(sums, sums->by_session ? row->session : row->class_name);

	if (!sum)
		return -1;
	if (row->outcome != OUTCOME_TURN) {
		sum->jobs++;
		sum->failed += row->outcome != OUTCOME_COMPLETED && row->outcome != OUTCOME_CANCELLED;
	}
	add_known(&sum->waited_ns, row->waited_ns);
	add_known(&sum->ran_ns, row->ran_ns);
	add_known(&sum->cpu_ns, row->cpu_ns);
	add_known(&sum->gpu_ns, row->gpu_ns);
	if (row->peak_memory_bytes > sum->peak_memory_bytes)
		sum->peak_memory_bytes = row->peak_memory_bytes;
	return 0;
}

static int compare(const void *left, const void *right)
{
	const struct history_sum *a = left, *b = right;

	if (a->ran_ns != b->ran_ns)
		return a->ran_ns > b->ran_ns ? -1 : 1;
	return strcmp(a->name, b->name);
}

void history_sums_sort(struct history_sums *sums)
{
	if (sums->count)
		qsort(sums->list, sums->count, sizeof *sums->list, compare);
}

void history_sums_free(struct history_sums *sums)
{
	free(sums->list);
	*sums = (struct history_sums){ 0 };
}
