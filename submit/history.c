/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "history.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "conf/base/buf.h"
#include "conf/base/clock.h"
#include "conf/base/file.h"
#include "conf/base/fmt.h"
#include "conf/base/scope.h"
#include "conf/base/tsv.h"
#include "conf/jobid.h"

static const char header[] =
	"ended\tjob\tkind\tsession\tclass\tname\tcommand\twaited_s\tran_s\tfrozen_s\tcpu_s\tgpu_s\t"
	"peak_memory_bytes\texit_code\toutcome\n";

enum { COLUMNS = 15, COMMAND_MAX = 4096 };

static void add_seconds(struct buf *line, int64_t ns)
{
	if (ns >= 0)
		buf_printf(line, "%lld.%03lld", (long long)(ns / NS_PER_S), (long long)(ns % NS_PER_S / NS_PER_MS));
	buf_puts(line, "\t");
}

static void format_row(const struct history_row *row, struct buf *line)
{
	char ended[CLOCK_TEXT];

	clock_wall_format(row->ended_wall_ns, ended);
	buf_printf(line, "%s\t%s\t%s\t%s\t%s\t", ended, JOBID(row->id), row->spooled ? "spool" : "run", row->session,
		   row->class_name);
	buf_field(line, row->name, 0);
	buf_puts(line, "\t");
	buf_field(line, row->command, COMMAND_MAX);
	buf_puts(line, "\t");
	add_seconds(line, row->waited_ns);
	add_seconds(line, row->ran_ns);
	add_seconds(line, row->frozen_ns);
	add_seconds(line, row->cpu_ns);
	add_seconds(line, row->gpu_ns);
	if (row->peak_memory_bytes >= 0)
		buf_printf(line, "%lld", (long long)row->peak_memory_bytes);
	buf_puts(line, "\t");
	if (row->outcome != OUTCOME_TURN)
		buf_printf(line, "%d", row->exit_code);
	buf_printf(line, "\t%s\n", outcome_names[row->outcome]);
}

static void old_name(int number, char name[16])
{
	fmt(name, 16, number ? "log.tsv.%d" : "log.tsv", number);
}

/* Each file makes room for the one before it, up to the first gap, which a killed call may have left. None is renamed
 * over another but the oldest: a person may rename as well. */
static void shift(int queue_fd)
{
	char from[16], to[16];
	int gap = 1;

	for (; gap < HISTORY_OLD; gap++) {
		old_name(gap, to);
		if (!file_exists(queue_fd, to))
			break;
	}
	for (int i = gap; i > 0; i--) {
		old_name(i - 1, from);
		old_name(i, to);
		if (file_rename(queue_fd, from, queue_fd, to, i == HISTORY_OLD ? 0 : RENAME_NOREPLACE) < 0)
			return;
	}
}

/* One of several writers that find it too large; the others have another file's lock then, or none. What fails is left
 * to the next row's writer. */
static void rotate(int queue_fd, int fd)
{
	struct stat opened, named;

	if (flock(fd, LOCK_EX | LOCK_NB) == 0 && fstat(fd, &opened) == 0 &&
	    fstatat(queue_fd, "log.tsv", &named, AT_SYMLINK_NOFOLLOW) == 0 && opened.st_ino == named.st_ino &&
	    opened.st_dev == named.st_dev)
		shift(queue_fd);
}

int history_append(int queue_fd, const struct history_row *row, uint64_t log_bytes, struct err *err)
{
	SCOPE_BUF struct buf line = BUF_EMPTY;
	SCOPE_FD int fd =
		openat(queue_fd, "log.tsv", O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);

	if (fd < 0)
		return err_sys(err, "cannot open log.tsv");
	if (!file_is_ours(fd, "log.tsv", err))
		return -1;
	int64_t before = tsv_start(fd, header, &line);
	format_row(row, &line);
	if (!buf_ok(&line)) {
		errno = ENOMEM;
		return err_sys(err, "cannot write log.tsv");
	}
	ssize_t wrote = write(fd, line.text, line.size);
	if (wrote != (ssize_t)line.size) {
		if (wrote >= 0)
			errno = ENOSPC;
		return err_sys(err, "cannot write log.tsv");
	}
	if (log_bytes && before >= 0 && (uint64_t)before + line.size > log_bytes)
		rotate(queue_fd, fd);
	return 0;
}

