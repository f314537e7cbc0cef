/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the fuzz targets share. A target, tests/fuzz/NAME.c, is the one function fuzz_one(), which reads bytes of any
 * kind with the public functions of a layer; README.md in this folder is the manual. It is linked with libFuzzer, or
 * with replay.c, which runs the corpus alone.
 *
 * A target's own checks are HOLDS(): what was read must be written as the same, and read again.
 */
#ifndef PGPU_TESTS_FUZZ_H
#define PGPU_TESTS_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int fuzz_one(const uint8_t *bytes, size_t size);
/* What libFuzzer and replay.c call: fuzz_one(), ended where a small input takes more than it may of time or memory. */
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

/* Ends the program, with the place, when it is false. */
#define HOLDS(condition)                                                                                               \
	do {                                                                                                           \
		if (!(condition)) {                                                                                    \
			fprintf(stderr, "%s:%d: does not hold: %s\n", __FILE__, __LINE__, #condition);                 \
			abort();                                                                                       \
		}                                                                                                      \
	} while (0)

/* A copy with a NUL behind it, as file_read() gives one, and not a byte more; to be freed. */
char *fuzz_text(const uint8_t *bytes, size_t size);
/* The same for what people and the kernel cannot put a NUL into: cut at the first. */
char *fuzz_string(const uint8_t *bytes, size_t size);
/* A copy without the NUL; to be freed. */
char *fuzz_exact(const uint8_t *bytes, size_t size);

/* The path of a folder of this process's own, in memory where there is such a place, removed at its end. */
const char *fuzz_folder(void);
/* Makes or empties folder `name` in it; returns its descriptor. */
int fuzz_fresh(const char *name);
/* Writes a whole file; its folder is there. */
void fuzz_put(int folder, const char *name, const void *bytes, size_t size);

/*
 * The input as many files: a line "@ PATH" begins each, and the text up to the next such line is what is in it. Makes
 * them below `folder`, which fuzz_fresh() gave; paths that lead out of it are passed over. At most FUZZ_FILES.
 */
enum { FUZZ_FILES = 48 };
void fuzz_tree(int folder, const uint8_t *bytes, size_t size);

#endif
