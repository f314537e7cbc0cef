/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Who uses the cards of this machine, and how: one look at them, a sample, is a value that its caller owns. Everything
 * behind it is a pure function of samples:
 *
 *     struct probe probe;
 *     probe_open(&probe);                           the root folders; never fails
 *     probe_sample(&probe, NULL, &sample, &err);    all processes; or a set of them, the processes of one job
 *     probe_use_of(&sample, &set, &use);            probe_use.h      what a set of processes holds, of each card
 *     probe_account_add(&account, &sample, ...);    probe_account.h  and what it did since the sample before
 *     probe_foreign_list(&sample, &ours, ...);      probe_foreign.h  who else uses the cards
 *     probe_sample_free(&sample);
 *     probe_close(&probe);
 *
 * No card is woken, nothing but NVIDIA's reader is started, and no text of /proc or /sys is trusted (probe_text.h).
 * Sources:
 *
 *     /sys/class/drm/cardN/device     probe_card.h    the cards, their load and memory
 *     /proc/PID/fd, /proc/PID/fdinfo  probe_drm.h     DRM clients; proc_pid_fdinfo(5)
 *     /sys/class/kfd/kfd              probe_kfd.h     processes that compute on AMD cards (ROCm)
 *     libnvidia-ml.so.1               probe_nvml.h    NVIDIA cards and their processes, by a reader (runner/cell/nvml)
 *
 * The descriptors of another user's processes, and of one that may not be dumped, take CAP_SYS_PTRACE (caps.h). What
 * cannot be looked into is counted, and is unknown; it is never idle. A process that was
 * looked into and holds nothing is not looked into again for a while (probe_memory.h).
 */
#ifndef PGPU_RUNNER_PROBE_H
#define PGPU_RUNNER_PROBE_H

#include "conf/base/err.h"
#include "probe_memory.h"
#include "probe_sample.h"

struct probe_nvml;
enum { PROBE_TEXT = 16 << 10 };

struct probe {
	int proc, sys;		 /* -1: not there */
	bool elsewhere;		 /* PGPU_PROCFS or PGPU_SYSFS stands for the machine's: no reader is started then */
	bool ignored;		 /* they were set, and do not count: pgpu's file has capabilities */
	bool abroad;		 /* as in a sample */
	struct probe_nvml *nvml; /* NULL: none here */
	struct probe_memories memory;
	size_t looked;	       /* processes whose descriptors were listed, in all */
	char text[PROBE_TEXT]; /* of one descriptor */
};

/* Opens /proc and /sys, or what PGPU_PROCFS and PGPU_SYSFS (absolute paths) name instead. */
void probe_open(struct probe *ret_probe);
void probe_close(struct probe *probe);
/* Those folders alone; -1: not there. */
int probe_open_proc(void);
int probe_open_sys(void);

/*
 * `only` NULL: every process. Else those alone, of the descriptors as of the drivers' lists; who holds a client beside
 * them is not known then. -1 when memory is out; `*ret_sample` is to be freed in any case.
 */
int probe_sample(struct probe *probe, const struct probe_set *only, struct probe_sample *ret_sample, struct err *err);

#endif
