/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "dmem.h"

#include <fcntl.h>
#include <string.h>

#include "conf/base/file.h"
#include "conf/base/fmt.h"
#include "conf/base/scope.h"

/* "drm/ADDRESS/vram", or vram0 and so on, as xe has them. */
static bool is_vram(const char *name, size_t length)
{
	static const char first[] = "drm/", last[] = "/vram";
	const char *slash = memrchr(name, '/', length);

	return length < DMEM_LINE - 24 && strncmp(name, first, sizeof first - 1) == 0 && slash > name + 3 &&
	       (size_t)(name + length - slash) >= sizeof last - 1 && strncmp(slash, last, sizeof last - 1) == 0;
}

bool dmem_next(const char **next, uint64_t bytes, char line[DMEM_LINE])
{
	while (**next) {
		const char *name = *next;
		size_t length = strcspn(name, " \n");
		*next += strcspn(name, "\n");
		*next += **next == '\n';
		if (!is_vram(name, length))
			continue;
		fmt(line, DMEM_LINE, "%.*s %llu", (int)length, name, (unsigned long long)bytes);
		return true;
	}
	return false;
}

/* One write for each: what it does with several lines is younger than the file. */
bool dmem_set(int folder, uint64_t bytes)
{
	char text[4096], line[DMEM_LINE];
	const char *next = text;
	bool set = false;

	if (file_read_small(folder, "dmem.max", text, sizeof text) <= 0)
		return false;
	while (dmem_next(&next, bytes, line)) {
		SCOPE_FD int fd = openat(folder, "dmem.max", O_WRONLY | O_CLOEXEC);
		if (fd < 0 || write_all(fd, line, strlen(line)) < 0)
			return false;
		set = true;
	}
	return set;
}
