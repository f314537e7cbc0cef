/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * How far a job says it is: the file that PGPU_PROGRESS names, beside its supervisor's socket in the runtime folder.
 * Nobody makes the file for the job, and a job that never writes it costs nothing. What is in it is the job's word:
 *
 *     DONE/TOTAL [WORDS]      "37/250" or "37/250 the last 12 frames"; digits, DONE at most TOTAL, TOTAL above 0
 *
 * Of that the first line counts, at most 255 bytes of the file are read, and what is not of this form is no progress.
 */
#ifndef PGPU_RUNNER_PROGRESS_H
#define PGPU_RUNNER_PROGRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "conf/base/buf.h"
#include "conf/base/fmt.h"

enum { PROGRESS_READ = 255, PROGRESS_PATH = 128 };

struct progress {
	uint64_t done;
	uint64_t total;	 /* 0: none is known */
	char words[128]; /* fit for a terminal, cut */
};

/* The file's path for a supervisor with this socket. Inline: each start asks, and has no other business with these
 * functions' page. */
static inline void progress_path(const char *socket, char path[PROGRESS_PATH])
{
	fmt(path, PROGRESS_PATH, "%s.progress", socket);
}

/* Fills in `ret`, which is none where there is no such file, or one that is not the user's own plain file. */
void progress_read(const char *socket, struct progress *ret);

/* Pure. `text` needs no NUL at its end. False: it is no progress, and `ret` is none. */
bool progress_parse(const char *text, size_t size, struct progress *ret);
/* What is left at the pace so far, after `ran_ns` awake and unfrozen; -1: unknown. */
int64_t progress_left_ns(const struct progress *progress, int64_t ran_ns);
/* "37/250 14%, about 12m left: the last 12 frames" for people; `text` gets "" where none is known. */
enum { PROGRESS_TEXT = 256 };
void progress_show(const struct progress *progress, int64_t ran_ns, char text[PROGRESS_TEXT]);
/* `,"progress":{"done":37,"total":250,"left_s":720.000}`, or null. */
void progress_json(const struct progress *progress, int64_t ran_ns, struct buf *out);

#endif
