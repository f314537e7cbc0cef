/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Preloaded into a pgpu that runs under valgrind, for what valgrind cannot do. No job sees it: it is taken out of the
 * environment at once, and given back to workers alone.
 *
 * - A worker is started as /proc/self/exe, which valgrind hands on as it is, and which then is valgrind: here it becomes
 *   the file that wrap.sh says (REAL).
 * - A signal that is blocked stays with valgrind, and no signalfd(2) has it: here that is a pipe, filled by handlers.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

static char preload[4096];

__attribute__((constructor)) static void hide(void)
{
	const char *text = getenv("LD_PRELOAD");

	/* valgrind's own starter is a shell's script, which hands it on. */
	if (strcmp(program_invocation_short_name, "pgpu") != 0)
		return;
	snprintf(preload, sizeof preload, "LD_PRELOAD=%s", text ? text : "");
	unsetenv("LD_PRELOAD");
}

int posix_spawn(pid_t *pid, const char *path, const posix_spawn_file_actions_t *files,
		const posix_spawnattr_t *attributes, char *const argv[], char *const environment[])
{
	int (*real)(pid_t *, const char *, const posix_spawn_file_actions_t *, const posix_spawnattr_t *, char *const[],
		    char *const[]) = (__typeof__(real))dlsym(RTLD_NEXT, "posix_spawn");
	size_t count = 0;

	while (environment[count])
		count++;
	char *all[count + 2];
	memcpy(all, environment, count * sizeof *all);
	all[count] = preload;
	all[count + 1] = NULL;
	if (strcmp(path, "/proc/self/exe") != 0)
		return real(pid, path, files, attributes, argv, environment);
	return real(pid, REAL, files, attributes, argv, all);
}

static int signal_pipe[2];

static void put_signal(int sig)
{
	int kept = errno;
	struct signalfd_siginfo info = { .ssi_signo = (uint32_t)sig };

	(void)!write(signal_pipe[1], &info, sizeof info);
	errno = kept;
}

/* One that is made anew, with SFD_CLOEXEC and SFD_NONBLOCK: pgpu makes no others. */
int signalfd(int fd, const sigset_t *mask, int flags)
{
	struct sigaction action = { .sa_handler = put_signal }, old;
	(void)flags;

	if (fd >= 0 || pipe2(signal_pipe, O_CLOEXEC | O_NONBLOCK) < 0)
		return -1;
	for (int sig = 1; sig < SIGRTMIN; sig++) {
		if (sigismember(mask, sig) == 1 && sigaction(sig, NULL, &old) == 0 && old.sa_handler != SIG_IGN)
			sigaction(sig, &action, NULL);
	}
	sigprocmask(SIG_UNBLOCK, mask, NULL);
	return signal_pipe[0];
}
