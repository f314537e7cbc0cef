/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * --format FIELD,...: the members of a command's JSON objects as columns with a tab between, for a shell. A member of a
 * member is named with a dot, "progress.done". What is null is empty; a text is as in log.tsv (buf_field()), so that
 * neither a tab nor a newline is ever part of one; objects and lists are JSON.
 */
#ifndef PGPU_RUNNER_FIELDS_H
#define PGPU_RUNNER_FIELDS_H

#include <stdbool.h>

#include "conf/base/buf.h"
#include "conf/base/err.h"

enum { FIELDS_MOST = 64 };

struct fields {
	char *text; /* owned; the names lie in it */
	const char *names[FIELDS_MOST];
	int count; /* 0: --format was not asked for */
};

void fields_free(struct fields *fields);
/* `sample` is an object that has every member. The error, exit code 2, is of `command`. */
int fields_parse(const char *list, const char *sample, const char *command, struct fields *ret_fields, struct err *err);
bool fields_have(const struct fields *fields, const char *name);
/* One line. `object` is JSON that pgpu wrote. */
void fields_put(const struct fields *fields, const char *object, struct buf *out);

#endif
