/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "scope.h"

static int describe_files(posix_spawn_file_actions_t *files, const int *fds, int count)
{
	int failed = 0;

	for (int fd = 0; fd < count && !failed; fd++)
		failed = fds[fd] < 0 ? posix_spawn_file_actions_addopen(files, fd, "/dev/null", O_RDWR, 0)
				     : posix_spawn_file_actions_adddup2(files, fds[fd], fd);
	return failed ? failed : posix_spawn_file_actions_addclosefrom_np(files, count);
}

int child_start(const char *path, char *const argv[], char *const environment[], const int *fds, int count,
		pid_t *ret_pid)
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
	int failed = describe_files(&files, fds, count);
	if (!failed && strchr(path, '/'))
		failed = posix_spawn(ret_pid, path, &files, &attributes, argv, environment);
	else if (!failed)
		failed = posix_spawnp(ret_pid, path, &files, &attributes, argv, environment);
	posix_spawn_file_actions_destroy(&files);
	posix_spawnattr_destroy(&attributes);
	return failed;
}

static int reap(pid_t pid, int timeout_ms)
{
	SCOPE_FD int pidfd = pidfd_open(pid, 0);
	struct pollfd end = { .fd = pidfd, .events = POLLIN };
	int status = -1;

	if (pidfd >= 0 && poll(&end, 1, timeout_ms) != 1)
		pidfd_send_signal(pidfd, SIGKILL, NULL, 0);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return status;
}

/* Where SIGCHLD is ignored, as our caller may have left it, the kernel keeps no status for us. */
static void heed_children(struct sigaction *ret_before)
{
	const struct sigaction plain = { .sa_handler = SIG_DFL };

	sigaction(SIGCHLD, &plain, ret_before);
}

int child_ask(char *const argv[], char *const environment[], int timeout_ms, char *answer, size_t size)
{
	struct sigaction before;
	int ends[2], status = -1;
	pid_t pid;

	answer[0] = '\0';
	if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) < 0)
		return -1;
	SCOPE_FD int near = ends[0];
	SCOPE_FD int far = fcntl(ends[1], F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	close(ends[1]);
	heed_children(&before);
	if (far >= 0 && child_start(argv[0], argv, environment, (int[]){ -1, far, far }, 3, &pid) == 0)
		status = reap(pid, timeout_ms);
	sigaction(SIGCHLD, &before, NULL);
	ssize_t got = read(near, answer, size - 1);
	answer[got < 0 ? 0 : got] = '\0';
	return status;
}
