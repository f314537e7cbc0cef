/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The names in a folder, in no order, without "." and "..". opendir(3) takes 32 KB of heap and five system calls around
 * the one that counts; most of our folders are empty.
 *
 *     SCOPE_NAMES struct names names = NAMES_NONE;
 *     if (names_open(&names, folder) < 0) ...
 *     while ((found = names_next(&names))) ... found->d_name, found->d_type
 *
 * A name lives until the next call. The loop may rename and remove what it sees; a name that comes meanwhile may be
 * seen or not (readdir(3)). An error in between ends the loop like the end of the folder; who draws conclusions from
 * what is not there asks names_failed() after it.
 */
#ifndef PGPU_BASE_NAMES_H
#define PGPU_BASE_NAMES_H

#include <dirent.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { NAMES_FEW = 1024, NAMES_MANY = 32 << 10 };

struct names {
	int fd;
	int errnum; /* of the error that ended the loop, else 0 */
	size_t at, size;
	char *many; /* heap, once a folder has more than `few` holds */
	char few[NAMES_FEW] __attribute__((aligned(8)));
};

#define NAMES_NONE                                                                                                     \
	{                                                                                                              \
		.fd = -1                                                                                               \
	}
#define SCOPE_NAMES __attribute__((cleanup(names_close)))

/* `folder` is left as it is. -1 with errno. */
int names_open(struct names *names, int folder);
const struct dirent64 *names_next(struct names *names);
/* True, with errno set, when the loop has not seen all. */
bool names_failed(const struct names *names);
void names_close(struct names *names);

/*
 * A folder that was seen empty is still so while its time of change is the same: one fstat(2) instead of a look. Times
 * of change come in steps of at most 10 ms, so that only one of more than 100 ms ago counts.
 *
 *     if (names_still_empty(folder, &empty)) return ...;
 *     ... a look that found nothing: names_seen_empty(&empty);
 */
struct names_empty {
	int64_t changed_ns; /* before that look */
	bool known;
};
bool names_still_empty(int folder, struct names_empty *empty);
void names_seen_empty(struct names_empty *empty);

#endif
