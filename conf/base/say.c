/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "say.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static bool silent;

void say_quiet(bool quiet)
{
	silent = quiet;
}

bool say_is_quiet(void)
{
	return silent;
}

static void put_line(const char *text)
{
	char line[4096];
	size_t used = (size_t)snprintf(line, sizeof line, "pgpu: ");

	for (const unsigned char *p = (const unsigned char *)text; *p && used < sizeof line - 8; p++) {
		if (*p < 0x20 || *p == 0x7f)
			used += (size_t)snprintf(line + used, sizeof line - used, "\\x%02x", *p);
		else
			line[used++] = (char)*p;
	}
	line[used++] = '\n';
	/* Nobody is left to tell when standard error itself cannot be written. */
	if (write(STDERR_FILENO, line, used) < 0)
		return;
}

void say(const char *format, ...)
{
	if (silent)
		return;
	char text[2048];
	va_list args;
	va_start(args, format);
	vsnprintf(text, sizeof text, format, args);
	va_end(args);
	put_line(text);
}

int say_err(const struct err *err)
{
	put_line(err->text);
	return err->code;
}
