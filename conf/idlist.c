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

void idlist_free(struct idlist *ids)
{
	free(ids->list);
	*ids = (struct idlist){ 0 };
}
