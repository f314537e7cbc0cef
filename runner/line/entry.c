/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "entry.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "conf/base/file.h"
#include "conf/base/fmt.h"
#include "conf/jobid.h"

const char *const entry_state_names[ENTRY_STATES] = {
	[ENTRY_FREE] = "free",	     [ENTRY_GRANTED] = "granted",
	[ENTRY_RUNNING] = "running", [ENTRY_COMPLETING] = "completing",
	[ENTRY_WAITING] = "waiting", [ENTRY_FROZEN] = "frozen",
};

/* One table serves writing and reading, so that the two cannot drift apart. */
enum field_type { FIELD_NUMBER, FIELD_JOB, FIELD_INT, FIELD_BOOL, FIELD_TEXT, FIELD_STATE, FIELD_KIND, FIELD_PROC };

/* The key lies in the row: a pointer would be one more place for the loader to fill in, on a page of its own. */
struct field {
	char key[13];
	enum field_type type;
	size_t offset;
	size_t size;
};

#define FIELD(key, type, member)                                                                                       \
	{                                                                                                              \
		key, type, offsetof(struct entry, member), sizeof(((struct entry *)0)->member)                         \
	}

static const struct field fields[] = {
	FIELD("gen", FIELD_NUMBER, gen),
	FIELD("state", FIELD_STATE, state),
	FIELD("since", FIELD_NUMBER, since_boot_ns),
	FIELD("asleep", FIELD_NUMBER, asleep_ns),
	FIELD("owner", FIELD_PROC, owner),
	FIELD("worker", FIELD_BOOL, worker),
	FIELD("socket", FIELD_TEXT, socket),
	FIELD("job", FIELD_JOB, id),
	FIELD("kind", FIELD_KIND, kind),
	FIELD("class", FIELD_TEXT, class_name),
	FIELD("session", FIELD_TEXT, session),
	FIELD("name", FIELD_TEXT, name),
	FIELD("command", FIELD_TEXT, command),
	FIELD("workdir", FIELD_TEXT, workdir),
	FIELD("restarts", FIELD_INT, restarts),
	FIELD("arrived", FIELD_NUMBER, arrived_wall_ns),
	FIELD("started", FIELD_NUMBER, started_wall_ns),
	FIELD("waited", FIELD_NUMBER, waited_ns),
	FIELD("ran", FIELD_NUMBER, ran_ns),
	FIELD("frozen", FIELD_NUMBER, frozen_ns),
	FIELD("served", FIELD_NUMBER, served),
	FIELD("turned", FIELD_BOOL, turned),
	FIELD("budget", FIELD_NUMBER, budget_ns),
	FIELD("limit", FIELD_NUMBER, limit_ns),
	FIELD("memory", FIELD_NUMBER, memory_bytes),
	FIELD("reserved", FIELD_NUMBER, reserved_bytes),
	FIELD("vram", FIELD_NUMBER, vram_bytes),
	FIELD("card", FIELD_TEXT, card),
	FIELD("vram-max", FIELD_NUMBER, vram_max_bytes),
	FIELD("held", FIELD_NUMBER, held_bytes),
	FIELD("main", FIELD_PROC, main),
	FIELD("cell", FIELD_TEXT, cell),
	FIELD("stuck", FIELD_INT, stuck),
	FIELD("settling-pid", FIELD_INT, settling_pid),
	FIELD("settling", FIELD_NUMBER, settling_bytes),
	FIELD("again", FIELD_NUMBER, again_boot_ns),
	FIELD("again-wall", FIELD_NUMBER, again_wall_ns),
	FIELD("mark", FIELD_TEXT, mark),
	/* Written once a second while a card is in use: last, so that a reader in between meets a change at the end. */
	FIELD("looked", FIELD_NUMBER, looked_boot_ns),
	FIELD("gpu-permille", FIELD_INT, gpu_permille),
	FIELD("gpu", FIELD_NUMBER, gpu_ns),
	FIELD("on-card", FIELD_NUMBER, on_card_bytes),
};

/* A value ends at its line's end, so control bytes of names and commands are written as '?'. */
static int put_text(char *out, size_t room, const char *key, const char *value)
{
	int used = fmt(out, room, "%s %s", key, value);

	if (used >= (int)room)
		used = (int)room - 1;
	for (char *p = out; *p; p++) {
		if ((unsigned char)*p < 0x20 || *p == 0x7f)
			*p = '?';
	}
	return used + fmt(out + used, room - (size_t)used, "\n");
}

static int put_field(char *out, size_t room, const struct field *field, const struct entry *entry)
{
	const void *at = (const char *)entry + field->offset;
	const struct procid *id = at;

	switch (field->type) {
	case FIELD_NUMBER:
		return *(const int64_t *)at ? fmt(out, room, "%s %lld\n", field->key, (long long)*(const int64_t *)at)
					    : 0;
	case FIELD_JOB: return entry->id ? fmt(out, room, "%s %s\n", field->key, JOBID(entry->id)) : 0;
	case FIELD_INT: return *(const int *)at ? fmt(out, room, "%s %d\n", field->key, *(const int *)at) : 0;
	case FIELD_BOOL: return *(const bool *)at ? fmt(out, room, "%s 1\n", field->key) : 0;
	case FIELD_TEXT: return *(const char *)at ? put_text(out, room, field->key, at) : 0;
	case FIELD_STATE: return fmt(out, room, "%s %s\n", field->key, entry_state_names[entry->state]);
	case FIELD_KIND:
		return entry->id ? fmt(out, room, "%s %s\n", field->key, entry->kind == ENTRY_SPOOL ? "spool" : "run")
				 : 0;
	case FIELD_PROC:
		return id->pid ? fmt(out, room, "%s %d %llu %llu\n", field->key, id->pid, (unsigned long long)id->start,
				     (unsigned long long)id->ns)
			       : 0;
	}
	return 0;
}

