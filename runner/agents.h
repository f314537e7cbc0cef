/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `pgpu help agents`: one page for whoever drives pgpu from a program. */
#ifndef PGPU_RUNNER_AGENTS_H
#define PGPU_RUNNER_AGENTS_H

extern const char agents_page[];

#endif
