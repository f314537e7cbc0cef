/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "fmt.h"
#include "scope.h"

int write_all(int fd, const void *bytes, size_t count)
{
	const char *next = bytes;

	while (count > 0) {
		ssize_t wrote = write(fd, next, count);
		if (wrote < 0 && errno == EINTR)
			continue;
		if (wrote < 0)
			return -1;
		next += wrote;
		count -= (size_t)wrote;
	}
	return 0;
}

int write_at(int fd, const void *bytes, size_t count, off_t at)
{
	ssize_t wrote;

	do
		wrote = pwrite(fd, bytes, count, at);
	while (wrote < 0 && errno == EINTR);
	if (wrote >= 0 && (size_t)wrote < count)
		errno = ENOSPC;
	return wrote == (ssize_t)count ? 0 : -1;
}

/* What the kernel gave us at the exec; pgpu never changes it. */
static uid_t own_uid(void)
{
	return (uid_t)getauxval(AT_EUID);
}

static int refuse_stranger(const struct stat *found, const char *name, struct err *err)
{
	if (found->st_uid == own_uid())
		return 0;
	return err_set(err, EXIT_FAILED, "cannot use %s: it belongs to user %u, not to user %u", name, found->st_uid,
		       own_uid());
}

int folder_open_as(int at, const char *name, const char *shown, bool create, struct err *err)
{
	const int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
	SCOPE_FD int fd = openat(at, name, flags);

	if (fd < 0 && errno == ENOENT && create) {
		if (mkdirat(at, name, 0700) < 0 && errno != EEXIST)
			return err_sys(err, "cannot make folder %s", shown);
		fd = openat(at, name, flags);
	}
	if (fd < 0 && (errno == ELOOP || errno == ENOTDIR))
		return err_set(err, EXIT_FAILED, "cannot use %s: it is not a folder (links are not followed)", shown);
	if (fd < 0)
		return err_sys(err, "cannot open folder %s", shown);

	struct stat found;
	if (fstat(fd, &found) < 0)
		return err_sys(err, "cannot look at folder %s", shown);
	if (refuse_stranger(&found, shown, err) < 0)
		return -1;
	if (found.st_mode & (S_IWGRP | S_IWOTH))
		return err_set(err, EXIT_FAILED, "cannot use %s: other users may write to it (chmod go-w)", shown);
	return TAKE_FD(fd);
}

int folder_open(int at, const char *name, bool create, struct err *err)
{
	return folder_open_as(at, name, name, create, err);
}

const char *folder_network(int folder)
{
	/* linux/magic.h, and of those that are not in it the kernel's fs/smb/client and fs/ceph. */
	static const struct {
		uint32_t magic;
		char name[8];
	} networks[] = {
		{ 0x6969, "nfs" },	{ 0xff534d42, "cifs" }, { 0xfe534d42, "smb" }, { 0x517b, "smb" },
		{ 0x01021997, "9p" },	{ 0x5346414f, "afs" },	{ 0x6b414653, "afs" }, { 0x73757245, "coda" },
		{ 0x00c36400, "ceph" }, { 0x65735546, "fuse" },
	};
	struct statfs found;

	if (fstatfs(folder, &found) < 0)
		return NULL;
	for (size_t i = 0; i < sizeof networks / sizeof networks[0]; i++) {
		if ((uint32_t)found.f_type == networks[i].magic)
			return networks[i].name;
	}
	return NULL;
}

/* Parents are made if they are missing; what is there already is the system's business, not ours to check. */
__attribute__((noinline)) static int make_parents(const char *path, struct err *err)
{
	char part[PATH_MAX];

	if (strlen(path) >= sizeof part)
		return err_set(err, EXIT_FAILED, "cannot use folder %.100s…: the path is too long", path);
	for (const char *end = strchr(path + 1, '/'); end; end = strchr(end + 1, '/')) {
		fmt(part, sizeof part, "%.*s", (int)(end - path), path);
		if (mkdir(part, 0700) < 0 && errno != EEXIST)
			return err_sys(err, "cannot make folder %s", part);
	}
	return 0;
}

int folder_open_path(const char *path, struct err *err)
{
	struct err why = ERR_NONE;

	if (path[0] != '/')
		return err_set(err, EXIT_FAILED, "cannot use folder %s: the path is not absolute", path);
	int fd = folder_open(AT_FDCWD, path, false, &why);
	if (fd >= 0)
		return fd;
	if (why.errnum != ENOENT)
		return err_pass(err, &why);
	return make_parents(path, err) < 0 ? -1 : folder_open(AT_FDCWD, path, true, err);
}

/* Not faccessat(2): with AT_SYMLINK_NOFOLLOW it makes credentials of its own each time, and costs twice as much. */
bool file_exists(int at, const char *name)
{
	struct stat found;

	return fstatat(at, name, &found, AT_SYMLINK_NOFOLLOW) == 0;
}

