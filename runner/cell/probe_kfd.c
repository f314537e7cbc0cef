/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "probe_kfd.h"

#include <string.h>
#include <unistd.h>

#include "conf/base/file.h"
#include "conf/base/fmt.h"
#include "conf/base/names.h"
#include "conf/base/scope.h"
#include "probe_walk.h"

static const char root[] = "class/kfd/kfd";
enum { NODES = PROBE_KFD_NODES, GPU_ID_MAX = 65535 };

/* A card of the topology, and what the process that is being read has of it. */
struct node {
	int64_t gpu_id;
	uint64_t pci;
	int64_t vram_bytes;
	int queues;
};

struct nodes {
	int count;
	struct node list[NODES];
};

static struct node *node_of(struct nodes *nodes, int64_t gpu_id)
{
	for (int i = 0; i < nodes->count; i++) {
		if (nodes->list[i].gpu_id == gpu_id)
			return &nodes->list[i];
	}
	if (nodes->count == NODES)
		return NULL;
	nodes->list[nodes->count] = (struct node){ .gpu_id = gpu_id, .pci = PROBE_NO_PCI };
	return &nodes->list[nodes->count++];
}

/* Lines "key value". location_id is bus, device and function as probe_pci_parse() packs them. */
static void read_properties(int folder, struct probe_kfd_node *node)
{
	char text[4096];
	ssize_t size = probe_read(folder, "properties", text, sizeof text);
	struct probe_span rest = { text, size > 0 ? (size_t)size : 0 }, key, value;
	int64_t location = -1, domain = -1;

	while (probe_line(&rest, ' ', &key, &value)) {
		if (probe_is(key, "location_id"))
			location = probe_number(value, 0xffff);
		else if (probe_is(key, "domain"))
			domain = probe_number(value, UINT32_MAX);
		else if (probe_is(key, "unique_id") && (!probe_digits(&value, &node->unique_id) || value.size))
			node->unique_id = 0;
	}
	if (location >= 0 && domain >= 0)
		node->pci = (uint64_t)domain << 16 | (uint64_t)location;
}

bool probe_kfd_node(int nodes, const char *name, struct probe_kfd_node *ret_node)
{
	SCOPE_FD int folder = probe_folder(nodes, name);
	struct probe_kfd_node node = { .pci = PROBE_NO_PCI };

	node.gpu_id = folder < 0 ? -1 : probe_read_number(folder, "gpu_id", GPU_ID_MAX);
	if (node.gpu_id <= 0) /* 0: a processor */
		return false;
	read_properties(folder, &node);
	*ret_node = node;
	return true;
}

static void read_nodes(int kfd, struct nodes *nodes)
{
	SCOPE_FD int topology = probe_folder(kfd, "topology/nodes");
	SCOPE_NAMES struct names names = NAMES_NONE;
	const struct dirent64 *found;

	nodes->count = 0;
	if (topology < 0 || names_open(&names, topology) < 0)
		return;
	while ((found = names_next(&names))) {
		struct probe_kfd_node card;
		struct node *node = probe_kfd_node(topology, found->d_name, &card) ? node_of(nodes, card.gpu_id) : NULL;
		if (node)
			node->pci = card.pci;
	}
}

static void count_queues(int process, struct nodes *nodes)
{
	SCOPE_FD int queues = probe_folder(process, "queues");
	SCOPE_NAMES struct names names = NAMES_NONE;
	const struct dirent64 *found;
	char path[64];

	if (queues < 0 || names_open(&names, queues) < 0)
		return;
	while ((found = names_next(&names))) {
		fmt(path, sizeof path, "%.32s/gpuid", found->d_name);
		int64_t gpu_id = probe_read_number(queues, path, GPU_ID_MAX);
		struct node *node = gpu_id > 0 ? node_of(nodes, gpu_id) : NULL;
		if (node)
			node->queues++;
	}
}

static void add_memory(int folder, const char *name, struct nodes *nodes)
{
	int64_t gpu_id = probe_name_number(name + strlen("vram_"), GPU_ID_MAX);
	struct node *node = gpu_id > 0 ? node_of(nodes, gpu_id) : NULL;
	int64_t bytes = node ? probe_read_number(folder, name, INT64_MAX) : -1;

	if (node &&
	    (bytes < 0 || node->vram_bytes < 0 || __builtin_add_overflow(node->vram_bytes, bytes, &node->vram_bytes)))
		node->vram_bytes = -1;
}

