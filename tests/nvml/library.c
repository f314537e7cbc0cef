/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A libnvidia-ml.so.1 of one card, 0000:83:00.0, and one process on it: the one that NVML_PID names, with 4 MiB. It is
 * linked with libc as the vendor's is. NVML_HANG=N: the Nth look at the card never ends.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "library.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static char *started;
static unsigned looks;

static unsigned number(const char *name)
{
	const char *text = getenv(name);

	return text ? (unsigned)strtoul(text, NULL, 10) : 0;
}

int nvmlInit_v2(void)
{
	started = malloc(16);
	return started ? 0 : 9;
}

int nvmlShutdown(void)
{
	free(started);
	started = NULL;
	return 0;
}

int nvmlDeviceGetCount_v2(unsigned *count)
{
	*count = 1;
	return started ? 0 : 1;
}

int nvmlDeviceGetHandleByIndex_v2(unsigned index, void **card)
{
	*card = &mutex;
	return index == 0 ? 0 : 2;
}

int nvmlDeviceGetPciInfo_v3(void *card, void *info)
{
	const unsigned where[] = { 0, 0x83, 0 };

	memset(info, 0, 68);
	memcpy((char *)info + 16, where, sizeof where);
	return card == &mutex ? 0 : 2;
}

int nvmlDeviceGetUtilizationRates(void *card, unsigned load[2])
{
	pthread_mutex_lock(&mutex);
	if (card && ++looks == number("NVML_HANG")) {
		for (;;)
			pause();
	}
	load[0] = load[1] = 10 * looks;
	pthread_mutex_unlock(&mutex);
	return 0;
}

int nvmlDeviceGetMemoryInfo(void *card, unsigned long long memory[3])
{
	(void)card;
	memory[0] = 8 << 20;
	memory[1] = memory[2] = 4 << 20;
	return 0;
}

int nvmlDeviceGetComputeRunningProcesses_v3(void *card, unsigned *count, unsigned char *entries)
{
	const uint32_t pid = number("NVML_PID");
	const uint64_t rest[2] = { 4 << 20, 0 };

	(void)card;
	memcpy(entries, &pid, sizeof pid);
	memset(entries + 4, 0, 4);
	memcpy(entries + 8, rest, sizeof rest);
	*count = 1;
	return 0;
}
