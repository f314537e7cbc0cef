/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A list that stays on the terminal: drawn anew when something in the queue's folders changes, and each few seconds for
 * the clocks. Keys choose a job and do something to it, each by a pgpu of its own; the last line says what came of it.
 */
#ifndef PGPU_RUNNER_WATCH_H
#define PGPU_RUNNER_WATCH_H

#include "runner/queue.h"
#include "runner/screen.h"

enum { WATCH_ROWS = 1000 };

/* A list as it is drawn: one line of titles, then one for each job. */
struct watch_page {
	struct buf text;
	struct buf ids; /* of each job what a command takes for it, with its NUL */
	int count;
};

struct watch_source {
	/* Opens the queue and fills the page, which is empty. */
	int (*draw)(void *context, const struct screen *screen, struct watch_page *page, struct err *err);
	void *context;
	struct queue *queue;
	struct screen screen; /* its colours */
	int64_t every_ns;
};

/* Until it is left; the exit code, or -1. A signal that ends it is sent again once the terminal is as it was. */
int watch_run(const struct watch_source *source, struct err *err);

#endif
