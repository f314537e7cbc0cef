/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "text.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "fmt.h"

#define LONGEST_NS (INT64_C(36500) * 86400 * NS_PER_S)

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* isalpha(3) and friends ask the locale; these do not. */
static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

struct figure {
	uint64_t whole;
	uint64_t part;	/* digits after the point, as a number */
	uint64_t scale; /* 10 to the power of their count; 1 without a point */
};

/* "12" or "1.5"; returns what follows, or NULL when no number stands there or it does not fit. */
static const char *read_figure(const char *text, struct figure *figure)
{
	*figure = (struct figure){ .scale = 1 };
	if (!is_digit(*text))
		return NULL;
	for (; is_digit(*text); text++) {
		if (figure->whole > (UINT64_MAX - 9) / 10)
			return NULL;
		figure->whole = figure->whole * 10 + (uint64_t)(*text - '0');
	}
	if (*text != '.')
		return text;
	if (!is_digit(*++text))
		return NULL;
	for (; is_digit(*text); text++) {
		if (figure->scale >= UINT64_C(1000000000))
			return NULL;
		figure->part = figure->part * 10 + (uint64_t)(*text - '0');
		figure->scale *= 10;
	}
	return text;
}

/* figure * unit, exactly; false when it overflows or leaves a fraction. */
static bool scale_figure(const struct figure *figure, uint64_t unit, uint64_t *result)
{
	/* With up to nine digits after the point, 128 bits hold what this lets through. */
	if (figure->whole > INT64_MAX / unit)
		return false;
	__uint128_t all = ((__uint128_t)figure->whole * figure->scale + figure->part) * unit;

	if (all % figure->scale != 0 || all / figure->scale > INT64_MAX)
		return false;
	*result = (uint64_t)(all / figure->scale);
	return true;
}

static int64_t unit_ns(char unit)
{
	switch (unit) {
	case 's': return NS_PER_S;
	case 'm': return 60 * NS_PER_S;
	case 'h': return 3600 * NS_PER_S;
	case 'd': return 86400 * NS_PER_S;
	default: return 0;
	}
}

static int refuse_duration(const char *text, struct err *err)
{
	return err_set(err, EXIT_USAGE, "'%.64s' is not a duration (90s, 15m, 1h30m, 2d, 1:30:00)", text);
}

static int refuse_long(const char *text, struct err *err)
{
	return err_set(err, EXIT_USAGE, "'%.64s' is longer than 100 years", text);
}

/* [D-]H:MM:SS. Two parts alone could be hours and minutes or minutes and seconds. */
static int read_colons(const char *text, int64_t *ret_ns, struct err *err)
{
	unsigned long long days = 0, hours, minutes, seconds;
	int used = 0;
	const char *rest = text, *dash = strchr(text, '-');

	if (strspn(text, "0123456789:-") != strlen(text))
		return refuse_duration(text, err);
	if (dash) {
		if (dash == text || dash - text > 6 || strspn(text, "0123456789") != (size_t)(dash - text) ||
		    strchr(dash + 1, '-'))
			return refuse_duration(text, err);
		days = fmt_read(text, NULL);
		rest = dash + 1;
	}
	if (sscanf(rest, "%9llu:%2llu:%2llu%n", &hours, &minutes, &seconds, &used) == 3 && rest[used] == '\0') {
		if (minutes > 59 || seconds > 59)
			return refuse_duration(text, err);
		seconds += ((days * 24 + hours) * 60 + minutes) * 60;
		if (seconds > (unsigned long long)(LONGEST_NS / NS_PER_S))
			return refuse_long(text, err);
		*ret_ns = (int64_t)seconds * NS_PER_S;
		return 0;
	}
	if (!dash && sscanf(rest, "%9llu:%2llu%n", &hours, &minutes, &used) == 2 && rest[used] == '\0')
		return err_set(err, EXIT_USAGE, "'%s' is %lluh%llum or %llum%llus; write one of them", text, hours,
			       minutes, hours, minutes);
	return refuse_duration(text, err);
}

