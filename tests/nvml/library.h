/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What of nvml.h the reader asks for, with the handles as plain pointers. */
#ifndef PGPU_TESTS_NVML_LIBRARY_H
#define PGPU_TESTS_NVML_LIBRARY_H

int nvmlInit_v2(void);
int nvmlShutdown(void);
int nvmlDeviceGetCount_v2(unsigned *count);
int nvmlDeviceGetHandleByIndex_v2(unsigned index, void **card);
int nvmlDeviceGetPciInfo_v3(void *card, void *info);
int nvmlDeviceGetUtilizationRates(void *card, unsigned load[2]);
int nvmlDeviceGetMemoryInfo(void *card, unsigned long long memory[3]);
int nvmlDeviceGetComputeRunningProcesses_v3(void *card, unsigned *count, unsigned char *entries);

#endif
