/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A growing piece of text for records, listings and JSON. `BUF_EMPTY` starts one, buf_free() (or SCOPE_BUF) ends it.
 * Memory that cannot be had sets `failed`; the writer checks it once, at the end, with buf_ok().
 */
#ifndef PGPU_BASE_BUF_H
#define PGPU_BASE_BUF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf {
	char *text; /* always ends with a NUL that `size` does not count; NULL while empty */
	size_t size;
	size_t room;
	bool failed;
};

#define BUF_EMPTY ((struct buf){ 0 })
#define SCOPE_BUF __attribute__((cleanup(buf_free)))

void buf_free(struct buf *buf);
void buf_add(struct buf *buf, const void *bytes, size_t count);
void buf_puts(struct buf *buf, const char *text);
void buf_printf(struct buf *buf, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* A JSON string with its quotes; NULL becomes null, bytes that are not UTF-8 become U+FFFD. */
void buf_json(struct buf *buf, const char *text);
/* One word of a shell command line, quoted only where the shell needs it. */
void buf_shell(struct buf *buf, const char *word);
/* `argv` as one shell-quoted line. */
void buf_shell_line(struct buf *buf, char *const argv[]);
/* A field of log.tsv: tab, newline and backslash as \t \n \\; other control bytes as \xNN. Cut at `limit` bytes (0:
 * never). */
void buf_field(struct buf *buf, const char *text, size_t limit);
static inline bool buf_ok(const struct buf *buf)
{
	return !buf->failed;
}
/* Writes all of it to standard output; -1 with errno set when that fails. A broken pipe is quiet: errno EPIPE. */
int buf_print(const struct buf *buf);

#endif
