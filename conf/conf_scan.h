/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What may reach libconfuse. Its lexer has had faults: up to 3.2.2 a file of just `=` makes it loop for ever, older
 * ones crash on an empty comment or count lines wrongly, and every one takes `${HOME}` from the caller's environment.
 * So a file is checked here first, and what is handed on is the smallest language that pgpu.conf needs:
 *
 *     KEY = VALUE      class "NAME" { KEY = VALUE ... }      lane "NAME" { KEY = VALUE ... }
 *
 * with bare or quoted values on one line, no backslash, no `+=`, function or `include`. Comments (`#`, `//`, and
 * slash-star) and the CR of a DOS line end are blanked, newlines kept, so that its line numbers are the file's. A list,
 * `{ NAME, "NAME" }` on one line, is handed on as a string: libconfuse calls nobody for an empty list, and once for
 * each name of another. Of capabilities that is their names; of a command its words with CONF_WORD_END in between, and
 * CONF_WORD_QUOTE for each double quote in them (conf_onend.h).
 * Errors are "FILE:LINE: what is wrong", exit code 2.
 */
#ifndef PGPU_CONF_SCAN_H
#define PGPU_CONF_SCAN_H

#include <stddef.h>

#include "base/err.h"
#include "conf.h"

struct conf_section {
	char name[CONF_CLASS_NAME];
	int line;
};

/* The sections in the file's order. */
struct conf_scan {
	int class_count, lane_count;
	struct conf_section classes[CONF_CLASSES];
	struct conf_section lanes[CONF_LANES];
};

/* Changes `text` (`size` bytes and a NUL) in place. */
int conf_scan(const char *file, char *text, size_t size, struct conf_scan *ret_scan, struct err *err);

/* "FILE:LINE: FORMAT", exit code 2; returns -1. Of a very long path only the end is shown, to leave room. */
int conf_error(struct err *err, const char *file, int line, const char *format, ...)
	__attribute__((format(printf, 4, 5)));
const char *conf_shown_path(const char *file);

#endif
