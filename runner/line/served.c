/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Who was served last. One file of fixed lines, "SESSION SEQUENCE" padded to 86 bytes: a start reads it once and
 * overwrites the one line of its session. It is never synced; after a power cut an older order of sessions may be
 * remembered, and a damaged line counts as never served.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "conf/base/file.h"
#include "conf/base/fmt.h"
#include "line.h"

enum { ROW = 86, SESSION_WIDTH = 64, ROWS_MAX = 1024, ROWS_FEW = 8 };

/* All of the file's first `rows` rows, or -1: the memory is then as it was. */
static ssize_t read_rows(struct served *served, size_t rows)
{
	char *text = realloc(served->text, rows * ROW + 1);
	ssize_t got;

	if (!text)
		return -1;
	served->text = text;
	do
		got = pread(served->fd, text, rows * ROW, 0);
	while (got < 0 && errno == EINTR);
	text[got < 0 ? 0 : got] = '\0';
	return got;
}

void served_read(struct line *line, struct served *ret_served)
{
	*ret_served =
		(struct served){ .fd = openat(line->queue_fd, "served", O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK) };
	/* Missing, strange or damaged: everybody counts as never served, and nobody waits for it to be mended. */
	ssize_t got = ret_served->fd < 0 ? -1 : read_rows(ret_served, ROWS_FEW);
	if (got == ROWS_FEW * ROW)
		got = read_rows(ret_served, ROWS_MAX);
	ret_served->size = got < 0 ? 0 : (size_t)got;
	for (size_t at = 0; at + ROW <= ret_served->size; at += ROW) {
		uint64_t sequence = fmt_read(ret_served->text + at + SESSION_WIDTH, NULL);
		if (sequence > ret_served->last)
			ret_served->last = sequence;
	}
}

void served_free(struct served *served)
{
	if (served->fd >= 0)
		close(served->fd);
	free(served->text);
	*served = SERVED_NONE;
}

/* Spaces follow the name up to the width: each byte there is as the one before it. */
static bool is_of(const char *row, const char *session, size_t length)
{
	return memcmp(row, session, length) == 0 &&
	       (length == SESSION_WIDTH ||
		(row[length] == ' ' && memcmp(row + length, row + length + 1, SESSION_WIDTH - length - 1) == 0));
}

/* Each candidate asks, and there may be many. */
static const char *find_row(const struct served *served, const char *session)
{
	size_t length = strnlen(session, SESSION_WIDTH);

	for (size_t at = 0; at + ROW <= served->size; at += ROW) {
		if (is_of(served->text + at, session, length))
			return served->text + at;
	}
	return NULL;
}

uint64_t served_of(const struct served *served, const char *session)
{
	const char *row = find_row(served, session);

	return row ? fmt_read(row + SESSION_WIDTH, NULL) : 0;
}

/* The row of the session served longest ago, for a new one when the file is full. */
static size_t oldest_row(const struct served *served)
{
	size_t oldest = 0;
	uint64_t least = UINT64_MAX;

	for (size_t at = 0; at + ROW <= served->size; at += ROW) {
		uint64_t sequence = fmt_read(served->text + at + SESSION_WIDTH, NULL);
		if (sequence < least) {
			least = sequence;
			oldest = at;
		}
	}
	return oldest;
}

int served_touch(struct line *line, struct served *served, const char *session, struct err *err)
{
	char row[ROW + 1];
	const char *found = find_row(served, session);
	size_t at = found ? (size_t)(found - served->text) : served->size / ROW * ROW;

	if (!found && at >= (size_t)ROW * ROWS_MAX)
		at = oldest_row(served);
	fmt(row, sizeof row, "%-64.64s %020llu\n", session, (unsigned long long)++served->last);
	if (served->fd < 0)
		served->fd = openat(line->queue_fd, "served", O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK,
				    0600);
	if (served->fd < 0 || write_at(served->fd, row, ROW, (off_t)at) < 0)
		return err_sys(err, "cannot note the session as served");
	return 0;
}
