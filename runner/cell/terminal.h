/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The terminal a `run` was called in: its settings and its foreground group are put back after the job, so that a
 * full-screen program that was killed leaves neither raw mode nor a shell in the background. Nothing is done from the
 * background.
 */
#ifndef PGPU_RUNNER_TERMINAL_H
#define PGPU_RUNNER_TERMINAL_H

#include <stdbool.h>
#include <sys/types.h>
#include <termios.h>

struct terminal {
	bool attached;	 /* standard input is a terminal */
	bool foreground; /* and we were in its foreground group */
	pid_t group;
	struct termios settings;
};

/* True when this process has a controlling terminal, whatever its standard input is. */
bool terminal_controls(void);

void terminal_save(struct terminal *terminal);
void terminal_restore(const struct terminal *terminal);

#endif