bool file_is_ours(int fd, const char *name, struct err *err)
{
	struct stat found;

	if (fstat(fd, &found) < 0) {
		err_sys(err, "cannot look at %s", name);
		return false;
	}
	if (!S_ISREG(found.st_mode)) {
		err_set(err, EXIT_FAILED, "cannot use %s: it is not a regular file", name);
		return false;
	}
	return refuse_stranger(&found, name, err) == 0;
}

int file_read_fd(int fd, size_t limit, char **ret_text, size_t *ret_size, struct err *err)
{
	struct stat found;

	if (fstat(fd, &found) < 0)
		return err_sys(err, "cannot look at file");
	if ((uint64_t)found.st_size > limit)
		return err_set(err, EXIT_FAILED, "cannot read file: it is larger than %zu bytes", limit);
	size_t room = (size_t)found.st_size + 1, size = 0;
	SCOPE_FREE char *text = malloc(room + 1);
	if (!text)
		return err_sys(err, "cannot read file");
	for (;;) {
		ssize_t got = pread(fd, text + size, room - size, (off_t)size);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return err_sys(err, "cannot read file");
		size += (size_t)got;
		if (got == 0)
			break;
		if (size < room)
			continue;
		if (size > limit)
			return err_set(err, EXIT_FAILED, "cannot read file: it is larger than %zu bytes", limit);
		char *more = realloc(text, room * 2 + 1);
		if (!more)
			return err_sys(err, "cannot read file");
		text = more;
		room *= 2;
	}
	text[size] = '\0';
	*ret_text = TAKE(text);
	if (ret_size)
		*ret_size = size;
	return 0;
}

int file_read(int at, const char *name, size_t limit, char **ret_text, size_t *ret_size, struct err *err)
{
	SCOPE_FD int fd = openat(at, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);

	if (fd < 0)
		return err_sys(err, "cannot open %s", name);
	if (!file_is_ours(fd, name, err))
		return -1;
	if (file_read_fd(fd, limit, ret_text, ret_size, err) < 0)
		return err_wrap(err, "%s", name);
	return 0;
}

ssize_t file_read_small(int at, const char *name, char *text, size_t size)
{
	SCOPE_FD int fd = openat(at, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return -1;
	ssize_t got;
	do
		got = read(fd, text, size - 1);
	while (got < 0 && errno == EINTR);
	if (got >= 0)
		text[got] = '\0';
	return got;
}

ssize_t file_read_pieces(int at, const char *name, char *text, size_t size)
{
	SCOPE_FD int fd = openat(at, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	size_t used = 0;
	ssize_t got = 1;

	if (fd < 0)
		return -1;
	while (got != 0 && used < size - 1) {
		got = read(fd, text + used, size - 1 - used);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -1;
		used += (size_t)got;
	}
	text[used] = '\0';
	return (ssize_t)used;
}

int file_rename(int from, const char *name, int to, const char *renamed, unsigned flags)
{
	return (int)syscall(SYS_renameat2, from, name, to, renamed, flags);
}

static int fill(int at, const char *name, const void *bytes, size_t count, enum file_sync sync, struct err *err)
{
	SCOPE_FD int fd = openat(at, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);

	if (fd < 0)
		return err_sys(err, "cannot make %s", name);
	if (write_all(fd, bytes, count) < 0 || (sync == FILE_DURABLE && fsync(fd) < 0) || close(TAKE_FD(fd)) < 0)
		return err_sys(err, "cannot write %s", name);
	return 0;
}

int file_replace(int at, const char *name, const void *bytes, size_t count, enum file_sync sync, struct err *err)
{
	char temporary[NAME_MAX];

	/* The pid keeps two writers apart; what a killed one left is overwritten by a later one of the same pid. */
	if (fmt(temporary, sizeof temporary, ".%.200s.%d", name, getpid()) >= (int)sizeof temporary)
		return err_set(err, EXIT_FAILED, "cannot write %s: the name is too long", name);
	int filled = fill(at, temporary, bytes, count, sync, err);
	if (filled < 0 && err->errnum == EEXIST && unlinkat(at, temporary, 0) == 0)
		filled = fill(at, temporary, bytes, count, sync, err);
	if (filled < 0) {
		unlinkat(at, temporary, 0);
		return -1;
	}
	if (file_rename(at, temporary, at, name, 0) < 0) {
		err_sys(err, "cannot rename %s to %s", temporary, name);
		unlinkat(at, temporary, 0);
		return -1;
	}
	if (sync == FILE_DURABLE && fsync(at) < 0)
		return err_sys(err, "cannot sync the folder of %s", name);
	return 0;
}
