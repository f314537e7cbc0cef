/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Ids as people give them to a command: `12`, `12_3`, and `12_[1-5,9]` for several tasks of an array.
 */
#ifndef PGPU_SUBMIT_IDWORDS_H
#define PGPU_SUBMIT_IDWORDS_H

#include "conf/base/err.h"
#include "conf/idlist.h"

/* Adds the ids of all words, in their order. The error is EXIT_USAGE and the reason. */
int idwords_read(char *const *words, int count, struct idlist *ids, struct err *err);

#endif
