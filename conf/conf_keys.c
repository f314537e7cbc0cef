/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "conf_keys.h"

#include <string.h>

#include "base/clock.h"
#include "base/hours.h"
#include "base/sigspec.h"
#include "base/text.h"
#include "conf.h"
#include "conf/base/fmt.h"
#include "conf_caps.h"
#include "conf_card.h"

#define ROOT(field) .offset = offsetof(struct conf, field)
#define ROW(field)  .offset = offsetof(struct conf_class, field)
#define LANE(field) .offset = offsetof(struct conf_lane, field)

const struct conf_key conf_root_keys[] = {
	{ "lanes", CONF_NUMBER, ROOT(lanes), .least = 1, .most = CONF_LANES },
	{ "memory", CONF_SIZE, ROOT(memory_bytes) },
	{ "ram", CONF_SIZE, ROOT(ram_bytes), .empty_ok = true },
	{ "resident", CONF_NUMBER, ROOT(resident), .least = 0, .most = CONF_RESIDENT },
	{ "vram-patience", CONF_DURATION, ROOT(vram_patience_ns), .empty_ok = true },
	{ "keep", CONF_DURATION, ROOT(keep_ns), .never_ok = true },
	{ "keep-jobs", CONF_NUMBER, ROOT(keep_jobs), .least = 0, .most = CONF_KEEP },
	{ "log-size", CONF_SIZE, ROOT(log_bytes), .empty_ok = true },
	{ "lost-limit", CONF_NUMBER, ROOT(lost_limit), .least = 0, .most = CONF_LOST },
	{ "pause-after-failures", CONF_NUMBER, ROOT(pause_after), .least = 0, .most = CONF_PAUSE },
	{ "retry-after", CONF_DURATION, ROOT(retry_after_ns), .empty_ok = true },
	{ "standing-after", CONF_DURATION, ROOT(standing_after_ns), .empty_ok = true },
	{ "contender-vram", CONF_SIZE, ROOT(contender_vram_bytes) },
	{ "vram-settle", CONF_DURATION, ROOT(vram_settle_ns), .empty_ok = true },
	{ "processes", CONF_NUMBER, ROOT(processes), .least = 1, .most = CONF_PROCESSES },
	{ "grace", CONF_DURATION, ROOT(grace_ns), .empty_ok = true },
	{ "take-within", CONF_DURATION, ROOT(take_ns) },
	{ "stall-after", CONF_DURATION, ROOT(stall_after_ns), .never_ok = true },
	{ "cells", CONF_SWITCH, ROOT(cells), .yes = "auto", .no = "off" },
	{ "amd-priority", CONF_SWITCH, ROOT(amd_priority), .yes = "on", .no = "off" },
	{ "run-class", CONF_NAME, ROOT(run_class) },
	{ "submit-class", CONF_NAME, ROOT(submit_class) },
	{ "on-end", CONF_COMMAND, .empty_ok = true },
	{ .name = "" },
};

const struct conf_key conf_class_keys[] = {
	{ "rank", CONF_NUMBER, ROW(rank), .least = 0, .most = 99, .needed = true },
	{ "budget", CONF_DURATION, ROW(budget_ns), .needed = true },
	{ "limit", CONF_DURATION, ROW(limit_ns) },
	{ "memory", CONF_SIZE, ROW(memory_bytes) },
	{ "vram", CONF_SIZE, ROW(vram_bytes) },
	{ "vram-max", CONF_SIZE, ROW(vram_max_bytes) },
	{ "turns-as", CONF_NAME, ROW(turns_as), .empty_ok = true },
	{ "turns-as-after-run", CONF_DURATION, ROW(turns_as_after_run_ns), .empty_ok = true },
	{ "turns-as-after-wait", CONF_DURATION, ROW(turns_as_after_wait_ns), .empty_ok = true },
	{ "turns-as-without-turn", CONF_DURATION, ROW(turns_as_without_turn_ns), .empty_ok = true },
	{ "min-run-time", CONF_DURATION, ROW(min_run_ns), .empty_ok = true },
	{ "pause-after-failures", CONF_NUMBER, ROW(pause_after), .least = 0, .most = CONF_PAUSE, .never_ok = true },
	{ "turns", CONF_SWITCH, ROW(turns_forced), .yes = "forced", .no = "asked" },
	{ "min-hold", CONF_DURATION, ROW(min_hold_ns), .empty_ok = true },
	{ "stall-after", CONF_DURATION, ROW(stall_after_ns), .never_ok = true },
	{ "budget-signal", CONF_SIGNAL_AHEAD, ROW(budget_signal), .empty_ok = true },
	{ "hours", CONF_HOURS, ROW(hours), .empty_ok = true },
	{ "outside-hours", CONF_SWITCH, ROW(freezes_outside), .yes = "freeze", .no = "finish" },
	{ "on-end", CONF_COMMAND, .empty_ok = true },
	{ "capabilities", CONF_CAPS, ROW(capabilities) },
	{ "no-new-privileges", CONF_SWITCH, ROW(no_new_privileges), .yes = "true", .no = "false" },
	{ .name = "" },
};

