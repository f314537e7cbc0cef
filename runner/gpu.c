/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a job does on the cards, from look to look: its processes alone are looked into. */
#include <stdlib.h>
#include <unistd.h>

#include "conf/base/clock.h"
#include "runner/cell/gpuwatch.h"
#include "runner/cell/pids.h"
#include "runner/cell/probe.h"
#include "runner/cell/probe_kfd.h"
#include "runner/cell/stray.h"
#include "runner/hold.h"

#define EARLY_NS (NS_PER_S / 10)

struct gpu {
	struct probe probe;
	struct probe_account account;
	struct gpuwatch watch;
	int64_t away_ns; /* the hold's, at the last look */
};

static struct gpu *gpu_of(struct hold *hold)
{
	if (hold->gpu)
		return hold->gpu;
	hold->gpu = calloc(1, sizeof *hold->gpu);
	if (hold->gpu) {
		probe_open(&hold->gpu->probe);
		hold->gpu->watch = GPUWATCH_NEW;
	}
	return hold->gpu;
}

static void list_processes(const struct hold *hold, bool outside, struct pids *pids)
{
	struct stray marked = { .mark = hold->mark };

	hold_each(hold, pids_add, pids);
	if (outside && hold->cell.fd >= 0)
		stray_each(&marked, pids_add, pids);
}

static bool is_cardless(const struct gpu *gpu, const struct probe_sample *sample)
{
	return sample->cards.count == 0 && sample->process_list.count == 0 && !gpu->probe.nvml &&
	       !probe_kfd_there(gpu->probe.sys);
}

/*
 * We are looked at too: a descriptor of a card that our caller left open is in us as in the job, and we began first, so
 * that its client is not the job's.
 */
static int sample_job(struct hold *hold, const struct probe_set *job, struct probe_sample *sample)
{
	struct pids with_us = { 0 };
	struct err ignored = ERR_NONE;

	for (size_t i = 0; i < job->count; i++)
		pids_add(job->pids[i], &with_us);
	if (hold->task->interactive)
		pids_add(getpid(), &with_us);
	struct probe_set set = pids_set(&with_us);
	int result = probe_sample(&hold->gpu->probe, &set, sample, &ignored);
	free(with_us.list);
	return result;
}

/* -1: nothing was learnt. */
static int look(struct hold *hold, bool outside, struct probe_step *ret_step)
{
	struct gpu *gpu = gpu_of(hold);
	struct pids pids = { 0 };
	struct probe_sample sample = { 0 };
	struct probe_use use;
	struct err ignored = ERR_NONE;

	if (!gpu)
		return -1;
	list_processes(hold, outside, &pids);
	struct probe_set job = pids_set(&pids);
	int result = sample_job(hold, &job, &sample);
	if (result == 0)
		result = probe_account_add(&gpu->account, &sample, &job, ret_step, &ignored);
	if (result == 0) {
		probe_use_of(&sample, &job, &use);
		struct gpuwatch_look seen = { .step = ret_step,
					      .busy_ns = gpu->account.busy_ns,
					      .vram_bytes = probe_use_vram(&use),
					      .cardless = is_cardless(gpu, &sample),
					      .broken = gpu->away_ns != hold->away_ns };
		gpuwatch_add(&gpu->watch, &seen);
		gpu->away_ns = hold->away_ns;
	}
	probe_sample_free(&sample);
	free(pids.list);
	return result;
}

static enum gpu_use use_of(const struct probe_step *step)
{
	/* A first look has nothing to compare with; that is no doubt about the next. */
	if (step->doubt != PROBE_KNOWN && step->doubt != PROBE_FIRST)
		return GPU_UNKNOWN;
	return step->holds ? GPU_KNOWN : GPU_NOT_HELD;
}

static void look_later(struct hold *hold)
{
	const struct gpuwatch *watch = &hold->gpu->watch;

	hold->card_at_ns = watch->cardless ? INT64_MAX : clock_awake_ns() + watch->interval_ns;
}

/* For who asks: `status` has no time for two looks. Of a job that holds no card its lane says nothing. */
static void note(struct hold *hold)
{
	const struct gpuwatch *watch = &hold->gpu->watch;
	struct entry *job = &hold->member->job;
	int64_t now = clock_boot_ns();
	struct err ignored = ERR_NONE;

	if (!watch->held || (job->looked_boot_ns && !gpuwatch_is_news(watch, job->gpu_permille, job->on_card_bytes,
								      now - job->looked_boot_ns)))
		return;
	job->looked_boot_ns = now;
	job->gpu_permille = watch->permille;
	job->gpu_ns = gpuwatch_total_ns(watch);
	job->on_card_bytes = watch->vram_bytes;
	hold_note(hold, &ignored);
}

void hold_gpu_look(struct hold *hold, bool outside, struct activity *now)
{
	struct probe_step step;

	/* Without memory nothing is known, and that is no idleness. */
	now->gpu = GPU_UNKNOWN;
	if (look(hold, outside, &step) < 0)
		return;
	now->gpu = use_of(&step);
	now->gpu_ns = hold->gpu->account.busy_ns;
	note(hold);
	look_later(hold);
}

void hold_gpu_begin(struct hold *hold)
{
	/* A service looks at the card by itself, and has no lane to say so on. */
	hold->card_at_ns = hold->task->service ? INT64_MAX : hold->began_ns + GPUWATCH_OFTEN_NS;
}

void hold_gpu_watch(struct hold *hold)
{
	struct probe_step step;
	int64_t now = clock_awake_ns();

	/* The rules wake us as often, and nearly then. */
	if (hold->card_at_ns == INT64_MAX || now < hold->card_at_ns - EARLY_NS)
		return;
	hold->card_at_ns = now + GPUWATCH_SELDOM_NS;
	if (hold_empty(hold) || look(hold, hold->outside, &step) < 0)
		return;
	note(hold);
	look_later(hold);
}

void hold_gpu_again(struct hold *hold)
{
	struct probe_step step;

	if (hold->gpu && hold->gpu->watch.held)
		look(hold, hold->outside, &step);
}

void hold_gpu_judge(const struct hold *hold, struct verdict *verdict)
{
	verdict->gpu_ns = hold->gpu ? gpuwatch_total_ns(&hold->gpu->watch) : -1;
}

void hold_gpu_end(struct hold *hold)
{
	struct entry *job = &hold->member->job;

	if (!hold->gpu)
		return;
	probe_account_free(&hold->gpu->account);
	probe_close(&hold->gpu->probe);
	free(hold->gpu);
	hold->gpu = NULL;
	job->looked_boot_ns = job->gpu_ns = job->on_card_bytes = 0;
	job->gpu_permille = 0;
}