/* A figure at the end, without a unit: `last` is the unit before it, or 0. */
static int refuse_bare(const char *text, const char *figure, char last, struct err *err)
{
	int before = (int)(figure - text);

	if (last == 's' || strspn(text, "0.") == strlen(text))
		return last ? refuse_duration(text, err) : err_set(err, EXIT_USAGE, "'%.64s' is no time at all", text);
	if (last == 'm')
		return err_set(err, EXIT_USAGE, "'%.64s' ends without a unit; write %.32ss", text, text);
	if (last == 'd')
		return err_set(err, EXIT_USAGE, "'%.64s' is %.32sh or %.32sm; write one of them", text, text, text);
	if (last == 'h')
		return err_set(err, EXIT_USAGE, "'%.64s' is %.*s%.32sm or %.*s%.32ss; write one of them", text, before,
			       text, figure, before, text, figure);
	return err_set(err, EXIT_USAGE, "'%.64s' is %.32ss or %.32sm; write one of them", text, text, text);
}

/* Not one of the four letters: `15 m`, `15min`, `2 hours` get the right spelling. */
static int refuse_unit(const char *text, const char *unit, struct err *err)
{
	static const char long_names[] =
		" s sec secs second seconds m min mins minute minutes h hr hrs hour hours d day days ";
	const char *word = unit + strspn(unit, " ");
	size_t length = 0;
	char probe[16];

	while (is_letter(word[length]))
		length++;
	if (length && length < sizeof probe - 2) {
		fmt(probe, sizeof probe, " %.*s ", (int)length, word);
		if (strstr(long_names, probe))
			return err_set(err, EXIT_USAGE, "'%.64s' is not a duration; write %.*s%c", text,
				       (int)(unit - text), text, word[0]);
	}
	return refuse_duration(text, err);
}

/* 1h30m, 1.5h: each unit once, from the largest down. */
static int read_units(const char *text, int64_t *ret_ns, struct err *err)
{
	uint64_t sum = 0, ns;
	int64_t above = INT64_MAX;
	char last = '\0';
	struct figure figure;

	for (const char *next = text; *next; next++) {
		const char *start = next;

		next = read_figure(next, &figure);
		if (!next)
			return refuse_duration(text, err);
		if (*next == '\0')
			return refuse_bare(text, start, last, err);
		int64_t unit = unit_ns(*next);
		if (unit == 0 || is_letter(next[1]))
			return refuse_unit(text, next, err);
		if (unit >= above)
			return refuse_duration(text, err);
		if (figure.whole > (uint64_t)(LONGEST_NS / unit))
			return refuse_long(text, err);
		if (!scale_figure(&figure, (uint64_t)unit, &ns))
			return refuse_duration(text, err);
		sum += ns;
		if (sum > (uint64_t)LONGEST_NS)
			return refuse_long(text, err);
		above = unit;
		last = *next;
	}
	*ret_ns = (int64_t)sum;
	return 0;
}

int text_duration_parse(const char *text, bool zero_ok, int64_t *ret_ns, struct err *err)
{
	int64_t ns = 0;

	if (*text == '\0')
		return err_set(err, EXIT_USAGE, "a duration is missing (90s, 15m, 1h30m, 2d)");
	if (zero_ok && strcmp(text, "0") == 0) {
		*ret_ns = 0;
		return 0;
	}
	if ((strchr(text, ':') ? read_colons(text, &ns, err) : read_units(text, &ns, err)) < 0)
		return -1;
	if (ns == 0 && !zero_ok)
		return err_set(err, EXIT_USAGE, "'%.64s' is no time at all", text);
	*ret_ns = ns;
	return 0;
}

void text_duration_format(int64_t ns, char text[TEXT_DURATION])
{
	int64_t seconds = ns / NS_PER_S;
	const struct {
		int64_t size;
		char unit;
	} units[] = { { 86400, 'd' }, { 3600, 'h' }, { 60, 'm' }, { 1, 's' } };
	size_t used = 0;

	for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
		int64_t count = seconds / units[i].size;
		seconds %= units[i].size;
		if (count || (i == 3 && used == 0))
			used += (size_t)fmt(text + used, TEXT_DURATION - used, "%lld%c", (long long)count,
					    units[i].unit);
	}
}

