/* SPDX-License-Identifier: GPL-3.0-or-later */
/* NULL-ended lists of strings, such as argv and environ, where list and strings are owned by whoever holds them. */
#ifndef PGPU_BASE_WORDS_H
#define PGPU_BASE_WORDS_H

#include <stddef.h>

/* Both take NULL for a list that is not there. */
void words_free(char **words);
size_t words_count(char *const words[]);
/* A copy of all; NULL when memory is out. */
char **words_copy(char *const words[]);
/* Room for `count` words, all NULL, so that a list filled half is one that words_free() can end; NULL when memory is
 * out. */
char **words_new(size_t count);

#endif
