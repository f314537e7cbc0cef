/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "names.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int names_open(struct names *names, int folder)
{
	names->at = names->size = 0;
	names->many = NULL;
	names->folder = folder;
	return lseek(folder, 0, SEEK_SET) < 0 ? -1 : 0;
}

static bool read_more(struct names *names)
{
	/* Once a piece was full, in large ones; without the memory for them in small ones. */
	if (names->size > NAMES_FEW / 2 && !names->many)
		names->many = malloc(NAMES_MANY);
	ssize_t got = names->many ? getdents64(names->folder, names->many, NAMES_MANY)
				  : getdents64(names->folder, names->few, NAMES_FEW);
	names->at = 0;
	names->size = got > 0 ? (size_t)got : 0;
	return got > 0;
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
	free(names->many);
	names->many = NULL;
}
