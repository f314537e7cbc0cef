/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "launch.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <stdio.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/capability.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "conf/base/scope.h"

/* What went wrong in the child: which step, and errno. */
struct failure {
	int step;
	int errnum;
};

enum step { STEP_CWD, STEP_FILES, STEP_SESSION, STEP_EXEC };

static void fail(int report, enum step step)
{
	struct failure failure = { .step = step, .errnum = errno };

	if (write(report, &failure, sizeof failure) < 0)
		_exit(EXIT_BROKEN);
	_exit(EXIT_NO_START);
}

/* 0, 1, 2 in place; a source that is itself one of them was moved up before. */
static void place_files(const struct launch *launch, int report)
{
	for (int fd = 0; fd < 3; fd++) {
		if (launch->fds[fd] >= 0 && dup2(launch->fds[fd], fd) < 0)
			fail(report, STEP_FILES);
	}
}

static void child(const struct launch *launch, char *path, char **by_shell, int report)
{
	for (const int *fd = launch->close_first; fd && *fd >= 0; fd++)
		close(*fd);
	place_files(launch, report);
	if (launch->only_three) {
		if (report != 3 && dup3(report, 3, O_CLOEXEC) < 0)
			fail(report, STEP_FILES);
		report = 3;
		syscall(SYS_close_range, 4U, ~0U, 0U);
	}
	if (launch->own_session && setsid() < 0)
		fail(report, STEP_SESSION);
	if (launch->own_group && setpgid(0, 0) < 0)
		fail(report, STEP_SESSION);
	if (launch->workdir && chdir(launch->workdir) < 0)
		fail(report, STEP_CWD);
	if (launch->umask != (mode_t)-1)
		umask(launch->umask);
	sigaction(SIGCHLD, &launch->on_child, NULL);
	sigprocmask(SIG_SETMASK, &launch->mask, NULL);
	execve(path, launch->argv, launch->environment);
	if (errno == ENOEXEC) {
		by_shell[0] = "/bin/sh";
		by_shell[1] = path;
		execve("/bin/sh", by_shell, launch->environment);
		errno = ENOEXEC;
	}
	fail(report, STEP_EXEC);
}

static const char *find_variable(char *const *environment, const char *name)
{
	size_t length = strlen(name);

	for (; *environment; environment++) {
		if (strncmp(*environment, name, length) == 0 && (*environment)[length] == '=')
			return *environment + length + 1;
	}
	return NULL;
}

/* execvpe(3)'s search, done before the clone: the first executable file of the job's own PATH. */
static int find_command(const struct launch *launch, char path[PATH_MAX], struct err *err)
{
	const char *name = launch->argv[0], *folders = find_variable(launch->environment, "PATH");
	int why = ENOENT;

	if (strchr(name, '/') || name[0] == '\0') {
		if (snprintf(path, PATH_MAX, "%s", name) >= PATH_MAX)
			why = ENAMETOOLONG;
		else if (name[0])
			return 0;
		folders = "";
	} else if (!folders) {
		folders = "/usr/local/bin:/usr/bin:/bin";
	}
	while (*folders && !strchr(name, '/')) {
		size_t length = strcspn(folders, ":");
		struct stat found;
		int used = snprintf(path, PATH_MAX, "%.*s%s%s", (int)length, folders, length ? "/" : "./", name);
		if (used < PATH_MAX && stat(path, &found) == 0 && S_ISREG(found.st_mode)) {
			if (access(path, X_OK) == 0)
				return 0;
			why = EACCES;
		}
		folders += length + (folders[length] == ':');
	}
	errno = why;
	err_sys(err, "cannot start %s", name);
	err->code = EXIT_NO_START;
	return -1;
}

/* A file capability on pgpu's binary makes the kernel set AT_SECURE (getauxval(3)); what it gave is given back for good. */
static int drop_gained(struct err *err)
{
	if (!getauxval(AT_SECURE))
		return 0;
	cap_t none = cap_init();
	int result = none ? cap_set_proc(none) : -1;
	if (none)
		cap_free(none);
	if (result < 0 || prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) < 0) {
		err_sys(err, "cannot give back the capabilities of pgpu's file");
		err->code = EXIT_BROKEN;
		return -1;
	}
	return 0;
}

/* Room for "/bin/sh PATH ARG...", filled by the child if it needs it. */
static char **shell_argv(char *const *argv)
{
	size_t count = 0;

	while (argv[count])
		count++;
	char **copy = calloc(count + 3, sizeof *copy);
	for (size_t i = 1; copy && i < count; i++)
		copy[i + 1] = argv[i];
	return copy;
}

static pid_t clone_child(const struct launch *launch, int *pidfd)
{
	struct clone_args args = {
		.flags = CLONE_VFORK | CLONE_PIDFD,
		.pidfd = (uintptr_t)pidfd,
		.exit_signal = SIGCHLD,
	};

	if (launch->cell_fd >= 0) {
		args.flags |= CLONE_INTO_CGROUP;
		args.cgroup = (uint64_t)launch->cell_fd;
	}
	return (pid_t)syscall(SYS_clone3, &args, sizeof args);
}

static int explain(const struct launch *launch, const struct failure *failure, struct err *err)
{
	errno = failure->errnum;
	if (failure->step == STEP_CWD)
		err_sys(err, "cannot enter folder %s", launch->workdir);
	else
		err_sys(err, "cannot start %s", launch->argv[0]);
	err->code = failure->step == STEP_EXEC || failure->step == STEP_CWD ? EXIT_NO_START : EXIT_BROKEN;
	return -1;
}

int launch(const struct launch *launch, struct launched *ret_launched, struct err *err)
{
	char path[PATH_MAX];
	int ends[2], pidfd = -1;
	struct failure failure;

	if (find_command(launch, path, err) < 0 || drop_gained(err) < 0)
		return -1;
	SCOPE_FREE char **by_shell = shell_argv(launch->argv);
	if (!by_shell || pipe2(ends, O_CLOEXEC) < 0) {
		err_sys(err, "cannot start %s", launch->argv[0]);
		err->code = EXIT_BROKEN;
		return -1;
	}
	SCOPE_FD int from_child = ends[0];
	SCOPE_FD int report = fcntl(ends[1], F_DUPFD_CLOEXEC, 3);
	close(ends[1]);
	pid_t pid = report < 0 ? -1 : clone_child(launch, &pidfd);
	if (pid == 0)
		child(launch, path, by_shell, report);
	if (pid < 0) {
		err_sys(err, "cannot start %s", launch->argv[0]);
		err->code = EXIT_BROKEN;
		return -1;
	}
	close(TAKE_FD(report));
	if (read(from_child, &failure, sizeof failure) == (ssize_t)sizeof failure) {
		waitpid(pid, NULL, 0);
		close(pidfd);
		return explain(launch, &failure, err);
	}
	*ret_launched = (struct launched){ .pid = pid, .pidfd = pidfd };
	return 0;
}
