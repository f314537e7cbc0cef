/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "arrayview.h"

#include "conf/base/fmt.h"
#include "conf/jobid.h"
#include "submit/spooltasks.h"

void arrayview_free(struct arrayview *view)
{
	idlist_free(&view->ids);
}

struct taking {
	struct spool *spool;
	struct arrayview *view;
	uint64_t id, first_bad; /* the task whose code is view->exit_code; 0: none yet */
	enum spool_state state;
	struct err *err;
};

/* How many tasks the array's own record speaks for. */
static long spoken_for(struct spool *spool, uint64_t id)
{
	SCOPE_TASKS struct tasks tasks = TASKS_NONE;
	struct err ignored = ERR_NONE;

	return tasks_open(spool, id, &tasks, &ignored) == 0 ? tasks_waiting(&tasks) : 0;
}

static void add_end(struct taking *taking, const struct spool_name *name, const char *file, long count)
{
	struct arrayview *view = taking->view;
	int64_t ended_ns;

	view->ended[name->outcome] += count;
	if (name->outcome != OUTCOME_COMPLETED && (taking->first_bad == 0 || name->id < taking->first_bad)) {
		taking->first_bad = name->id;
		view->exit_code = name->code;
		view->outcome = name->outcome;
	}
	if (spool_moved(taking->spool, SPOOL_ENDED, file, &ended_ns) == 0 && ended_ns > view->ended_wall_ns)
		view->ended_wall_ns = ended_ns;
}

static int take_one(const struct spool_name *name, const char *file, void *context)
{
	struct taking *taking = context;
	struct arrayview *view = taking->view;
	bool is_task = jobid_task(name->id) >= 0;

	if (jobid_array(name->id) != taking->id || (!is_task && !name->array))
		return 0;
	long count = is_task ? 1 : spoken_for(taking->spool, name->id);
	view->is_array = true;
	view->state = taking->state;
	view->name = *name;
	fmt(view->file, sizeof view->file, "%s", file);
	if (taking->state == SPOOL_PENDING)
		view->pending += count;
	else if (taking->state == SPOOL_RUNNING)
		view->running += count;
	else
		add_end(taking, name, file, count);
	view->live += taking->state != SPOOL_ENDED;
	return idlist_add(&view->ids, name->id) < 0 ? err_sys(taking->err, "cannot look at array %s", JOBID(taking->id))
						    : 0;
}

int arrayview_take(struct spool *spool, uint64_t id, struct arrayview *ret_view, struct err *err)
{
	struct taking taking = { .spool = spool, .view = ret_view, .id = id, .err = err };

	*ret_view = (struct arrayview){ .outcome = OUTCOME_COMPLETED };
	for (int state = 0; state < SPOOL_STATES; state++) {
		taking.state = (enum spool_state)state;
		if (spool_each(spool, taking.state, take_one, &taking, err) < 0)
			return -1;
	}
	return 0;
}
