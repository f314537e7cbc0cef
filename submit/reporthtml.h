/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A report as one page: headline, timeline (reportsvg.h), table, failures with the end of their output. It has its
 * style in itself, no script, and forbids the browser to fetch anything.
 */
#ifndef PGPU_SUBMIT_REPORTHTML_H
#define PGPU_SUBMIT_REPORTHTML_H

#include "conf/base/buf.h"
#include "submit/report.h"

int report_html(const struct report *report, struct buf *out, struct err *err);

#endif
