/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "memory.h"

#include <fcntl.h>
#include <stdbool.h>
#include <string.h>

#include "conf/base/file.h"
#include "conf/base/fmt.h"

#define LAG ((uint64_t)64 << 20)

/* The figure of the line "KEY:   N kB", in bytes. */
static bool find_bytes(const char *text, const char *key, uint64_t *ret_bytes)
{
	const char *found = strstr(text, key);

	if (!found)
		return false;
	for (found += strlen(key); *found == ' ' || *found == '\t'; found++)
		;
	*ret_bytes = fmt_read(found, NULL) * 1024;
	return true;
}

static bool read_use(const char *path, const char *own_key, const char *shared_key, struct memory_use *ret_use)
{
	char text[4096];
	uint64_t own;

	if (file_read_small(AT_FDCWD, path, text, sizeof text) <= 0 || !find_bytes(text, own_key, &own) ||
	    !find_bytes(text, shared_key, &ret_use->shared_bytes))
		return false;
	ret_use->bytes = own + ret_use->shared_bytes;
	return true;
}

uint64_t memory_machine(void)
{
	struct memory_use all;

	return read_use("/proc/meminfo", "\nAnonPages:", "\nShmem:", &all) ? all.bytes + LAG : UINT64_MAX;
}

static bool add(pid_t pid, const char *file, const char *own_key, const char *shared_key, struct memory_use *use)
{
	char path[64];
	struct memory_use one;

	fmt(path, sizeof path, "/proc/%d/%s", pid, file);
	if (!read_use(path, own_key, shared_key, &one))
		return false;
	use->bytes += one.bytes;
	use->shared_bytes += one.shared_bytes;
	return true;
}

void memory_add_whole(pid_t pid, void *use)
{
	add(pid, "status", "\nRssAnon:", "\nRssShmem:", use);
}

void memory_add_share(pid_t pid, void *use)
{
	if (!add(pid, "smaps_rollup", "\nPss_Anon:", "\nPss_Shmem:", use))
		memory_add_whole(pid, use);
}
