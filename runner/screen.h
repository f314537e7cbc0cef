/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What standard output is to a list: a terminal of so many cells that may show colours, or something that a program
 * reads. Where it is no terminal nothing more is asked than that.
 */
#ifndef PGPU_RUNNER_SCREEN_H
#define PGPU_RUNNER_SCREEN_H

#include <stdbool.h>
#include <stddef.h>

struct screen {
	bool terminal;
	bool utf8; /* what is not ASCII may be written */
	int cells; /* in a line; 0: as many as it takes */
};

void screen_look(struct screen *ret_screen);
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
