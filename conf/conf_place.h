/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Which file is to be read now, and what it is: asked at every start of pgpu, so it costs one stat(2) for a file that
 * $PGPU_CONF or the first place names, and never opens anything. conf_path() of conf.h is the short form.
 */
#ifndef PGPU_CONF_PLACE_H
#define PGPU_CONF_PLACE_H

#include <limits.h>
#include <stdbool.h>
#include <sys/stat.h>

#include "conf.h"

#define CONF_BUILTIN "built-in"

struct conf_place {
	bool builtin;
	int problem; /* errno of looking at the file; 0: `found` holds */
	struct stat found;
	char path[PATH_MAX]; /* or "built-in" */
};

/* A file missing in ~/.config or /etc is passed over; one that cannot be reached, or a link to nothing, is not. */
void conf_place_find(struct conf_place *place);

/*
 * Text that changes whenever the file or the built-in table under it does. An edit in place within one tick of the
 * kernel's clock (4 ms) that keeps the size goes unseen; editors that rename are seen always.
 */
void conf_stamp_file(const struct stat *found, char stamp[CONF_STAMP]);
void conf_stamp_builtin(char stamp[CONF_STAMP]);

#endif
