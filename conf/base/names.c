/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "names.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "clock.h"
#include "scope.h"

int names_open(struct names *names, int folder)
{
	names->at = names->size = 0;
	names->errnum = 0;
	names->many = NULL;
	/* Opened anew: rewound, some file systems go on showing a folder as it was when it was opened. */
	names->fd = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return names->fd < 0 ? -1 : 0;
}

static bool read_more(struct names *names)
{
	/* Once a piece was full, in large ones; without the memory for them in small ones. */
	if (names->size > NAMES_FEW / 2 && !names->many)
		names->many = malloc(NAMES_MANY);
	ssize_t got = names->many ? getdents64(names->fd, names->many, NAMES_MANY)
				  : getdents64(names->fd, names->few, NAMES_FEW);
	names->at = 0;
	names->size = got > 0 ? (size_t)got : 0;
	names->errnum = got < 0 ? errno : 0;
	return got > 0;
}

bool names_failed(const struct names *names)
{
	errno = names->errnum;
	return names->errnum != 0;
}

const struct dirent64 *names_next(struct names *names)
{
	for (;;) {
		if (names->at >= names->size && !read_more(names))
			return NULL;
		const struct dirent64 *found = (const void *)((names->many ? names->many : names->few) + names->at);
		names->at += found->d_reclen;
		if (strcmp(found->d_name, ".") != 0 && strcmp(found->d_name, "..") != 0)
			return found;
	}
}

void names_close(struct names *names)
{
	scope_close(&names->fd);
	free(names->many);
	names->fd = -1;
	names->many = NULL;
}

bool names_still_empty(int folder, struct names_empty *empty)
{
	struct stat now;
	int64_t changed_ns = fstat(folder, &now) < 0 ? -1 : now.st_mtim.tv_sec * NS_PER_S + now.st_mtim.tv_nsec;

	if (empty->known && changed_ns == empty->changed_ns)
		return true;
	*empty = (struct names_empty){ .changed_ns = changed_ns };
	return false;
}

void names_seen_empty(struct names_empty *empty)
{
	empty->known = empty->changed_ns >= 0 && clock_wall_ns() - empty->changed_ns > NS_PER_S / 10;
}
