/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Texts for HTML and SVG, from wherever they come. */
#ifndef PGPU_SUBMIT_MARKUP_H
#define PGPU_SUBMIT_MARKUP_H

#include "conf/base/buf.h"

/*
 * As content or between quotes of either kind: no character of it is markup. Tab and newline stay; what else is a
 * control character, no UTF-8, or no character of XML, becomes U+FFFD.
 */
void markup_text(struct buf *out, const char *text);
/* A coordinate, given in tenths. */
void markup_tenths(struct buf *out, int tenths);

#endif
