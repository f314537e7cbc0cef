/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "dependloop.h"

#include "conf/base/scope.h"
#include "conf/idlist.h"
#include "conf/jobid.h"
#include "submit/job.h"

/* Each id once; those up to `looked` have been followed. */
struct walk {
	struct spool *spool;
	struct idlist ids;
	size_t looked;
};

/* They concern each other: the same, or an array and one of its tasks. */
static bool touches(uint64_t one, uint64_t other)
{
	return one == other ||
	       (jobid_array(one) == jobid_array(other) && (jobid_task(one) < 0 || jobid_task(other) < 0));
}

static int add(struct walk *walk, const struct after_list *after)
{
	for (size_t i = 0; i < after->count; i++) {
		size_t known = 0;
		while (known < walk->ids.count && walk->ids.list[known] != after->list[i].id)
			known++;
		if (known < walk->ids.count || after->list[i].id == 0)
			continue;
		if (idlist_add(&walk->ids, after->list[i].id) < 0)
			return -1;
	}
	return 0;
}

/* What cannot be read waits for nobody here: whoever looks at it says so. */
static int follow(const struct spool_name *name, const char *file, void *context)
{
	struct walk *walk = context;
	SCOPE_JOB struct job job = JOB_EMPTY;
	struct job_facts facts = { 0 };
	struct err ignored = ERR_NONE;

	if (!name->after || !touches(name->id, walk->ids.list[walk->looked]) ||
	    spool_read(walk->spool, SPOOL_PENDING, file, &job, &facts, &ignored) < 0)
		return 0;
	job_facts_free(&facts);
	return add(walk, &job.after);
}

int depend_loops(struct spool *spool, const struct after_list *after, uint64_t id, struct err *err)
{
	struct walk walk = { .spool = spool };
	int result = add(&walk, after);

	for (; result == 0 && walk.looked < walk.ids.count; walk.looked++) {
		if (touches(walk.ids.list[walk.looked], id))
			result = 1;
		else
			result = spool_each(spool, SPOOL_PENDING, follow, &walk, err);
	}
	idlist_free(&walk.ids);
	return result < 0 ? err_sys(err, "cannot look at the jobs that job %s waits for", JOBID(id)) : result;
}
