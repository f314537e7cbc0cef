/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "probe_nvml.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "conf/base/fmt.h"
#include "conf/base/names.h"
#include "conf/base/scope.h"
#include "probe_walk.h"

enum { CARDS = 32, PROCESSES = 256, SAMPLES = 256 };
enum { DONE = 0, NOT_FOUND = 6, TOO_SMALL = 7 }; /* nvmlReturn_t */

/* nvmlPciInfo_t, nvmlUtilization_t, nvmlMemory_t, nvmlProcessUtilizationSample_t */
struct pci_info {
	char legacy[16];
	unsigned domain, bus, device, ids, subsystem;
	char text[32];
};
struct load {
	unsigned card, memory;
};
struct memory {
	unsigned long long total, free, used;
};
struct work {
	unsigned pid;
	unsigned long long at_us;
	unsigned sm, memory, encoder, decoder;
};
_Static_assert(sizeof(struct pci_info) == 68 && sizeof(struct memory) == 24 && sizeof(struct work) == 32,
	       "the layouts of nvml.h");

typedef void *device;
struct functions {
	int (*init)(void);
	int (*shutdown)(void);
	int (*count)(unsigned *);
	int (*device)(unsigned, device *);
	int (*pci)(device, struct pci_info *);
	int (*load)(device, struct load *);
	int (*memory)(device, struct memory *);
	int (*work)(device, struct work *, unsigned *, unsigned long long);
	int (*compute)(device, unsigned *, void *);
	int (*graphics)(device, unsigned *, void *);
};

/* In the order of the functions; where there are two names the second is the older. The first six are needed. */
static const char names_of[][2][48] = {
	{ "nvmlInit_v2" },
	{ "nvmlShutdown" },
	{ "nvmlDeviceGetCount_v2" },
	{ "nvmlDeviceGetHandleByIndex_v2" },
	{ "nvmlDeviceGetPciInfo_v3", "nvmlDeviceGetPciInfo_v2" },
	{ "nvmlDeviceGetUtilizationRates" },
	{ "nvmlDeviceGetMemoryInfo" },
	{ "nvmlDeviceGetProcessUtilization" },
	{ "nvmlDeviceGetComputeRunningProcesses_v3", "nvmlDeviceGetComputeRunningProcesses_v2" },
	{ "nvmlDeviceGetGraphicsRunningProcesses_v3", "nvmlDeviceGetGraphicsRunningProcesses_v2" },
};
enum { FUNCTIONS = sizeof names_of / sizeof names_of[0], NEEDED = 7 };
_Static_assert(sizeof(struct functions) == FUNCTIONS * sizeof(void *), "a name for each function");

/* A process that runs on the card. */
struct runner {
	pid_t pid;
	int64_t bytes;
	int busy_percent;
};

struct probe_nvml {
	struct functions call;
	void *library; /* to be closed; NULL: not ours */
	bool asked[CARDS];
	unsigned long long last_us[CARDS];
	int count; /* of runners, of the card that is being read */
	struct runner runners[2 * PROCESSES];
	struct work work[SAMPLES];
	unsigned char bytes[PROCESSES * 32];
};

struct probe_nvml *probe_nvml_start(probe_nvml_lookup lookup, void *library)
{
	SCOPE_FREE struct probe_nvml *nvml = calloc(1, sizeof *nvml);
	void *found[FUNCTIONS];

	if (!nvml)
		return NULL;
	for (int i = 0; i < FUNCTIONS; i++) {
		found[i] = lookup(library, names_of[i][0]);
		if (!found[i] && names_of[i][1][0])
			found[i] = lookup(library, names_of[i][1]);
		if (!found[i] && i < NEEDED)
			return NULL;
	}
	memcpy(&nvml->call, found, sizeof found);
	return nvml->call.init() == DONE ? TAKE(nvml) : NULL;
}

