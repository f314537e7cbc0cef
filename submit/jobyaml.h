/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A header's YAML, cut down to what a header can say: one document, one mapping, and as a value a text, a list of texts
 * or a map of texts. Every scalar is text: `no`, `1.10` and `0x1F` stay what was typed; only `~`, `null` and nothing at
 * all are told apart, as "no value". Refused, with the place: aliases, anchors, merge keys, tags (but !!binary, which
 * is decoded), a second document, anything nested deeper, bytes that are not text.
 *
 * It walks libyaml's events, never a loaded document, so that nothing is expanded or kept that the header does not
 * mean, and stops at the first thing it does not want: neither depth nor size can exhaust anything. This is the only
 * file that knows libyaml.
 */
#ifndef PGPU_SUBMIT_JOBYAML_H
#define PGPU_SUBMIT_JOBYAML_H

#include "job.h"

/* The header's text, and where each of its lines stands in the file that a person sees. */
struct jobyaml_source {
	const char *file_name; /* NULL: errors name no place */
	const char *text;      /* NUL-ended beyond `size` */
	size_t size;
	unsigned first_line;	       /* the file's line of the first line of `text` */
	const unsigned *lines;	       /* the file's line of each line of `text`; NULL: they follow each other */
	size_t line_count;	       /* of `lines` */
	unsigned indent;	       /* characters that were taken off each line's front */
	size_t limit;		       /* bytes the header may have, beside the values of `large_keys` */
	const char *const *large_keys; /* NULL-ended */
};

struct jobyaml_text {
	char *text; /* NUL-ended; never holds a NUL */
	size_t size;
	struct job_place place;
	bool null; /* ~, null or nothing, unquoted */
};

enum jobyaml_kind { JOBYAML_TEXT, JOBYAML_LIST, JOBYAML_MAP };

struct jobyaml_entry {
	struct jobyaml_text key;
	enum jobyaml_kind kind;
	struct job_place place;	    /* of the value */
	struct jobyaml_text *items; /* one of a text; of a map name and value in turn */
	size_t count;
	size_t room;
};

/* Takes one key of the mapping; the entry is the walker's, but a text in it may be taken with TAKE(). */
typedef int jobyaml_taker(void *context, struct jobyaml_entry *entry, struct err *err);

/* Calls `take` for each key in order; stops and returns -1 when it does. A header without a document is an empty one.
 */
int jobyaml_read(const struct jobyaml_source *source, jobyaml_taker *take, void *context, struct err *err);

#endif