static void add_files(int folder, struct nodes *nodes)
{
	SCOPE_NAMES struct names names = NAMES_NONE;
	const struct dirent64 *found;

	if (names_open(&names, folder) < 0)
		return;
	while ((found = names_next(&names))) {
		if (strncmp(found->d_name, "vram_", 5) == 0)
			add_memory(folder, found->d_name, nodes);
		else if (strcmp(found->d_name, "queues") == 0)
			count_queues(folder, nodes);
	}
}

/* Contexts are not nested. */
static void add_contexts(int process, struct nodes *nodes)
{
	SCOPE_NAMES struct names names = NAMES_NONE;
	const struct dirent64 *found;

	if (names_open(&names, process) < 0)
		return;
	while ((found = names_next(&names))) {
		SCOPE_FD int context =
			strncmp(found->d_name, "context_", 8) == 0 ? probe_folder(process, found->d_name) : -1;
		if (context >= 0)
			add_files(context, nodes);
	}
}

/*
 * Of a process that was looked into and has nothing of a card's. The driver's entry may outlive its process, and the
 * number be another's by now, who has not opened the driver's device. What a zombie had is not given back yet.
 */
static bool is_another(int proc, pid_t pid)
{
	char path[32], target[16], stat[512];
	const struct dirent64 *found;

	fmt(path, sizeof path, "%d/stat", pid);
	ssize_t size = probe_read(proc, path, stat, sizeof stat);
	const char *state = size > 0 ? memrchr(stat, ')', (size_t)size) : NULL;
	if (!state || state + 2 >= stat + size || state[2] == 'Z' || state[2] == 'X')
		return false;
	fmt(path, sizeof path, "%d/fd", pid);
	SCOPE_FD int folder = probe_folder(proc, path);
	SCOPE_NAMES struct names names = NAMES_NONE;
	if (folder < 0 || names_open(&names, folder) < 0)
		return false;
	while ((found = names_next(&names))) {
		ssize_t length = readlinkat(folder, found->d_name, target, sizeof target);
		if (length >= 0 && probe_is((struct probe_span){ target, (size_t)length }, "/dev/kfd"))
			return false;
	}
	return true;
}

static uint32_t find_process(int proc, pid_t pid, struct probe_sample *sample)
{
	uint32_t index = sample->abroad ? PROBE_NOBODY : probe_find_process(sample, pid);
	struct probe_process process = { .pid = pid };

	if (index != PROBE_NOBODY && !sample->processes[index].shut)
		return index;
	if (!sample->abroad)
		process.gone =
			!probe_walk_name(proc, pid, &process) || (index == PROBE_NOBODY && is_another(proc, pid));
	if (index == PROBE_NOBODY)
		return probe_add_process(sample, &process);
	process.shut = true;
	sample->processes[index] = process;
	return index;
}

static void read_process(int folder, int proc, pid_t pid, struct nodes *nodes, struct probe_sample *sample)
{
	for (int i = 0; i < nodes->count; i++)
		nodes->list[i].vram_bytes = nodes->list[i].queues = 0;
	add_files(folder, nodes);
	add_contexts(folder, nodes);
	for (int i = 0; i < nodes->count; i++) {
		const struct node *node = &nodes->list[i];
		struct probe_share share = { .via = PROBE_KFD,
					     .pci = node->pci,
					     .vram_bytes = node->vram_bytes,
					     .queues = node->queues,
					     .busy_percent = -1 };
		if (node->vram_bytes == 0 && node->queues == 0)
			continue;
		share.process = find_process(proc, pid, sample);
		if (share.process != PROBE_NOBODY)
			probe_add_share(sample, &share);
	}
}

bool probe_kfd_there(int sys)
{
	return sys >= 0 && file_exists(sys, "class/kfd/kfd/proc");
}

/* In another pid namespace nobody of `only` can be told: all are read. */
void probe_kfd_read(int sys, int proc, const struct probe_set *only, struct probe_sample *sample)
{
	SCOPE_NAMES struct names names = NAMES_NONE;
	const struct dirent64 *found;
	struct nodes nodes;
	SCOPE_FD int kfd = sys < 0 ? -1 : probe_folder(sys, root);
	SCOPE_FD int list = kfd < 0 ? -1 : probe_folder(kfd, "proc");

	if (list < 0 || names_open(&names, list) < 0)
		return;
	nodes.count = -1;
	while ((found = names_next(&names))) {
		pid_t pid = (pid_t)probe_name_number(found->d_name, INT32_MAX);
		if (!pid || (!sample->abroad && !probe_set_has(only, pid)))
			continue;
		if (nodes.count < 0)
			read_nodes(kfd, &nodes);
		SCOPE_FD int folder = probe_folder(list, found->d_name);
		if (folder >= 0)
			read_process(folder, proc, pid, &nodes, sample);
	}
}
