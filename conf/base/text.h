/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Strict reading of what people write: one parser each for durations, sizes and numbers, used alike by options, job
 * files and pgpu.conf, the same in every locale. A value that could mean two things is refused, and the message names
 * both readings.
 */
#ifndef PGPU_BASE_TEXT_H
#define PGPU_BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "err.h"

/*
 * Durations: 90s, 15m, 1h30m, 2d, 1.5h (exact), 1:30:00, 2-12:00:00. Refused: a bare number, 1:30, 1h30, 15min, `2
 * hours`, negative, junk, more than 100 years. Zero is refused unless `zero_ok`. The error is the reason alone
 * ("'30' is 30s or 30m"), exit code 2; callers wrap it with the key or option.
 */
int text_duration_parse(const char *text, bool zero_ok, int64_t *ret_ns, struct err *err);
/* The shortest exact spelling in d h m s, such as "1h30m"; a part below one second is dropped. `text` holds 32 bytes.
 */
enum { TEXT_DURATION = 32 };
void text_duration_format(int64_t ns, char text[TEXT_DURATION]);

/* Sizes: 512M, 24G, 1.5G (exact), 24GiB; units K M G T, powers of 1024. A bare number, zero, GB and overflow are
 * refused. */
int text_size_parse(const char *text, uint64_t *ret_bytes, struct err *err);
/* Exact with the largest unit that divides, such as "24G" or "1536M"; plain bytes get a B. `text` holds 32 bytes. */
enum { TEXT_SIZE = 32 };
void text_size_format(uint64_t bytes, char text[TEXT_SIZE]);
/* For people: three figures and a unit, such as "1.5G". */
void text_size_show(uint64_t bytes, char text[TEXT_SIZE]);

/* A whole decimal number from `least` to `most`, all of `text`, no sign but a leading '-' where `least` is negative. */
int text_number_parse(const char *text, int64_t least, int64_t most, int64_t *ret_number, struct err *err);
/* `true` or `false`, those words alone. */
int text_bool_parse(const char *text, bool *ret_value, struct err *err);

/* The word of the NULL-ended list that is nearest to `word`, or NULL when none is near (more than a third differs). */
const char *text_nearest(const char *word, const char *const list[]);
/* ", did you mean 'X'?" for an error's end, or "" when nothing is near. `text` holds `size` bytes. */
void text_hint(const char *word, const char *const list[], char *text, size_t size);

/* Characters outside A-Z a-z 0-9 _ . become _; an empty name becomes "_"; cut at `size` - 1 bytes. */
void text_session_clean(const char *name, char *text, size_t size);
/* A class name: 1 to 32 of a-z A-Z 0-9 _ -, not starting with '-'. */
bool text_class_ok(const char *name);
/* Copies what comes before the next ':' or the end; where it stopped, or NULL when that is nothing or does not fit. */
const char *text_part(const char *text, char *part, size_t size);
/*
 * A size as part of a file's name: ":LETTER" and the size in whole kilobytes, rounded up, such as ":m24G"; "" for 0.
 * text_mark_put() returns its length. text_mark_parse() moves `*at` behind it; one that is missing is 0 and no error.
 */
int text_mark_put(char *text, size_t room, char letter, uint64_t bytes);
int text_mark_parse(const char **at, char letter, uint64_t *ret_bytes);

/* How many bytes at `text` a terminal might take for an order: control characters, C1 too, and what is not UTF-8; 0
 * when it is plain text. Tab and newline are orders. */
size_t text_order_length(const char *text);
/* Bytes of the UTF-8 character at `text`, 1 to 4; 0 when it is not one. Never reads past a NUL. */
size_t text_utf8_length(const char *text);
/* True when all of it is UTF-8 and no control character but tab and newline is in it. */
bool text_printable(const char *text, size_t size);
/* Copies for display: control bytes and bytes that are not UTF-8 become '?', cut at `size` - 1 bytes on a character's
 * border. */
void text_show(const char *text, char *shown, size_t size);

#endif
