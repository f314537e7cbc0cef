/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "probe_walk.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "conf/base/file.h"
#include "conf/base/fmt.h"
#include "conf/base/names.h"
#include "conf/base/scope.h"
#include "probe_kfd.h"
#include "probe_memory.h"

/* The kernel prints at most some 3 KiB for a client. */
enum { FDINFO_MAX = PROBE_TEXT };
/* A job of many short processes is not remembered for ever. */
enum { MEMORIES_MAX = 4096 };

/* One process that is being looked into. */
struct look {
	struct probe *probe;
	struct probe_sample *sample;
	pid_t pid;
	int folder;	  /* /proc/PID, opened once something in it is to be read; -1: not yet */
	uint32_t process; /* PROBE_NOBODY: nothing of a card's was found yet */
	bool shut;
	const struct probe_holder *known; /* from an earlier sample; NULL: it is looked through */
	struct probe_holder holder;	  /* what is found */
};

uint64_t probe_stat_start(struct probe_span text)
{
	const char *field = memrchr(text.at, ')', text.size);
	uint64_t start;

	if (!field)
		return 0;
	for (int number = 2; number < 22; number++) {
		field = memchr(field, ' ', text.size - (size_t)(field - text.at));
		if (!field || ++field == text.at + text.size)
			return 0;
	}
	struct probe_span rest = { field, text.size - (size_t)(field - text.at) };
	return probe_digits(&rest, &start) && rest.size && rest.at[0] == ' ' ? start : 0;
}

static void read_name(int folder, struct probe_process *process)
{
	char text[1024];
	ssize_t size = probe_read(folder, "stat", text, sizeof text);

	process->start = size > 0 ? probe_stat_start((struct probe_span){ text, (size_t)size }) : 0;
	size = probe_read(folder, "comm", process->comm, sizeof process->comm - 1);
	process->comm[size > 0 ? size : 0] = '\0';
	if (size > 0 && process->comm[size - 1] == '\n')
		process->comm[size - 1] = '\0';
	process->named = size > 0;
}

