/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "spooltasks.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "conf/base/file.h"
#include "conf/base/fmt.h"
#include "conf/base/names.h"
#include "conf/base/scope.h"
#include "conf/idlist.h"
#include "conf/jobid.h"

enum { HEAD_MAX = 4096 };
static const char sparse_word[] = " sparse";

void tasks_close(struct tasks *tasks)
{
	scope_close(&tasks->fd);
	free(tasks->states);
	*tasks = TASKS_NONE;
}

static int write_file(struct spool *spool, uint64_t id, const struct array *array, enum array_order order,
		      const char *states, struct err *err)
{
	int folder = spool_folder(spool, SPOOL_TASKS_DIR, err);
	SCOPE_BUF struct buf text = BUF_EMPTY;

	if (folder < 0)
		return -1;
	array_put(array, &text);
	buf_puts(&text, order == ARRAY_SPARSE ? " sparse\n" : "\n");
	buf_add(&text, states, (size_t)array_size(array));
	if (!buf_ok(&text)) {
		errno = ENOMEM;
		return err_sys(err, "cannot note the tasks of array %s", JOBID(id));
	}
	return file_replace(folder, JOBID(jobid_array(id)), text.text, text.size, FILE_VOLATILE, err);
}

int tasks_make(struct spool *spool, uint64_t id, const struct array *array, enum array_order order, struct err *err)
{
	int32_t size = array_size(array);
	SCOPE_FREE char *states = malloc((size_t)size + 1);

	if (!states)
		return err_sys(err, "cannot note the tasks of array %s", JOBID(id));
	memset(states, ARRAY_WAITS, (size_t)size);
	return write_file(spool, id, array, order, states, err);
}

/* "LIST[ sparse]\n" */
static bool parse_head(char *text, struct tasks *tasks)
{
	char *end = strchr(text, '\n'), *word = strchr(text, ' ');

	if (!end)
		return false;
	*end = '\0';
	tasks->order = word && strcmp(word, sparse_word) == 0 ? ARRAY_SPARSE : ARRAY_PLAIN;
	if (word && tasks->order != ARRAY_SPARSE)
		return false;
	if (word)
		*word = '\0';
	tasks->offset = (int)(end - text) + 1;
	return array_parse(text, &tasks->array, NULL) == 0;
}

static int refuse_damaged(uint64_t id, struct err *err)
{
	err_set(err, EXIT_FAILED, "cannot read the tasks of array %s: the file is damaged", JOBID(jobid_array(id)));
	if (err)
		err->errnum = EBADMSG;
	return -1;
}

