/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a job does on the cards, from look to look: its processes alone are looked into. */
#include <stdlib.h>
#include <unistd.h>

#include "conf/base/clock.h"
#include "conf/base/fmt.h"
#include "conf/base/say.h"
#include "conf/base/text.h"
#include "conf/jobid.h"
#include "runner/cell/gpuwatch.h"
#include "runner/cell/pids.h"
#include "runner/cell/probe.h"
#include "runner/cell/probe_kfd.h"
#include "runner/cell/probe_nvml.h"
#include "runner/cell/stray.h"
#include "runner/hold.h"

#define EARLY_NS (NS_PER_S / 10)

struct gpu {
	struct probe probe;
	struct probe_account account;
	struct gpuwatch watch;
	int64_t away_ns; /* the hold's, at the last look */
	struct reclaim reclaim;
	struct gpuoom_evidence evidence; /* its figures of a card alone */
	bool let_go;			 /* the last look found nothing to wait for */
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

pid_t hold_gpu_reader(const struct hold *hold)
{
	return hold->gpu ? probe_nvml_reader(hold->gpu->probe.nvml) : 0;
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

/* Of the card that it has most of. */
static void keep_evidence(struct gpu *gpu, const struct probe_cards *cards, const struct probe_use *use)
{
	struct gpuoom_evidence *evidence = &gpu->evidence;

	evidence->held_bytes = evidence->free_bytes = evidence->total_bytes = -1;
	for (int i = 0; i < use->card_count; i++) {
		const struct probe_card *card = probe_cards_find(cards, use->cards[i].pci, use->cards[i].driver);
		if (!card || use->cards[i].vram_bytes <= evidence->held_bytes)
			continue;
		bool known = card->vram_total_bytes > 0 && card->vram_used_bytes >= 0 && !card->apu;
		evidence->held_bytes = use->cards[i].vram_bytes;
		evidence->total_bytes = known ? card->vram_total_bytes : -1;
		evidence->free_bytes = known ? card->vram_total_bytes - card->vram_used_bytes : -1;
	}
}

/* A job that has just let go of all its memory may be about to end, with that memory still on its way back. */
static void keep_plan(struct gpu *gpu, const struct probe_cards *cards, const struct probe_use *use)
{
	struct reclaim plan;

	reclaim_plan(cards, use, &plan);
	if (plan.count || gpu->let_go) {
		gpu->reclaim = plan;
		keep_evidence(gpu, cards, use);
	}
	gpu->let_go = plan.count == 0;
}

/* Where the kernel does not keep the ceiling: told once, and nothing is stopped for it. */
static void tell_above(struct hold *hold, const struct probe_use *use)
{
	uint64_t most = hold->member->job.vram_max_bytes;
	char ceiling[TEXT_SIZE], held[TEXT_SIZE];

	for (int i = 0; i < use->card_count; i++) {
		int64_t bytes = use->cards[i].vram_bytes;
		if (most == 0 || hold->vram_told || hold->cell.vram || bytes < 0 || (uint64_t)bytes <= most)
			continue;
		text_size_show((uint64_t)bytes, held);
		text_size_show(most, ceiling);
		say("job %s has %s of the card's memory, above its ceiling of %s; watched, not enforced by the "
		    "kernel",
		    JOBID(hold->member->job.id), held, ceiling);
		hold->vram_told = true;
	}
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
		tell_above(hold, &use);
		/* What is dying already is used and held by nobody: that would make the floor too high. */
		if (!hold->gone && !hold->kill_at_ns)
			keep_plan(gpu, &sample.cards, &use);
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
	if (look(hold, outside, &step) != 0)
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
	int64_t now = hold->seen_ns; /* a call less at each start */

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

static bool had_client(const struct gpu *gpu, const struct probe_client *client)
{
	for (size_t i = 0; i < gpu->account.list.count; i++) {
		if (probe_client_same(&gpu->account.clients[i].client, client))
			return true;
	}
	return false;
}

/* Has a card open, and is the job's: by a client that was the job's, or by the mark. */
static bool is_left(const struct gpu *gpu, const struct probe_sample *sample, uint32_t process,
		    const struct probe_set *marked)
{
	bool ours = probe_set_has(marked, sample->processes[process].pid);

	for (size_t i = 0; i < sample->hold_list.count; i++) {
		if (sample->holds[i].process == process &&
		    (ours || had_client(gpu, &sample->clients[sample->holds[i].client])))
			return true;
	}
	for (size_t i = 0; ours && i < sample->share_list.count; i++) {
		if (sample->shares[i].process == process && !sample->processes[process].gone)
			return true;
	}
	return false;
}

static void find_left(const struct hold *hold, const struct probe_sample *sample, const struct probe_set *marked,
		      struct reclaim *reclaim, char name[32])
{
	for (uint32_t i = 0; i < sample->process_list.count && reclaim->holder_count < RECLAIM_HOLDERS; i++) {
		const struct probe_process *process = &sample->processes[i];
		if (process->pid == getpid() || !is_left(hold->gpu, sample, i, marked))
			continue;
		if (reclaim->holder_count == 0)
			text_show(process->named ? process->comm : "?", name, 32);
		reclaim->holders[reclaim->holder_count].pid = process->pid;
		reclaim->holders[reclaim->holder_count++].start = process->start;
	}
}

/* Of a job that had a card, once it has ended: every process of the machine is looked at, one time. */
static void look_for_left(struct hold *hold, struct verdict *verdict)
{
	struct reclaim *reclaim = &verdict->reclaim;
	struct stray stray = { .mark = hold->mark, .since = hold->member->job.main.start };
	struct pids pids = { 0 };
	SCOPE_SAMPLE struct probe_sample sample = { 0 };
	struct err ignored = ERR_NONE;
	char name[32] = "?", more[32] = "";

	if (probe_sample(&hold->gpu->probe, NULL, &sample, &ignored) < 0)
		return;
	stray_each(&stray, pids_add, &pids);
	struct probe_set marked = pids_set(&pids);
	find_left(hold, &sample, &marked, reclaim, name);
	free(pids.list);
	if (reclaim->holder_count > 1)
		fmt(more, sizeof more, ", and %d more", reclaim->holder_count - 1);
	if (reclaim->holder_count)
		err_set(&ignored, EXIT_OK, "job %s has ended; its process %d (%s) still has the card open%s",
			JOBID(hold->member->job.id), reclaim->holders[0].pid, name, more);
	if (ignored.text[0] && verdict->why.text[0])
		say("%s", ignored.text);
	else if (ignored.text[0])
		verdict->why = ignored;
}

void hold_gpu_evidence(const struct hold *hold, struct gpuoom_evidence *evidence)
{
	if (!hold->gpu || !hold->gpu->watch.held)
		return;
	evidence->held_bytes = hold->gpu->evidence.held_bytes;
	evidence->free_bytes = hold->gpu->evidence.free_bytes;
	evidence->total_bytes = hold->gpu->evidence.total_bytes;
}

void hold_gpu_judge(struct hold *hold, struct verdict *verdict)
{
	if (!hold->gpu)
		return;
	verdict->gpu_ns = gpuwatch_total_ns(&hold->gpu->watch);
	if (!hold->gpu->watch.held)
		return;
	verdict->reclaim = hold->gpu->reclaim;
	look_for_left(hold, verdict);
	if (hold->member->line->conf.vram_settle_ns == 0)
		verdict->reclaim = (struct reclaim){ 0 };
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
