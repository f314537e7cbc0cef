/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The queue's other files, read back from a folder in which somebody else has written. The input is a tree of them:
 * "@ log.tsv", "@ tasks/12", "@ failures", "@ served", "@ env/0", "@ reasons/12", "@ foreign.tsv", "@ lane-0".
 */
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "conf/base/scope.h"
#include "fuzz.h"
#include "runner/line/entry.h"
#include "runner/line/line.h"
#include "runner/line/pause.h"
#include "runner/progress.h"
#include "submit/dedupe.h"
#include "submit/foreignlist.h"
#include "submit/history.h"
#include "submit/historysum.h"
#include "submit/spool.h"
#include "submit/spooltasks.h"

static int add_row(const struct history_row *row, void *sums)
{
	return history_sums_add(sums, row);
}

static void read_logs(int queue_fd)
{
	struct history_sums sums = HISTORY_SUMS(true);
	SCOPE_BUF struct buf out = BUF_EMPTY;
	static struct history_row row;

	history_each(queue_fd, add_row, &sums, NULL);
	history_sums_sort(&sums);
	history_sums_free(&sums);
	history_find(queue_fd, UINT64_C(12) << 24, &row, NULL);
	foreign_list(queue_fd, 0, true, &out, NULL);
	foreign_list(queue_fd, 0, false, &out, NULL);
}

static int see(const struct spool_name *name, const char *file, void *context)
{
	struct spool *spool = context;
	SCOPE_JOB struct job job = JOB_EMPTY;
	struct job_facts facts = { 0 };

	if (name->outcome == OUTCOME_NONE && spool_read(spool, SPOOL_PENDING, file, &job, &facts, NULL) == 0)
		HOLDS(facts.submit_dir);
	job_facts_free(&facts);
	return 0;
}

static void read_spool(struct spool *spool)
{
	uint64_t id = UINT64_C(12) << 24;
	SCOPE_TASKS struct tasks tasks = TASKS_NONE;
	struct dedupe dedupe = DEDUPE_NONE;
	char **list = NULL, *block = NULL, reason[256];

	if (tasks_open(spool, id, &tasks, NULL) == 0) {
		tasks_waiting(&tasks);
		tasks_next(&tasks, id);
	}
	if (spool_load_environment(spool, "0", &list, &block, NULL) == 0) {
		for (size_t i = 0; list[i]; i++)
			HOLDS(strlen(list[i]) < SIZE_MAX);
		free(list);
		free(block);
	}
	spool_reason_read(spool, id, reason, sizeof reason);
	if (dedupe_claim(spool, "key", &dedupe, NULL) == 0)
		dedupe_end(&dedupe);
	spool_each(spool, SPOOL_PENDING, see, spool, NULL);
	spool_each(spool, SPOOL_ENDED, see, spool, NULL);
	spool_ordered(spool, id);
}

static void read_line(int queue_fd)
{
	static struct line line;
	static struct pauses pauses;
	static struct entry entry;
	static struct progress progress;
	struct served served;
	char path[128], sentence[128];

	line_init(&line);
	line.queue_fd = line.boot_fd = queue_fd;
	pause_read(&line, &pauses);
	HOLDS(pauses.count >= 0 && pauses.count <= CONF_CLASSES);
	for (int i = 0; i < pauses.count; i++)
		pause_tell(&pauses.list[i], sentence);
	served_read(&line, &served);
	served_of(&served, "web");
	served_free(&served);
	line_id_known(&line, UINT64_C(12) << 24);
	int fd = openat(queue_fd, "lane-0", O_RDONLY | O_CLOEXEC);
	if (fd >= 0) {
		entry_read(fd, &entry, NULL);
		close(fd);
	}
	snprintf(path, sizeof path, "%s/queue/socket", fuzz_folder());
	progress_read(path, &progress);
}

int fuzz_one(const uint8_t *bytes, size_t size)
{
	static struct spool spool;
	int queue_fd = fuzz_fresh("queue");

	fuzz_tree(queue_fd, bytes, size);
	spool_open(&spool, queue_fd);
	read_logs(queue_fd);
	read_spool(&spool);
	read_line(queue_fd);
	spool_close(&spool);
	close(queue_fd);
	return 0;
}
