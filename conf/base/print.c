/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "print.h"

#include <errno.h>
#include <string.h>

#include "say.h"

int print_buf(const struct buf *buf)
{
	struct err err = ERR_NONE;

	if (buf_print(buf) == 0)
		return EXIT_OK;
	if (errno == EPIPE)
		return EXIT_FAILED;
	err_sys(&err, "cannot write to standard output");
	return say_err(&err);
}

int print_usage(const char *text)
{
	struct buf buf = { .text = (char *)text, .size = strlen(text) };

	return print_buf(&buf);
}
