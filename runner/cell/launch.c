/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "launch.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/sched.h>
#include <sched.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "caps.h"
#include "cell.h"
#include "conf/base/filelimit.h"
#include "conf/base/fmt.h"
#include "conf/base/scope.h"

enum step { STEP_NONE, STEP_CELL, STEP_CWD, STEP_FILES, STEP_SESSION, STEP_CAPS, STEP_EXEC };

/* The child writes here what went wrong: it shares our memory until its exec, and we do not run meanwhile. */
struct birth {
	const struct launch *launch;
	char *path;
	char **by_shell;
	struct caps_plan caps;
	bool enters; /* the kernel has not put us into the cell */
	pid_t parent;
	volatile enum step step;
	volatile int errnum;
};

static void fail(struct birth *birth, enum step step)
{
	birth->errnum = errno;
	birth->step = step;
	_exit(EXIT_NO_START);
}

/* 0, 1, 2 in place; a source that is itself one of them was moved up before. */
static void place_files(struct birth *birth)
{
	for (int fd = 0; fd < 3; fd++) {
		if (birth->launch->fds[fd] >= 0 && dup2(birth->launch->fds[fd], fd) < 0)
			fail(birth, STEP_FILES);
	}
}

/* As far as the hard ones, which are the worker's, allow. */
static void set_limits(const uint64_t *soft)
{
	struct rlimit limit;

	for (int i = 0; i < RLIM_NLIMITS; i++) {
		if (getrlimit(i, &limit) < 0)
			continue;
		rlim_t wanted = soft[i] == UINT64_MAX ? RLIM_INFINITY : soft[i];
		if (wanted > limit.rlim_max)
			wanted = limit.rlim_max;
		if (wanted == limit.rlim_cur)
			continue;
		limit.rlim_cur = wanted;
		setrlimit(i, &limit);
	}
}

/* While we have its locks still: whoever finds those free, and the parent gone, finds us killed. A parent that died
 * before has another in its place. */
static void die_with_parent(const struct birth *birth)
{
	if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) < 0 || getppid() != birth->parent)
		_exit(EXIT_NO_START);
}

