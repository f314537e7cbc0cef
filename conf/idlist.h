/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Ids of jobs in a list that grows. */
#ifndef PGPU_CONF_IDLIST_H
#define PGPU_CONF_IDLIST_H

#include <stddef.h>
#include <stdint.h>

struct idlist {
	uint64_t *list; /* heap */
	size_t count, room;
};
#define SCOPE_IDLIST __attribute__((cleanup(idlist_free)))

/* 0, or -1 with errno ENOMEM: the list is as it was. */
int idlist_add(struct idlist *ids, uint64_t id);
/* By number; idlist_count() wants that. */
void idlist_sort(struct idlist *ids);
/* How often it is there. */
size_t idlist_count(const struct idlist *ids, uint64_t id);
/* It is empty then, and may be filled again. */
void idlist_free(struct idlist *ids);

#endif
