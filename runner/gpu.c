/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a job does on the cards, from look to look of the stall rule: its processes alone are looked into. */
#include <stdlib.h>

#include "runner/cell/pids.h"
#include "runner/cell/probe.h"
#include "runner/cell/probe_account.h"
#include "runner/cell/stray.h"
#include "runner/hold.h"

struct gpu {
	struct probe probe;
	struct probe_account account;
};

static struct gpu *gpu_of(struct hold *hold)
{
	if (hold->gpu)
		return hold->gpu;
	hold->gpu = calloc(1, sizeof *hold->gpu);
	if (hold->gpu)
		probe_open(&hold->gpu->probe);
	return hold->gpu;
}

static void list_processes(const struct hold *hold, bool outside, struct pids *pids)
{
	struct stray marked = { .mark = hold->mark };

	hold_each(hold, pids_add, pids);
	if (outside && hold->cell.fd >= 0)
		stray_each(&marked, pids_add, pids);
}

static enum gpu_use use_of(const struct probe_step *step)
{
	/* A first look has nothing to compare with; that is no doubt about the next. */
	if (step->doubt != PROBE_KNOWN && step->doubt != PROBE_FIRST)
		return GPU_UNKNOWN;
	return step->holds ? GPU_KNOWN : GPU_NOT_HELD;
}

void hold_gpu_look(struct hold *hold, bool outside, struct activity *now)
{
	struct gpu *gpu = gpu_of(hold);
	struct pids pids = { 0 };
	struct probe_sample sample = { 0 };
	struct probe_step step;
	struct err ignored = ERR_NONE;

	/* Without memory nothing is known, and that is no idleness. */
	now->gpu = GPU_UNKNOWN;
	if (!gpu)
		return;
	list_processes(hold, outside, &pids);
	struct probe_set job = pids_set(&pids);
	if (probe_sample(&gpu->probe, &job, &sample, &ignored) == 0 &&
	    probe_account_add(&gpu->account, &sample, &job, &step, &ignored) == 0) {
		now->gpu = use_of(&step);
		now->gpu_ns = gpu->account.busy_ns;
	}
	probe_sample_free(&sample);
	free(pids.list);
}

void hold_gpu_end(struct hold *hold)
{
	if (!hold->gpu)
		return;
	probe_account_free(&hold->gpu->account);
	probe_close(&hold->gpu->probe);
	free(hold->gpu);
	hold->gpu = NULL;
}
