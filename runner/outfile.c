/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "outfile.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "conf/base/fmt.h"
#include "conf/base/scope.h"

/* `name` in `folder`, made where it is missing. What we made ourselves is no link, so one that is there then is
 * somebody's trick. */
static int enter(int folder, const char *name)
{
	const int flags = O_PATH | O_DIRECTORY | O_CLOEXEC;
	int fd = openat(folder, name, flags);

	if (fd >= 0 || errno != ENOENT)
		return fd;
	if (mkdirat(folder, name, 0777) < 0 && errno != EEXIST)
		return -1;
	return openat(folder, name, flags | O_NOFOLLOW);
}

/* The folder that the file is in. */
static int open_folder(const char *path, struct err *err)
{
	SCOPE_FD int folder = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	const char *part = path, *end;
	char name[NAME_MAX + 1];

	for (; folder >= 0 && (end = strchr(part, '/')); part = end + 1) {
		if (end == part)
			continue;
		errno = ENAMETOOLONG;
		bool fits = fmt(name, sizeof name, "%.*s", (int)(end - part), part) < (int)sizeof name;
		int next = fits ? enter(folder, name) : -1;
		scope_close(&folder);
		folder = next;
		if (folder < 0)
			return err_sys(err, "cannot make folder %.*s", (int)(end - path), path);
	}
	return folder < 0 ? err_sys(err, "cannot open folder /") : TAKE_FD(folder);
}

/*
 * In a folder like /tmp anybody can put a file, or a FIFO, where a job's output is to go, and read it there. The rule
 * is that of fs.protected_regular (proc_sys_fs(5)), which covers only an open that may make the file.
 */
static bool is_planted(int folder, int fd)
{
	struct stat parent, found;

	if (fstat(fd, &found) < 0 || found.st_uid == geteuid() || (!S_ISREG(found.st_mode) && !S_ISFIFO(found.st_mode)))
		return false;
	return fstat(folder, &parent) < 0 ||
	       (parent.st_mode & S_ISVTX && parent.st_mode & (S_IWGRP | S_IWOTH) && found.st_uid != parent.st_uid);
}

static int open_file(int folder, const char *name)
{
	const int flags = O_WRONLY | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY | O_NONBLOCK;

	for (int tries = 0; tries < 10; tries++) {
		SCOPE_FD int fd = openat(folder, name, flags);
		if (fd < 0 && errno == ENOENT)
			fd = openat(folder, name, flags | O_CREAT | O_EXCL, 0666);
		/* A FIFO that nobody reads, put there by anybody, must not hold a worker and its lane; the job itself
		 * may block. */
		if (fd >= 0 && fcntl(fd, F_SETFL, O_APPEND) == 0)
			return TAKE_FD(fd);
		if (errno != EEXIST)
			break;
	}
	return -1;
}

int outfile_open(const char *path, bool empty, struct err *err)
{
	struct stat found;
	SCOPE_FD int folder = open_folder(path, err);

	if (folder < 0)
		return -1;
	SCOPE_FD int fd = open_file(folder, strrchr(path, '/') + 1);
	if (fd < 0)
		return err_sys(err, "cannot open output %s", path);
	if (is_planted(folder, fd))
		return err_set(err, EXIT_FAILED,
			       "cannot open output %s: another user put it into a folder that all may write to", path);
	/* A device or a FIFO has nothing to lose. */
	if (empty && (fstat(fd, &found) < 0 || (S_ISREG(found.st_mode) && ftruncate(fd, 0) < 0)))
		return err_sys(err, "cannot empty output %s", path);
	return TAKE_FD(fd);
}
