/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Files and folders that only their owner may be trusted with. Everything is opened relative to a folder that was
 * checked before, with O_NOFOLLOW and O_CLOEXEC, and checked on its descriptor (type, owner) before it is used; a FIFO
 * never blocks. Reasons of refusal are in the error's text.
 */
#ifndef PGPU_BASE_FILE_H
#define PGPU_BASE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "err.h"

/* Writes all bytes, going on after EINTR and short writes; -1 with errno. */
int write_all(int fd, const void *bytes, size_t count);
/* Writes them there, in one write; -1 with errno, ENOSPC where only some of them found room. */
int write_at(int fd, const void *bytes, size_t count, off_t at);

/*
 * Opens folder `name` below `at` (or AT_FDCWD) and checks that it is a folder, no link, ours, and writable by nobody
 * else. With `create` a
 * missing one is made with mode 0700 (only the last part of the path). Returns the descriptor.
 */
int folder_open(int at, const char *name, bool create, struct err *err);
/* The same; errors call it `shown`. */
int folder_open_as(int at, const char *name, const char *shown, bool create, struct err *err);
/* The network file system that the folder is on (statfs(2)); NULL: none, or that cannot be told. */
const char *folder_network(int folder);
/* Makes `path` and every missing parent (0700), then folder_open(). Absolute paths only. */
int folder_open_path(const char *path, struct err *err);

/* True when there is something of that name, a link included. */
bool file_exists(int at, const char *name);

/* True when what `fd` is open on is a regular file of this user; else -1 semantics: false and the error filled. */
bool file_is_ours(int fd, const char *name, struct err *err);

/*
 * Reads a whole regular file of this user, at most `limit` bytes (larger: refused). `*ret_text` is malloc'd and
 * NUL-ended; `ret_size` may be NULL. A missing file is an error with errnum ENOENT.
 */
int file_read(int at, const char *name, size_t limit, char **ret_text, size_t *ret_size, struct err *err);
/* The same from a descriptor that was already checked, from offset 0, without changing its position. */
int file_read_fd(int fd, size_t limit, char **ret_text, size_t *ret_size, struct err *err);
/* Reads at most `size` - 1 bytes of a small file of the kernel (/proc, /sys) into `text`; returns the count or -1
 * (errno). */
ssize_t file_read_small(int at, const char *name, char *text, size_t size);

/* The same for a file of the kernel that comes in pieces of a page (/proc/locks, mountinfo): reads to its end. */
ssize_t file_read_pieces(int at, const char *name, char *text, size_t size);

/* renameat2(2), as a plain call: libc's lies in a part of its text that a submit touches for nothing else. */
int file_rename(int from, const char *name, int to, const char *renamed, unsigned flags);

enum file_sync { FILE_VOLATILE, FILE_DURABLE };
/*
 * Puts `bytes` at `name` in one step: a reader sees the old whole or the new whole. FILE_DURABLE: both file and folder
 * are synced before it returns. On failure the old file stands and nothing else is left.
 */
int file_replace(int at, const char *name, const void *bytes, size_t count, enum file_sync sync, struct err *err);

#endif