int text_size_parse(const char *text, uint64_t *ret_bytes, struct err *err)
{
	static const char units[] = "KMGT";
	struct figure figure;

	if (*text == '\0')
		return err_set(err, EXIT_USAGE, "a size is missing (512M, 24G)");
	const char *unit = read_figure(text, &figure);
	if (!unit)
		return err_set(err, EXIT_USAGE, "'%.64s' is not a size (512M, 24G, 1.5T)", text);
	if (*unit == '\0' && figure.whole == 0 && figure.part == 0)
		return err_set(err, EXIT_USAGE, "'%.64s' is no memory at all", text);
	if (*unit == '\0')
		return err_set(err, EXIT_USAGE, "'%.64s' is %.32sM or %.32sG; write one of them", text, text, text);
	const char *known = strchr(units, *unit);
	if (!known || (unit[1] != '\0' && strcmp(unit + 1, "iB") != 0)) {
		if (known && strcmp(unit + 1, "B") == 0)
			return err_set(err, EXIT_USAGE, "'%.64s' is not a size; write %.*s (powers of 1024)", text,
				       (int)(unit - text) + 1, text);
		return err_set(err, EXIT_USAGE, "'%.64s' is not a size (512M, 24G, 1.5T; no blanks, capital unit)",
			       text);
	}
	uint64_t bytes;
	if (!scale_figure(&figure, UINT64_C(1) << (10 * (known - units + 1)), &bytes))
		return err_set(err, EXIT_USAGE, "'%.64s' is too large, or not a whole number of bytes", text);
	if (bytes == 0)
		return err_set(err, EXIT_USAGE, "'%.64s' is no memory at all", text);
	*ret_bytes = bytes;
	return 0;
}

void text_size_format(uint64_t bytes, char text[TEXT_SIZE])
{
	static const char units[] = "BKMGT";
	int unit = 0;

	while (unit < 4 && bytes && bytes % 1024 == 0) {
		bytes /= 1024;
		unit++;
	}
	fmt(text, TEXT_SIZE, "%llu%c", (unsigned long long)bytes, units[unit]);
}

int text_mark_put(char *text, size_t room, char letter, uint64_t bytes)
{
	char size[TEXT_SIZE];

	if (!bytes)
		return 0;
	text_size_format((bytes + 1023) / 1024 * 1024, size);
	return fmt(text, room, ":%c%s", letter, size);
}

int text_mark_parse(const char **at, char letter, uint64_t *ret_bytes)
{
	char size[TEXT_SIZE];

	*ret_bytes = 0;
	if ((*at)[0] != ':' || (*at)[1] != letter || (*at)[2] < '0' || (*at)[2] > '9')
		return 0;
	const char *end = text_part(*at + 2, size, sizeof size);
	if (!end || text_size_parse(size, ret_bytes, NULL) < 0)
		return -1;
	*at = end;
	return 0;
}

void text_size_show(uint64_t bytes, char text[TEXT_SIZE])
{
	static const char units[] = "BKMGTP";
	double shown = (double)bytes;
	int unit = 0;

	while (unit < 5 && shown >= 999.5) {
		shown /= 1024;
		unit++;
	}
	unsigned tenths = (unsigned)(shown * 10 + 0.5);
	if (unit && shown < 9.95)
		fmt(text, TEXT_SIZE, "%u.%u%c", tenths / 10, tenths % 10, units[unit]);
	else
		fmt(text, TEXT_SIZE, "%u%c", (unsigned)(shown + 0.5), units[unit]);
}

int text_number_parse(const char *text, int64_t least, int64_t most, int64_t *ret_number, struct err *err)
{
	const char *digits = text + (least < 0 && *text == '-');
	const char *end = digits;
	errno = 0;
	int64_t number = is_digit(*digits) ? fmt_read_signed(text, &end) : 0;

	if (end == digits || *end != '\0')
		return err_set(err, EXIT_USAGE, "'%.64s' is not a whole number", text);
	if (errno == ERANGE || number < least || number > most)
		return err_set(err, EXIT_USAGE, "'%.64s' is not from %lld to %lld", text, (long long)least,
			       (long long)most);
	*ret_number = number;
	return 0;
}

