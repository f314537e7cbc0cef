/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Who was served last. One file of fixed lines, "SESSION SEQUENCE" padded to 86 bytes: a start reads it once and
 * overwrites the one line of its session. It is never synced; after a power cut an older order of sessions may be
 * remembered, and a damaged line counts as never served.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conf/base/file.h"
#include "conf/base/scope.h"
#include "line.h"

enum { ROW = 86, SESSION_WIDTH = 64, ROWS_MAX = 1024 };

int served_read(struct line *line, struct served *ret_served, struct err *err)
{
	struct err ignored = ERR_NONE;
	(void)err;

	*ret_served = (struct served){ 0 };
	/* Missing, strange or damaged: everybody counts as never served, and nobody waits for it to be mended. */
	if (file_read(line->queue_fd, "served", ROW * ROWS_MAX, &ret_served->text, &ret_served->size, &ignored) < 0)
		return 0;
	for (size_t at = 0; at + ROW <= ret_served->size; at += ROW) {
		uint64_t sequence = strtoull(ret_served->text + at + SESSION_WIDTH, NULL, 10);
		if (sequence > ret_served->last)
			ret_served->last = sequence;
	}
	return 0;
}

void served_free(struct served *served)
{
	free(served->text);
	served->text = NULL;
}

static const char *find_row(const struct served *served, const char *session)
{
	char wanted[SESSION_WIDTH + 1];

	snprintf(wanted, sizeof wanted, "%-64.64s", session);
	for (size_t at = 0; at + ROW <= served->size; at += ROW) {
		if (memcmp(served->text + at, wanted, SESSION_WIDTH) == 0)
			return served->text + at;
	}
	return NULL;
}

uint64_t served_of(const struct served *served, const char *session)
{
	const char *row = find_row(served, session);

	return row ? strtoull(row + SESSION_WIDTH, NULL, 10) : 0;
}

/* The row of the session served longest ago, for a new one when the file is full. */
static size_t oldest_row(const struct served *served)
{
	size_t oldest = 0;
	uint64_t least = UINT64_MAX;

	for (size_t at = 0; at + ROW <= served->size; at += ROW) {
		uint64_t sequence = strtoull(served->text + at + SESSION_WIDTH, NULL, 10);
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
	snprintf(row, sizeof row, "%-64.64s %020llu\n", session, (unsigned long long)++served->last);
	SCOPE_FD int fd =
		openat(line->queue_fd, "served", O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
	if (fd < 0 || pwrite(fd, row, ROW, (off_t)at) != ROW)
		return err_sys(err, "cannot note the session as served");
	return 0;
}
