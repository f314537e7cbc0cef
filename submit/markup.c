/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "markup.h"

#include <string.h>

#include "conf/base/text.h"

/* U+FFFE and U+FFFF */
static bool is_no_character(const char *text)
{
	return strncmp(text, "\xef\xbf\xbe", 3) == 0 || strncmp(text, "\xef\xbf\xbf", 3) == 0;
}

static void put_one(struct buf *out, const char *text, size_t length)
{
	switch (*text) {
	case '&': buf_puts(out, "&amp;"); break;
	case '<': buf_puts(out, "&lt;"); break;
	case '>': buf_puts(out, "&gt;"); break;
	case '"': buf_puts(out, "&quot;"); break;
	case '\'': buf_puts(out, "&#39;"); break;
	default: buf_add(out, text, length);
	}
}

void markup_text(struct buf *out, const char *text)
{
	while (*text) {
		size_t order = *text == '\t' || *text == '\n' ? 0 : text_order_length(text);
		size_t length = order ? order : text_utf8_length(text);
		if (order || is_no_character(text))
			buf_puts(out, "\xef\xbf\xbd");
		else
			put_one(out, text, length);
		text += length;
	}
}

void markup_tenths(struct buf *out, int tenths)
{
	buf_printf(out, "%d.%d", tenths / 10, tenths % 10);
}
