/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "conf/base/fmt.h"
#include "conf/base/scope.h"

static bool passes(const char *assignment)
{
	static const char *const exact[] = { "HOME=", "PATH=", "TZ=", "LANG=" };
	static const char *const begins[] = { "LC_", "XDG_", "PGPU_" };

	for (size_t i = 0; i < sizeof exact / sizeof exact[0]; i++) {
		if (strncmp(assignment, exact[i], strlen(exact[i])) == 0)
			return true;
	}
	for (size_t i = 0; i < sizeof begins / sizeof begins[0]; i++) {
		if (strncmp(assignment, begins[i], strlen(begins[i])) == 0)
			return true;
	}
	return false;
}

static char **worker_environment(void)
{
	size_t count = 0, kept = 0;

	while (environ[count])
		count++;
	char **kept_list = malloc((count + 1) * sizeof *kept_list);
	if (!kept_list)
		return NULL;
	for (size_t i = 0; i < count; i++) {
		if (passes(environ[i]))
			kept_list[kept++] = environ[i];
	}
	kept_list[kept] = NULL;
	return kept_list;
}

static int null_files(posix_spawn_file_actions_t *files)
{
	for (int fd = 0; fd <= 2; fd++) {
		if (posix_spawn_file_actions_addopen(files, fd, "/dev/null", fd ? O_WRONLY : O_RDONLY, 0) != 0)
			return -1;
	}
	return 0;
}

/* The worker's descriptors; `seat_fd` and `ready_fd` lie above those they become. Both -1: it gets none. */
static int describe_files(posix_spawn_file_actions_t *files, int seat_fd, int ready_fd)
{
	int above = seat_fd < 0 ? STDERR_FILENO + 1 : WORKER_READY_FD + 1;

	if (null_files(files) < 0)
		return -1;
	if (seat_fd >= 0 && (posix_spawn_file_actions_adddup2(files, seat_fd, WORKER_SEAT_FD) != 0 ||
			     posix_spawn_file_actions_adddup2(files, ready_fd, WORKER_READY_FD) != 0))
		return -1;
	return posix_spawn_file_actions_addclosefrom_np(files, above) == 0 ? 0 : -1;
}

static int start(char *const argv[], int seat_fd, int ready_fd, char **environment, pid_t *ret_pid)
{
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attributes;
	sigset_t all, none;

	sigfillset(&all);
	sigemptyset(&none);
	posix_spawn_file_actions_init(&files);
	posix_spawnattr_init(&attributes);
	posix_spawnattr_setsigdefault(&attributes, &all);
	posix_spawnattr_setsigmask(&attributes, &none);
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSID);
	int result = describe_files(&files, seat_fd, ready_fd);
	if (result == 0)
		result = posix_spawn(ret_pid, "/proc/self/exe", &files, &attributes, argv, environment);
	posix_spawn_file_actions_destroy(&files);
	posix_spawnattr_destroy(&attributes);
	return result;
}

int spawn_plain(char *const argv[], pid_t *ret_pid, struct err *err)
{
	SCOPE_FREE char **environment = worker_environment();
	int failed = environment ? start(argv, -1, -1, environment, ret_pid) : ENOMEM;

	return failed ? err_set(err, EXIT_FAILED, "cannot start pgpu %s: %s", argv[1], strerror(failed)) : 0;
}

int spawn_worker(const struct seat *seat, pid_t *ret_pid, struct err *err)
{
	char number[16], gen[32];
	char *argv[] = { "pgpu", "worker", number, gen, NULL };
	int ends[2];

	if (pipe2(ends, O_CLOEXEC) < 0)
		return err_sys(err, "cannot start a worker");
	SCOPE_FD int ready = ends[0];
	SCOPE_FD int far_end = fcntl(ends[1], F_DUPFD_CLOEXEC, 10);
	SCOPE_FD int seat_fd = fcntl(seat->fd, F_DUPFD_CLOEXEC, 10);
	close(ends[1]);
	SCOPE_FREE char **environment = worker_environment();
	if (far_end < 0 || seat_fd < 0 || !environment)
		return err_sys(err, "cannot start a worker");
	fmt(number, sizeof number, "%d", seat->number);
	fmt(gen, sizeof gen, "%llu", (unsigned long long)seat->gen);
	int failed = start(argv, seat_fd, far_end, environment, ret_pid);
	if (failed)
		return err_set(err, EXIT_FAILED, "cannot start a worker: %s", strerror(failed));
	return TAKE_FD(ready);
}
