/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "edit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "conf/base/clock.h"
#include "conf/base/fmt.h"
#include "conf/base/text.h"
#include "conf/jobid.h"
#include "runner/card.h"
#include "runner/depend.h"
#include "runner/dependloop.h"
#include "runner/line/seat.h"
#include "runner/vram.h"
#include "submit/spooltasks.h"

/* Whoever changes the same job, or its place, meanwhile makes us begin again. */
enum { TRIES = 100 };

/* The keys that may change while a job waits; a new one that needs no more than its reader goes here. */
static const char *const keys[] = { "class", "session",	     "as",	"name",	  "budget",
				    "limit", "min-run-time", "retries", "memory", "vram",
				    "begin", "after",	     "nice",	"first",  NULL };

static int refuse_key(const char *key, struct err *err)
{
	char shown[40], hint[64];

	text_show(key, shown, sizeof shown);
	text_hint(key, keys, hint, sizeof hint);
	return err_set(err, EXIT_USAGE, "'%s' is no key that can be changed%s", shown, hint);
}

static bool is_set(const struct edit *edit, const char *key)
{
	for (int i = 0; i < edit->count; i++) {
		if (strcmp(edit->settings[i].key, key) == 0)
			return true;
	}
	return strcmp(key, "first") == 0 && edit->first;
}

int edit_set(struct edit *edit, const char *word, struct err *err)
{
	SCOPE_JOB struct job scratch = JOB_EMPTY;
	const char *equals = strchr(word, '=');
	char key[sizeof edit->settings[0].key], shown[64];
	const char *const *known = keys;

	text_show(word, shown, sizeof shown);
	if (!equals)
		return err_set(err, EXIT_USAGE, "'%s' is not KEY=VALUE", shown);
	fmt(key, sizeof key, "%.*s", (int)(equals - word), word);
	while (*known && ((size_t)(equals - word) != strlen(*known) || strcmp(*known, key) != 0))
		known++;
	if (!*known)
		return refuse_key(key, err);
	if (strcmp(key, "as") == 0)
		fmt(key, sizeof key, "session");
	if (is_set(edit, key))
		return err_set(err, EXIT_USAGE, "%s: it is given twice", key);
	if ((strcmp(key, "nice") == 0 && edit->first) || (strcmp(key, "first") == 0 && is_set(edit, "nice")))
		return err_set(err, EXIT_USAGE, "either nice or first");
	if (strcmp(key, "first") == 0)
		return text_bool_parse(equals + 1, &edit->first, err) < 0 ? err_wrap(err, "first") : 0;
	if (edit->count == EDIT_SETTINGS)
		return err_set(err, EXIT_USAGE, "too many keys");
	if (job_set(&scratch, key, equals + 1, err) < 0)
		return -1;
	fmt(edit->settings[edit->count].key, sizeof key, "%s", key);
	edit->settings[edit->count++].value = equals + 1;
	return 0;
}

/* What the old class gave it, as far as that shows, is given by the new one. */
static void forget_class(struct job *job, const struct conf_class *old)
{
	if (job->min_run_ns == old->min_run_ns)
		job->min_run_ns = 0;
	if (job->memory_default || job->memory_bytes == old->memory_bytes)
		job->memory_bytes = 0;
	if (job->vram_bytes == old->vram_bytes)
		job->vram_bytes = 0;
	if (job->vram_max_bytes == old->vram_max_bytes)
		job->vram_max_bytes = 0;
	if (job->budget_signal && strcmp(job->budget_signal, old->budget_signal) == 0) {
		free(job->budget_signal);
		job->budget_signal = NULL;
	}
}

/* Budget and limit as complete_times() would have made them. */
static void forget_times(struct job *job, const struct conf_class *old, const struct edit *edit)
{
	int64_t limit_ns = old ? (old->limit_ns ? old->limit_ns : 2 * old->budget_ns) : 0;
	bool by_class = old && job->budget_ns == old->budget_ns && job->limit_ns == limit_ns;
	bool budget = is_set(edit, "budget"), limit = is_set(edit, "limit"), class = is_set(edit, "class");
	bool bound = by_class || job->limit_ns / 2 == job->budget_ns;

	if ((class && by_class) || (limit && !budget && bound))
		job->budget_ns = 0;
	if ((class && by_class) || (budget && !limit && bound))
		job->limit_ns = 0;
}

