/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The keys of pgpu.conf, one row each: name, kind of value, place in `struct conf`, `struct conf_class` or `struct
 * conf_lane`. Reading a file, printing it and the queue's copy all go by these tables; a new key is one new row (and
 * its field).
 */
#ifndef PGPU_CONF_KEYS_H
#define PGPU_CONF_KEYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"

enum conf_kind {
	CONF_NUMBER,	   /* int, from `least` to `most` */
	CONF_SIZE,	   /* uint64_t, bytes; 0 where `empty_ok` */
	CONF_DURATION,	   /* int64_t, nanoseconds; 0 where `empty_ok` */
	CONF_NAME,	   /* char[CONF_CLASS_NAME], the name of a class; "" where `empty_ok` */
	CONF_SIGNAL_AHEAD, /* char[CONF_SIGNAL], what sigspec_parse() reads */
	CONF_HOURS,	   /* char[HOURS_TEXT], windows of the day (base/hours.h) */
	CONF_SWITCH,	   /* bool, the words `yes` and `no` */
	CONF_CARD,	   /* char[PCI_TEXT], the PCI address of a card */
	CONF_CAPS,	   /* uint64_t, a list of capabilities (conf_caps.h); in braces */
	CONF_COMMAND,	   /* a list of words, in braces; no field of the row: conf_onend.h has it */
};

/* Words lie in the row: a pointer would be one more place for the loader to fill in, at every start. */
struct conf_key {
	char name[24];
	enum conf_kind kind;
	size_t offset;
	int64_t least, most;
	bool empty_ok;
	bool never_ok; /* a duration or number; "0" is CONF_NEVER or -1, and 0 means not given */
	bool needed;   /* a new class must have it */
	char yes[7], no[7];
};

/* Most keys in one table. */
enum { CONF_KEYS = 24 };

/* Offsets in struct conf, struct conf_class and struct conf_lane. Each ends with a row without a name. */
extern const struct conf_key conf_root_keys[];
extern const struct conf_key conf_class_keys[];
extern const struct conf_key conf_lane_keys[];

/* The row's number, or -1. */
int conf_key_find(const struct conf_key keys[], const char *name);
/* ", did you mean 'X'?" or "". */
void conf_key_hint(const struct conf_key keys[], const char *name, char *text, size_t size);

/* Reads a value as people write it. The error is the reason alone, exit code 2. */
int conf_key_read(const struct conf_key *key, void *row, const char *value, struct err *err);
/* The value as pgpu.conf spells it, exactly, with its quotes. */
void conf_key_print(const struct conf_key *key, const void *row, struct buf *buf);
/* Anything but 0, "" and false. */
bool conf_key_given(const struct conf_key *key, const void *row);

/* The same two for the queue's copy: plain numbers. conf_key_load() returns -1 for a value that cannot be right. */
void conf_key_store(const struct conf_key *key, const void *row, struct buf *buf);
int conf_key_load(const struct conf_key *key, void *row, const char *value);

#endif
