/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Short texts: the part of printf(3) and strtoull(3) that pgpu uses, the same in every locale and without memory of its
 * own. A first snprintf(3) or strtoull(3) brings six pages of libc into a process that lives for five milliseconds: a
 * twentieth of a start.
 */
#ifndef PGPU_BASE_FMT_H
#define PGPU_BASE_FMT_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Conversions d u x o s c and %%, with l, ll and z, the flags - and 0, a width, and a precision for s; each of the two
 * a number or *. Nothing else: a test looks through the sources. Writes at most `size` bytes with a NUL at the end and
 * returns the whole length, cut or not, like snprintf(3), which may be more than `size` - 1.
 */
int fmt(char *text, size_t size, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* The same in memory of its own, which the caller frees; NULL when memory is out, with errno set. */
char *fmt_new(const char *format, ...) __attribute__((format(printf, 1, 2)));
int fmt_args(char *text, size_t size, const char *format, va_list args) __attribute__((format(printf, 3, 0)));

/*
 * The decimal number at `text`, blanks before it skipped; `*ret_end` (may be NULL) is where it stopped, `text` itself
 * when there is no digit. Beyond UINT64_MAX it stays there, with errno ERANGE.
 */
uint64_t fmt_read(const char *text, const char **ret_end);
/* The same with a sign allowed; stays at INT64_MIN and INT64_MAX. */
int64_t fmt_read_signed(const char *text, const char **ret_end);

#endif