void history_unescape(char *text)
{
	char *out = text;

	for (; *text; text++) {
		unsigned int byte;
		if (*text != '\\') {
			*out++ = *text;
		} else if (text[1] == 'x' && text[2] && text[3] && sscanf(text + 2, "%2x", &byte) == 1) {
			*out++ = (char)byte;
			text += 3;
		} else if (text[1]) {
			text++;
			*out++ = *text == 't' ? '\t' : *text == 'n' ? '\n' : *text;
		}
	}
	*out = '\0';
}

static int64_t read_seconds(const char *text)
{
	const char *at;
	uint64_t whole = fmt_read(text, &at);
	int64_t ns = 0;

	if (at == text || whole >= (uint64_t)(INT64_MAX / NS_PER_S))
		return -1;
	if (*at == '.') {
		for (int64_t unit = NS_PER_S / 10; *++at >= '0' && *at <= '9' && unit >= NS_PER_MS; unit /= 10)
			ns += (*at - '0') * unit;
	}
	return (int64_t)whole * NS_PER_S + ns;
}

static void copy(char *to, size_t size, char *from)
{
	history_unescape(from);
	size_t length = strnlen(from, size - 1);
	memcpy(to, from, length);
	to[length] = '\0';
}

static int parse_row(char *text, struct history_row *row)
{
	char *column[COLUMNS];
	const char *end;

	for (int i = 0; i < COLUMNS; i++) {
		column[i] = strsep(&text, "\t");
		if (!column[i])
			return -1;
	}
	/* Thousands of rows are read at once: all members are set, one by one, since the texts alone are pages. */
	row->outcome = outcome_parse(column[14]);
	row->id = jobid_read(column[1], &end);
	if (text || row->outcome == OUTCOME_NONE || row->id == 0 ||
	    clock_wall_parse(column[0], &row->ended_wall_ns) < 0)
		return -1;
	row->spooled = strcmp(column[2], "spool") == 0;
	copy(row->session, sizeof row->session, column[3]);
	copy(row->class_name, sizeof row->class_name, column[4]);
	copy(row->name, sizeof row->name, column[5]);
	copy(row->command, sizeof row->command, column[6]);
	row->waited_ns = read_seconds(column[7]);
	row->ran_ns = read_seconds(column[8]);
	row->frozen_ns = read_seconds(column[9]);
	row->cpu_ns = read_seconds(column[10]);
	row->gpu_ns = read_seconds(column[11]);
	row->peak_memory_bytes = column[12][0] ? fmt_read_signed(column[12], NULL) : -1;
	row->exit_code = (int)fmt_read_signed(column[13], NULL);
	return 0;
}

struct logs {
	int fds[HISTORY_OLD + 1];
	off_t from[HISTORY_OLD + 1]; /* where reading begins */
	struct stat found[HISTORY_OLD + 1];
	int count;
};

static void close_logs(struct logs *logs)
{
	for (int i = 0; i < logs->count; i++)
		scope_close(&logs->fds[i]);
}

static bool is_known(const struct logs *logs, const struct stat *found)
{
	for (int i = 0; i < logs->count; i++) {
		if (logs->found[i].st_ino == found->st_ino && logs->found[i].st_dev == found->st_dev)
			return true;
	}
	return false;
}

/* An older file that is none of ours is a person's business; the log itself has to be right. */
static int open_one(struct logs *logs, int queue_fd, int number, struct err *err)
{
	char name[16];
	struct err ignored = ERR_NONE;
	struct stat *found = &logs->found[logs->count];

	old_name(number, name);
	SCOPE_FD int fd = openat(queue_fd, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd < 0)
		return number || errno == ENOENT ? 0 : err_sys(err, "cannot open log.tsv");
	if (!file_is_ours(fd, name, number ? &ignored : err))
		return number ? 0 : -1;
	if (fstat(fd, found) < 0 || is_known(logs, found))
		return 0;
	logs->fds[logs->count++] = TAKE_FD(fd);
	return 0;
}

/* Newest first, so that one which is renamed meanwhile is met under its new name, if not under the old one. */
static int open_logs(struct logs *logs, int queue_fd, off_t bytes, struct err *err)
{
	off_t left = bytes;

	logs->count = 0;
	for (int number = 0; number <= HISTORY_OLD && (bytes == 0 || left > 0); number++) {
		int known = logs->count;
		if (open_one(logs, queue_fd, number, err) < 0) {
			close_logs(logs);
			return -1;
		}
		if (logs->count == known)
			continue;
		off_t size = logs->found[known].st_size;
		logs->from[known] = bytes && size > left ? size - left : 0;
		left -= size;
	}
	return 0;
}

