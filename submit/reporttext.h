/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A report for a terminal or a pipe: headline, timeline, table, failures with the end of their output. What a terminal
 * would obey in names and outputs becomes '?'. */
#ifndef PGPU_SUBMIT_REPORTTEXT_H
#define PGPU_SUBMIT_REPORTTEXT_H

#include "conf/base/buf.h"
#include "submit/report.h"

int report_text(const struct report *report, struct buf *out, struct err *err);

#endif
