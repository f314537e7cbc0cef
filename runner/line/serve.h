/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the settle of standing jobs (view.h, serve.c) leaves on file for those who show it. */
#ifndef PGPU_RUNNER_SERVE_H
#define PGPU_RUNNER_SERVE_H

#include "line.h"

/*
 * Since when nobody wants the card, boot clock, as the standby last found it; 0: somebody does, or it is not known.
 * `ret_hands` is the mark of that time, standing_hands().
 */
int64_t serve_since(struct line *line, uint64_t *ret_hands);

#endif
