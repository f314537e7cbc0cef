/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The terminal as a page of lines that are replaced in place: what is on it already is not written again, so that
 * nothing flickers. The orders are those of ECMA-48 and the few of xterm's that every terminal of today knows or passes
 * over; a library for others would make pgpu half as large again.
 *
 *     fullscreen_begin()
 *     fullscreen_put()      any lines, in any order
 *     fullscreen_show()     writes what differs, in one piece
 *     fullscreen_end()      on every way out: the terminal is as it was
 */
#ifndef PGPU_RUNNER_FULLSCREEN_H
#define PGPU_RUNNER_FULLSCREEN_H

#include <stdbool.h>
#include <termios.h>

#include "conf/base/buf.h"
#include "conf/base/err.h"

struct fullscreen {
	struct termios before;
	bool begun;
	int lines, cells;
	char **shown; /* heap: what each line shows; NULL: unknown */
	struct buf out;
};

/* Standard input and output are to be a terminal. */
int fullscreen_begin(struct fullscreen *screen, struct err *err);
void fullscreen_end(struct fullscreen *screen);
/* Asks for the size again, and takes nothing for granted of what is shown. -1: memory is out. */
int fullscreen_resize(struct fullscreen *screen);
/* `text` has no more cells than the screen, and colours as its only orders. */
void fullscreen_put(struct fullscreen *screen, int line, const char *text, bool chosen);
/* -1: the terminal is gone. */
int fullscreen_show(struct fullscreen *screen);

/* A key, or its letter; `*ret_used` bytes of `text` are it. */
enum fullscreen_key {
	KEY_NONE,
	KEY_ENTER = '\r',
	KEY_ESCAPE = 27,
	KEY_UP = 256,
	KEY_DOWN,
	KEY_PAGE_UP,
	KEY_PAGE_DOWN,
	KEY_HOME,
	KEY_END,
};
int fullscreen_key(const char *text, size_t size, size_t *ret_used);

#endif
