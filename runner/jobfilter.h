/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which jobs a command is about: session, class, name and states, all of which must fit. The same for all commands. */
#ifndef PGPU_RUNNER_JOBFILTER_H
#define PGPU_RUNNER_JOBFILTER_H

#include "runner/jobview.h"

struct jobfilter {
	const char *session, *class_name, *name; /* NULL: any */
	const char *states;			 /* words or Slurm's letters, joined by commas; NULL: any */
};

bool jobfilter_is_set(const struct jobfilter *filter);
/* Are these states and is that a class? Else EXIT_USAGE, with the nearest right word. */
int jobfilter_check_states(const struct jobfilter *filter, struct err *err);
int jobfilter_check_class(const struct jobfilter *filter, const struct conf *conf, struct err *err);
bool jobfilter_fits(const struct jobfilter *filter, const struct jobview *view);
/* Of a spooled job that waits, by what the name of its record tells: false, and it need not be read. */
bool jobfilter_may_fit(const struct jobfilter *filter, const struct candidate *waiting);

/*
 * Calls `visit` for each job in a lane or in line that fits: first those that wait, so that none of them starts while
 * the others are ended. A view may lack what no filter asks for.
 */
int jobfilter_each_live(struct queue *queue, const struct jobfilter *filter,
			int (*visit)(const struct jobview *view, void *context), void *context, struct err *err);

#endif