static int read_rows(int fd, off_t from, int (*visit)(const struct history_row *row, void *context), void *context,
		     struct err *err)
{
	SCOPE_FREE char *text = NULL;
	SCOPE_FREE struct history_row *row = malloc(sizeof *row);
	int copy = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	FILE *file = copy < 0 ? NULL : fdopen(copy, "r");
	size_t size = 0;
	ssize_t length;

	if (!file || !row) {
		err_sys(err, "cannot read log.tsv");
		if (file)
			(void)fclose(file);
		else if (copy >= 0)
			close(copy);
		return -1;
	}
	/* A row that this cuts lacks columns, or has none of a time. */
	int result = fseeko(file, from, SEEK_SET) < 0 ? err_sys(err, "cannot read log.tsv") : 0;
	while (result == 0 && (length = getline(&text, &size, file)) > 0) {
		if (text[length - 1] == '\n')
			text[length - 1] = '\0';
		if (parse_row(text, row) == 0)
			result = visit(row, context);
	}
	(void)fclose(file);
	return result;
}

int history_each(int queue_fd, int (*visit)(const struct history_row *row, void *context), void *context,
		 struct err *err)
{
	return history_each_late(queue_fd, 0, visit, context, err);
}

int history_each_late(int queue_fd, long bytes, int (*visit)(const struct history_row *row, void *context),
		      void *context, struct err *err)
{
	struct logs logs;
	int result = 0;

	if (open_logs(&logs, queue_fd, bytes, err) < 0)
		return -1;
	for (int i = logs.count - 1; result == 0 && i >= 0; i--)
		result = read_rows(logs.fds[i], logs.from[i], visit, context, err);
	close_logs(&logs);
	return result;
}

/* More than the longest row: who reads backwards has a whole one in each piece. */
enum { PIECE = 1 << 16 };

static bool names_id(const char *line, const char *id)
{
	const char *column = strchr(line, '\t');
	size_t length = strlen(id);

	return column && strncmp(column + 1, id, length) == 0 && column[1 + length] == '\t';
}

/* The last row in `text`, which ends with a whole line, of that id that is no `turn`. */
static bool find_in_piece(char *text, size_t size, uint64_t id, struct history_row *row)
{
	const struct jobid_text wanted = jobid_text(id);

	while (size > 0) {
		size -= text[size - 1] == '\n';
		text[size] = '\0';
		const char *before = memrchr(text, '\n', size);
		char *line = before ? text + (before + 1 - text) : text;
		if (names_id(line, wanted.text) && parse_row(line, row) == 0 && row->id == id &&
		    row->outcome != OUTCOME_TURN)
			return true;
		size = (size_t)(line - text);
	}
	return false;
}

/* From the end: jobs that are asked for have mostly ended a moment ago. 1, 0 or -1. */
static int find_back(int fd, off_t size, uint64_t id, struct history_row *row, struct err *err)
{
	SCOPE_FREE char *text = malloc(PIECE + 1);

	if (!text)
		return err_sys(err, "cannot read log.tsv");
	for (off_t end = size; end > 0;) {
		off_t from = end > PIECE ? end - PIECE : 0;
		ssize_t got = pread(fd, text, (size_t)(end - from), from);
		if (got <= 0)
			return got < 0 ? err_sys(err, "cannot read log.tsv") : 0;
		/* What stands before the first end of a line belongs to the piece before. */
		const char *cut = from ? memchr(text, '\n', (size_t)got - 1) : NULL;
		size_t first = cut ? (size_t)(cut + 1 - text) : 0;
		if ((cut || !from) && find_in_piece(text + first, (size_t)got - first, id, row))
			return 1;
		end = from + (off_t)first;
	}
	return 0;
}

int history_find(int queue_fd, uint64_t id, struct history_row *ret_row, struct err *err)
{
	struct logs logs;
	int found = 0;

	if (open_logs(&logs, queue_fd, 0, err) < 0)
		return -1;
	for (int i = 0; found == 0 && i < logs.count; i++)
		found = find_back(logs.fds[i], logs.found[i].st_size, id, ret_row, err);
	close_logs(&logs);
	return found;
}
