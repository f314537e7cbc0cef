/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "conf/base/child.h"
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

/* The worker's descriptors lie above those they become. Both -1: it gets none. */
static int start(char *const argv[], int seat_fd, int ready_fd, char **environment, pid_t *ret_pid)
{
	const int fds[] = { -1, -1, -1, [WORKER_SEAT_FD] = seat_fd, [WORKER_READY_FD] = ready_fd };

	return child_start("/proc/self/exe", argv, environment, fds, seat_fd < 0 ? 3 : WORKER_READY_FD + 1, ret_pid);
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