int text_bool_parse(const char *text, bool *ret_value, struct err *err)
{
	if (strcmp(text, "true") == 0)
		*ret_value = true;
	else if (strcmp(text, "false") == 0)
		*ret_value = false;
	else
		return err_set(err, EXIT_USAGE, "'%.64s' is not true or false", text);
	return 0;
}

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* Letters to change, add, drop or swap with their neighbour; both words are short (options, keys, classes). */
static size_t edit_distance(const char *a, const char *b)
{
	enum { LONGEST = 48 };
	size_t cost[LONGEST + 1][LONGEST + 1], rows = strlen(a), columns = strlen(b);

	if (rows > LONGEST || columns > LONGEST)
		return SIZE_MAX / 4;
	for (size_t i = 0; i <= rows; i++) {
		for (size_t j = 0; j <= columns; j++) {
			if (i == 0 || j == 0) {
				cost[i][j] = i + j;
				continue;
			}
			cost[i][j] = least(least(cost[i - 1][j], cost[i][j - 1]) + 1,
					   cost[i - 1][j - 1] + (a[i - 1] != b[j - 1]));
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
				cost[i][j] = least(cost[i][j], cost[i - 2][j - 2] + 1);
		}
	}
	return cost[rows][columns];
}

const char *text_nearest(const char *word, const char *const list[])
{
	const char *best = NULL;
	size_t best_distance = SIZE_MAX, length = strlen(word);

	for (size_t i = 0; list[i]; i++) {
		size_t distance = edit_distance(word, list[i]);
		size_t longer = strlen(list[i]) > length ? strlen(list[i]) : length;
		bool begins = length >= 3 && strncmp(word, list[i], length) == 0;
		if (begins && best_distance > 1) {
			best = list[i];
			best_distance = 1;
		} else if (distance < best_distance && distance * 3 <= longer + 1) {
			best = list[i];
			best_distance = distance;
		}
	}
	return best;
}

void text_hint(const char *word, const char *const list[], char *text, size_t size)
{
	const char *near = text_nearest(word, list);

	text[0] = '\0';
	if (near)
		fmt(text, size, ", did you mean '%s'?", near);
}

void text_session_clean(const char *name, char *text, size_t size)
{
	size_t used = 0;

	for (; *name && used + 1 < size; name++)
		text[used++] = is_letter(*name) || is_digit(*name) || *name == '.' ? *name : '_';
	if (used == 0)
		text[used++] = '_';
	text[used] = '\0';
}

bool text_class_ok(const char *name)
{
	size_t length = 0;

	for (; name[length]; length++) {
		char c = name[length];
		if (!is_letter(c) && !is_digit(c) && c != '_' && (c != '-' || length == 0))
			return false;
	}
	return length >= 1 && length <= 32;
}

const char *text_part(const char *text, char *part, size_t size)
{
	size_t length = (size_t)(strchrnul(text, ':') - text);

	if (length == 0 || length >= size)
		return NULL;
	memcpy(part, text, length);
	part[length] = '\0';
	return text + length;
}

size_t text_utf8_length(const char *text)
{
	const unsigned char *p = (const unsigned char *)text;
	size_t length = p[0] < 0x80 ? 1 : p[0] < 0xc2 ? 0 : p[0] < 0xe0 ? 2 : p[0] < 0xf0 ? 3 : p[0] < 0xf5 ? 4 : 0;

	for (size_t i = 1; i < length; i++) {
		if ((p[i] & 0xc0) != 0x80)
			return 0;
	}
	if ((p[0] == 0xe0 && p[1] < 0xa0) || (p[0] == 0xed && p[1] > 0x9f) || (p[0] == 0xf0 && p[1] < 0x90) ||
	    (p[0] == 0xf4 && p[1] > 0x8f))
		return 0;
	return length;
}

size_t text_order_length(const char *text)
{
	unsigned char first = (unsigned char)text[0];

	if (first < 0x80)
		return first < 0x20 || first == 0x7f;
	size_t length = text_utf8_length(text);
	if (length == 0)
		return 1;
	return first == 0xc2 && (unsigned char)text[1] < 0xa0 ? 2 : 0;
}

bool text_printable(const char *text, size_t size)
{
	for (size_t i = 0; i < size;) {
		unsigned char c = (unsigned char)text[i];
		size_t length = text_utf8_length(text + i);
		if (length == 0 || i + length > size || c == 0x7f || (c < 0x20 && c != '\n' && c != '\t'))
			return false;
		i += length;
	}
	return true;
}

void text_show(const char *text, char *shown, size_t size)
{
	size_t used = 0;

	while (*text) {
		size_t order = text_order_length(text);
		bool plain = order == 0;
		size_t step = plain ? text_utf8_length(text) : order;
		if (used + step + 1 > size)
			break;
		if (plain)
			memcpy(shown + used, text, step);
		else
			shown[used] = '?';
		used += plain ? step : 1;
		text += step;
	}
	shown[used] = '\0';
}
