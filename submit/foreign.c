/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "foreign.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "conf/base/buf.h"
#include "conf/base/clock.h"
#include "conf/base/file.h"
#include "conf/base/fmt.h"
#include "conf/base/scope.h"
#include "conf/base/tsv.h"
#include "conf/jobid.h"
#include "history.h"

static const char header[] = "seen\tpid\tstart\tcomm\tkfd\tvram_bytes\tjob\n";
static const char current[] = "foreign.tsv", older[] = "foreign.tsv.old";
enum { COLUMNS = 7 };

static void format_row(const struct foreign_row *row, struct buf *line)
{
	char seen[CLOCK_TEXT];

	clock_wall_format(row->seen_wall_ns, seen);
	buf_printf(line, "%s\t%d\t%llu\t", seen, row->pid, (unsigned long long)row->start);
	buf_field(line, row->comm, 0);
	buf_printf(line, "\t%s\t", row->kfd ? "yes" : "no");
	if (row->vram_bytes >= 0)
		buf_printf(line, "%lld", (long long)row->vram_bytes);
	buf_puts(line, "\t");
	if (row->id)
		buf_printf(line, "%s", JOBID(row->id));
	buf_puts(line, "\n");
}

static int open_current(int queue_fd, struct err *err)
{
	const int flags = O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
	SCOPE_FD int fd = openat(queue_fd, current, flags, 0600);
	struct stat found;

	if (fd < 0)
		return err_sys(err, "cannot open %s", current);
	if (!file_is_ours(fd, current, err))
		return -1;
	if (fstat(fd, &found) == 0 && found.st_size < FOREIGN_BYTES / 2)
		return TAKE_FD(fd);
	if (renameat(queue_fd, current, queue_fd, older) < 0)
		return err_sys(err, "cannot rename %s", current);
	close(TAKE_FD(fd));
	fd = openat(queue_fd, current, flags, 0600);
	return fd < 0 ? err_sys(err, "cannot open %s", current) : TAKE_FD(fd);
}

int foreign_append(int queue_fd, const struct foreign_row *row, struct err *err)
{
	SCOPE_BUF struct buf line = BUF_EMPTY;
	SCOPE_FD int fd = open_current(queue_fd, err);

	if (fd < 0)
		return -1;
	tsv_start(fd, header, &line);
	format_row(row, &line);
	errno = ENOMEM;
	ssize_t wrote = buf_ok(&line) ? write(fd, line.text, line.size) : -1;
	if (wrote == (ssize_t)line.size)
		return 0;
	if (wrote >= 0)
		errno = ENOSPC;
	return err_sys(err, "cannot write %s", current);
}

static int parse_row(char *text, struct foreign_row *row)
{
	char *column[COLUMNS];
	const char *end;

	for (int i = 0; i < COLUMNS; i++) {
		column[i] = strsep(&text, "\t");
		if (!column[i])
			return -1;
	}
	*row = (struct foreign_row){ .vram_bytes = -1 };
	row->pid = (pid_t)fmt_read(column[1], &end);
	if (*end || row->pid <= 0 || clock_wall_parse(column[0], &row->seen_wall_ns) < 0)
		return -1;
	row->start = fmt_read(column[2], &end);
	history_unescape(column[3]);
	fmt(row->comm, sizeof row->comm, "%s", column[3]);
	row->kfd = strcmp(column[4], "yes") == 0;
	if (column[5][0])
		row->vram_bytes = (int64_t)fmt_read(column[5], &end);
	row->id = column[6][0] ? jobid_read(column[6], &end) : 0;
	return 0;
}

static int each_of(int queue_fd, const char *name, int (*visit)(const struct foreign_row *row, void *context),
		   void *context, struct err *err)
{
	SCOPE_FREE char *text = NULL;
	struct err why = ERR_NONE;
	size_t size;
	struct foreign_row row;
	int result = 0;

	if (file_read(queue_fd, name, FOREIGN_BYTES * 2, &text, &size, &why) < 0)
		return why.errnum == ENOENT ? 0 : err_pass(err, &why);
	char *next = text;
	for (char *line; result == 0 && (line = strsep(&next, "\n"));) {
		if (parse_row(line, &row) == 0)
			result = visit(&row, context);
	}
	return result;
}

int foreign_each(int queue_fd, int (*visit)(const struct foreign_row *row, void *context), void *context,
		 struct err *err)
{
	int result = each_of(queue_fd, older, visit, context, err);

	return result ? result : each_of(queue_fd, current, visit, context, err);
}
