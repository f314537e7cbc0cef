/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Ids as people give them to a command: `12`, `12_3`, and `12_[1-5,9]` for several tasks of an array.
 */
#ifndef PGPU_SUBMIT_IDWORDS_H
#define PGPU_SUBMIT_IDWORDS_H

#include <stdint.h>

#include "conf/base/err.h"

/* Calls `add` for each id of the word, and stops at -1. The error is EXIT_USAGE and the reason. */
int idwords_each(const char *word, int (*add)(void *context, uint64_t id, struct err *err), void *context,
		 struct err *err);

#endif
