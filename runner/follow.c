/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "follow.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <poll.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "conf/base/file.h"
#include "conf/base/fmt.h"
#include "conf/base/scope.h"
#include "runner/jobview.h"

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

/* 1 when it is over. */
static int has_ended(struct queue *queue, uint64_t id, struct err *err)
{
	SCOPE_VIEW struct jobview view = { 0 };

	if (jobview_find(queue, id, &view, err) < 0)
		return -1;
	return view.state == VIEW_ENDED || view.state == VIEW_GONE || view.state == VIEW_UNKNOWN;
}

int follow_output(struct queue *queue, uint64_t id, const char *path, bool follow, struct err *err)
{
	SCOPE_FD int notify = follow ? inotify_init1(IN_CLOEXEC | IN_NONBLOCK) : -1;
	int ended_fd = follow ? spool_folder(&queue->spool, SPOOL_ENDED_DIR, err) : -1;
	int running_fd = follow ? spool_folder(&queue->spool, SPOOL_RUNNING_DIR, err) : -1;
	char events[4096], name[64];
	off_t offset = 0;

	for (int i = 0; follow && i < 2; i++) {
		fmt(name, sizeof name, "/proc/self/fd/%d", i ? running_fd : ended_fd);
		inotify_add_watch(notify, name, IN_MOVED_TO | IN_ONLYDIR);
	}
	for (;;) {
		/* Asked before the copy: what was written before the end is copied after it. */
		int ended = follow ? has_ended(queue, id, err) : 1;
		if (ended < 0)
			return -1;
		watch_folder(notify, path);
		struct err why = ERR_NONE;
		if (copy_new(path, &offset, &why) < 0 && (why.errnum != ENOENT || !follow))
			return err_pass(err, &why);
		if (ended)
			return 0;
		struct pollfd change = { .fd = notify, .events = POLLIN };
		/* Without inotify, or a folder that is not there yet, once a second. */
		if (poll(&change, 1, notify < 0 || why.errnum == ENOENT ? 1000 : -1) < 0 && errno != EINTR)
			return err_sys(err, "cannot follow %s", path);
		while (read(notify, events, sizeof events) > 0)
			;
	}
}
