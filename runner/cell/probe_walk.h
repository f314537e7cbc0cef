/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The part of a sample that comes from the processes' descriptors. Which of them are devices is asked of the links in
 * /proc/PID/fd, which are read and never followed; where those are not to be had (another user's, with CAP_SYS_PTRACE
 * alone) every descriptor's fdinfo is read instead. Of devices outside /dev, as some containers name them, nothing is
 * seen in a process of one's own.
 */
#ifndef PGPU_RUNNER_PROBE_WALK_H
#define PGPU_RUNNER_PROBE_WALK_H

#include "probe.h"

/* All processes, or those of `only`. Of a machine that has no card nobody is looked at, unless he is of `only`. */
void probe_walk(struct probe *probe, const struct probe_set *only, struct probe_sample *sample);
/* Start time and name, as far as they can be read; false when there is no such process. */
bool probe_walk_name(int proc, pid_t pid, struct probe_process *ret_process);
/* Field 22 of /proc/PID/stat (proc_pid_stat(5)); 0: it is not there. The name in it may hold anything. */
uint64_t probe_stat_start(struct probe_span text);

#endif
