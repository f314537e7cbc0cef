/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The last lines of a job's output file. Of a line that was written over (progress bars: carriage returns) what was
 * written last. The bytes are the job's: whoever shows them escapes them.
 */
#ifndef PGPU_SUBMIT_REPORTTAIL_H
#define PGPU_SUBMIT_REPORTTAIL_H

#include <stddef.h>

#include "conf/base/err.h"

enum { TAIL_BYTES = 4096, TAIL_LINES = 6 };

struct tail {
	char text[TAIL_BYTES + 1];
	const char *lines[TAIL_LINES]; /* in `text`, each ended by a NUL; one that the job wrote is a '?' there */
	int count;
};

/* At most the last TAIL_BYTES are read, of a regular file that is no link. */
int tail_read(const char *path, struct tail *ret_tail, struct err *err);

#endif
