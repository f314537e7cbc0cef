/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Files of tab-separated lines under one header line, each appended with one write(2): log.tsv, foreign.tsv. */
#ifndef PGPU_BASE_TSV_H
#define PGPU_BASE_TSV_H

#include "buf.h"

/* What goes before a line: the header in an empty file; the end of a line that a writer left without, so that ours is
 * whole. `fd` can be read. Returns how large the file is, -1: unknown. */
int64_t tsv_start(int fd, const char *header, struct buf *line);

#endif