static int change(struct job *job, const struct job_facts *facts, const struct conf *conf, const struct edit *edit,
		  struct err *err)
{
	const struct conf_class *old = conf_class_find(conf, job->class_name);

	if (is_set(edit, "class") && old)
		forget_class(job, old);
	if (!job->standing)
		forget_times(job, old, edit);
	for (int i = 0; i < edit->count; i++) {
		if (job_set(job, edit->settings[i].key, edit->settings[i].value, err) < 0)
			return -1;
	}
	if (job_complete(job, conf, facts->submit_dir, err) < 0 || card_check(conf, job->card, err) < 0)
		return -1;
	return vram_check(conf, job->card, job->vram_bytes, err);
}

/* Who would wait for itself, or for nobody, never starts. */
static int check_after(struct line *line, struct spool *spool, const struct job *job, uint64_t id, struct err *err)
{
	int loops = depend_loops(spool, &job->after, id, err);

	if (loops != 0)
		return loops < 0 ? -1 : err_set(err, EXIT_USAGE, "after: it would wait for itself");
	return depend_refuse(line, spool, &job->after, err) < 0 ? -1 : depend_note(spool, job, id, err);
}

struct ahead {
	const struct job *job;
	uint64_t id;
	bool any; /* before it */
	int lowest;
};

static int look_ahead(const struct spool_name *name, const char *file, void *context)
{
	struct ahead *ahead = context;
	(void)file;

	if (name->standing || name->id == ahead->id || strcmp(name->class_name, ahead->job->class_name) != 0 ||
	    strcmp(name->session, ahead->job->session) != 0)
		return 0;
	ahead->any |= name->nice < ahead->job->nice || (name->nice == ahead->job->nice && name->id < ahead->id);
	if (name->nice < ahead->lowest)
		ahead->lowest = name->nice;
	return 0;
}

/* How nice it is when it is the first of its session and class; held ones count, since they keep their place. */
static int find_first(struct spool *spool, const struct job *job, uint64_t id, int *ret_nice, struct err *err)
{
	struct ahead ahead = { .job = job, .id = id, .lowest = JOB_NICE_MAX };

	if (spool_each(spool, SPOOL_PENDING, look_ahead, &ahead, err) < 0)
		return -1;
	*ret_nice = ahead.any ? ahead.lowest - 1 : job->nice;
	if (*ret_nice < -JOB_NICE_MAX)
		return err_set(err, EXIT_FAILED, "none can be less nice than the first of its session and class is");
	return 0;
}

/* The record's name as its text wants it; what only the name knows stays. */
static void rename_by(const struct edit *edit, const struct job *job, struct spool_name *name)
{
	if (is_set(edit, "begin"))
		name->begin_s = job->begin_wall_ns / NS_PER_S;
	if (is_set(edit, "after"))
		name->after = job->after.count > 0;
	fmt(name->class_name, sizeof name->class_name, "%s", job->class_name);
	fmt(name->session, sizeof name->session, "%s", job->session);
	memcpy(name->card, job->card, sizeof name->card);
	name->reserved_bytes = job->reserved_bytes;
	name->vram_bytes = job->vram_bytes;
	name->nice = job->nice;
}

/* Finds the record, which has to be one that waits: 0, or -1 and why not. */
static int find(struct line *line, struct spool *spool, uint64_t id, struct spool_name *name, char file[256],
		struct err *err)
{
	enum spool_state state;
	struct seat_view seat;
	int found = spool_find(spool, id, &state, name, file, err);

	if (found < 0)
		return -1;
	if (found == 0 && tasks_find(spool, id, name, file, err) == 1)
		return err_set(err, EXIT_FAILED, "it waits as one with its array; hold it first, or update the array");
	if (found == 0)
		return err_set(err, EXIT_FAILED, "%s",
			       line_id_known(line, id) ? "it is no spooled job that waits" : "no such id");
	if (state != SPOOL_PENDING)
		return err_set(err, EXIT_FAILED, "%s", state == SPOOL_RUNNING ? "it runs" : "it has ended");
	if (!name->standing)
		return 0;
	if (seat_read(line, SEAT_STANDING, &seat, err) < 0)
		return -1;
	return seat.entry.state != ENTRY_FREE && seat.entry.id == id ? err_set(err, EXIT_FAILED, "it runs") : 0;
}