/* False when no card has the driver, or one of them is asleep. */
static bool may_start(int sys)
{
	SCOPE_FD int driver = sys < 0 ? -1 : probe_folder(sys, "bus/pci/drivers/nvidia");
	SCOPE_NAMES struct names names = NAMES_NONE;
	const struct dirent64 *found;
	char path[64], text[16];
	int awake = 0;

	if (driver < 0 || names_open(&names, driver) < 0)
		return false;
	while ((found = names_next(&names))) {
		struct probe_span name = { found->d_name, strlen(found->d_name) };
		if (probe_pci_parse(name) == PROBE_NO_PCI)
			continue;
		fmt(path, sizeof path, "%.16s/power/runtime_status", found->d_name);
		ssize_t size = probe_read(driver, path, text, sizeof text);
		if (size > 0 && probe_is((struct probe_span){ text, (size_t)size }, "suspended\n"))
			return false;
		awake++;
	}
	return awake > 0;
}

struct probe_nvml *probe_nvml_open(int sys)
{
	void *library = may_start(sys) ? dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL) : NULL;
	struct probe_nvml *nvml = library ? probe_nvml_start(dlsym, library) : NULL;

	if (nvml)
		nvml->library = library;
	else if (library)
		dlclose(library);
	return nvml;
}

void probe_nvml_close(struct probe_nvml *nvml)
{
	if (!nvml)
		return;
	nvml->call.shutdown();
	if (nvml->library)
		dlclose(nvml->library);
	free(nvml);
}

/* The card of the sample, added when sysfs does not know it; NULL: there is no more room. */
static struct probe_card *card_of(struct probe_nvml *nvml, device device, unsigned index, struct probe_sample *sample)
{
	struct pci_info info = { 0 };
	struct probe_cards *cards = &sample->cards;

	if (nvml->call.pci(device, &info) != DONE)
		return NULL;
	uint64_t pci = (uint64_t)info.domain << 16 | (info.bus & 255) << 8 | (info.device & 31) << 3;
	const struct probe_card *known = probe_cards_find(cards, pci, "");
	if (known)
		return &cards->list[known - cards->list];
	if (cards->count == PROBE_CARDS)
		return NULL;
	struct probe_card *card = &cards->list[cards->count++];
	*card = (struct probe_card){ .driver = "nvidia", .pci = pci, .gtt_total_bytes = -1, .gtt_used_bytes = -1 };
	fmt(card->name, sizeof card->name, "nvidia%u", index);
	return card;
}

static void read_card(const struct probe_nvml *nvml, device device, struct probe_card *card)
{
	struct load load = { 0 };
	struct memory memory = { 0 };

	card->busy_percent = nvml->call.load(device, &load) == DONE && load.card <= 100 ? (int)load.card : -1;
	card->vram_total_bytes = card->vram_used_bytes = -1;
	if (nvml->call.memory(device, &memory) == DONE && memory.total && memory.used <= memory.total &&
	    memory.total <= INT64_MAX) {
		card->vram_total_bytes = (int64_t)memory.total;
		card->vram_used_bytes = (int64_t)memory.used;
	}
}

static struct runner *runner_of(struct probe_nvml *nvml, pid_t pid)
{
	for (int i = 0; i < nvml->count; i++) {
		if (nvml->runners[i].pid == pid)
			return &nvml->runners[i];
	}
	return NULL;
}

static void note_runner(struct probe_nvml *nvml, const unsigned char *entry)
{
	uint32_t pid;
	uint64_t bytes;

	memcpy(&pid, entry, sizeof pid);
	memcpy(&bytes, entry + 8, sizeof bytes);
	/* One that computes and draws is in both lists. All ones: it does not know. */
	if (pid == 0 || pid > INT32_MAX || runner_of(nvml, (pid_t)pid))
		return;
	nvml->runners[nvml->count++] = (struct runner){ (pid_t)pid, bytes <= INT64_MAX ? (int64_t)bytes : -1, -1 };
}

/*
 * The library does not say how large its entries are, and some versions (early 535) write 32 bytes where their header
 * has 24. What it left untouched tells.
 */
