/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Cleanup by scope: `SCOPE_FD int fd = open(...);` closes on every way out; TAKE_FD(fd) hands it over.
 * A descriptor that is not open is -1, a pointer that holds nothing is NULL.
 */
#ifndef PGPU_BASE_SCOPE_H
#define PGPU_BASE_SCOPE_H

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

static inline void scope_close(const int *fd)
{
	int saved = errno;

	if (*fd >= 0)
		close(*fd);
	errno = saved;
}

static inline void scope_closedir(DIR **dir)
{
	if (*dir)
		closedir(*dir);
}

static inline void scope_free(void *pointer)
{
	free(*(void **)pointer);
}

#define SCOPE_FD   __attribute__((cleanup(scope_close)))
#define SCOPE_DIR  __attribute__((cleanup(scope_closedir)))
#define SCOPE_FREE __attribute__((cleanup(scope_free)))

static inline int take_fd(int *fd)
{
	int taken = *fd;

	*fd = -1;
	return taken;
}

static inline void *take_pointer(void *pointer)
{
	void *taken = *(void **)pointer;

	*(void **)pointer = NULL;
	return taken;
}

#define TAKE_FD(fd)   take_fd(&(fd))
#define TAKE(pointer) ((__typeof__(pointer))take_pointer(&(pointer)))

#endif
