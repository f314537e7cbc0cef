/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "held.h"

#include <unistd.h>

#include "conf/jobid.h"
#include "runner/arrayview.h"
#include "submit/spooltasks.h"

static const char *word(bool held)
{
	return held ? "hold" : "release";
}

static int refuse(uint64_t id, bool held, const char *why, struct err *err)
{
	return err_set(err, EXIT_FAILED, "cannot %s job %s: %s", word(held), JOBID(id), why);
}

/* 1: renamed; 0: it was so already. */
static int set_locked(struct line *line, struct spool *spool, uint64_t id, bool held, struct err *err)
{
	struct spool_name name;
	enum spool_state state;
	char file[256];

	if (tasks_set_apart(spool, id, err) < 0)
		return -1;
	int found = spool_find(spool, id, &state, &name, file, err);
	if (found < 0)
		return -1;
	if (found == 0)
		return refuse(id, held, line_id_known(line, id) ? "it is no spooled job that waits" : "no such id",
			      err);
	if (state != SPOOL_PENDING)
		return refuse(id, held, state == SPOOL_RUNNING ? "it runs" : "it has ended", err);
	if (name.held == held)
		return 0;
	if (spool_hold(spool, &name, file, held, err) < 0)
		return -1;
	if (!held)
		spool_reason_forget(spool, id);
	return 1;
}

/* Of an array: those that wait, and an error where there is none. */
static int set_array(struct line *line, struct spool *spool, uint64_t id, const struct arrayview *array, bool held,
		     struct err *err)
{
	int waiting = 0, changed = 0;

	for (size_t i = 0; i < array->live; i++) {
		struct err why = ERR_NONE;
		int one = set_locked(line, spool, array->ids.list[i], held, &why);
		if (one < 0 && why.errnum)
			return err_pass(err, &why);
		waiting += one >= 0;
		changed |= one > 0;
	}
	return waiting ? changed : refuse(id, held, "none of its tasks waits", err);
}

int held_set(struct line *line, struct spool *spool, uint64_t id, bool held, struct err *err)
{
	SCOPE_ARRAYVIEW struct arrayview array = { 0 };

	if (line_lock(line, err) < 0)
		return -1;
	int changed = jobid_task(id) < 0 ? arrayview_take(spool, id, &array, err) : 0;
	if (changed == 0)
		changed = array.is_array ? set_array(line, spool, id, &array, held, err)
					 : set_locked(line, spool, id, held, err);
	line_unlock(line);
	return changed > 0 ? spool_submit_sync(spool, err) : changed;
}
