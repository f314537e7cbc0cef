/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "fmt.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

struct out {
	char *text;
	size_t size;
	size_t length; /* of the whole, also beyond `size` */
};

struct spec {
	bool left;
	char pad;
	int width;
	int precision; /* -1: none */
	int longs;     /* l 1, ll and z 2: all 64 bits wide where pgpu runs, and read as what they are */
	bool size;
	char conversion;
};

struct arguments {
	va_list list;
};

static void put(struct out *out, const char *bytes, size_t count)
{
	size_t room = out->length < out->size ? out->size - out->length : 0;

	if (room)
		memcpy(out->text + out->length, bytes, count < room ? count : room);
	out->length += count;
}

static void pad(struct out *out, char with, int width, size_t used)
{
	size_t room = out->length < out->size ? out->size - out->length : 0;
	size_t count = width > 0 && (size_t)width > used ? (size_t)width - used : 0;

	if (room)
		memset(out->text + out->length, with, count < room ? count : room);
	out->length += count;
}

static int read_count(const char **format, struct arguments *args)
{
	int count = 0;

	if (**format == '*') {
		++*format;
		return va_arg(args->list, int);
	}
	for (; **format >= '0' && **format <= '9'; ++*format)
		count = count * 10 + (**format - '0');
	return count;
}

/* Reads what follows a '%'; returns where the format goes on. */
static const char *read_spec(const char *format, struct arguments *args, struct spec *ret)
{
	*ret = (struct spec){ .pad = ' ', .precision = -1 };
	for (; *format == '-' || *format == '0'; format++) {
		ret->left = ret->left || *format == '-';
		ret->pad = *format == '0' ? '0' : ret->pad;
	}
	ret->width = read_count(&format, args);
	if (*format == '.') {
		format++;
		ret->precision = read_count(&format, args);
	}
	for (; *format == 'l'; format++)
		ret->longs++;
	if (*format == 'z') {
		ret->size = true;
		format++;
	}
	ret->conversion = *format;
	return format + 1;
}

static void put_text(struct out *out, const struct spec *spec, const char *text)
{
	size_t length = spec->precision < 0 ? strlen(text) : strnlen(text, (size_t)spec->precision);

	if (!spec->left)
		pad(out, ' ', spec->width, length);
	put(out, text, length);
	if (spec->left)
		pad(out, ' ', spec->width, length);
}

static void put_number(struct out *out, const struct spec *spec, uint64_t number, bool negative)
{
	char digits[24];
	size_t at = sizeof digits, sign = negative;
	unsigned base = spec->conversion == 'x' ? 16 : spec->conversion == 'o' ? 8 : 10;

	do {
		digits[--at] = "0123456789abcdef"[number % base];
		number /= base;
	} while (number);
	size_t length = sizeof digits - at + sign;
	if (!spec->left && spec->pad == ' ')
		pad(out, ' ', spec->width, length);
	put(out, "-", sign);
	if (!spec->left && spec->pad == '0')
		pad(out, '0', spec->width, length);
	put(out, digits + at, sizeof digits - at);
	if (spec->left)
		pad(out, ' ', spec->width, length);
}

static void put_signed(struct out *out, const struct spec *spec, int64_t number)
{
	put_number(out, spec, number < 0 ? -(uint64_t)number : (uint64_t)number, number < 0);
}

static int64_t signed_argument(const struct spec *spec, struct arguments *args)
{
	if (spec->size)
		return (int64_t)va_arg(args->list, size_t);
	if (spec->longs == 1)
		return va_arg(args->list, long);
	return spec->longs ? va_arg(args->list, long long) : va_arg(args->list, int);
}

static uint64_t unsigned_argument(const struct spec *spec, struct arguments *args)
{
	if (spec->size)
		return va_arg(args->list, size_t);
	if (spec->longs == 1)
		return va_arg(args->list, unsigned long);
	return spec->longs ? va_arg(args->list, unsigned long long) : va_arg(args->list, unsigned);
}

static void put_argument(struct out *out, const struct spec *spec, struct arguments *args)
{
	char byte;

	switch (spec->conversion) {
	case 's': put_text(out, spec, va_arg(args->list, const char *)); return;
	case 'd': put_signed(out, spec, signed_argument(spec, args)); return;
	case 'u':
	case 'x':
	case 'o': put_number(out, spec, unsigned_argument(spec, args), false); return;
	case 'c':
		byte = (char)va_arg(args->list, int);
		put(out, &byte, 1);
		return;
	case '%': put(out, "%", 1); return;
	default: __builtin_trap();
	}
}

int fmt_args(char *text, size_t size, const char *format, va_list list)
{
	struct out out = { .text = text, .size = size };
	struct arguments args;
	struct spec spec;

	va_copy(args.list, list);
	while (*format) {
		const char *plain = format;
		while (*format && *format != '%')
			format++;
		put(&out, plain, (size_t)(format - plain));
		if (*format) {
			format = read_spec(format + 1, &args, &spec);
			put_argument(&out, &spec, &args);
		}
	}
	va_end(args.list);
	if (size)
		text[out.length < size ? out.length : size - 1] = '\0';
	return out.length < INT_MAX ? (int)out.length : INT_MAX;
}

int fmt(char *text, size_t size, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	int length = fmt_args(text, size, format, args);
	va_end(args);
	return length;
}

char *fmt_new(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	int length = fmt_args(NULL, 0, format, args);
	va_end(args);
	char *text = malloc((size_t)length + 1);
	if (!text)
		return NULL;
	va_start(args, format);
	fmt_args(text, (size_t)length + 1, format, args);
	va_end(args);
	return text;
}

uint64_t fmt_read(const char *text, const char **ret_end)
{
	const char *at = text;
	uint64_t number = 0;
	bool over = false;

	while (*at == ' ')
		at++;
	const char *first = at;
	for (; *at >= '0' && *at <= '9'; at++)
		over = over || __builtin_mul_overflow(number, 10U, &number) ||
		       __builtin_add_overflow(number, (unsigned)(*at - '0'), &number);
	if (ret_end)
		*ret_end = at > first ? at : text;
	if (over)
		errno = ERANGE;
	return over ? UINT64_MAX : number;
}

int64_t fmt_read_signed(const char *text, const char **ret_end)
{
	const char *digits = text, *end;

	while (*digits == ' ')
		digits++;
	bool negative = *digits == '-';
	digits += negative;
	/* No blank between sign and digits. */
	uint64_t size = *digits == ' ' ? 0 : fmt_read(digits, &end);
	if (ret_end)
		*ret_end = *digits == ' ' || end == digits ? text : end;
	if (size > (uint64_t)INT64_MAX) {
		errno = ERANGE;
		return negative ? INT64_MIN : INT64_MAX;
	}
	return negative ? -(int64_t)size : (int64_t)size;
}