const struct conf_key conf_lane_keys[] = {
	{ "card", CONF_CARD, LANE(card), .needed = true },
	{ .name = "" },
};

_Static_assert(sizeof conf_root_keys / sizeof conf_root_keys[0] <= CONF_KEYS + 1, "CONF_KEYS counts the longer table");
_Static_assert(sizeof conf_class_keys / sizeof conf_class_keys[0] <= CONF_KEYS + 1,
	       "CONF_KEYS counts the longer table");

/* Fields are reached by memcpy: a row is bytes and offsets here, and no pointer has to lie about its type. */
static const char *field(const struct conf_key *key, const void *row)
{
	return (const char *)row + key->offset;
}

static int64_t field_number(const struct conf_key *key, const void *row)
{
	int number;
	bool on;
	int64_t wide;

	switch (key->kind) {
	case CONF_NUMBER: memcpy(&number, field(key, row), sizeof number); return number;
	case CONF_SWITCH: memcpy(&on, field(key, row), sizeof on); return on;
	case CONF_NAME:
	case CONF_CARD:
	case CONF_HOURS:
	case CONF_SIGNAL_AHEAD: return field(key, row)[0] != '\0';
	case CONF_COMMAND: return 0;
	default: memcpy(&wide, field(key, row), sizeof wide); return wide;
	}
}

static void put_number(const struct conf_key *key, void *row, int64_t value)
{
	char *at = (char *)row + key->offset;
	int number = (int)value;
	bool on = value != 0;

	if (key->kind == CONF_NUMBER)
		memcpy(at, &number, sizeof number);
	else if (key->kind == CONF_SWITCH)
		memcpy(at, &on, sizeof on);
	else
		memcpy(at, &value, sizeof value);
}

static bool is_text(const struct conf_key *key)
{
	return key->kind == CONF_NAME || key->kind == CONF_SIGNAL_AHEAD || key->kind == CONF_CARD ||
	       key->kind == CONF_HOURS;
}

static bool is_right(const struct conf_key *key, const char *value)
{
	struct sigspec ignored;
	char card[PCI_TEXT];

	switch (key->kind) {
	case CONF_NAME: return text_class_ok(value);
	case CONF_HOURS: return hours_check(value, NULL) == 0;
	case CONF_CARD: return pci_read(value, card) && strcmp(card, value) == 0;
	default: return strlen(value) < CONF_SIGNAL && sigspec_parse(value, &ignored, NULL) == 0;
	}
}

static int put_text(const struct conf_key *key, void *row, const char *value)
{
	if (!is_right(key, value) && !(key->empty_ok && *value == '\0'))
		return -1;
	memcpy((char *)row + key->offset, value, strlen(value) + 1);
	return 0;
}

static int read_text(const struct conf_key *key, void *row, const char *value, struct err *err)
{
	struct sigspec ignored;

	if (put_text(key, row, value) == 0)
		return 0;
	if (key->kind == CONF_SIGNAL_AHEAD && sigspec_parse(value, &ignored, err) < 0)
		return -1;
	if (key->kind == CONF_HOURS)
		return hours_check(value, err);
	return err_set(err, EXIT_USAGE, "'%.64s' is not a %s", value,
		       key->kind == CONF_NAME ? "class name (1 to 32 of a-z A-Z 0-9 _ -)"
					      : "signal of at most 32 bytes");
}

/* "0", in any unit: CONF_NEVER where that is meant. */
static int read_duration(const struct conf_key *key, const char *value, int64_t *ret_ns, struct err *err)
{
	if (text_duration_parse(value, key->empty_ok || key->never_ok, ret_ns, err) < 0)
		return -1;
	if (key->never_ok && *ret_ns == 0)
		*ret_ns = CONF_NEVER;
	return 0;
}

static int read_size(const struct conf_key *key, const char *value, int64_t *ret_bytes, struct err *err)
{
	uint64_t bytes = 0;

	if (!(key->empty_ok && strcmp(value, "0") == 0) && text_size_parse(value, &bytes, err) < 0)
		return -1;
	*ret_bytes = (int64_t)bytes;
	return 0;
}

int conf_key_find(const struct conf_key keys[], const char *name)
{
	for (int i = 0; keys[i].name[0]; i++) {
		if (strcmp(keys[i].name, name) == 0)
			return i;
	}
	return -1;
}

void conf_key_hint(const struct conf_key keys[], const char *name, char *text, size_t size)
{
	const char *names[CONF_KEYS + 1];
	int count = 0;

	for (; keys[count].name[0]; count++)
		names[count] = keys[count].name;
	names[count] = NULL;
	text_hint(name, names, text, size);
}