/* Nearly every text fits into the first; a whole one would be one more page of the stack. */
enum { ENTRY_USUAL = 1024, ENTRY_END = 8 };

/* The length, or -1 when there is not room enough. */
static int format(const struct entry *entry, char *text, int room)
{
	int used = 0;

	for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
		int left = room - used - ENTRY_END,
		    length = left > 0 ? put_field(text + used, (size_t)left, &fields[i], entry) : 0;
		if (length >= left)
			return -1;
		used += length;
	}
	return used + fmt(text + used, (size_t)(room - used), "end\n");
}

int entry_format(const struct entry *entry, char text[ENTRY_TEXT])
{
	return format(entry, text, ENTRY_TEXT);
}

static int get_field(const struct field *field, const char *value, size_t length, struct entry *entry)
{
	void *at = (char *)entry + field->offset;
	struct procid *id = at;
	const char *end;

	switch (field->type) {
	case FIELD_NUMBER: *(int64_t *)at = fmt_read_signed(value, &end); return *end == '\n' ? 0 : -1;
	case FIELD_JOB: *(uint64_t *)at = jobid_read(value, &end); return *end == '\n' ? 0 : -1;
	case FIELD_INT: *(int *)at = (int)fmt_read_signed(value, &end); return *end == '\n' ? 0 : -1;
	case FIELD_BOOL: *(bool *)at = *value == '1'; return 0;
	case FIELD_TEXT:
		if (length >= field->size)
			return -1;
		memcpy(at, value, length);
		return 0;
	case FIELD_STATE:
		for (int state = 0; state < ENTRY_STATES; state++) {
			if (strncmp(value, entry_state_names[state], length) == 0 &&
			    entry_state_names[state][length] == '\0') {
				entry->state = (enum entry_state)state;
				return 0;
			}
		}
		return -1;
	case FIELD_KIND: entry->kind = *value == 's' ? ENTRY_SPOOL : ENTRY_RUN; return 0;
	case FIELD_PROC:
		id->pid = (pid_t)fmt_read_signed(value, &end);
		id->start = fmt_read(end, &end);
		id->ns = fmt_read(end, &end);
		return *end == '\n' && id->pid > 0 ? 0 : -1;
	}
	return -1;
}

int entry_parse(const char *text, struct entry *ret_entry)
{
	size_t next = 0;

	*ret_entry = (struct entry){ 0 };
	while (strncmp(text, "end\n", 4) != 0) {
		const char *line_end = strchr(text, '\n'), *blank = strchr(text, ' ');
		if (!line_end || !blank || blank > line_end)
			return -1;
		size_t count = sizeof fields / sizeof fields[0], key_length = (size_t)(blank - text);
		/* Fields come in the table's order: the search goes on where it stopped and wraps once. */
		for (size_t tried = 0; tried < count; tried++) {
			const struct field *field = &fields[(next + tried) % count];
			if (strncmp(text, field->key, key_length) != 0 || field->key[key_length] != '\0')
				continue;
			if (get_field(field, blank + 1, (size_t)(line_end - blank - 1), ret_entry) < 0)
				return -1;
			next = (next + tried + 1) % count;
			break;
		}
		text = line_end + 1;
	}
	return 0;
}

bool entry_rests(const struct entry *entry, int64_t now_boot_ns)
{
	return entry->stuck && now_boot_ns < entry->again_boot_ns;
}

/* 1 read, 0 a writer is half way or the text is longer, -1 an error. */
static int read_into(int fd, char *text, size_t room, struct entry *ret_entry, struct err *err)
{
	ssize_t got;

	do
		got = pread(fd, text, room, 0);
	while (got < 0 && errno == EINTR);
	if (got < 0)
		return err_sys(err, "cannot read lane or ticket");
	if (got == 0) {
		*ret_entry = (struct entry){ 0 };
		return 1;
	}
	text[got] = '\0';
	return entry_parse(text, ret_entry) == 0;
}

__attribute__((noinline)) static int read_long(int fd, struct entry *ret_entry, struct err *err)
{
	char text[ENTRY_TEXT + 1];

	return read_into(fd, text, ENTRY_TEXT, ret_entry, err);
}

int entry_read(int fd, struct entry *ret_entry, struct err *err)
{
	char usual[ENTRY_USUAL + 1];

	for (int tries = 0; tries < 100; tries++) {
		int read = read_into(fd, usual, ENTRY_USUAL, ret_entry, err);
		if (read == 0)
			read = read_long(fd, ret_entry, err);
		if (read != 0)
			return read < 0 ? -1 : 0;
	}
	return err_set(err, EXIT_FAILED, "cannot read lane or ticket: it is damaged");
}

/* What lies behind "end" is never looked at by us; for a person it is empty lines up to the next whole kilobyte, which
 * cost less than a truncation. */
static int write_padded(int fd, char *text, int length, struct err *err)
{
	if (length < 0)
		return err_set(err, EXIT_FAILED, "cannot write lane or ticket: it is too long");
	for (; length % 1024 != 0; length++)
		text[length] = '\n';
	return write_at(fd, text, (size_t)length, 0) < 0 ? err_sys(err, "cannot write lane or ticket") : 0;
}

__attribute__((noinline)) static int write_long(int fd, const struct entry *entry, struct err *err)
{
	char text[ENTRY_TEXT];

	return write_padded(fd, text, format(entry, text, ENTRY_TEXT), err);
}

int entry_write(int fd, const struct entry *entry, struct err *err)
{
	char usual[ENTRY_USUAL];
	int length = format(entry, usual, ENTRY_USUAL);

	return length < 0 ? write_long(fd, entry, err) : write_padded(fd, usual, length, err);
}
