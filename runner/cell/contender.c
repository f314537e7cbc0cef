/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "contender.h"

#include <stdlib.h>
#include <string.h>

#include "conf/base/fmt.h"
#include "conf/base/names.h"
#include "conf/base/scope.h"
#include "probe.h"
#include "probe_walk.h"

/* A DRM client, or, told by the pid as `id`, a process on an NVIDIA card. */
struct contender_held {
	uint64_t pci, id;
	char driver[PROBE_NAME];
	bool process;
	uint32_t owner;
	int64_t bytes;
};

static const char kfd_folder[] = "class/kfd/kfd/proc";

void contender_kfd_read(const struct probe *probe, struct contender_kfd *ret_kfd)
{
	struct contender_kfd kfd = { 0 };
	SCOPE_NAMES struct names names = NAMES_NONE;
	SCOPE_FD int folder = probe->sys < 0 || probe->abroad ? -1 : probe_folder(probe->sys, kfd_folder);
	const struct dirent64 *found;
	struct probe_process process;

	*ret_kfd = kfd;
	if (folder < 0 || names_open(&names, folder) < 0)
		return;
	while ((found = names_next(&names))) {
		pid_t pid = (pid_t)probe_name_number(found->d_name, INT32_MAX);
		/* Entries outlive their process for a moment: such a one wants nothing any more. */
		if (pid <= 0 || !probe_walk_name(probe->proc, pid, &process))
			continue;
		struct probe_process *more = probe_grow(kfd.list, &kfd.size, sizeof *more, CONTENDER_KFD);
		if (!more)
			break;
		kfd.list = more;
		kfd.list[kfd.size.count++] = process;
	}
	*ret_kfd = kfd;
}

void contender_kfd_free(struct contender_kfd *kfd)
{
	free(kfd->list);
	*kfd = (struct contender_kfd){ 0 };
}

/* Where jobs live on that card: an APU's are in the machine's memory. */
static int64_t bytes_of(const struct probe_sample *sample, const struct probe_client *client)
{
	const struct probe_card *card = probe_cards_find(&sample->cards, client->pci, client->driver);
	int64_t bytes = probe_client_bytes(client, PROBE_VRAM), more;

	if (!card || !card->apu)
		return bytes;
	more = probe_client_bytes(client, PROBE_GTT);
	return bytes < 0 || more < 0 || __builtin_add_overflow(bytes, more, &bytes) ? -1 : bytes;
}

static struct contender_held of_client(const struct probe_sample *sample, const struct probe_client *client)
{
	struct contender_held held = {
		.pci = client->pci, .id = client->id, .owner = client->owner, .bytes = bytes_of(sample, client)
	};

	memcpy(held.driver, client->driver, sizeof held.driver);
	return held;
}

static struct contender_held of_share(const struct probe_sample *sample, const struct probe_share *share)
{
	return (struct contender_held){ .pci = share->pci,
					.id = (uint64_t)sample->processes[share->process].pid,
					.process = true,
					.owner = share->process,
					.bytes = share->vram_bytes };
}

static int keep(struct contender_base *base, const struct contender_held *held)
{
	struct contender_held *more = probe_grow(base->list, &base->size, sizeof *more, SIZE_MAX / sizeof *more);

	if (!more)
		return -1;
	base->list = more;
	base->list[base->size.count++] = *held;
	return 0;
}

int contender_base_take(const struct probe_sample *sample, struct contender_base *ret_base, struct err *err)
{
	struct contender_base base = { 0 };
	int result = 0;

	for (size_t i = 0; result == 0 && i < sample->client_list.count; i++) {
		struct contender_held held = of_client(sample, &sample->clients[i]);
		result = keep(&base, &held);
	}
	for (size_t i = 0; result == 0 && i < sample->share_list.count; i++) {
		struct contender_held held = of_share(sample, &sample->shares[i]);
		if (sample->shares[i].via == PROBE_NVML)
			result = keep(&base, &held);
	}
	*ret_base = base;
	return result < 0 ? err_sys(err, "cannot look at the cards") : 0;
}

void contender_base_free(struct contender_base *base)
{
	free(base->list);
	*base = (struct contender_base){ 0 };
}

static bool same(const struct contender_held *a, const struct contender_held *b)
{
	return a->pci == b->pci && a->id == b->id && a->process == b->process && strcmp(a->driver, b->driver) == 0;
}

/* One that was not there held nothing; of one that could not be read then, nothing is known now. */
static bool has_grown(const struct contender_base *base, const struct contender_held *now, uint64_t allowed_bytes)
{
	int64_t before = 0;

	for (size_t i = 0; i < base->size.count; i++) {
		if (same(&base->list[i], now))
			before = base->list[i].bytes;
	}
	return before >= 0 && now->bytes > before && (uint64_t)(now->bytes - before) > allowed_bytes;
}

static void name_it(const struct probe_process *process, struct contender *contender)
{
	contender->pid = process->pid;
	contender->start = process->start;
	fmt(contender->comm, sizeof contender->comm, "%s", process->named ? process->comm : "");
}

/* -1: the KFD does not say, or it has none yet. */
static int64_t kfd_bytes(const struct probe_sample *sample, pid_t pid)
{
	int64_t bytes = -1;

	for (size_t i = 0; i < sample->share_list.count; i++) {
		const struct probe_share *share = &sample->shares[i];
		if (share->via == PROBE_KFD && sample->processes[share->process].pid == pid &&
		    share->vram_bytes > bytes)
			bytes = share->vram_bytes;
	}
	return bytes;
}

static bool is_foreign_growth(const struct probe_sample *sample, const struct probe_set *ours,
			      const struct contender_base *base, const struct contender_held *now,
			      uint64_t allowed_bytes, struct contender *contender)
{
	if (now->owner >= sample->process_list.count)
		return false;
	const struct probe_process *owner = &sample->processes[now->owner];
	if (probe_set_has(ours, owner->pid) || !has_grown(base, now, allowed_bytes))
		return false;
	name_it(owner, contender);
	contender->vram_bytes = now->bytes;
	return true;
}

bool contender_find(const struct probe_sample *sample, const struct probe_set *ours, const struct contender_kfd *kfd,
		    const struct contender_base *base, uint64_t allowed_bytes, struct contender *ret_contender)
{
	struct contender contender = { .vram_bytes = -1 };
	bool found = false;

	for (size_t i = 0; !found && i < kfd->size.count; i++) {
		if (probe_set_has(ours, kfd->list[i].pid))
			continue;
		name_it(&kfd->list[i], &contender);
		contender.kfd = found = true;
		contender.vram_bytes = kfd_bytes(sample, contender.pid);
	}
	for (size_t i = 0; !found && base && i < sample->client_list.count; i++) {
		struct contender_held now = of_client(sample, &sample->clients[i]);
		found = is_foreign_growth(sample, ours, base, &now, allowed_bytes, &contender);
	}
	for (size_t i = 0; !found && base && i < sample->share_list.count; i++) {
		struct contender_held now = of_share(sample, &sample->shares[i]);
		if (sample->shares[i].via == PROBE_NVML)
			found = is_foreign_growth(sample, ours, base, &now, allowed_bytes, &contender);
	}
	if (found)
		*ret_contender = contender;
	return found;
}
