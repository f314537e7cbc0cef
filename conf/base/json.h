/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Members of a JSON object: each adds `,"KEY":VALUE`, so the first member of an object is written by hand. What is not
 * known is null, never 0.
 */
#ifndef PGPU_BASE_JSON_H
#define PGPU_BASE_JSON_H

#include "buf.h"

/* NULL: null. */
void json_text(struct buf *out, const char *key, const char *text);
/* RFC 3339; 0: null. */
void json_time(struct buf *out, const char *key, int64_t wall_ns);
/* Seconds with three decimals; below 0: null. */
void json_seconds(struct buf *out, const char *key, int64_t ns);
/* Below 0: null. */
void json_count(struct buf *out, const char *key, int64_t count);

#endif