static void list_runners(struct probe_nvml *nvml, int (*list)(device, unsigned *, void *), device device,
			 struct probe_sample *sample)
{
	const unsigned char untouched = 0xaa;
	unsigned count = PROCESSES;
	size_t written = sizeof nvml->bytes;

	if (!list)
		return;
	memset(nvml->bytes, untouched, sizeof nvml->bytes);
	int result = list(device, &count, nvml->bytes);
	sample->partial = sample->partial || result == TOO_SMALL;
	if (result != DONE || count == 0 || count > PROCESSES)
		return;
	while (written && nvml->bytes[written - 1] == untouched)
		written--;
	size_t size = written == count * 32 ? 32 : 24;
	if (written != count * size) {
		sample->partial = true;
		return;
	}
	for (unsigned i = 0; i < count; i++)
		note_runner(nvml, nvml->bytes + i * size);
}

/* The share of the time since the last call that each had a kernel on the card: the largest of the driver's samples. */
static void read_work(struct probe_nvml *nvml, device device, unsigned index)
{
	unsigned count = SAMPLES;
	bool first = !nvml->asked[index];
	unsigned long long since_us = nvml->last_us[index];
	int result = nvml->call.work ? nvml->call.work(device, nvml->work, &count, since_us) : TOO_SMALL;

	if (result != DONE && result != NOT_FOUND)
		return;
	nvml->asked[index] = true;
	for (int i = 0; !first && i < nvml->count; i++)
		nvml->runners[i].busy_percent = 0;
	for (unsigned i = 0; result == DONE && i < count && i < SAMPLES; i++) {
		const struct work *work = &nvml->work[i];
		struct runner *runner = runner_of(nvml, (pid_t)work->pid);
		if (work->at_us <= since_us || work->sm > 100)
			continue;
		if (work->at_us > nvml->last_us[index])
			nvml->last_us[index] = work->at_us;
		if (runner && !first && (int)work->sm > runner->busy_percent)
			runner->busy_percent = (int)work->sm;
	}
}

static void add_runner(const struct runner *runner, const struct probe_card *card, int proc,
		       struct probe_sample *sample)
{
	struct probe_process process = { .pid = runner->pid };
	struct probe_share share = {
		.via = PROBE_NVML, .pci = card->pci, .vram_bytes = runner->bytes, .busy_percent = runner->busy_percent
	};

	share.process = sample->abroad ? PROBE_NOBODY : probe_find_process(sample, runner->pid);
	if (share.process == PROBE_NOBODY) {
		process.gone = !sample->abroad && !probe_walk_name(proc, runner->pid, &process);
		share.process = probe_add_process(sample, &process);
	} else if (!sample->processes[share.process].named) {
		process = sample->processes[share.process];
		probe_walk_name(proc, runner->pid, &sample->processes[share.process]);
		sample->processes[share.process].shut = process.shut;
	}
	if (share.process != PROBE_NOBODY)
		probe_add_share(sample, &share);
}

void probe_nvml_read(struct probe_nvml *nvml, int proc, const struct probe_set *only, struct probe_sample *sample)
{
	unsigned count = 0;
	device device;

	if (!nvml || nvml->call.count(&count) != DONE)
		return;
	for (unsigned index = 0; index < count && index < CARDS; index++) {
		struct probe_card *card =
			nvml->call.device(index, &device) == DONE ? card_of(nvml, device, index, sample) : NULL;
		if (!card)
			continue;
		read_card(nvml, device, card);
		nvml->count = 0;
		list_runners(nvml, nvml->call.compute, device, sample);
		list_runners(nvml, nvml->call.graphics, device, sample);
		read_work(nvml, device, index);
		for (int i = 0; i < nvml->count; i++) {
			if (sample->abroad || probe_set_has(only, nvml->runners[i].pid))
				add_runner(&nvml->runners[i], card, proc, sample);
		}
	}
}
