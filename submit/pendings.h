/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The names in pending/, as one process remembers them from one look to the next: a worker looks again at the end of
 * each of its jobs, and a folder of a hundred thousand names takes the kernel tens of milliseconds to read. The folder
 * stays the truth. It is read once, and inotify(7) tells each name that comes or goes from then on, in the order in
 * which that happened, before whoever did it goes on. Nothing is on file, so that nothing can be stale after a crash.
 *
 * Names that differ in the id alone are one pile: its ids are all that is kept of them.
 */
#ifndef PGPU_SUBMIT_PENDINGS_H
#define PGPU_SUBMIT_PENDINGS_H

#include <stddef.h>

#include "spool.h"

/* From so many names on it is worth the watch. */
enum { PENDINGS_MANY = 1000 };

struct pendings;

/* NULL where it cannot be had: no inotify, a network file system, memory, a name that only spool_each() has an answer
 * to. */
struct pendings *pendings_new(struct spool *spool);
void pendings_free(struct pendings *pendings);

/* Hears what has changed. False: it does not know any more, and is to be freed. With the lock. */
bool pendings_refresh(struct pendings *pendings);
size_t pendings_count(const struct pendings *pendings);
/*
 * Calls `visit` with the lowest id of each pile, and how many there are; of arrays and standing jobs for each. Stops at
 * a value other than 0 and returns it.
 */
int pendings_each(const struct pendings *pendings,
		  int (*visit)(const struct spool_name *name, const char *file, size_t count, void *context),
		  void *context);

#endif
