/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "signals.h"

#include <sys/signalfd.h>
#include <unistd.h>

static void add_all(sigset_t *set, const int *list)
{
	for (; *list; list++)
		sigaddset(set, *list);
}

/* What the caller ignores (nohup, a shell's background job) stays ignored: blocked, it would come all the same. */
static void add_heeded(sigset_t *set, const int *list)
{
	struct sigaction action;

	for (; *list; list++) {
		if (sigaction(*list, NULL, &action) < 0 || action.sa_handler != SIG_IGN)
			sigaddset(set, *list);
	}
}

int signals_open(struct signals *signals, enum signals_of whose, struct err *err)
{
	static const int both[] = { SIGCHLD, SIGURG, 0 };
	static const int of_run[] = { SIGTERM, SIGHUP, SIGINT, SIGQUIT, SIGUSR1, SIGUSR2, SIGTSTP, SIGCONT, 0 };
	static const int never[] = { SIGTTIN, SIGTTOU, SIGTSTP, 0 };
	struct sigaction plain = { .sa_handler = SIG_DFL };
	sigset_t read, block;

	sigemptyset(&read);
	add_all(&read, both);
	if (whose == SIGNALS_RUN)
		add_heeded(&read, of_run);
	/* The terminal must not stop us while we hold the queue lock (line.h, stops_blocked). */
	block = read;
	add_all(&block, never);
	sigaction(SIGCHLD, &plain, &signals->caller_child);
	sigprocmask(SIG_BLOCK, &block, &signals->caller_mask);
	signals->fd = signalfd(-1, &read, SFD_CLOEXEC | SFD_NONBLOCK);
	return signals->fd < 0 ? err_sys(err, "cannot watch for signals") : 0;
}

int signals_next(struct signals *signals)
{
	struct signalfd_siginfo info;

	return read(signals->fd, &info, sizeof info) == (ssize_t)sizeof info ? (int)info.ssi_signo : 0;
}
