/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Who a process is. On disk: pid, start time (field 22 of /proc/PID/stat, proc(5), in clock ticks since boot) and pid
 * namespace; the folder it is written in carries the boot id. In memory: a pidfd. A bare pid is never kept over time
 * and never passed to kill(2).
 */
#ifndef PGPU_BASE_PROCID_H
#define PGPU_BASE_PROCID_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "conf/base/err.h"

struct procid {
	pid_t pid;	/* 0: nobody */
	uint64_t start; /* clock ticks since boot */
	uint64_t ns;	/* inode of /proc/PID/ns/pid */
};

/* This process; read once, then remembered (a forked child that goes on must call procid_forget()). */
const struct procid *procid_self(void);
void procid_forget(void);
/* Fills `ret_id` for a living process of this namespace; -1 when it is gone. A zombie counts as gone. */
int procid_read(pid_t pid, struct procid *ret_id);
/* Still there and still the same one. False for another namespace's process: it cannot be told. */
bool procid_alive(const struct procid *id);
/* True while it is stopped (state T or t). */
bool procid_stopped(const struct procid *id);
/*
 * A pidfd of exactly this process: opened first, start time compared after, so that a reused pid is never hit.
 * -1 with errno ESRCH when it is gone or of another namespace.
 */
int procid_open(const struct procid *id);
/* Sends `sig` to exactly this process; false when it is gone. */
bool procid_signal(const struct procid *id, int sig);
bool procid_equal(const struct procid *a, const struct procid *b);

/* The kernel's random id of this boot, 36 characters (/proc/sys/kernel/random/boot_id), read once; NULL where it cannot
 * be read: with any other name for it, a call would see empty lanes beside those that are held. */
const char *procid_boot(struct err *err);

#endif
