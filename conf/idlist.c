/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "idlist.h"

#include <stdlib.h>

int idlist_add(struct idlist *ids, uint64_t id)
{
	if (ids->count == ids->room) {
		size_t room = ids->room ? ids->room * 2 : 16;
		uint64_t *list = realloc(ids->list, room * sizeof *list);
		if (!list)
			return -1;
		ids->list = list;
		ids->room = room;
	}
	ids->list[ids->count++] = id;
	return 0;
}

static int compare(const void *left, const void *right)
{
	uint64_t one = *(const uint64_t *)left, other = *(const uint64_t *)right;

	return (one > other) - (one < other);
}

void idlist_sort(struct idlist *ids)
{
	if (ids->count)
		qsort(ids->list, ids->count, sizeof *ids->list, compare);
}

size_t idlist_count(const struct idlist *ids, uint64_t id)
{
	const uint64_t *found = ids->count ? bsearch(&id, ids->list, ids->count, sizeof id, compare) : NULL;
	size_t count = 0;

	while (found && found > ids->list && found[-1] == id)
		found--;
	for (; found && found < ids->list + ids->count && *found == id; found++)
		count++;
	return count;
}

void idlist_free(struct idlist *ids)
{
	free(ids->list);
	*ids = (struct idlist){ 0 };
}