static int open_process(int proc, pid_t pid)
{
	char name[16];

	fmt(name, sizeof name, "%d", pid);
	return openat(proc, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

bool probe_walk_name(int proc, pid_t pid, struct probe_process *ret_process)
{
	SCOPE_FD int folder = open_process(proc, pid);

	*ret_process = (struct probe_process){ .pid = pid };
	if (folder >= 0)
		read_name(folder, ret_process);
	return folder >= 0;
}

/* Opened late: most processes have nothing to be read. -1: it is gone. */
static int folder_of(struct look *look)
{
	if (look->folder < 0)
		look->folder = open_process(look->probe->proc, look->pid);
	return look->folder;
}

static uint32_t found_something(struct look *look)
{
	struct probe_process *process = &look->holder.process;

	if (look->process == PROBE_NOBODY) {
		*process = look->known ? look->known->process : (struct probe_process){ .pid = look->pid };
		if (!look->known)
			read_name(folder_of(look), process);
		look->process = probe_add_process(look->sample, process);
	}
	return look->process;
}

static void found_blind(struct look *look, const struct probe_card *card)
{
	struct probe_share share = { .process = found_something(look),
				     .via = PROBE_BLIND,
				     .pci = card ? card->pci : PROBE_NO_PCI,
				     .vram_bytes = -1,
				     .busy_percent = -1 };

	if (share.process != PROBE_NOBODY)
		probe_add_share(look->sample, &share);
}

/* What a descriptor's link says it is. */
enum device { DEVICE_NONE, DEVICE_SOME, DEVICE_DRM, DEVICE_OTHER_CARD };

static enum device device_of(const struct look *look, char *target, const struct probe_card **ret_card)
{
	static const char plain[][8] = { "null", "zero", "pts/", "tty", "ptmx", "urandom", "random", "shm/", "input/" };
	struct probe_span rest = { target, strlen(target) };

	*ret_card = NULL;
	if (!probe_skip(&rest, "/dev/"))
		return DEVICE_NONE;
	if (probe_skip(&rest, "dri/")) {
		*ret_card = probe_cards_named(&look->sample->cards, rest.at);
		return DEVICE_DRM;
	}
	if (probe_is(rest, "kfd"))
		return probe_kfd_there(look->probe->sys) ? DEVICE_NONE : DEVICE_OTHER_CARD;
	if (probe_skip(&rest, "nvidia") && rest.size && rest.at[0] >= '0' && rest.at[0] <= '9')
		return look->probe->nvml ? DEVICE_NONE : DEVICE_OTHER_CARD;
	for (size_t i = 0; i < sizeof plain / sizeof plain[0]; i++) {
		if (probe_skip(&rest, plain[i]))
			return DEVICE_NONE;
	}
	return DEVICE_SOME;
}

/* A descriptor may be closed, and its process end, at any moment: then it is nothing. */
static bool is_gone(int errnum)
{
	return errnum == ENOENT || errnum == ESRCH || errnum == EBADF;
}

static void read_descriptor(struct look *look, const char *name, enum device device, const struct probe_card *card)
{
	struct probe_client client;
	char path[32], *text = look->probe->text;

	fmt(path, sizeof path, "fdinfo/%.16s", name);
	ssize_t size = folder_of(look) < 0 ? -1 : probe_read(look->folder, path, text, FDINFO_MAX);
	if (size < 0) {
		look->shut = look->shut || !is_gone(errno);
		return;
	}
	switch (probe_drm_parse((struct probe_span){ text, (size_t)size }, &client)) {
	case PROBE_DRM_CLIENT:
		client.partial = client.partial || size == FDINFO_MAX;
		if (found_something(look) != PROBE_NOBODY)
			probe_add_client(look->sample, &client, look->process);
		break;
	case PROBE_DRM_NAMELESS:
		found_blind(look, probe_cards_find(&look->sample->cards, client.pci, client.driver));
		break;
	case PROBE_DRM_OTHER:
		if (device == DEVICE_DRM)
			found_blind(look, card);
	}
}

/* To ask some drivers (xe) about a client wakes its card; amdgpu does not. */
static bool would_wake(const struct probe_card *card)
{
	return card && card->asleep && strcmp(card->driver, "amdgpu") != 0;
}

static void look_at_link(struct look *look, int links, const char *name)
{
	char target[64];
	const struct probe_card *card;
	ssize_t size = readlinkat(links, name, target, sizeof target - 1);

	if (size < 0) {
		look->shut = look->shut || !is_gone(errno);
		return;
	}
	target[size] = '\0';
	enum device device = device_of(look, target, &card);
	if (device == DEVICE_OTHER_CARD || would_wake(card))
		found_blind(look, card);
	else if (device != DEVICE_NONE)
		read_descriptor(look, name, device, card);
}

/* /proc/PID/NAME; while it is open the process's number is not given to another. */
static int open_list(const struct look *look, const char *name)
{
	char path[32];

	fmt(path, sizeof path, "%d/%s", look->pid, name);
	return openat(look->probe->proc, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

static bool is_descriptor(const char *name)
{
	return strcmp(name, "0") == 0 || probe_name_number(name, INT32_MAX) > 0;
}

/* Notes the descriptor where something of a card's was found by it that no other had told. */
static void look_at_descriptor(struct look *look, int links, const char *name)
{
	const struct probe_sample *sample = look->sample;
	struct probe_holder *holder = &look->holder;
	size_t before = sample->hold_list.count + sample->share_list.count;

	look_at_link(look, links, name);
	if (sample->hold_list.count + sample->share_list.count == before)
		return;
	if (holder->count < PROBE_HELD)
		holder->descriptors[holder->count] = (int)probe_name_number(name, INT32_MAX);
	holder->count++;
}

static void look_into(struct look *look)
{
	SCOPE_NAMES struct names links = NAMES_NONE, infos = NAMES_NONE;
	const struct dirent64 *found;

	look->probe->looked++;
	links.fd = open_list(look, "fd");
	while (links.fd >= 0 && !look->shut && (found = names_next(&links))) {
		if (is_descriptor(found->d_name))
			look_at_descriptor(look, links.fd, found->d_name);
	}
	if (links.fd >= 0 && !look->shut)
		return;
	look->holder.count = PROBE_HELD + 1;
	infos.fd = open_list(look, "fdinfo");
	look->shut = infos.fd < 0 && !is_gone(errno);
	while (infos.fd >= 0 && (found = names_next(&infos))) {
		if (is_descriptor(found->d_name))
			read_descriptor(look, found->d_name, DEVICE_SOME, NULL);
	}
}

/* Those descriptors alone that were a card's; false: they are not any more, and it is to be looked through. */
static bool look_at_known(struct look *look)
{
	SCOPE_FD int links = open_list(look, "fd");
	char name[16];

	for (int i = 0; links >= 0 && i < look->known->count; i++) {
		fmt(name, sizeof name, "%d", look->known->descriptors[i]);
		look_at_descriptor(look, links, name);
	}
	return look->holder.count == look->known->count && !look->shut;
}

static void count_shut(struct probe_sample *sample, pid_t pid)
{
	struct probe_process process = { .pid = pid, .shut = true };

	sample->shut++;
	probe_add_process(sample, &process);
}

/* So that the next sample reads no more of it than it must. */
static void remember(struct look *look, struct probe_memory *now)
{
	struct probe_memories *memories = &look->probe->memory;

	if (look->process != PROBE_NOBODY) {
		bool whole = look->holder.count > 0 && look->holder.count <= PROBE_HELD && !look->shut;
		now->holder = whole ? malloc(sizeof *now->holder) : NULL;
		if (!now->holder) {
			probe_memory_drop(memories, look->pid);
			return;
		}
		*now->holder = look->holder;
	}
	probe_memory_keep(memories, now);
}

static void look_at(struct probe *probe, struct probe_sample *sample, pid_t pid)
{
	struct look look = { .probe = probe, .sample = sample, .pid = pid, .folder = -1, .process = PROBE_NOBODY };
	struct probe_memory now;

	if (!probe_memory_identify(probe->proc, pid, sample->at_ns, &now))
		return;
	sample->seen++;
	if (probe->memory.counts && now.descriptors == 0)
		return; /* a thread of the kernel, or a zombie */
	bool known = probe_memory_holds(&probe->memory, &now);
	look.known = now.holder;
	now.holder = NULL;
	if (known && !look.known) {
		if (now.shut)
			count_shut(sample, pid);
		return;
	}
	if (known && !look_at_known(&look)) {
		/* What was found is not told a second time, so this round cannot say which descriptors tell all. */
		probe_memory_drop(&probe->memory, pid);
		look_into(&look);
	}
	if (!known)
		look_into(&look);
	scope_close(&look.folder);
	if (look.process != PROBE_NOBODY) {
		sample->processes[look.process].shut = look.shut;
		sample->shut += look.shut;
	} else if (look.shut) {
		count_shut(sample, pid);
	}
	now.shut = look.shut;
	if (!known)
		remember(&look, &now);
}

static pid_t *list_pids(int proc, size_t *ret_count)
{
	SCOPE_NAMES struct names names = NAMES_NONE;
	struct probe_list list = { 0 };
	const struct dirent64 *found;
	pid_t *pids = NULL;

	if (proc < 0 || names_open(&names, proc) < 0)
		return NULL;
	while ((found = names_next(&names))) {
		bool folder = found->d_type == DT_DIR || found->d_type == DT_UNKNOWN;
		pid_t pid = folder ? (pid_t)probe_name_number(found->d_name, INT32_MAX) : 0;
		pid_t *more = pid ? probe_grow(pids, &list, sizeof *pids, 1 << 22) : NULL;
		if (!more)
			continue;
		pids = more;
		pids[list.count++] = pid;
	}
	*ret_count = probe_set_sort(pids, list.count);
	return pids;
}

/* Without a card nobody holds one. A job is looked at all the same: a container may hide its cards in /sys. */
static bool somebody_can(const struct probe *probe, const struct probe_sample *sample)
{
	return sample->cards.count > 0 || probe_kfd_there(probe->sys) ||
	       (probe->sys >= 0 && file_exists(probe->sys, "bus/pci/drivers/nvidia"));
}

void probe_walk(struct probe *probe, const struct probe_set *only, struct probe_sample *sample)
{
	size_t count = 0;

	if (probe->proc < 0)
		return;
	for (size_t i = 0; only && i < only->count; i++)
		look_at(probe, sample, only->pids[i]);
	if (only && probe->memory.size.count > MEMORIES_MAX)
		probe_memory_end(&probe->memory);
	if (only)
		return;
	if (!somebody_can(probe, sample))
		return;
	SCOPE_FREE pid_t *pids = list_pids(probe->proc, &count);
	for (size_t i = 0; i < count; i++)
		look_at(probe, sample, pids[i]);
	probe_memory_end(&probe->memory);
}
