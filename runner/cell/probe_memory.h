/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Whose descriptors were looked into, and which of them were a card's: they need not be listed again while they are the
 * same. On Linux 6.2 and later a process's folder fd tells how many there are (its size); a process that replaces one
 * by another is looked into again after a minute, earlier ones after 10 s; one that holds a card is after 5 s, and
 * always where the number is not told.
 */
#ifndef PGPU_RUNNER_PROBE_MEMORY_H
#define PGPU_RUNNER_PROBE_MEMORY_H

#include "probe_sample.h"

/* A process of which some descriptors are a card's: those are all that is read of it. */
enum { PROBE_HELD = 16 };
struct probe_holder {
	struct probe_process process;
	int count; /* beyond PROBE_HELD: more than are remembered */
	int descriptors[PROBE_HELD];
};

struct probe_memory {
	pid_t pid;
	bool shut; /* they could not be looked into */
	bool met;  /* in the sample that is being taken */
	/* Its folder fd. The number is its own as long as the kernel keeps it in memory; after that it is another, and
	 * the process is looked into once more. So this stands for pid and start time, for one system call. */
	uint64_t folder;
	uint64_t descriptors;
	int64_t changed_ns;
	int64_t looked_ns;
	struct probe_holder *holder; /* heap; NULL: it has nothing of a card's */
};

struct probe_memories {
	bool counts;		   /* the kernel tells how many descriptors there are */
	bool tells;		   /* it, or a tree that stands for /proc, shows that one was added */
	struct probe_memory *list; /* heap, in the order of their pids */
	struct probe_list size;
};

/* What a process is now; false when there is none. */
bool probe_memory_identify(int proc, pid_t pid, int64_t now_ns, struct probe_memory *ret_memory);
/* True when it was looked into and is still the same; `now` then gets `shut` and `holder` (borrowed) of that time. */
bool probe_memory_holds(struct probe_memories *memories, struct probe_memory *now);
/* Takes memory->holder over. */
void probe_memory_keep(struct probe_memories *memories, const struct probe_memory *memory);
void probe_memory_drop(struct probe_memories *memories, pid_t pid);
/* After a sample of all, or when there are many: those that were not met since the last time are dropped. */
void probe_memory_end(struct probe_memories *memories);
void probe_memory_free(struct probe_memories *memories);

#endif
