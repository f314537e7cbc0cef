/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What standard output is to a list: a terminal of so many cells that may show colours, or something that a program
 * reads. Where it is no terminal nothing more is asked than that.
 */
#ifndef PGPU_RUNNER_SCREEN_H
#define PGPU_RUNNER_SCREEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "conf/base/err.h"

struct screen {
	bool terminal;
	bool utf8; /* what is not ASCII may be written */
	bool colour;
	int cells; /* in a line; 0: as many as it takes */
};

/* Colours where it is a terminal that may have them and NO_COLOR is empty, or as `when` says. */
enum screen_colour { COLOUR_AUTO, COLOUR_ALWAYS, COLOUR_NEVER };
void screen_look(enum screen_colour when, struct screen *ret_screen);
/* The word behind --color of `command`. */
int screen_colour_parse(const char *word, const char *command, enum screen_colour *ret_when, struct err *err);

/* Few, and each says again what its text says; never around a text of a user's. */
enum paint { PAINT_NONE, PAINT_HEAD, PAINT_GOOD, PAINT_CARE, PAINT_BAD, PAINTS };
/* The order that begins it; PAINT_NONE ends them all. */
extern const char *const screen_paints[PAINTS];

/* "###---" of `part` of `whole`; past that "#####!". "" where one of them is not known. */
enum { SCREEN_BAR = 8 };
void screen_bar(int64_t part, int64_t whole, char text[SCREEN_BAR + 1]);

/* Makes characters known to screen_next(), whatever the locale; true where that is UTF-8. screen_look() does it for a
 * terminal. */
bool screen_speak(void);
/* The cells of a terminal's line; 0: `fd` is none, or does not know. */
int screen_cells_of(int fd);

/* A character as a terminal shows it: what it might obey, or has no width for, is a "?". */
struct glyph {
	const char *text;
	size_t length; /* 0: nothing is shown of it */
	int cells;     /* 0: it joins the one before it */
};
/* Returns the bytes of the character at `text`, which is not its end. */
size_t screen_next(const char *text, struct glyph *ret_glyph);
/* The cells of all of it. */
int screen_measure(const char *text);

#endif
