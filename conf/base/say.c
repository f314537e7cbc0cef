/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "say.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fmt.h"
#include "text.h"

static bool silent;

void say_quiet(bool quiet)
{
	silent = quiet;
}

bool say_is_quiet(void)
{
	return silent;
}

static bool held;
enum { KEPT = 8192 };
static char *kept; /* made by the first line that has to wait */
static size_t kept_size;

/* Nobody is left to tell when standard error itself cannot be written. */
static void put(const char *bytes, size_t count)
{
	if (held) {
		if (!kept)
			kept = malloc(KEPT);
		if (kept && count <= KEPT - kept_size) {
			memcpy(kept + kept_size, bytes, count);
			kept_size += count;
		}
		return;
	}
	if (write(STDERR_FILENO, bytes, count) < 0)
		return;
}

void say_hold(bool hold)
{
	held = hold;
	if (hold || kept_size == 0)
		return;
	put(kept, kept_size);
	kept_size = 0;
}

static void put_line(const char *text)
{
	char line[4096];
	size_t used = (size_t)fmt(line, sizeof line, "pgpu: ");

	for (const char *p = text; *p && used < sizeof line - 16;) {
		size_t order = text_order_length(p);
		const char *end = p + (order ? order : text_utf8_length(p));
		for (; p < end; p++) {
			if (order)
				used += (size_t)fmt(line + used, sizeof line - used, "\\x%02x", (unsigned char)*p);
			else
				line[used++] = *p;
		}
	}
	line[used++] = '\n';
	put(line, used);
}

void say(const char *format, ...)
{
	if (silent)
		return;
	char text[2048];
	va_list args;
	va_start(args, format);
	fmt_args(text, sizeof text, format, args);
	va_end(args);
	put_line(text);
}

int say_err(const struct err *err)
{
	put_line(err->text);
	return err->code;
}
