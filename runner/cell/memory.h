/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * How much RAM processes use where no kernel counts it for them: for a ceiling that is watched (runner/ceiling.c).
 * Counted is what memory.max would be enforced on: anonymous and shared memory that is resident. Not seen are files in
 * a tmpfs that no process has mapped; left out, since the kernel drops it first, is the page cache.
 *
 *     memory_machine()     an upper bound of any job's share, for one small read
 *     memory_add_whole()   a process, what it shares with others counted in full: cheap, too much
 *     memory_add_share()   a process, what it shares divided by its sharers (Pss), where it may be read: exact, and
 *                          slow for a large process, since its page tables are walked
 *
 * Source: proc_meminfo(5), proc_pid_status(5), and the kernel's Documentation/filesystems/proc.rst on smaps_rollup.
 */
#ifndef PGPU_RUNNER_MEMORY_H
#define PGPU_RUNNER_MEMORY_H

#include <stdint.h>
#include <sys/types.h>

struct memory_use {
	uint64_t bytes;
	uint64_t shared_bytes; /* of them in shared memory */
};

/* What all processes of the machine use; UINT64_MAX: unknown. Some 64 MiB too much, since its counters lag. */
uint64_t memory_machine(void);
/* Both add to `*use`, a struct memory_use; nothing for a process that is gone. */
void memory_add_whole(pid_t pid, void *use);
void memory_add_share(pid_t pid, void *use);

#endif
