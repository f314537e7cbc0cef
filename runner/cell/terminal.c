/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "terminal.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include "conf/base/scope.h"

bool terminal_controls(void)
{
	SCOPE_FD int fd = open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC);

	return fd >= 0;
}

void terminal_save(struct terminal *terminal)
{
	terminal->attached = tcgetattr(STDIN_FILENO, &terminal->settings) == 0;
	terminal->group = terminal->attached ? tcgetpgrp(STDIN_FILENO) : -1;
	terminal->foreground = terminal->attached && terminal->group == getpgrp();
}

void terminal_restore(const struct terminal *terminal)
{
	sigset_t stop, mask;
	pid_t now;

	if (!terminal->foreground)
		return;
	now = tcgetpgrp(STDIN_FILENO);
	/* Another living group has taken the terminal (the shell, after `bg`): it is not ours to change. */
	if (now != terminal->group && now > 0 && kill(-now, 0) == 0)
		return;
	/* A group that was just killed leaves the terminal to nobody; from there these calls would stop us. */
	sigemptyset(&stop);
	sigaddset(&stop, SIGTTOU);
	sigprocmask(SIG_BLOCK, &stop, &mask);
	if (now != terminal->group)
		tcsetpgrp(STDIN_FILENO, terminal->group);
	tcsetattr(STDIN_FILENO, TCSADRAIN, &terminal->settings);
	sigprocmask(SIG_SETMASK, &mask, NULL);
}
