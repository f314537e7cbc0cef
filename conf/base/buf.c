/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "buf.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "file.h"
#include "fmt.h"
#include "text.h"

void buf_free(struct buf *buf)
{
	free(buf->text);
	*buf = BUF_EMPTY;
}

static bool make_room(struct buf *buf, size_t more)
{
	if (buf->failed)
		return false;
	if (buf->size + more + 1 <= buf->room)
		return true;
	size_t room = buf->room ? buf->room : 256;
	while (room < buf->size + more + 1)
		room *= 2;
	char *text = realloc(buf->text, room);
	if (!text) {
		buf->failed = true;
		return false;
	}
	buf->text = text;
	buf->room = room;
	return true;
}

void buf_add(struct buf *buf, const void *bytes, size_t count)
{
	if (!make_room(buf, count))
		return;
	if (count)
		memcpy(buf->text + buf->size, bytes, count);
	buf->size += count;
	buf->text[buf->size] = '\0';
}

void buf_puts(struct buf *buf, const char *text)
{
	buf_add(buf, text, strlen(text));
}

void buf_printf(struct buf *buf, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	int count = fmt_args(NULL, 0, format, args);
	va_end(args);
	if (!make_room(buf, (size_t)count))
		return;
	va_start(args, format);
	fmt_args(buf->text + buf->size, (size_t)count + 1, format, args);
	va_end(args);
	buf->size += (size_t)count;
}

void buf_json(struct buf *buf, const char *text)
{
	if (!text) {
		buf_puts(buf, "null");
		return;
	}
	buf_puts(buf, "\"");
	for (const char *p = text; *p;) {
		size_t length = text_utf8_length(p);
		unsigned char byte = (unsigned char)*p;

		if (length == 0)
			buf_puts(buf, "\xEF\xBF\xBD");
		else if (byte == '"' || byte == '\\')
			buf_printf(buf, "\\%c", byte);
		else if (byte == '\n')
			buf_puts(buf, "\\n");
		else if (byte == '\t')
			buf_puts(buf, "\\t");
		else if (text_order_length(p))
			buf_printf(buf, "\\u%04x", length == 2 ? (unsigned char)p[1] : byte);
		else
			buf_add(buf, p, length);
		p += length ? length : 1;
	}
	buf_puts(buf, "\"");
}

static bool needs_no_quotes(const char *word)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_@%+=:,./-";
	const char *p = word;

	while (*p && strchr(plain, *p))
		p++;
	return *word && !*p;
}

void buf_shell(struct buf *buf, const char *word)
{
	if (needs_no_quotes(word)) {
		buf_puts(buf, word);
		return;
	}
	buf_puts(buf, "'");
	for (const char *p = word; *p; p++) {
		if (*p == '\'')
			buf_puts(buf, "'\\''");
		else
			buf_add(buf, p, 1);
	}
	buf_puts(buf, "'");
}

void buf_shell_line(struct buf *buf, char *const argv[])
{
	for (size_t i = 0; argv[i]; i++) {
		if (i)
			buf_puts(buf, " ");
		buf_shell(buf, argv[i]);
	}
}

void buf_field(struct buf *buf, const char *text, size_t limit)
{
	size_t start = buf->size;

	for (const char *p = text; *p;) {
		size_t order = text_order_length(p), length = order ? order : text_utf8_length(p);
		if (limit && buf->size - start + 4 * length > limit)
			return;
		if (*p == '\t')
			buf_puts(buf, "\\t");
		else if (*p == '\n')
			buf_puts(buf, "\\n");
		else if (*p == '\\')
			buf_puts(buf, "\\\\");
		else if (order == 0)
			buf_add(buf, p, length);
		else
			for (size_t i = 0; i < order; i++)
				buf_printf(buf, "\\x%02x", (unsigned char)p[i]);
		p += length;
	}
}

int buf_print(const struct buf *buf)
{
	if (buf->failed) {
		errno = ENOMEM;
		return -1;
	}
	return write_all(STDOUT_FILENO, buf->text, buf->size);
}
