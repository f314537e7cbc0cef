/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "follow.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "conf/base/file.h"
#include "conf/base/fmt.h"
#include "conf/base/scope.h"

/* Copies what is new since `*offset`; a file that was cut short is read from its start again. */
static int copy_new(const char *path, off_t *offset, struct err *err)
{
	char piece[65536];
	SCOPE_FD int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	ssize_t got;

	if (fd < 0)
		return err_sys(err, "cannot open %s", path);
	if (lseek(fd, 0, SEEK_END) < *offset)
		*offset = 0;
	while ((got = pread(fd, piece, sizeof piece, *offset)) != 0) {
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return err_sys(err, "cannot read %s", path);
		if (write_all(STDOUT_FILENO, piece, (size_t)got) < 0)
			return err_sys(err, "cannot write to standard output");
		*offset += got;
	}
	return 0;
}

static void watch_folder(int notify, const char *path)
{
	char copy[PATH_MAX];

	fmt(copy, sizeof copy, "%s", path);
	inotify_add_watch(notify, dirname(copy), IN_MODIFY | IN_CREATE | IN_MOVED_TO | IN_ONLYDIR);
}

struct followed {
	const struct jobview *first; /* its id, name and pattern stay */
	int restart;
	char path[PATH_MAX];
	off_t offset;
};

static int set_path(struct followed *followed, int restart, struct err *err)
{
	const struct jobview *job = followed->first;

	followed->restart = restart;
	return job_output_path(job->pattern, job->id, restart, job->name, followed->path, sizeof followed->path, err);
}

/* What the starts up to `restart` have written. A file that is not there yet leaves errnum ENOENT in `why`. */
static int copy_up_to(struct followed *followed, int restart, struct err *why)
{
	char before[PATH_MAX];

	while (followed->restart < restart) {
		fmt(before, sizeof before, "%s", followed->path);
		if (set_path(followed, followed->restart + 1, why) < 0)
			return -1;
		if (strcmp(before, followed->path) == 0)
			continue;
		/* Its start is over: this is all of it. */
		if (copy_new(before, &followed->offset, why) < 0 && why->errnum != ENOENT)
			return -1;
		followed->offset = 0;
	}
	*why = ERR_NONE;
	return copy_new(followed->path, &followed->offset, why);
}

struct stage {
	int restart; /* the start whose file is the last one there is */
	bool early;  /* that file is not yet emptied as it is to be */
	bool soon;   /* but will be in a moment, which nothing tells */
};

/* 1 when the job is over. */
static int look(struct queue *queue, uint64_t id, struct stage *now, struct err *err)
{
	SCOPE_VIEW struct jobview view = { 0 };

	if (jobview_find(queue, id, &view, err) < 0)
		return -1;
	bool ended = view.state == VIEW_ENDED || view.state == VIEW_GONE || view.state == VIEW_UNKNOWN;
	if (view.output)
		now->restart = view.output_restart;
	now->early = !ended && view.truncate && view.output_restart == 0 && view.pid <= 0;
	now->soon = now->early && view.state != VIEW_PENDING;
	return ended;
}

static int watch_job(struct queue *queue, struct err *err)
{
	static const enum spool_folder folders[] = { SPOOL_ENDED_DIR, SPOOL_RUNNING_DIR };
	SCOPE_FD int notify = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	char name[64];

	for (size_t i = 0; i < sizeof folders / sizeof folders[0]; i++) {
		int folder = spool_folder(&queue->spool, folders[i], err);
		if (folder < 0)
			return -2;
		fmt(name, sizeof name, "/proc/self/fd/%d", folder);
		inotify_add_watch(notify, name, IN_MOVED_TO | IN_ONLYDIR);
	}
	return TAKE_FD(notify);
}

static int wait_for_news(int notify, int timeout_ms, const char *path, struct err *err)
{
	struct pollfd change = { .fd = notify, .events = POLLIN };
	char events[4096];

	if (poll(&change, 1, timeout_ms) < 0 && errno != EINTR)
		return err_sys(err, "cannot follow %s", path);
	while (read(notify, events, sizeof events) > 0)
		;
	return 0;
}

static int follow_on(struct queue *queue, struct followed *followed, int notify, struct err *err)
{
	struct stage now = { .restart = followed->restart };

	for (;;) {
		struct err why = ERR_NONE;
		int before = followed->restart;
		/* Asked before the copy: what was written before the end is copied after it. */
		int ended = look(queue, followed->first->id, &now, err);
		if (ended < 0)
			return -1;
		watch_folder(notify, followed->path);
		if (!now.early && copy_up_to(followed, now.restart, &why) < 0 && why.errnum != ENOENT)
			return err_pass(err, &why);
		if (ended)
			return 0;
		/* Its file may lie in another folder, which is to be watched first. */
		if (followed->restart != before)
			continue;
		/* Without inotify, or a folder that is not there yet, once a second. */
		bool unwatched = notify < 0 || now.soon || why.errnum == ENOENT;
		if (wait_for_news(notify, unwatched ? 1000 : -1, followed->path, err) < 0)
			return -1;
	}
}

int follow_output(struct queue *queue, const struct jobview *view, bool follow, struct err *err)
{
	SCOPE_FREE struct followed *followed = calloc(1, sizeof *followed);

	if (!followed)
		return err_sys(err, "cannot print %s", view->output);
	followed->first = view;
	if (set_path(followed, view->output_restart, err) < 0)
		return -1;
	if (!follow)
		return copy_new(followed->path, &followed->offset, err);
	SCOPE_FD int notify = watch_job(queue, err);
	return notify == -2 ? -1 : follow_on(queue, followed, notify, err);
}
