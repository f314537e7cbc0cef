/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * An array as one: what has become of its tasks, those for which its record speaks and those that have one of their
 * own. Read from names alone.
 */
#ifndef PGPU_RUNNER_ARRAYVIEW_H
#define PGPU_RUNNER_ARRAYVIEW_H

#include "conf/idlist.h"
#include "submit/spool.h"

struct arrayview {
	bool is_array; /* so for all that follows */
	long pending, running, ended[OUTCOMES];
	int exit_code;	      /* of the first task, by number, that has another than 0; else 0 */
	enum outcome outcome; /* of that task; OUTCOME_COMPLETED where all are */
	int64_t ended_wall_ns;
	enum spool_state state; /* of a record that is one of them, and its name: their text is the same */
	char file[256];
	struct spool_name name;
	struct idlist ids; /* of every record, the array's own among them */
	size_t live;	   /* so many of them, the first, have not ended */
};
#define SCOPE_ARRAYVIEW __attribute__((cleanup(arrayview_free)))

void arrayview_free(struct arrayview *view);
/* Of `id` without a task. is_array is false for any other job. */
int arrayview_take(struct spool *spool, uint64_t id, struct arrayview *ret_view, struct err *err);

#endif
