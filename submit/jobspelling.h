/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Tells the three spellings of a job file apart and cuts it into header and script. By the first bytes: `#!` is a
 * script with its header in comments; a line `---` begins front matter where a second such line follows; all else is
 * pure YAML.
 */
#ifndef PGPU_SUBMIT_JOBSPELLING_H
#define PGPU_SUBMIT_JOBSPELLING_H

#include "conf/base/buf.h"
#include "conf/base/err.h"

enum jobspelling_kind { JOBSPELLING_FRONT, JOBSPELLING_COMMENTS, JOBSPELLING_YAML };

struct jobspelling {
	enum jobspelling_kind kind;
	struct buf header;   /* YAML; of comments what is left without "#PGPU " */
	unsigned first_line; /* of the header in the file */
	unsigned *lines;     /* for comments: the file's line of each line of the header; else NULL */
	size_t line_count;
	const char *body; /* points into the text: what follows the header, for comments all; NULL for pure YAML */
	size_t body_size;
	unsigned body_line;
};

enum { JOBSPELLING_INDENT = sizeof "#PGPU " - 1 };

/* `ret_spelling` may be freed after an error too. */
int jobspelling_read(const char *file_name, const char *text, size_t size, struct jobspelling *ret_spelling,
		     struct err *err);
void jobspelling_free(struct jobspelling *spelling);

#endif
