/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "signals.h"

#include <sys/signalfd.h>
#include <unistd.h>

int signals_open(struct signals *signals, struct err *err)
{
	static const int ours[] = { SIGTERM, SIGHUP, SIGINT, SIGQUIT, SIGUSR1, SIGUSR2, SIGTSTP, SIGCONT, SIGCHLD, SIGURG };
	struct sigaction plain = { .sa_handler = SIG_DFL };
	sigset_t set, block;

	sigemptyset(&set);
	for (size_t i = 0; i < sizeof ours / sizeof ours[0]; i++)
		sigaddset(&set, ours[i]);
	sigaction(SIGCHLD, &plain, &signals->caller_child);
	/* The terminal must not stop us while we hold the queue lock (line.h, stops_blocked). */
	block = set;
	sigaddset(&block, SIGTTIN);
	sigaddset(&block, SIGTTOU);
	sigprocmask(SIG_BLOCK, &block, &signals->caller_mask);
	signals->fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return signals->fd < 0 ? err_sys(err, "cannot watch for signals") : 0;
}

int signals_next(struct signals *signals)
{
	struct signalfd_siginfo info;

	return read(signals->fd, &info, sizeof info) == (ssize_t)sizeof info ? (int)info.ssi_signo : 0;
}

int signals_die(int sig)
{
	struct sigaction plain = { .sa_handler = SIG_DFL };
	sigset_t one;

	sigaction(sig, &plain, NULL);
	sigemptyset(&one);
	sigaddset(&one, sig);
	raise(sig);
	sigprocmask(SIG_UNBLOCK, &one, NULL);
	return EXIT_SIGNAL + sig;
}
