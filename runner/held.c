/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "held.h"
#include "conf/jobid.h"

#include <unistd.h>

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

int held_set(struct line *line, struct spool *spool, uint64_t id, bool held, struct err *err)
{
	if (line_lock(line, err) < 0)
		return -1;
	int changed = set_locked(line, spool, id, held, err);
	line_unlock(line);
	return changed > 0 ? spool_submit_sync(spool, err) : changed;
}
