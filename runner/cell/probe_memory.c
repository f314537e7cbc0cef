/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "probe_memory.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "conf/base/clock.h"
#include "conf/base/fmt.h"

#define TRUSTED_NS	   (60 * NS_PER_S)
#define TRUSTED_BLINDLY_NS (10 * NS_PER_S)
#define TRUSTED_HOLDER_NS  (5 * NS_PER_S)

static size_t place_of(const struct probe_memories *memories, pid_t pid)
{
	size_t low = 0, high = memories->size.count;

	/* They come in order: at first it is always the end. */
	if (high && memories->list[high - 1].pid < pid)
		return high;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (memories->list[middle].pid < pid)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static struct probe_memory *recall(const struct probe_memories *memories, pid_t pid)
{
	size_t at = place_of(memories, pid);

	return at < memories->size.count && memories->list[at].pid == pid ? &memories->list[at] : NULL;
}

bool probe_memory_identify(int proc, pid_t pid, int64_t now_ns, struct probe_memory *ret_memory)
{
	char path[32];
	struct stat found;

	fmt(path, sizeof path, "%d/fd", pid);
	if (fstatat(proc, path, &found, AT_SYMLINK_NOFOLLOW) < 0) {
		fmt(path, sizeof path, "%d/fdinfo", pid);
		if (fstatat(proc, path, &found, AT_SYMLINK_NOFOLLOW) < 0)
			return false;
	}
	*ret_memory = (struct probe_memory){ .pid = pid,
					     .met = true,
					     .folder = found.st_ino,
					     .descriptors = (uint64_t)found.st_size,
					     .changed_ns = found.st_mtim.tv_sec * NS_PER_S + found.st_mtim.tv_nsec,
					     .looked_ns = now_ns };
	return true;
}

static int64_t trusted_ns(const struct probe_memories *memories, const struct probe_memory *memory)
{
	if (memory->holder)
		return memories->tells ? TRUSTED_HOLDER_NS : 0;
	return memories->counts ? TRUSTED_NS : TRUSTED_BLINDLY_NS;
}

bool probe_memory_holds(struct probe_memories *memories, struct probe_memory *now)
{
	struct probe_memory *old = recall(memories, now->pid);

	if (!old || old->folder != now->folder || old->descriptors != now->descriptors ||
	    old->changed_ns != now->changed_ns || now->looked_ns - old->looked_ns >= trusted_ns(memories, old))
		return false;
	old->met = true;
	now->shut = old->shut;
	now->holder = old->holder;
	return true;
}

void probe_memory_keep(struct probe_memories *memories, const struct probe_memory *memory)
{
	struct probe_memory *old = recall(memories, memory->pid), *list;

	if (old) {
		free(old->holder);
		*old = *memory;
		return;
	}
	list = probe_grow(memories->list, &memories->size, sizeof *list, SIZE_MAX / sizeof *list);
	if (!list) { /* looked into again, then */
		free(memory->holder);
		return;
	}
	memories->list = list;
	size_t at = place_of(memories, memory->pid);
	memmove(&list[at + 1], &list[at], (memories->size.count - at) * sizeof *list);
	list[at] = *memory;
	memories->size.count++;
}

void probe_memory_drop(struct probe_memories *memories, pid_t pid)
{
	struct probe_memory *old = recall(memories, pid);

	if (old)
		old->folder = UINT64_MAX;
}

void probe_memory_end(struct probe_memories *memories)
{
	size_t left = 0;

	for (size_t i = 0; i < memories->size.count; i++) {
		if (!memories->list[i].met) {
			free(memories->list[i].holder);
			continue;
		}
		memories->list[left] = memories->list[i];
		memories->list[left++].met = false;
	}
	memories->size.count = left;
}

void probe_memory_free(struct probe_memories *memories)
{
	for (size_t i = 0; i < memories->size.count; i++)
		free(memories->list[i].holder);
	free(memories->list);
	*memories = (struct probe_memories){ 0 };
}
