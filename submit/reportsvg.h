/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The timeline as a picture: a row for each hold that was there at the same time, a bar a hold in the colour of its
 * class, below them dashed bars for the times in which jobs were frozen. A bar that ended by a turn has a dark end, one
 * that failed a cross there. Each has its job, times and outcome for who points at it.
 *
 * Light or dark as the reader's system is; no script, and nothing is fetched.
 */
#ifndef PGPU_SUBMIT_REPORTSVG_H
#define PGPU_SUBMIT_REPORTSVG_H

#include "conf/base/buf.h"
#include "submit/reportlanes.h"

/* Colours and what wears them: for the picture, and for the page that it is part of. */
void reportsvg_style(struct buf *out);
/* The svg element; `alone`: with its namespace and style, as a file of its own. */
void reportsvg_timeline(const struct report *report, const struct report_timeline *timeline, bool alone,
			struct buf *out);
/* That file. */
int report_svg(const struct report *report, struct buf *out, struct err *err);

#endif
