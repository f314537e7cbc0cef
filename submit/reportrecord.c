/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "report.h"

#include "conf/base/scope.h"

/* The last entry of each id, by id: what a record says is of that one. */
struct index {
	struct report_job **list;
	size_t count;
	struct spool *spool;
	struct err *err;
};

static int compare(const void *left, const void *right)
{
	const struct report_job *a = *(struct report_job *const *)left, *b = *(struct report_job *const *)right;

	if (a->id != b->id)
		return a->id < b->id ? -1 : 1;
	return a < b ? -1 : a > b;
}

static void keep_last(struct index *index)
{
	size_t kept = 0;

	for (size_t i = 0; i < index->count; i++) {
		if (i + 1 == index->count || index->list[i + 1]->id != index->list[i]->id)
			index->list[kept++] = index->list[i];
	}
	index->count = kept;
}

static struct report_job *find(const struct index *index, uint64_t id)
{
	size_t low = 0, high = index->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (index->list[middle]->id < id)
			low = middle + 1;
		else
			high = middle;
	}
	return low < index->count && index->list[low]->id == id ? index->list[low] : NULL;
}

static int copy(const char *text, char **ret)
{
	if (text && *text)
		*ret = strdup(text);
	return text && *text && !*ret ? -1 : 0;
}

/* A pattern that gives no path is as good as none. */
static int expand(const char *pattern, const struct spool_name *name, const char *job_name, char **ret_path)
{
	char path[PATH_MAX];
	struct err ignored = ERR_NONE;

	if (!pattern || job_output_path(pattern, name->id, name->restarts, job_name, path, sizeof path, &ignored) < 0)
		return 0;
	return copy(path, ret_path);
}

static int add_record(const struct spool_name *name, const char *file, void *context)
{
	const struct index *index = context;
	struct report_job *found = find(index, name->id);
	SCOPE_JOB struct job job = JOB_EMPTY;
	struct job_facts facts = { 0 };
	struct err ignored = ERR_NONE;
	char reason[1024];

	/* Of another end of the job than this one. */
	if (!found || !found->spooled || found->outcome != name->outcome || found->exit_code != name->code ||
	    spool_read(index->spool, SPOOL_ENDED, file, &job, &facts, &ignored) < 0)
		return 0;
	job_facts_free(&facts);
	spool_reason_read(index->spool, name->id, reason, sizeof reason);
	reason[strcspn(reason, "\n")] = '\0';
	found->memory_bytes = job.memory_bytes > 0 && job.memory_bytes <= INT64_MAX ? (int64_t)job.memory_bytes : -1;
	if (copy(reason, &found->reason) < 0 || expand(job.output, name, job.name, &found->output) < 0 ||
	    expand(job.error, name, job.name, &found->error) < 0)
		return err_set(index->err, EXIT_FAILED, "cannot read the records: out of memory");
	if (found->output && found->error && strcmp(found->output, found->error) == 0) {
		free(found->error);
		found->error = NULL;
	}
	return 0;
}

int report_records(struct report *report, struct spool *spool, struct err *err)
{
	size_t count = report->jobs.count;
	SCOPE_FREE struct report_job **list = count ? calloc(count, sizeof(struct report_job *)) : NULL;
	struct index index = { list, count, spool, err };

	if (count == 0)
		return 0;
	if (!list)
		return err_set(err, EXIT_FAILED, "cannot read the records: out of memory");
	for (size_t i = 0; i < count; i++)
		list[i] = &report->jobs.list[i];
	qsort(list, count, sizeof(struct report_job *), compare);
	keep_last(&index);
	return spool_each(spool, SPOOL_ENDED, add_record, &index, err);
}
