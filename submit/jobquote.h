/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How a record writes texts that may hold anything but NUL: on one line, and back byte for byte. */
#ifndef PGPU_SUBMIT_JOBQUOTE_H
#define PGPU_SUBMIT_JOBQUOTE_H

#include <stdbool.h>
#include <stddef.h>

#include "conf/base/buf.h"

/* A YAML text in double quotes, or as !!binary where it is not UTF-8. `text` is NUL-ended beyond `size`. */
void jobquote_yaml(struct buf *record, const char *text, size_t size);
/* The rest of a comment line: backslash, control bytes and what is not UTF-8 as \xNN. */
void jobquote_line(struct buf *record, const char *value);
/* Undoes jobquote_line() in place; false when it is not what that writes. */
bool jobquote_unline(char *text);

#endif
