/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The lanes as `status` shows them: each with its job, how long that has run, and what it has of the machine and of the
 * card. For a program a line each; on a terminal a table, which does not wrap.
 */
#ifndef PGPU_RUNNER_LANEVIEW_H
#define PGPU_RUNNER_LANEVIEW_H

#include "conf/base/buf.h"
#include "runner/cardview.h"
#include "runner/screen.h"
#include "runner/snapshot.h"

/* The card that the lane has: what its job was given counts, until the next one starts. "": any. */
const char *laneview_card(const struct conf *conf, int number, const struct entry *entry);
void laneview_text(const struct snapshot *snapshot, const struct conf *conf, const struct cardview *cards,
		   const struct screen *screen, struct buf *out);
/* One object. */
void laneview_json(int number, const struct entry *entry, const char *card, const struct cardview_lane *use,
		   struct buf *out);

#endif
