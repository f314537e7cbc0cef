/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "prune.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "conf/base/clock.h"
#include "conf/base/file.h"
#include "conf/base/fmt.h"
#include "conf/base/names.h"
#include "conf/base/scope.h"
#include "conf/jobid.h"
#include "spooltasks.h"
#include "submit/dedupe.h"

#define DAY_NS		    (86400 * NS_PER_S)
#define ENVIRONMENT_REST_NS (SPOOL_ENV_TOUCHED_DAYS * 2 * DAY_NS)

static const char stamp[] = "pruned";

struct ended {
	int64_t at_wall_ns;
	uint64_t id;
	char file[256];
};

struct list {
	struct spool *spool;
	struct ended *all;
	size_t count, room;
	char (*used)[64]; /* names of environments */
	size_t used_count, used_room;
};

/* Room for one more; NULL without memory. */
static void *grow(void *items, size_t count, size_t *room, size_t size)
{
	if (count < *room)
		return items;
	size_t wanted = *room ? *room * 2 : 64;
	void *more = realloc(items, wanted * size);
	if (more)
		*room = wanted;
	return more;
}

static int add_ended(const struct spool_name *name, const char *file, void *context)
{
	struct list *list = context;
	struct ended *more = grow(list->all, list->count, &list->room, sizeof *more);

	if (!more)
		return -1;
	list->all = more;
	/* While others of its array wait, its record says that it does not. */
	if (jobid_task(name->id) >= 0 && tasks_wait(list->spool, name->id))
		return 0;
	more = &list->all[list->count];
	more->id = name->id;
	fmt(more->file, sizeof more->file, "%s", file);
	if (spool_moved(list->spool, SPOOL_ENDED, file, &more->at_wall_ns) == 0)
		list->count++;
	return 0;
}

/* The last to end comes first. */
static int compare_ends(const void *left, const void *right)
{
	const struct ended *a = left, *b = right;

	if (a->at_wall_ns != b->at_wall_ns)
		return a->at_wall_ns > b->at_wall_ns ? -1 : 1;
	return a->id > b->id ? -1 : a->id < b->id;
}

static bool is_over(const struct conf *conf, const struct ended *one, size_t index, int64_t now_wall_ns)
{
	return (conf->keep_jobs && index >= (size_t)conf->keep_jobs) ||
	       (conf->keep_ns && one->at_wall_ns < now_wall_ns - conf->keep_ns);
}

static int remove_records(struct list *list, const struct conf *conf, int64_t now_wall_ns, struct err *err)
{
	int ended = spool_folder(list->spool, SPOOL_ENDED_DIR, err), removed = 0;

	if (ended < 0)
		return -1;
	qsort(list->all, list->count, sizeof *list->all, compare_ends);
	for (size_t i = 0; i < list->count; i++) {
		if (!is_over(conf, &list->all[i], i, now_wall_ns) || unlinkat(ended, list->all[i].file, 0) < 0)
			continue;
		spool_reason_forget(list->spool, list->all[i].id);
		if (jobid_task(list->all[i].id) < 0)
			tasks_forget(list->spool, list->all[i].id);
		removed++;
	}
	return removed;
}

static int add_used(const struct spool_name *name, const char *file, void *context)
{
	struct list *list = context;
	SCOPE_JOB struct job job = JOB_EMPTY;
	struct job_facts facts = { 0 };
	struct err why = ERR_NONE;
	enum spool_state state = name->outcome != OUTCOME_NONE ? SPOOL_ENDED : SPOOL_PENDING;
	char(*more)[64] = grow(list->used, list->used_count, &list->used_room, sizeof *more);

	if (!more)
		return -1;
	list->used = more;
	int result = spool_read(list->spool, state, file, &job, &facts, &why);
	if (result < 0 && state == SPOOL_PENDING && why.errnum == ENOENT)
		result = spool_read(list->spool, SPOOL_RUNNING, file, &job, &facts, &why);
	if (result == 0)
		memcpy(list->used[list->used_count++], facts.env_name, sizeof facts.env_name);
	job_facts_free(&facts);
	return 0;
}

static int compare_names(const void *left, const void *right)
{
	return strcmp(left, right);
}

static bool rests(int folder, const char *name, int64_t now_wall_ns)
{
	struct stat found;

	return fstatat(folder, name, &found, AT_SYMLINK_NOFOLLOW) == 0 &&
	       found.st_mtim.tv_sec * NS_PER_S < now_wall_ns - ENVIRONMENT_REST_NS;
}

/* Whoever found it before it was moved aside has touched it; whoever comes after stores it anew. */
static void remove_environment(int folder, const char *name, int64_t now_wall_ns)
{
	char aside[72];

	fmt(aside, sizeof aside, ".%s.old", name);
	if (!rests(folder, name, now_wall_ns) || file_rename(folder, name, folder, aside, 0) < 0)
		return;
	if (rests(folder, aside, now_wall_ns))
		unlinkat(folder, aside, 0);
	else
		file_rename(folder, aside, folder, name, 0);
}

static int remove_environments(struct list *list, int64_t now_wall_ns, struct err *err)
{
	int folder = spool_folder(list->spool, SPOOL_ENV_DIR, err);
	SCOPE_NAMES struct names names = NAMES_NONE;

	for (int state = 0; folder >= 0 && state < SPOOL_STATES; state++) {
		if (spool_each(list->spool, (enum spool_state)state, add_used, list, err) < 0)
			return -1;
	}
	/* Which environment a newer pgpu's record names is not known. */
	if (list->spool->newer)
		return 0;
	if (folder < 0 || names_open(&names, folder) < 0)
		return err_sys(err, "cannot read env");
	if (list->used_count)
		qsort(list->used, list->used_count, sizeof *list->used, compare_names);
	for (const struct dirent64 *found; (found = names_next(&names));) {
		const char *name = found->d_name;
		bool used = list->used_count &&
			    bsearch(name, list->used, list->used_count, sizeof *list->used, compare_names);
		if (name[0] != '.' && strlen(name) < 64 && !used)
			remove_environment(folder, name, now_wall_ns);
	}
	return 0;
}

int prune(struct spool *spool, const struct conf *conf, int64_t now_wall_ns, struct err *err)
{
	struct list list = { .spool = spool };
	int removed = spool_each(spool, SPOOL_ENDED, add_ended, &list, err);

	if (removed == 0 && list.count)
		removed = remove_records(&list, conf, now_wall_ns, err);
	if (removed >= 0 &&
	    (remove_environments(&list, now_wall_ns, err) < 0 || dedupe_prune(spool, now_wall_ns, err) < 0))
		removed = -1;
	free(list.all);
	free(list.used);
	return removed;
}

void prune_daily(struct spool *spool, const struct conf *conf)
{
	struct err ignored = ERR_NONE;
	struct stat found;
	int64_t now_wall_ns = clock_wall_ns();
	bool known = fstatat(spool->queue_fd, stamp, &found, AT_SYMLINK_NOFOLLOW) == 0;
	int64_t age_ns = known ? now_wall_ns - found.st_mtim.tv_sec * NS_PER_S : DAY_NS;

	/* A clock that was set back is no reason to wait for it. */
	if ((age_ns >= 0 && age_ns < DAY_NS) ||
	    file_replace(spool->queue_fd, stamp, "", 0, FILE_VOLATILE, &ignored) < 0)
		return;
	prune(spool, conf, now_wall_ns, &ignored);
}
