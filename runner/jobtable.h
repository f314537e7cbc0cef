/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A list of jobs in columns: one row each, as `queue` shows them. */
#ifndef PGPU_RUNNER_JOBTABLE_H
#define PGPU_RUNNER_JOBTABLE_H

#include "runner/jobview.h"
#include "runner/table.h"

extern const struct table_form jobtable_form;
void jobtable_add(struct table *table, const struct jobview *view);

#endif
