/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "jobquote.h"

#include <string.h>

#include "base64.h"
#include "conf/base/text.h"

/* Bytes of a character that YAML takes as it stands and a terminal too; else 0. */
static size_t plain_length(const char *text)
{
	size_t length = text_utf8_length(text);
	unsigned char first = (unsigned char)text[0], second = (unsigned char)text[1];

	if (length == 1)
		return first >= 0x20 && first != 0x7f;
	if (length == 2 && first == 0xc2 && second < 0xa0)
		return 0;
	if (length == 3 && (strncmp(text, "\xE2\x80\xA8", 3) == 0 || strncmp(text, "\xE2\x80\xA9", 3) == 0 ||
			    strncmp(text, "\xEF\xBB\xBF", 3) == 0 || strncmp(text, "\xEF\xBF\xBE", 3) == 0 ||
			    strncmp(text, "\xEF\xBF\xBF", 3) == 0))
		return 0;
	return length;
}

/* The code point of a character of two or three bytes. */
static unsigned code_point(const char *text, size_t length)
{
	const unsigned char *p = (const unsigned char *)text;

	return length == 2 ? (p[0] & 0x1fu) << 6 | (p[1] & 0x3fu)
			   : (p[0] & 0x0fu) << 12 | (p[1] & 0x3fu) << 6 | (p[2] & 0x3fu);
}

static void put_character(struct buf *record, const char *text, size_t length)
{
	size_t plain = plain_length(text);

	if (*text == '"' || *text == '\\')
		buf_printf(record, "\\%c", *text);
	else if (plain)
		buf_add(record, text, plain);
	else if (*text == '\n')
		buf_puts(record, "\\n");
	else if (*text == '\t')
		buf_puts(record, "\\t");
	else if (length == 1)
		buf_printf(record, "\\x%02x", (unsigned char)*text);
	else
		buf_printf(record, "\\u%04x", code_point(text, length));
}

static bool is_utf8(const char *text, size_t size)
{
	for (size_t i = 0; i < size;) {
		size_t length = text_utf8_length(text + i);
		if (length == 0 || length > size - i)
			return false;
		i += length;
	}
	return true;
}

void jobquote_yaml(struct buf *record, const char *text, size_t size)
{
	bool text_is_utf8 = is_utf8(text, size);

	buf_puts(record, text_is_utf8 ? "\"" : "!!binary \"");
	if (!text_is_utf8)
		base64_encode(text, size, record);
	for (size_t i = 0; text_is_utf8 && i < size;) {
		size_t length = text_utf8_length(text + i);
		put_character(record, text + i, length);
		i += length;
	}
	buf_puts(record, "\"");
}

void jobquote_line(struct buf *record, const char *value)
{
	while (*value) {
		size_t plain = *value == '\\' ? 0 : plain_length(value);
		if (plain)
			buf_add(record, value, plain);
		else
			buf_printf(record, "\\x%02x", (unsigned char)*value);
		value += plain ? plain : 1;
	}
}

static int hex_digit(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

bool jobquote_unline(char *text)
{
	char *to = text;

	for (const char *p = text; *p; p++) {
		if (*p != '\\') {
			*to++ = *p;
			continue;
		}
		int high = p[1] == 'x' ? hex_digit(p[2]) : -1;
		int low = high < 0 ? -1 : hex_digit(p[3]);
		if (low < 0 || high + low == 0)
			return false;
		*to++ = (char)(high << 4 | low);
		p += 3;
	}
	*to = '\0';
	return true;
}