/* What a killed one left is done first. 1: begin again. */
static int finish_other(struct line *line, struct spool *spool, uint64_t id, struct err *err)
{
	struct spool_name name;
	char file[256];

	if (line_lock(line, err) < 0)
		return -1;
	int result = find(line, spool, id, &name, file, err);
	if (result == 0 && name.edit)
		result = spool_edit_finish(spool, SPOOL_PENDING, &name, file, err);
	line_unlock(line);
	return result < 0 ? -1 : 1;
}

/* With the lock: 0 it is so now, 1 begin again. */
static int put(struct line *line, struct spool *spool, const struct edit *edit, const struct job *job,
	       const struct spool_edit *written, struct err *err)
{
	struct spool_name name;
	char file[256];
	int nice = job->nice;

	if (find(line, spool, edit->id, &name, file, err) < 0)
		return -1;
	if (name.edit || spool_inode(spool, file) != written->inode)
		return 1;
	if (edit->first && find_first(spool, job, edit->id, &nice, err) < 0)
		return -1;
	if (nice != job->nice)
		return 1;
	rename_by(edit, job, &name);
	return spool_edit(spool, written, file, &name, err);
}

/* 1: begin again. */
static int edit_once(struct line *line, struct spool *spool, const struct edit *edit, struct err *err)
{
	SCOPE_JOB struct job job = JOB_EMPTY;
	__attribute__((cleanup(job_facts_free))) struct job_facts facts = { 0 };
	struct spool_edit written;
	struct spool_name name;
	char file[256];

	if (find(line, spool, edit->id, &name, file, err) < 0)
		return -1;
	if (name.edit)
		return finish_other(line, spool, edit->id, err);
	ino_t inode = spool_inode(spool, file);
	if (spool_read(spool, SPOOL_PENDING, file, &job, &facts, err) < 0)
		return err->errnum == ENOENT ? 1 : -1;
	job.memory_default = name.reserved_bytes == 0;
	if (change(&job, &facts, &line->conf, edit, err) < 0 ||
	    (is_set(edit, "after") && check_after(line, spool, &job, edit->id, err) < 0) ||
	    (edit->first && find_first(spool, &job, edit->id, &job.nice, err) < 0))
		return -1;
	if (spool_edit_write(spool, file, &job, &facts, &written, err) < 0)
		return err->errnum == ENOENT ? 1 : -1;
	if (line_lock(line, err) < 0) {
		spool_edit_drop(spool, &written);
		return -1;
	}
	int result = written.inode == inode ? put(line, spool, edit, &job, &written, err) : 1;
	line_unlock(line);
	if (result != 0)
		spool_edit_drop(spool, &written);
	return result;
}

int edit_job(struct line *line, struct spool *spool, const struct edit *edit, struct err *err)
{
	struct err why = ERR_NONE;
	int result = 1;

	for (int tries = 0; result == 1 && tries < TRIES; tries++) {
		why = ERR_NONE;
		result = edit_once(line, spool, edit, &why);
	}
	if (result == 1)
		result = err_set(&why, EXIT_FAILED, "others change it all the time");
	bool changed = result == 0;
	if (changed)
		result = spool_submit_sync(spool, &why);
	/* What it waits for may be so already; who waits for its name may wait no longer. */
	if (result == 0 && depend_check(line, spool, edit->id, &why) < 0)
		result = -1;
	if (result == 0 && (is_set(edit, "name") || is_set(edit, "session")) &&
	    depend_news(line, spool, edit->id, &why) < 0)
		result = -1;
	if (result == 0)
		return 0;
	if (changed)
		err_wrap(&why, "cannot finish the update of job %s, which is changed", JOBID(edit->id));
	else
		err_wrap(&why, "cannot update job %s", JOBID(edit->id));
	return err_pass(err, &why);
}
