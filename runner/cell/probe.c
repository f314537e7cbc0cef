/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "probe.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "conf/base/clock.h"
#include "conf/base/scope.h"
#include "probe_kfd.h"
#include "probe_nvml.h"
#include "probe_walk.h"

static int open_root(struct probe *probe, const char *variable, const char *usual)
{
	const char *root = secure_getenv(variable);

	if (!root && getenv(variable))
		probe->ignored = true;
	if (!root || root[0] != '/')
		return probe_folder(AT_FDCWD, usual);
	probe->elsewhere = true;
	return probe_folder(AT_FDCWD, root);
}

static int open_alone(const char *variable, const char *usual)
{
	const char *root = secure_getenv(variable);

	return probe_folder(AT_FDCWD, root && root[0] == '/' ? root : usual);
}

int probe_open_proc(void)
{
	return open_alone("PGPU_PROCFS", "/proc");
}

int probe_open_sys(void)
{
	return open_alone("PGPU_SYSFS", "/sys");
}

/* The number of the first pid namespace (the kernel's PROC_PID_INIT_INO), which drivers count in. */
static bool is_abroad(int proc)
{
	static const char first[] = "pid:[4026531836]";
	char target[32];
	ssize_t size = proc < 0 ? -1 : readlinkat(proc, "self/ns/pid", target, sizeof target);

	return size >= 0 && !probe_is((struct probe_span){ target, (size_t)size }, first);
}

void probe_open(struct probe *ret_probe)
{
	struct probe *probe = ret_probe;
	struct stat own;

	probe->elsewhere = probe->ignored = false;
	probe->looked = 0;
	probe->memory = (struct probe_memories){ 0 };
	probe->proc = open_root(probe, "PGPU_PROCFS", "/proc");
	bool ours = !probe->elsewhere;
	probe->sys = open_root(probe, "PGPU_SYSFS", "/sys");
	probe->abroad = is_abroad(probe->proc);
	probe->memory.counts =
		ours && probe->proc >= 0 && fstatat(probe->proc, "self/fd", &own, 0) == 0 && own.st_size > 0;
	probe->memory.tells = probe->memory.counts || !ours;
	probe->nvml = probe->elsewhere ? NULL : probe_nvml_open(probe->sys);
}

void probe_close(struct probe *probe)
{
	scope_close(&probe->proc);
	scope_close(&probe->sys);
	probe_nvml_close(probe->nvml);
	probe_memory_free(&probe->memory);
	probe->proc = probe->sys = -1;
	probe->nvml = NULL;
}

int probe_sample(struct probe *probe, const struct probe_set *only, struct probe_sample *ret_sample, struct err *err)
{
	struct probe_sample *sample = ret_sample;

	*sample = (struct probe_sample){ .at_ns = clock_awake_ns(), .abroad = probe->abroad };
	probe_cards_read(probe->sys, &sample->cards);
	probe_walk(probe, only, sample);
	probe_kfd_read(probe->sys, probe->proc, only, sample);
	probe_cards_read_used(probe->sys, &sample->cards);
	probe_nvml_read(probe->nvml, probe->proc, only, sample);
	return sample->failed ? err_sys(err, "cannot look at the cards") : 0;
}
