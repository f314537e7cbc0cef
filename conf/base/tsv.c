/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tsv.h"

#include <sys/stat.h>
#include <unistd.h>

int64_t tsv_start(int fd, const char *header, struct buf *line)
{
	struct stat found;
	char last;

	if (fstat(fd, &found) < 0)
		return -1;
	if (found.st_size == 0)
		buf_puts(line, header);
	else if (pread(fd, &last, 1, found.st_size - 1) == 1 && last != '\n')
		buf_puts(line, "\n");
	return found.st_size;
}