static int read_switch(const struct conf_key *key, const char *value, int64_t *ret_on, struct err *err)
{
	const char *const words[] = { key->yes, key->no, NULL };
	char hint[64];

	*ret_on = strcmp(value, key->yes) == 0;
	if (*ret_on || strcmp(value, key->no) == 0)
		return 0;
	text_hint(value, words, hint, sizeof hint);
	return err_set(err, EXIT_USAGE, "'%.64s' is not \"%s\" or \"%s\"%s", value, key->yes, key->no, hint);
}

int conf_key_read(const struct conf_key *key, void *row, const char *value, struct err *err)
{
	int64_t number = 0;
	uint64_t bytes = 0;
	int read = 0;

	switch (key->kind) {
	case CONF_NUMBER:
		read = text_number_parse(value, key->least, key->most, &number, err);
		number = key->never_ok && number == 0 ? -1 : number;
		break;
	case CONF_DURATION: read = read_duration(key, value, &number, err); break;
	case CONF_SWITCH: read = read_switch(key, value, &number, err); break;
	case CONF_SIZE: read = read_size(key, value, &number, err); break;
	case CONF_CAPS:
		read = conf_caps_read(value, &bytes, err);
		number = (int64_t)bytes;
		break;
	case CONF_CARD: return conf_card_read(value, (char *)row + key->offset, err);
	case CONF_NAME:
	case CONF_HOURS:
	case CONF_SIGNAL_AHEAD: return read_text(key, row, value, err);
	case CONF_COMMAND: return 0;
	}
	if (read == 0)
		put_number(key, row, number);
	return read;
}

/* "WHOLE.PARTunit" with `part` of 10^9, the zeros at its end cut. */
static void print_fraction(int64_t whole, int64_t part, char unit, struct buf *buf)
{
	char digits[16];
	size_t length = (size_t)fmt(digits, sizeof digits, "%09lld", (long long)part);

	while (length > 1 && digits[length - 1] == '0')
		length--;
	buf_printf(buf, "\"%lld.%.*s%c\"", (long long)whole, (int)length, digits, unit);
}

/* A written file must read back as the same value: what the spellings for people drop is a fraction here. */
static void print_duration(int64_t ns, struct buf *buf)
{
	char text[TEXT_DURATION];

	if (ns == CONF_NEVER)
		ns = 0;
	if (ns % NS_PER_S) {
		print_fraction(ns / NS_PER_S, ns % NS_PER_S, 's', buf);
		return;
	}
	text_duration_format(ns, text);
	buf_printf(buf, "\"%s\"", ns ? text : "0");
}

/* Nine digits after the point of a size never make an odd number of bytes, and K shows each even one exactly. */
static void print_size(int64_t bytes, struct buf *buf)
{
	char text[TEXT_SIZE];

	if (bytes == 0) {
		buf_puts(buf, "\"0\"");
		return;
	}
	if (bytes % 1024) {
		print_fraction(bytes / 1024, bytes % 1024 * (NS_PER_S / 512) / 2, 'K', buf);
		return;
	}
	text_size_format((uint64_t)bytes, text);
	buf_printf(buf, "\"%s\"", text);
}

void conf_key_print(const struct conf_key *key, const void *row, struct buf *buf)
{
	int64_t number = field_number(key, row);

	switch (key->kind) {
	case CONF_NUMBER: buf_printf(buf, "%lld", (long long)(number < 0 ? 0 : number)); break;
	case CONF_SIZE: print_size(number, buf); break;
	case CONF_DURATION: print_duration(number, buf); break;
	case CONF_NAME:
	case CONF_CARD:
	case CONF_HOURS:
	case CONF_SIGNAL_AHEAD: buf_printf(buf, "\"%s\"", field(key, row)); break;
	case CONF_SWITCH: buf_printf(buf, "\"%s\"", number ? key->yes : key->no); break;
	case CONF_CAPS: conf_caps_print((uint64_t)number, buf); break;
	case CONF_COMMAND: break;
	}
}

bool conf_key_given(const struct conf_key *key, const void *row)
{
	return field_number(key, row) != 0;
}

void conf_key_store(const struct conf_key *key, const void *row, struct buf *buf)
{
	if (is_text(key))
		buf_printf(buf, "%s %s\n", key->name, field(key, row));
	else
		buf_printf(buf, "%s %lld\n", key->name, (long long)field_number(key, row));
}

int conf_key_load(const struct conf_key *key, void *row, const char *value)
{
	int64_t least = key->kind != CONF_NUMBER ? 0 : key->never_ok ? -1 : key->least;
	int64_t most = key->kind == CONF_NUMBER ? key->most : key->kind == CONF_SWITCH ? 1 : INT64_MAX;
	int64_t number;

	if (is_text(key))
		return put_text(key, row, value);
	if (text_number_parse(value, least, most, &number, NULL) < 0)
		return -1;
	put_number(key, row, number);
	return 0;
}
