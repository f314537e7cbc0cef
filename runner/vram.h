/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The card's memory for those who do not show it but wait for it: the look behind the line's gate (line.h, struct
 * line_card), and how much there is at all.
 *
 * Of several cards it is the one of the lane or of the job, else the one that has the most free. An APU's jobs live
 * in the machine's memory, so both count. What cannot be read is unknown, and holds nobody back.
 */
#ifndef PGPU_RUNNER_VRAM_H
#define PGPU_RUNNER_VRAM_H

#include "runner/line/line.h"

/* Connects the line to the look. Nothing is opened. */
void vram_connect(struct line *line);
/*
 * An error, exit code 2, when no card has as much as the job asks for, of those that it may get: `card`, "" for any,
 * and those that lanes are bound to. 0 where that cannot be told.
 */
int vram_check(const struct conf *conf, const char *card, uint64_t asked_bytes, struct err *err);

#endif