int tasks_open(struct spool *spool, uint64_t id, struct tasks *ret_tasks, struct err *err)
{
	SCOPE_TASKS struct tasks tasks = TASKS_NONE;
	char head[HEAD_MAX + 1];
	int folder = spool_folder(spool, SPOOL_TASKS_DIR, err);

	if (folder < 0)
		return -1;
	tasks.fd = openat(folder, JOBID(jobid_array(id)), O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (tasks.fd < 0)
		return err_sys(err, "cannot read the tasks of array %s", JOBID(jobid_array(id)));
	if (!file_is_ours(tasks.fd, JOBID(jobid_array(id)), err))
		return -1;
	ssize_t got = pread(tasks.fd, head, HEAD_MAX, 0);
	if (got < 0)
		return err_sys(err, "cannot read the tasks of array %s", JOBID(jobid_array(id)));
	head[got] = '\0';
	if (!parse_head(head, &tasks))
		return refuse_damaged(id, err);
	tasks.size = array_size(&tasks.array);
	tasks.states = malloc((size_t)tasks.size + 1);
	if (!tasks.states)
		return err_sys(err, "cannot read the tasks of array %s", JOBID(jobid_array(id)));
	got = pread(tasks.fd, tasks.states, (size_t)tasks.size + 1, tasks.offset);
	if (got != tasks.size)
		return refuse_damaged(id, err);
	*ret_tasks = tasks;
	tasks = TASKS_NONE;
	return 0;
}

bool tasks_wait(struct spool *spool, uint64_t id)
{
	struct err ignored = ERR_NONE;
	int folder = spool_folder(spool, SPOOL_TASKS_DIR, &ignored);

	return folder >= 0 && file_exists(folder, JOBID(jobid_array(id)));
}

void tasks_forget(struct spool *spool, uint64_t id)
{
	struct err ignored = ERR_NONE;
	int folder = spool_folder(spool, SPOOL_TASKS_DIR, &ignored);

	if (folder >= 0)
		unlinkat(folder, JOBID(jobid_array(id)), 0);
}

int32_t tasks_waiting(const struct tasks *tasks)
{
	int32_t count = 0;

	for (int32_t i = 0; i < tasks->size; i++)
		count += tasks->states[i] == ARRAY_WAITS || tasks->states[i] == ARRAY_TAKEN;
	return count;
}

uint64_t tasks_next(const struct tasks *tasks, uint64_t id)
{
	int32_t position = array_next(tasks->states, tasks->size, tasks->order);

	return position < 0 ? 0 : jobid_with_task(id, array_task(&tasks->array, position));
}

static int mark(struct tasks *tasks, int32_t position, char state, struct err *err)
{
	ssize_t put = pwrite(tasks->fd, &state, 1, tasks->offset + position);

	if (put != 1) {
		errno = put < 0 ? errno : EIO;
		return err_sys(err, "cannot note what becomes of a task");
	}
	tasks->states[position] = state;
	return 0;
}

/* Who was to take them died half-way: what is there tells how far it came. */
static int mend(struct spool *spool, uint64_t id, struct tasks *tasks, struct err *err)
{
	for (int32_t i = 0; i < tasks->size; i++) {
		struct spool_name name;
		enum spool_state state;
		char file[256];
		if (tasks->states[i] != ARRAY_TAKEN)
			continue;
		int found =
			spool_find(spool, jobid_with_task(id, array_task(&tasks->array, i)), &state, &name, file, err);
		if (found < 0 || mark(tasks, i, found ? ARRAY_APART : ARRAY_WAITS, err) < 0)
			return -1;
	}
	return 0;
}

/* The record goes first: a file in tasks/ that belongs to none is swept up. */
static int remove_array(struct spool *spool, uint64_t id, const char *array_file, struct err *err)
{
	int pending = spool_folder(spool, SPOOL_PENDING_DIR, err);

	if (pending < 0 || (unlinkat(pending, array_file, 0) < 0 && errno != ENOENT))
		return err_sys(err, "cannot remove the record of array %s", JOBID(jobid_array(id)));
	tasks_forget(spool, id);
	return 0;
}

static int link_record(struct spool *spool, const char *array_file, enum spool_state state,
		       const struct spool_name *name, struct err *err)
{
	char file[256];
	int pending = spool_folder(spool, SPOOL_PENDING_DIR, err),
	    folder = spool_folder(spool, (enum spool_folder)state, err);

	if (pending < 0 || folder < 0)
		return -1;
	spool_name_format(name, file);
	int result = linkat(pending, array_file, folder, file, 0);
	if (result < 0 && errno == EMLINK) {
		if (spool_renew(spool, array_file, err) < 0)
			return -1;
		result = linkat(pending, array_file, folder, file, 0);
	}
	if (result < 0)
		return err_sys(err, "cannot make a record of task %s", JOBID(name->id));
	spool->unsynced |= state == SPOOL_RUNNING;
	return 0;
}

int tasks_take(struct spool *spool, uint64_t id, const char *array_file, enum spool_state state,
	       const struct spool_name *name, struct err *err)
{
	SCOPE_TASKS struct tasks tasks = TASKS_NONE;

	if (tasks_open(spool, id, &tasks, err) < 0 || mend(spool, id, &tasks, err) < 0)
		return -1;
	int32_t position = array_position(&tasks.array, jobid_task(id));
	/* Who took the last one died before the array's record was gone. */
	if (tasks_waiting(&tasks) == 0)
		return remove_array(spool, id, array_file, err);
	if (position < 0 || tasks.states[position] != ARRAY_WAITS)
		return 0;
	/* A task's record has the text of now for itself: what a killed update left is finished before. */
	struct spool_name whole;
	char file[256];
	fmt(file, sizeof file, "%s", array_file);
	if (spool_name_parse(file, &whole) == 0 && whole.edit &&
	    spool_edit_finish(spool, SPOOL_PENDING, &whole, file, err) < 0)
		return -1;
	if (mark(&tasks, position, ARRAY_TAKEN, err) < 0)
		return -1;
	if (link_record(spool, file, state, name, err) < 0) {
		mark(&tasks, position, ARRAY_WAITS, NULL);
		return -1;
	}
	if (mark(&tasks, position, ARRAY_APART, err) < 0)
		return -1;
	return tasks_waiting(&tasks) == 0 && remove_array(spool, id, file, err) < 0 ? -1 : 1;
}

int tasks_find(struct spool *spool, uint64_t id, struct spool_name *ret_name, char ret_file[256], struct err *err)
{
	SCOPE_TASKS struct tasks tasks = TASKS_NONE;
	struct err why = ERR_NONE;

	if (jobid_task(id) < 0)
		return 0;
	int found = spool_find_in(spool, SPOOL_PENDING, jobid_array(id), ret_name, ret_file, err);
	if (found <= 0 || !ret_name->array)
		return found < 0 ? -1 : 0;
	if (tasks_open(spool, id, &tasks, &why) < 0)
		return why.errnum == ENOENT ? 0 : err_pass(err, &why);
	int32_t position = array_position(&tasks.array, jobid_task(id));
	return position >= 0 && tasks.states[position] != ARRAY_APART;
}

int tasks_set_apart(struct spool *spool, uint64_t id, struct err *err)
{
	struct spool_name name;
	char file[256];
	int found = tasks_find(spool, id, &name, file, err);

	if (found <= 0)
		return found;
	name.id = id;
	name.edit = 0;
	name.array = false;
	name.cap = 0;
	return tasks_take(spool, id, file, SPOOL_PENDING, &name, err);
}

struct counting {
	uint64_t id;
	int count;
};

static int count_task(const struct spool_name *name, const char *file, void *context)
{
	struct counting *counting = context;

	(void)file;
	counting->count += jobid_array(name->id) == counting->id;
	return 0;
}

int tasks_running(struct spool *spool, uint64_t id, struct err *err)
{
	struct counting counting = { jobid_array(id), 0 };

	return spool_each(spool, SPOOL_RUNNING, count_task, &counting, err) < 0 ? -1 : counting.count;
}

struct marking {
	uint64_t id;
	const struct array *array;
	char *states;
};

static int mark_apart(const struct spool_name *name, const char *file, void *context)
{
	const struct marking *marking = context;

	(void)file;
	if (jobid_array(name->id) != marking->id || jobid_task(name->id) < 0)
		return 0;
	int32_t position = array_position(marking->array, jobid_task(name->id));
	if (position >= 0)
		marking->states[position] = ARRAY_APART;
	return 0;
}

/* The old file does not count: it was not synced, and may say more than has happened. */
static int remake(struct spool *spool, uint64_t id, const struct job *job, const char *array_file, struct err *err)
{
	int32_t size = array_size(&job->array);
	SCOPE_FREE char *states = malloc((size_t)size + 1);
	struct marking marking = { id, &job->array, states };

	if (!states)
		return err_sys(err, "cannot note the tasks of array %s", JOBID(id));
	memset(states, ARRAY_WAITS, (size_t)size);
	for (int state = 0; state < SPOOL_STATES; state++) {
		if (spool_each(spool, (enum spool_state)state, mark_apart, &marking, err) < 0)
			return -1;
	}
	if (!memchr(states, ARRAY_WAITS, (size_t)size))
		return remove_array(spool, id, array_file, err);
	return write_file(spool, id, &job->array, job->order, states, err);
}

int tasks_again(struct spool *spool, const struct spool_name *name, const char *file, struct err *err)
{
	SCOPE_JOB struct job job = JOB_EMPTY;
	struct job_facts facts = { 0 };

	if (spool_read(spool, SPOOL_PENDING, file, &job, &facts, err) < 0)
		return -1;
	job_facts_free(&facts);
	return job.array.count ? remake(spool, name->id, &job, file, err) : 0;
}

struct sweep {
	struct spool *spool;
	struct idlist ids; /* arrays that are pending, or were cancelled */
	struct err *err;
};

/* A cancelled one may be put back in line. */
static int keep(const struct spool_name *name, const char *file, void *context)
{
	struct sweep *sweep = context;

	(void)file;
	return name->array && idlist_add(&sweep->ids, name->id) < 0 ? err_sys(sweep->err, "cannot look at the arrays")
								    : 0;
}

static int sweep_one(const struct spool_name *name, const char *file, void *context)
{
	struct sweep *sweep = context;
	struct err ignored = ERR_NONE;

	if (name->array)
		tasks_again(sweep->spool, name, file, &ignored);
	return keep(name, file, context);
}

static bool is_known(const struct sweep *sweep, uint64_t id)
{
	for (size_t i = 0; i < sweep->ids.count; i++) {
		if (sweep->ids.list[i] == id)
			return true;
	}
	return false;
}

int tasks_sweep(struct spool *spool, struct err *err)
{
	struct sweep sweep = { .spool = spool, .err = err };
	SCOPE_NAMES struct names names = NAMES_NONE;
	int folder = spool_folder(spool, SPOOL_TASKS_DIR, err);
	int result = folder < 0 ? -1 : spool_each(spool, SPOOL_PENDING, sweep_one, &sweep, err);

	if (result == 0)
		result = spool_each(spool, SPOOL_ENDED, keep, &sweep, err);
	if (result == 0 && names_open(&names, folder) < 0)
		result = err_sys(err, "cannot read tasks");
	for (const struct dirent64 *found; result == 0 && (found = names_next(&names));) {
		const char *end;
		uint64_t id = jobid_read(found->d_name, &end);
		if (!id || *end || !is_known(&sweep, id))
			unlinkat(folder, found->d_name, 0);
	}
	idlist_free(&sweep.ids);
	return result;
}
