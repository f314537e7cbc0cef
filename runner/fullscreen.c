/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "fullscreen.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "conf/base/file.h"

enum { LINES_USUAL = 24, CELLS_USUAL = 80 };

/* Another page than that of the shell, no cursor, no wrapping. */
static const char begin_orders[] = "\033[?1049h\033[?25l\033[?7l";
static const char end_orders[] = "\033[0m\033[?7h\033[?25h\033[?1049l";

/* What lies between these two a terminal that knows them shows at once. */
static const char piece_begins[] = "\033[?2026h", piece_ends[] = "\033[?2026l";

static void add(struct fullscreen *screen, const char *text)
{
	if (screen->out.size == 0)
		buf_puts(&screen->out, piece_begins);
	buf_puts(&screen->out, text);
}

static void forget(struct fullscreen *screen)
{
	for (int i = 0; screen->shown && i < screen->lines; i++)
		free(screen->shown[i]);
	free(screen->shown);
	screen->shown = NULL;
}

int fullscreen_resize(struct fullscreen *screen)
{
	struct winsize size = { 0 };

	forget(screen);
	ioctl(STDOUT_FILENO, TIOCGWINSZ, &size);
	screen->lines = size.ws_row ? size.ws_row : LINES_USUAL;
	screen->cells = size.ws_col ? size.ws_col : CELLS_USUAL;
	screen->shown = calloc((size_t)screen->lines, sizeof *screen->shown);
	add(screen, "\033[2J");
	return screen->shown ? 0 : -1;
}

int fullscreen_begin(struct fullscreen *screen, struct err *err)
{
	struct termios raw;

	if (tcgetattr(STDIN_FILENO, &screen->before) < 0)
		return err_sys(err, "cannot read the terminal's mode");
	raw = screen->before;
	/* Signals come as they do: Ctrl-C, Ctrl-\ and Ctrl-Z. */
	raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
	raw.c_iflag &= ~(tcflag_t)(ICRNL | IXON);
	raw.c_cc[VMIN] = 0;
	raw.c_cc[VTIME] = 0;
	if (tcsetattr(STDIN_FILENO, TCSADRAIN, &raw) < 0)
		return err_sys(err, "cannot set the terminal's mode");
	screen->begun = true;
	screen->out.size = 0;
	add(screen, begin_orders);
	return fullscreen_resize(screen) < 0 ? err_sys(err, "cannot watch the queue") : 0;
}

void fullscreen_end(struct fullscreen *screen)
{
	if (screen->begun) {
		write_all(STDOUT_FILENO, end_orders, sizeof end_orders - 1);
		tcsetattr(STDIN_FILENO, TCSADRAIN, &screen->before);
	}
	screen->begun = false;
	forget(screen);
	buf_free(&screen->out);
}

/* The line as a whole is marked: its own colours would end that. */
static void put_chosen(struct fullscreen *screen, const char *text)
{
	buf_puts(&screen->out, "\033[7m");
	while (*text) {
		size_t plain = strcspn(text, "\033");
		buf_add(&screen->out, text, plain);
		text += plain;
		if (*text)
			text += strcspn(text, "m") + (strchr(text, 'm') != NULL);
	}
}

void fullscreen_put(struct fullscreen *screen, int line, const char *text, bool chosen)
{
	if (!screen->shown || line < 0 || line >= screen->lines)
		return;
	char **shown = &screen->shown[line];
	if (*shown && (*shown)[0] == (chosen ? '>' : ' ') && strcmp(*shown + 1, text) == 0)
		return;
	free(*shown);
	*shown = malloc(strlen(text) + 2);
	if (*shown) {
		(*shown)[0] = chosen ? '>' : ' ';
		memcpy(*shown + 1, text, strlen(text) + 1);
	}
	add(screen, "");
	buf_printf(&screen->out, "\033[%d;1H", line + 1);
	if (chosen)
		put_chosen(screen, text);
	else
		buf_puts(&screen->out, text);
	/* The rest of the line is cleared in its own looks. */
	buf_puts(&screen->out, "\033[K\033[0m");
}

int fullscreen_show(struct fullscreen *screen)
{
	struct buf *out = &screen->out;

	if (out->size == 0 && !out->failed)
		return 0;
	add(screen, piece_ends);
	int result = out->failed ? -1 : write_all(STDOUT_FILENO, out->text, out->size);
	buf_free(out);
	return result;
}

/* "\033[A", or "\033OA" of a keypad; "\033[5~". What is not known is no key. */
static int read_sequence(const char *text, size_t size, size_t *ret_used)
{
	size_t at = 2;

	while (at < size && (text[at] < '@' || text[at] > '~'))
		at++;
	*ret_used = at < size ? at + 1 : size;
	if (at >= size)
		return KEY_NONE;
	switch (text[at]) {
	case 'A': return KEY_UP;
	case 'B': return KEY_DOWN;
	case 'H': return KEY_HOME;
	case 'F': return KEY_END;
	case '~':
		switch (text[2]) {
		case '1':
		case '7': return KEY_HOME;
		case '4':
		case '8': return KEY_END;
		case '5': return KEY_PAGE_UP;
		case '6': return KEY_PAGE_DOWN;
		default: return KEY_NONE;
		}
	default: return KEY_NONE;
	}
}

int fullscreen_key(const char *text, size_t size, size_t *ret_used)
{
	*ret_used = size > 0;
	if (size >= 2 && text[0] == KEY_ESCAPE && (text[1] == '[' || text[1] == 'O'))
		return read_sequence(text, size, ret_used);
	if (size == 0)
		return KEY_NONE;
	return text[0] == '\n' ? KEY_ENTER : (unsigned char)text[0];
}
