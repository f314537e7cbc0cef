/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What processes do, as /proc tells it: for the stall rule (stall.h). One struct work gathers any number of them.
 *
 * Sources: proc_pid_stat(5) for times, group and terminal; proc_pid_io(5), whose rchar and wchar count every read(2)
 * and write(2), of pipes and sockets too (not recv(2): that shows as CPU); /proc/PID/syscall for what a thread sleeps
 * in, whose arguments are looked at with process_vm_readv(2). What may not be read is left out.
 */
#ifndef PGPU_RUNNER_ACTIVITY_H
#define PGPU_RUNNER_ACTIVITY_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct work {
	int64_t cpu_ns; /* user and system time; of processes that are there, in steps of 10 ms */
	uint64_t mark;	/* of who is there and what each has read and written: changes with any of it */
	int count;
};

/* Adds one process to `*work`, a struct work. Nothing for one that is gone. */
void activity_add(pid_t pid, void *work);

/* Sets `*reads`, a bool, when the process is in its terminal's foreground and one of its threads sleeps in a read of
 * that terminal, or in a poll(2), select(2) or the like that waits for it. */
void activity_reads_terminal(pid_t pid, void *reads);

#endif
