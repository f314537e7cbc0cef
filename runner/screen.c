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

static bool may_have_colours(void)
{
	const char *no = getenv("NO_COLOR"), *kind = getenv("TERM");

	return !(no && *no) && kind && *kind && strcmp(kind, "dumb") != 0;
}

void screen_look(enum screen_colour when, struct screen *ret_screen)
{
	*ret_screen = (struct screen){ .terminal = isatty(STDOUT_FILENO), .colour = when == COLOUR_ALWAYS };
	if (!ret_screen->terminal)
		return;
	ret_screen->colour |= when == COLOUR_AUTO && may_have_colours();
	ret_screen->utf8 = screen_speak();
	ret_screen->cells = look_for_cells();
}

int screen_colour_parse(const char *word, const char *command, enum screen_colour *ret_when, struct err *err)
{
	static const char *const words[] = {
		[COLOUR_AUTO] = "auto", [COLOUR_ALWAYS] = "always", [COLOUR_NEVER] = "never", NULL
	};
	char hint[64];

	for (int i = 0; words[i]; i++) {
		if (strcmp(word, words[i]) != 0)
			continue;
		*ret_when = (enum screen_colour)i;
		return 0;
	}
	text_hint(word, words, hint, sizeof hint);
	return err_set(err, EXIT_USAGE, "%s: --color is auto, always or never, not '%.40s'%s", command, word, hint);
}

const char *const screen_paints[PAINTS] = {
	[PAINT_NONE] = "\033[0m",  [PAINT_HEAD] = "\033[1m", [PAINT_GOOD] = "\033[32m",
	[PAINT_CARE] = "\033[33m", [PAINT_BAD] = "\033[31m",
};

void screen_bar(int64_t part, int64_t whole, char text[SCREEN_BAR + 1])
{
	text[0] = '\0';
	if (part < 0 || whole <= 0)
		return;
	int full = part > whole ? SCREEN_BAR : (int)((__int128_t)part * SCREEN_BAR / whole);
	memset(text, '-', SCREEN_BAR);
	memset(text, '#', (size_t)full);
	if (part > whole)
		text[SCREEN_BAR - 1] = '!';
	text[SCREEN_BAR] = '\0';
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