static void child(void *context)
{
	struct birth *birth = context;
	const struct launch *launch = birth->launch;

	if (launch->dies_with_us)
		die_with_parent(birth);
	for (const int *fd = launch->close_first; fd && *fd >= 0; fd++)
		close(*fd);
	if (birth->enters && !cell_enter(launch->cell_fd))
		fail(birth, STEP_CELL);
	place_files(birth);
	if (launch->only_three)
		syscall(SYS_close_range, 3U, ~0U, 0U);
	if (launch->own_session && setsid() < 0)
		fail(birth, STEP_SESSION);
	if (launch->own_group && setpgid(0, 0) < 0)
		fail(birth, STEP_SESSION);
	if (launch->workdir && chdir(launch->workdir) < 0)
		fail(birth, STEP_CWD);
	if (launch->umask != (mode_t)-1)
		umask(launch->umask);
	if (launch->limits)
		set_limits(launch->limits);
	sigaction(SIGCHLD, &launch->on_child, NULL);
	filelimit_give_back();
	sigprocmask(SIG_SETMASK, &launch->mask, NULL);
	if (caps_apply(&birth->caps) < 0)
		fail(birth, STEP_CAPS);
	execve(birth->path, launch->argv, launch->environment);
	if (errno == ENOEXEC) {
		birth->by_shell[0] = "/bin/sh";
		birth->by_shell[1] = birth->path;
		execve("/bin/sh", birth->by_shell, launch->environment);
		errno = ENOEXEC;
	}
	fail(birth, STEP_EXEC);
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

/* NAME in the first `length` bytes of `folder`, when it can be run; else NULL, and what is wrong if that is known. */
static char *try_folder(const char *folder, size_t length, const char *name, int *why)
{
	SCOPE_FREE char *path = fmt_new("%.*s%s%s", (int)length, folder, length ? "/" : "./", name);
	struct stat found;

	if (!path || stat(path, &found) < 0 || !S_ISREG(found.st_mode))
		return NULL;
	if (access(path, X_OK) == 0)
		return TAKE(path);
	*why = EACCES;
	return NULL;
}

/* execvpe(3)'s search, done before the clone: the first executable file of the job's own PATH. */
static char *find_command(const struct launch *launch, struct err *err)
{
	const char *name = launch->argv[0], *folders = find_variable(launch->environment, "PATH");
	int why = ENOENT;

	if (strchr(name, '/') || name[0] == '\0')
		folders = "";
	else if (!folders)
		folders = "/usr/local/bin:/usr/bin:/bin";
	SCOPE_FREE char *path = strchr(name, '/') ? fmt_new("%s", name) : NULL;
	while (!path && *folders) {
		size_t length = (size_t)(strchrnul(folders, ':') - folders);
		path = try_folder(folders, length, name, &why);
		folders += length + (folders[length] == ':');
	}
	if (path)
		return TAKE(path);
	errno = why;
	err_sys(err, "cannot start %s", name);
	err->code = EXIT_NO_START;
	return NULL;
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

enum { CHILD_STACK = 8 << 10 };

/*
 * clone3(2) with a stack of the child's own: it must not return into our frames, so it calls child() at once and never
 * comes back. glibc has no wrapper for it. Elsewhere the child gets a copy of our memory, and `birth` lies in a shared
 * page.
 */
#if defined(__x86_64__)
#define SHARES_MEMORY 1
static long clone_and_call(struct clone_args *args, void (*function)(void *), void *context)
{
	register void (*keep_function)(void *) __asm__("r8") = function;
	register void *keep_context __asm__("r9") = context;
	long result;

	__asm__ volatile("syscall\n\t"
			 "testq %%rax, %%rax\n\t"
			 "jnz 1f\n\t"
			 "xorl %%ebp, %%ebp\n\t"
			 "movq %%r9, %%rdi\n\t"
			 "callq *%%r8\n\t"
			 "ud2\n"
			 "1:"
			 : "=a"(result)
			 : "a"(SYS_clone3), "D"(args), "S"(sizeof *args), "r"(keep_function), "r"(keep_context)
			 : "rcx", "r11", "memory", "cc");
	return result;
}
#elif defined(__aarch64__)
#define SHARES_MEMORY 1
static long clone_and_call(struct clone_args *args, void (*function)(void *), void *context)
{
	register long number __asm__("x8") = SYS_clone3;
	register long result __asm__("x0") = (long)args;
	register long size __asm__("x1") = sizeof *args;
	register void (*keep_function)(void *) __asm__("x9") = function;
	register void *keep_context __asm__("x10") = context;

	__asm__ volatile("svc #0\n\t"
			 "cbnz x0, 1f\n\t"
			 "mov x29, xzr\n\t"
			 "mov x0, x10\n\t"
			 "blr x9\n\t"
			 "brk #0\n"
			 "1:"
			 : "+r"(result)
			 : "r"(number), "r"(size), "r"(keep_function), "r"(keep_context)
			 : "memory", "cc");
	return result;
}
#else
#define SHARES_MEMORY 0
static long clone_and_call(struct clone_args *args, void (*function)(void *), void *context)
{
	args->flags &= ~(uint64_t)CLONE_VM;
	args->stack = args->stack_size = 0;
	long result = syscall(SYS_clone3, args, sizeof *args);
	if (result == 0)
		function(context);
	return result < 0 ? -errno : result;
}
#endif

/* Before Linux 5.3 there is no clone3(2), before 5.7 no CLONE_INTO_CGROUP, and filters of containers refuse either. */
static bool is_refused(int errnum)
{
	return errnum == ENOSYS || errnum == EPERM || errnum == EINVAL || errnum == E2BIG;
}

static int child_of_clone(void *context)
{
	child(context);
	return EXIT_NO_START;
}

/* The same by clone(2): the child goes into its cell by itself, before anything else of the job exists. */
static pid_t clone_without(struct birth *birth, char stack[CHILD_STACK], int *pidfd)
{
	birth->enters = birth->launch->cell_fd >= 0;
	return clone(child_of_clone, stack + CHILD_STACK, CLONE_VM | CLONE_VFORK | CLONE_PIDFD | SIGCHLD, birth, pidfd);
}

/*
 * Not inlined: the child's stack would push everything that launch() calls down into new pages. Nothing else of ours
 * lies in this frame: it would lie below that stack, on one more page; the child touches its top alone.
 */
__attribute__((noinline)) static pid_t clone_child(struct birth *birth, struct clone_args *args, int *pidfd)
{
	char stack[CHILD_STACK] __attribute__((aligned(64)));

	args->stack = (uintptr_t)stack;
	args->stack_size = sizeof stack;
	long result = clone_and_call(args, child, birth);
	args->stack = 0;
	if (result >= 0)
		return (pid_t)result;
	errno = (int)-result;
	return is_refused(errno) ? clone_without(birth, stack, pidfd) : -1;
}

static int explain(const struct birth *birth, struct err *err)
{
	enum step step = birth->step;

	errno = birth->errnum;
	if (step == STEP_CWD)
		err_sys(err, "cannot enter folder %s", birth->launch->workdir);
	else if (step == STEP_CELL)
		err_sys(err, "cannot enter the job's cell");
	else if (step == STEP_CAPS)
		err_sys(err, "cannot restrict the job as its class says");
	else
		err_sys(err, "cannot start %s", birth->launch->argv[0]);
	err->code = step == STEP_EXEC || step == STEP_CWD ? EXIT_NO_START : EXIT_BROKEN;
	return -1;
}

static int give_birth(struct birth *birth, struct launched *ret_launched, struct err *err)
{
	int pidfd = -1, cell = birth->launch->cell_fd;
	struct clone_args args = {
		.flags = CLONE_VM | CLONE_VFORK | CLONE_PIDFD | (cell >= 0 ? CLONE_INTO_CGROUP : 0),
		.pidfd = (uintptr_t)&pidfd,
		.exit_signal = SIGCHLD,
		.cgroup = cell >= 0 ? (uint64_t)cell : 0,
	};
	pid_t pid = clone_child(birth, &args, &pidfd);

	if (pid < 0) {
		err_sys(err, "cannot start %s", birth->launch->argv[0]);
		err->code = EXIT_BROKEN;
		return -1;
	}
	if (birth->step != STEP_NONE) {
		waitpid(pid, NULL, 0);
		close(pidfd);
		return explain(birth, err);
	}
	*ret_launched = (struct launched){ .pid = pid, .pidfd = pidfd };
	return 0;
}

int launch(const struct launch *launch, struct launched *ret_launched, struct err *err)
{
	struct birth local, *birth = &local;
	SCOPE_CAPS struct caps_plan caps = { 0 };
	SCOPE_FREE char *path = find_command(launch, err);

	if (!path || caps_plan(launch->capabilities, launch->no_new_privileges, &caps, err) < 0)
		return -1;
	SCOPE_FREE char **by_shell = shell_argv(launch->argv);
	if (!SHARES_MEMORY)
		birth = mmap(NULL, sizeof *birth, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (!by_shell || birth == MAP_FAILED) {
		err_sys(err, "cannot start %s", launch->argv[0]);
		err->code = EXIT_BROKEN;
		return -1;
	}
	*birth = (struct birth){ .launch = launch, .path = path, .by_shell = by_shell, .caps = caps };
	birth->parent = launch->dies_with_us ? getpid() : 0;
	int result = give_birth(birth, ret_launched, err);
	if (!SHARES_MEMORY)
		munmap(birth, sizeof *birth);
	return result;
}
