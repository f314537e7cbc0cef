/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Capabilities (capabilities(7)). A job has what an exec of its command by pgpu's caller would have given it:
 *
 * - What a file capability gave pgpu is given back for good by the first thing that main() does, so it is gone before
 *   any job exists. `status` alone keeps one, CAP_SYS_PTRACE, in its permitted set: it is raised around the look at the
 *   cards' users (other users' /proc/PID/fdinfo takes it) and given back after that.
 * - The caller's ambient, inheritable and bounding sets pass through untouched, and of these the kernel makes the job's
 *   permitted and effective sets. The kernel itself clears the ambient set where pgpu's file has a capability.
 * - A spooled job has none of a caller's: its worker may be anybody's, started by another call than its submit.
 * - A class may take more away. That happens in the child, after the clone and before the exec.
 *
 * The bounding set cannot shrink without CAP_SETPCAP. Then a class that limits its jobs' capabilities sets
 * no-new-privileges as well: nothing that the job executes can gain what was taken.
 */
#ifndef PGPU_RUNNER_CAPS_H
#define PGPU_RUNNER_CAPS_H

#include <stdbool.h>
#include <stdint.h>

#include "conf/base/err.h"

/*
 * For main(): 1 when the file gave something and it is given back, 0 when it gave nothing, which takes no system call;
 * -1 with exit code EXIT_BROKEN. `keep_probe`: but for what caps_probe() raises.
 */
int caps_give_back(bool keep_probe, struct err *err);
/* CAP_SYS_PTRACE: raised where it was kept, or given back for good. */
void caps_probe(bool raise);
/* For a worker: no ambient and no inheritable capability, and none at all where it is not root's. */
int caps_forget_caller(struct err *err);

/* Made before the clone; to apply it the child neither allocates nor looks anything up. */
struct caps_plan {
	void *sets; /* NULL: they stay */
	uint64_t drop;
	bool no_new_privileges;
};

/* `keep` is a class's `capabilities` (conf.h), 0 for no limit. Exit code EXIT_BROKEN. */
int caps_plan(uint64_t keep, bool no_new_privileges, struct caps_plan *ret_plan, struct err *err);
/* 0, or -1 and errno: the job must not start then. */
int caps_apply(const struct caps_plan *plan);
void caps_plan_free(struct caps_plan *plan);
#define SCOPE_CAPS __attribute__((cleanup(caps_plan_free)))

#endif
