/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "library.h"

#include <stdlib.h>
#include <string.h>

#include "conf/base/scope.h"

enum { PROCESSES = NVML_USERS / 2, SAMPLES = 256 };
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

struct nvml {
	struct functions call;
	bool asked[NVML_CARDS];
	unsigned long long last_us[NVML_CARDS];
	struct work work[SAMPLES];
	unsigned char bytes[PROCESSES * 32];
};

struct nvml *nvml_start(nvml_lookup lookup, void *library)
{
	SCOPE_FREE struct nvml *nvml = calloc(1, sizeof *nvml);
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

void nvml_end(struct nvml *nvml)
{
	if (!nvml)
		return;
	nvml->call.shutdown();
	free(nvml);
}

static void read_load(const struct nvml *nvml, device device, struct nvml_card *card)
{
	struct load load = { 0 };
	struct memory memory = { 0 };

	if (nvml->call.load(device, &load) == DONE && load.card <= 100)
		card->busy_percent = (int)load.card;
	if (nvml->call.memory(device, &memory) == DONE && memory.total && memory.used <= memory.total &&
	    memory.total <= INT64_MAX) {
		card->total_bytes = (int64_t)memory.total;
		card->used_bytes = (int64_t)memory.used;
	}
}

static struct nvml_user *user_of(struct nvml_card *card, uint32_t pid)
{
	for (uint32_t i = 0; i < card->user_count; i++) {
		if ((uint32_t)card->users[i].pid == pid)
			return &card->users[i];
	}
	return NULL;
}

static void note_user(struct nvml_card *card, const unsigned char *entry)
{
	uint32_t pid;
	uint64_t bytes;

	memcpy(&pid, entry, sizeof pid);
	memcpy(&bytes, entry + 8, sizeof bytes);
	/* One that computes and draws is in both lists. All ones: it does not know. */
	if (pid == 0 || pid > INT32_MAX || user_of(card, pid))
		return;
	card->users[card->user_count++] = (struct nvml_user){ .pid = (int32_t)pid,
							      .busy_percent = -1,
							      .bytes = bytes <= INT64_MAX ? (int64_t)bytes : -1 };
}

/*
 * The library does not say how large its entries are, and some versions (early 535) write 32 bytes where their header
 * has 24. What it left untouched tells.
 */
static void list_users(struct nvml *nvml, int (*list)(device, unsigned *, void *), device device,
		       struct nvml_card *card)
{
	const unsigned char untouched = 0xaa;
	unsigned count = PROCESSES;
	size_t written = sizeof nvml->bytes;

	if (!list)
		return;
	memset(nvml->bytes, untouched, sizeof nvml->bytes);
	int result = list(device, &count, nvml->bytes);
	card->partial |= result == TOO_SMALL;
	if (result != DONE || count == 0 || count > PROCESSES)
		return;
	while (written && nvml->bytes[written - 1] == untouched)
		written--;
	size_t size = written == count * 32 ? 32 : 24;
	if (written != count * size) {
		card->partial = true;
		return;
	}
	for (unsigned i = 0; i < count; i++)
		note_user(card, nvml->bytes + i * size);
}

/* The share of the time since the last call that each had a kernel on the card: the largest of the driver's samples. */
static void read_work(struct nvml *nvml, device device, struct nvml_card *card)
{
	unsigned count = SAMPLES;
	bool first = !nvml->asked[card->index];
	unsigned long long *last_us = &nvml->last_us[card->index], since_us = *last_us;
	int result = nvml->call.work ? nvml->call.work(device, nvml->work, &count, since_us) : TOO_SMALL;

	if (result != DONE && result != NOT_FOUND)
		return;
	nvml->asked[card->index] = true;
	for (uint32_t i = 0; !first && i < card->user_count; i++)
		card->users[i].busy_percent = 0;
	for (unsigned i = 0; result == DONE && i < count && i < SAMPLES; i++) {
		const struct work *work = &nvml->work[i];
		struct nvml_user *user = user_of(card, work->pid);
		if (work->at_us <= since_us || work->sm > 100)
			continue;
		if (work->at_us > *last_us)
			*last_us = work->at_us;
		if (user && !first && (int)work->sm > user->busy_percent)
			user->busy_percent = (int)work->sm;
	}
}

int nvml_count(struct nvml *nvml)
{
	unsigned count = 0;

	if (nvml->call.count(&count) != DONE)
		return -1;
	return count < NVML_CARDS ? (int)count : NVML_CARDS;
}

bool nvml_read(struct nvml *nvml, unsigned index, struct nvml_card *ret_card)
{
	struct nvml_card *card = ret_card;
	struct pci_info info = { 0 };
	device device;

	if (nvml->call.device(index, &device) != DONE || nvml->call.pci(device, &info) != DONE)
		return false;
	card->pci = (uint64_t)info.domain << 16 | (info.bus & 255) << 8 | (info.device & 31) << 3;
	card->index = index;
	card->busy_percent = -1;
	card->total_bytes = card->used_bytes = -1;
	card->partial = card->user_count = 0;
	read_load(nvml, device, card);
	list_users(nvml, nvml->call.compute, device, card);
	list_users(nvml, nvml->call.graphics, device, card);
	read_work(nvml, device, card);
	return true;
}
