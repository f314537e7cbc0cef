/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "probe_foreign.h"

#include <stdlib.h>
#include <string.h>

#include "conf/base/fmt.h"
#include "conf/base/scope.h"

struct found {
	struct probe_foreign *list;
	struct probe_list size;
};

static bool append(struct found *found, const struct probe_process *process, const struct probe_foreign *what)
{
	struct probe_foreign *more = probe_grow(found->list, &found->size, sizeof *more, SIZE_MAX / sizeof *more);

	if (!more)
		return false;
	found->list = more;
	more += found->size.count++;
	*more = *what;
	more->pid = process->pid;
	more->named = process->named;
	memcpy(more->comm, process->comm, sizeof more->comm);
	return true;
}

/* Where jobs live on that card. */
static int64_t bytes_of(const struct probe_sample *sample, const struct probe_card_use *use)
{
	const struct probe_card *card = probe_cards_find(&sample->cards, use->pci, use->driver);
	int64_t bytes = use->vram_bytes;
	bool apu = card && card->apu, lent = !use->own_memory && !(card && card->vram_total_bytes > 0);

	if ((apu || lent) && (bytes < 0 || use->gtt_bytes < 0 || __builtin_add_overflow(bytes, use->gtt_bytes, &bytes)))
		return -1;
	if (lent && (use->system_bytes < 0 || __builtin_add_overflow(bytes, use->system_bytes, &bytes)))
		return -1;
	return bytes;
}

static bool add_process(struct found *found, const struct probe_sample *sample, const struct probe_process *process)
{
	const struct probe_set alone = { &process->pid, 1 };
	struct probe_use use;

	probe_use_of(sample, &alone, &use);
	for (int i = 0; i < use.card_count; i++) {
		const struct probe_card_use *card = &use.cards[i];
		struct probe_foreign what = { .pci = card->pci, .vram_bytes = bytes_of(sample, card) };
		fmt(what.via, sizeof what.via, "%s",
		    card->kfd	    ? "kfd"
		    : card->nvml    ? "nvml"
		    : card->clients ? "drm"
				    : "unknown");
		if ((what.vram_bytes != 0 || card->worked) && !append(found, process, &what))
			return false;
	}
	return true;
}

/* Whoever drivers name in another pid namespace: nobody can say that he is ours. */
static bool add_abroad(struct found *found, const struct probe_sample *sample)
{
	for (size_t i = 0; sample->abroad && i < sample->share_list.count; i++) {
		const struct probe_share *share = &sample->shares[i];
		struct probe_foreign what = { .pci = share->pci, .vram_bytes = share->vram_bytes };
		struct probe_process process = { .pid = sample->processes[share->process].pid };
		fmt(what.via, sizeof what.via, "%s", share->via == PROBE_KFD ? "kfd" : "nvml");
		if (share->via != PROBE_BLIND && !append(found, &process, &what))
			return false;
	}
	return true;
}

static int compare(const void *left, const void *right)
{
	const struct probe_foreign *a = left, *b = right;

	if (a->vram_bytes != b->vram_bytes)
		return (a->vram_bytes < b->vram_bytes) - (a->vram_bytes > b->vram_bytes);
	if (a->pid != b->pid)
		return (a->pid > b->pid) - (a->pid < b->pid);
	return (a->pci > b->pci) - (a->pci < b->pci);
}

/* Most processes that are shut hold nothing of a card's: only those that are known to are looked at. */
static bool has_something(const struct probe_sample *sample, uint32_t process)
{
	for (size_t i = 0; i < sample->client_list.count; i++) {
		if (sample->clients[i].owner == process)
			return true;
	}
	for (size_t i = 0; i < sample->share_list.count; i++) {
		if (sample->shares[i].process == process)
			return true;
	}
	return false;
}

int probe_foreign_list(const struct probe_sample *sample, const struct probe_set *ours, struct probe_foreign **ret_list,
		       size_t *ret_count, struct err *err)
{
	struct found found = { 0 };
	bool enough = add_abroad(&found, sample);

	for (uint32_t i = 0; enough && i < sample->process_list.count; i++) {
		const struct probe_process *process = &sample->processes[i];
		/* In a container a driver's process may have the number of one of ours. */
		if (!probe_set_has(ours, process->pid) && has_something(sample, i) &&
		    probe_find_process(sample, process->pid) == i)
			enough = add_process(&found, sample, process);
	}
	if (!enough) {
		free(found.list);
		return err_sys(err, "cannot list who uses the cards");
	}
	if (found.size.count)
		qsort(found.list, found.size.count, sizeof found.list[0], compare);
	*ret_list = found.list;
	*ret_count = found.size.count;
	return 0;
}
