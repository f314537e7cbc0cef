/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "dedupe.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "conf/base/clock.h"
#include "conf/base/file.h"
#include "conf/base/fmt.h"
#include "conf/base/names.h"
#include "conf/base/scope.h"
#include "conf/idlist.h"
#include "conf/jobid.h"

#define REST_NS (2 * 86400 * NS_PER_S)

enum { FILE_NAME = 3 * JOB_DEDUPE_MAX + 1 };

/* The key itself where it can be a file's name; other bytes, and a leading '.', as %XX. */
static void file_name(const char *key, char name[FILE_NAME])
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.";
	size_t used = 0;

	for (const char *p = key; *p && used + 4 <= FILE_NAME; p++) {
		if (strchr(plain, *p) && !(p == key && *p == '.'))
			name[used++] = *p;
		else
			used += (size_t)fmt(name + used, FILE_NAME - used, "%%%02x", (unsigned char)*p);
	}
	name[used] = '\0';
}

static int lock(int fd, bool wait)
{
	int result;

	do {
		result = flock(fd, LOCK_EX | (wait ? 0 : LOCK_NB));
	} while (result < 0 && errno == EINTR);
	return result;
}

/* What is locked may have been removed while we waited for it. */
static bool is_still(int folder, const char *name, int fd)
{
	struct stat opened, named;

	return fstat(fd, &opened) == 0 && fstatat(folder, name, &named, AT_SYMLINK_NOFOLLOW) == 0 &&
	       opened.st_ino == named.st_ino && opened.st_dev == named.st_dev;
}

static int open_locked(int folder, const char *name, const char *key, struct err *err)
{
	for (;;) {
		SCOPE_FD int fd = openat(folder, name, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
		if (fd < 0)
			return err_sys(err, "cannot take the key '%.80s'", key);
		if (!file_is_ours(fd, name, err))
			return -1;
		if (lock(fd, true) < 0)
			return err_sys(err, "cannot take the key '%.80s'", key);
		if (is_still(folder, name, fd))
			return TAKE_FD(fd);
	}
}

static uint64_t read_id(int fd)
{
	char text[64];
	const char *end;
	ssize_t got = pread(fd, text, sizeof text - 1, 0);

	text[got > 0 ? got : 0] = '\0';
	uint64_t id = jobid_read(text, &end);
	return *end == '\n' ? id : 0;
}

/* A task keeps the key of its array. */
static int match(const struct spool_name *name, const char *file, void *context)
{
	const uint64_t *id = context;

	(void)file;
	return jobid_array(name->id) == *id;
}

/* A job moves forward while we look, or back once in its life: two rounds meet it. */
static int is_live(struct spool *spool, uint64_t id, struct err *err)
{
	int found = 0;

	for (int round = 0; found == 0 && round < 2; round++) {
		found = spool_each(spool, SPOOL_PENDING, match, &id, err);
		if (found == 0)
			found = spool_each(spool, SPOOL_RUNNING, match, &id, err);
	}
	return found;
}

int dedupe_claim(struct spool *spool, const char *key, struct dedupe *ret_dedupe, struct err *err)
{
	char name[FILE_NAME];
	int folder = spool_folder(spool, SPOOL_DEDUPE_DIR, err);

	if (folder < 0)
		return -1;
	file_name(key, name);
	SCOPE_FD int fd = open_locked(folder, name, key, err);
	if (fd < 0)
		return -1;
	uint64_t id = read_id(fd);
	int live = id ? is_live(spool, id, err) : 0;
	if (live < 0)
		return -1;
	*ret_dedupe = (struct dedupe){ .fd = live ? -1 : TAKE_FD(fd), .holder = live ? id : 0 };
	return 0;
}

int dedupe_write(struct spool *spool, const struct dedupe *dedupe, uint64_t id, struct err *err)
{
	char text[40];
	int length = fmt(text, sizeof text, "%s\n", JOBID(id));
	int folder = spool_folder(spool, SPOOL_DEDUPE_DIR, err);

	if (folder < 0)
		return -1;
	/* The number ends with its newline, so what is left of a longer one behind it means nothing. */
	if (write_at(dedupe->fd, text, (size_t)length, 0) < 0 || ftruncate(dedupe->fd, length) < 0 ||
	    fsync(dedupe->fd) < 0 || fsync(folder) < 0)
		return err_sys(err, "cannot write the key of the job");
	return 0;
}

void dedupe_end(struct dedupe *dedupe)
{
	scope_close(&dedupe->fd);
	dedupe->fd = -1;
}

struct gathering {
	struct idlist ids;
	struct err *err;
};

static int add_live(const struct spool_name *name, const char *file, void *context)
{
	struct gathering *live = context;

	(void)file;
	return idlist_add(&live->ids, jobid_array(name->id)) < 0 ? err_sys(live->err, "cannot look at the keys of jobs")
								 : 0;
}

/* Looked at once more under its lock: the id of a file that young is not in the list yet. */
static void remove_if_over(int folder, const char *name, const struct idlist *live, int64_t now_wall_ns)
{
	SCOPE_FD int fd = openat(folder, name, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	struct stat found;

	if (fd < 0 || lock(fd, false) < 0 || fstat(fd, &found) < 0 || !is_still(folder, name, fd) ||
	    found.st_mtim.tv_sec * NS_PER_S >= now_wall_ns - REST_NS)
		return;
	uint64_t id = read_id(fd);
	if (id == 0 || idlist_count(live, id) == 0)
		unlinkat(folder, name, 0);
}

int dedupe_prune(struct spool *spool, int64_t now_wall_ns, struct err *err)
{
	int folder = spool_folder(spool, SPOOL_DEDUPE_DIR, err);
	SCOPE_NAMES struct names names = NAMES_NONE;
	struct gathering live = { .err = err };

	if (folder < 0 || names_open(&names, folder) < 0)
		return err_sys(err, "cannot read dedupe");
	int result = spool_each(spool, SPOOL_PENDING, add_live, &live, err);
	if (result == 0)
		result = spool_each(spool, SPOOL_RUNNING, add_live, &live, err);
	idlist_sort(&live.ids);
	for (const struct dirent64 *found; result == 0 && (found = names_next(&names));) {
		if (found->d_name[0] != '.')
			remove_if_over(folder, found->d_name, &live.ids, now_wall_ns);
	}
	idlist_free(&live.ids);
	return result;
}
