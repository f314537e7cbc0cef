/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "probe_sample.h"

#include <stdlib.h>
#include <string.h>

enum { PROCESSES_MAX = 1 << 20, CLIENTS_MAX = 4096, HOLDS_MAX = 1 << 16, SHARES_MAX = 1 << 14 };

static int compare_pids(const void *left, const void *right)
{
	pid_t a = *(const pid_t *)left, b = *(const pid_t *)right;

	return (a > b) - (a < b);
}

bool probe_set_has(const struct probe_set *set, pid_t pid)
{
	size_t low = 0, high = set ? set->count : 0;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (set->pids[middle] == pid)
			return true;
		if (set->pids[middle] < pid)
			low = middle + 1;
		else
			high = middle;
	}
	return !set;
}

size_t probe_set_sort(pid_t *pids, size_t count)
{
	size_t left = 0;

	if (count)
		qsort(pids, count, sizeof pids[0], compare_pids);
	for (size_t i = 0; i < count; i++) {
		if (left == 0 || pids[left - 1] != pids[i])
			pids[left++] = pids[i];
	}
	return left;
}

void *probe_grow(void *items, struct probe_list *list, size_t size, size_t most)
{
	if (list->count >= most)
		return NULL;
	if (list->count < list->room)
		return items;
	size_t room = list->room ? list->room * 2 : 32;
	void *more = realloc(items, room * size);
	if (more)
		list->room = room;
	return more;
}

/* A list that is full makes the sample partial, one that memory ran out for makes it fail. */
static bool room_for(struct probe_sample *sample, void *items, struct probe_list *list, size_t size, size_t most)
{
	void *more = probe_grow(*(void **)items, list, size, most);

	if (more)
		*(void **)items = more;
	else if (list->count >= most)
		sample->partial = true;
	else
		sample->failed = true;
	return more;
}

uint32_t probe_add_process(struct probe_sample *sample, const struct probe_process *process)
{
	if (!room_for(sample, &sample->processes, &sample->process_list, sizeof *process, PROCESSES_MAX))
		return PROBE_NOBODY;
	sample->processes[sample->process_list.count] = *process;
	return (uint32_t)sample->process_list.count++;
}

static bool began_before(const struct probe_process *a, const struct probe_process *b)
{
	uint64_t start_a = a->start ? a->start : UINT64_MAX, start_b = b->start ? b->start : UINT64_MAX;

	return start_a != start_b ? start_a < start_b : a->pid < b->pid;
}

static void add_hold(struct probe_sample *sample, uint32_t process, uint32_t client)
{
	struct probe_client *held = &sample->clients[client];

	if (held->owner == PROBE_NOBODY || began_before(&sample->processes[process], &sample->processes[held->owner]))
		held->owner = process;
	/* Its descriptors come one after the other. */
	for (size_t i = sample->hold_list.count; i-- > 0 && sample->holds[i].process == process;) {
		if (sample->holds[i].client == client)
			return;
	}
	if (room_for(sample, &sample->holds, &sample->hold_list, sizeof sample->holds[0], HOLDS_MAX))
		sample->holds[sample->hold_list.count++] = (struct probe_hold){ process, client };
}

uint32_t probe_add_client(struct probe_sample *sample, const struct probe_client *client, uint32_t process)
{
	uint32_t at = 0;

	while (at < sample->client_list.count && !probe_client_same(&sample->clients[at], client))
		at++;
	if (at == sample->client_list.count) {
		if (!room_for(sample, &sample->clients, &sample->client_list, sizeof *client, CLIENTS_MAX))
			return PROBE_NOBODY;
		sample->clients[at] = *client;
		sample->clients[at].owner = PROBE_NOBODY;
		sample->client_list.count++;
	}
	add_hold(sample, process, at);
	return at;
}

void probe_add_share(struct probe_sample *sample, const struct probe_share *share)
{
	/* Many descriptors of one device tell no more than one. */
	for (size_t i = 0; share->via == PROBE_BLIND && i < sample->share_list.count; i++) {
		const struct probe_share *other = &sample->shares[i];
		if (other->via == PROBE_BLIND && other->process == share->process && other->pci == share->pci)
			return;
	}
	if (room_for(sample, &sample->shares, &sample->share_list, sizeof *share, SHARES_MAX))
		sample->shares[sample->share_list.count++] = *share;
}

uint32_t probe_find_process(const struct probe_sample *sample, pid_t pid)
{
	for (size_t i = 0; i < sample->process_list.count; i++) {
		if (sample->processes[i].pid == pid)
			return (uint32_t)i;
	}
	return PROBE_NOBODY;
}

void probe_sample_free(struct probe_sample *sample)
{
	free(sample->processes);
	free(sample->clients);
	free(sample->holds);
	free(sample->shares);
	*sample = (struct probe_sample){ 0 };
}
