/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "screen.h"

#include <langinfo.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <wchar.h>

#include "conf/base/text.h"

enum { CELLS_LEAST = 20, CELLS_MOST = 1000, CELLS_USUAL = 80 };

int screen_cells_of(int fd)
{
	struct winsize size = { 0 };

	return ioctl(fd, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

/* COLUMNS is what its user wants, where it can be. */
static int look_for_cells(void)
{
	const char *wanted = getenv("COLUMNS");
	int64_t cells;

	if (wanted && text_number_parse(wanted, CELLS_LEAST, CELLS_MOST, &cells, NULL) == 0)
		return (int)cells;
	int found = screen_cells_of(STDOUT_FILENO);
	return found > 0 ? found : CELLS_USUAL;
}

/* wcwidth(3) knows what the locale knows; ours is UTF-8 wherever the texts come from. */
bool screen_speak(void)
{
	bool utf8 = setlocale(LC_CTYPE, "") && strcmp(nl_langinfo(CODESET), "UTF-8") == 0;

	if (!utf8)
		(void)setlocale(LC_CTYPE, "C.UTF-8");
	return utf8;
}

void screen_look(struct screen *ret_screen)
{
	*ret_screen = (struct screen){ .terminal = isatty(STDOUT_FILENO) };
	if (!ret_screen->terminal)
		return;
	ret_screen->utf8 = screen_speak();
	ret_screen->cells = look_for_cells();
}

static wchar_t decode(const char *text, size_t length)
{
	static const unsigned char first[] = { 0, 0x7f, 0x1f, 0x0f, 0x07 };
	wchar_t code = (unsigned char)text[0] & first[length];

	for (size_t i = 1; i < length; i++)
		code = code << 6 | ((unsigned char)text[i] & 0x3f);
	return code;
}

/* Terminals differ in what these make of the character before them. */
static bool picks_a_shape(wchar_t code)
{
	return code >= 0xfe00 && code <= 0xfe0f;
}

size_t screen_next(const char *text, struct glyph *ret_glyph)
{
	size_t order = text_order_length(text), length = order ? order : text_utf8_length(text);
	wchar_t code = order ? 0 : decode(text, length);
	int cells = order ? -1 : code < 0x7f ? 1 : wcwidth(code);

	*ret_glyph = (struct glyph){ .text = text, .length = length, .cells = cells };
	if (!order && picks_a_shape(code))
		*ret_glyph = (struct glyph){ .text = "" };
	else if (cells < 0)
		*ret_glyph = (struct glyph){ .text = "?", .length = 1, .cells = 1 };
	return length;
}

int screen_measure(const char *text)
{
	struct glyph glyph;
	int cells = 0;

	while (*text) {
		text += screen_next(text, &glyph);
		cells += glyph.cells;
	}
	return cells;
}
