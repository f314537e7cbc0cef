/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "reporttail.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "conf/base/scope.h"

/* How many bytes were read, or -1; `*ret_cut`: the file begins before them. */
static ssize_t read_end(const char *path, char *text, bool *ret_cut, struct err *err)
{
	SCOPE_FD int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
	struct stat status;
	ssize_t got = 1, used = 0;

	if (fd < 0 || fstat(fd, &status) < 0)
		return err_sys(err, "cannot open %s", path);
	if (!S_ISREG(status.st_mode))
		return err_set(err, EXIT_FAILED, "cannot read %s: it is no regular file", path);
	off_t from = status.st_size > TAIL_BYTES ? status.st_size - TAIL_BYTES : 0;
	while (used < TAIL_BYTES && got != 0) {
		got = pread(fd, text + used, (size_t)(TAIL_BYTES - used), from + used);
		if (got < 0 && errno != EINTR)
			return err_sys(err, "cannot read %s", path);
		used += got > 0 ? got : 0;
	}
	*ret_cut = from > 0;
	return used;
}

/* The line that ends before `end` becomes a text, without what it was written over. */
static const char *end_line(char *line, char *end)
{
	*end = '\0';
	while (end > line && end[-1] == '\r')
		*--end = '\0';
	const char *over = strrchr(line, '\r');
	return over ? over + 1 : line;
}

int tail_read(const char *path, struct tail *ret_tail, struct err *err)
{
	char *text = ret_tail->text;
	bool cut = false;
	ssize_t size = read_end(path, text, &cut, err);

	if (size < 0)
		return -1;
	for (ssize_t i = 0; i < size; i++) {
		if (text[i] == '\0')
			text[i] = '?';
	}
	ret_tail->count = 0;
	if (size > 0 && text[size - 1] == '\n')
		size--;
	/* Backwards, line by line; a line whose beginning was not read is shown only where it is the only one. */
	for (char *end = text + size; end >= text && size > 0 && ret_tail->count < TAIL_LINES;) {
		char *newline = memrchr(text, '\n', (size_t)(end - text));
		if (!newline && cut && ret_tail->count)
			break;
		ret_tail->lines[TAIL_LINES - ++ret_tail->count] = end_line(newline ? newline + 1 : text, end);
		if (!newline)
			break;
		end = newline;
	}
	memmove(ret_tail->lines, ret_tail->lines + TAIL_LINES - ret_tail->count,
		(size_t)ret_tail->count * sizeof ret_tail->lines[0]);
	return 0;
}
