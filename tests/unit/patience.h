/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How often and how long, where all is slow: SANITIZER, which tests/sanitize sets, is "valgrind" under valgrind. */
#ifndef PGPU_TESTS_UNIT_PATIENCE_H
#define PGPU_TESTS_UNIT_PATIENCE_H

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { VALGRIND_SLOWER = 50 };

static inline bool under_valgrind(void)
{
	const char *sanitizer = getenv("SANITIZER");

	return sanitizer && strcmp(sanitizer, "valgrind") == 0;
}

static inline int slower_by(void)
{
	return under_valgrind() ? VALGRIND_SLOWER : 1;
}

/* How many random rounds, of `usual` ones. */
static inline int rounds(int usual)
{
	return usual / slower_by();
}

/* How long is too long, where `usual` seconds are. */
static inline unsigned patience(unsigned usual)
{
	return usual * (unsigned)slower_by();
}

#endif
