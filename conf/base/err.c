/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "err.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>

#include "fmt.h"

/* What the analyser is told of them, in the header. */
#undef err_set
#undef err_sys
#undef err_wrap
#undef err_pass

/* A value that is shown may hold a newline. */
static void keep_one_line(struct err *err)
{
	for (char *newline = err->text; (newline = strchr(newline, '\n'));)
		*newline = '?';
}

int err_set(struct err *err, int code, const char *format, ...)
{
	if (!err)
		return -1;
	va_list args;
	va_start(args, format);
	fmt_args(err->text, sizeof err->text, format, args);
	va_end(args);
	keep_one_line(err);
	err->code = code;
	err->errnum = 0;
	return -1;
}

int err_sys(struct err *err, const char *format, ...)
{
	int saved = errno;

	if (!err)
		return -1;
	va_list args;
	va_start(args, format);
	fmt_args(err->text, sizeof err->text, format, args);
	va_end(args);
	keep_one_line(err);
	size_t used = strlen(err->text);
	fmt(err->text + used, sizeof err->text - used, ": %s", strerror(saved));
	err->code = EXIT_FAILED;
	err->errnum = saved;
	errno = saved;
	return -1;
}

int err_wrap(struct err *err, const char *format, ...)
{
	if (!err)
		return -1;
	char old[sizeof err->text];
	memcpy(old, err->text, sizeof old);

	va_list args;
	va_start(args, format);
	fmt_args(err->text, sizeof err->text, format, args);
	va_end(args);
	keep_one_line(err);
	size_t used = strlen(err->text);
	fmt(err->text + used, sizeof err->text - used, ": %s", old);
	return -1;
}

bool err_may_pass(const struct err *err)
{
	switch (err->errnum) {
	case EAGAIN:
	case EDQUOT:
	case EFBIG: /* the limit of this process, not of the next (filelimit.h) */
	case EINTR:
	case EIO:
	case EMFILE:
	case ENFILE:
	case ENOMEM:
	case ENOSPC: return true;
	default: return false;
	}
}

int err_pass(struct err *err, const struct err *why)
{
	if (err)
		*err = *why;
	return -1;
}
