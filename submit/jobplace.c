/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "jobplace.h"

#include <stdarg.h>

#include "conf/base/fmt.h"

/* What the analyser is told of them, in the header. */
#undef jobplace_refuse
#undef jobplace_blame

int jobplace_blame(const char *file_name, struct job_place place, struct err *err)
{
	if (!file_name)
		return -1;
	return err_wrap(err, "%.400s:%u:%u", file_name, place.line, place.column);
}

int jobplace_refuse(const char *file_name, struct job_place place, struct err *err, const char *format, ...)
{
	char text[512];
	va_list args;

	va_start(args, format);
	fmt_args(text, sizeof text, format, args);
	va_end(args);
	err_set(err, EXIT_USAGE, "%s", text);
	return jobplace_blame(file_name, place, err);
}

struct job_place jobplace_at(const char *text, size_t offset)
{
	struct job_place place = { 1, 1 };

	for (size_t i = 0; i < offset; i++) {
		if (text[i] == '\n')
			place = (struct job_place){ place.line + 1, 1 };
		else if (((unsigned char)text[i] & 0xc0) != 0x80)
			place.column++;
	}
	return place;
}
