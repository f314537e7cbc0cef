/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Another program, started beside us: with no descriptor of ours but those named, no signal blocked or ignored, in a
 * session of its own so that no key of our terminal reaches it.
 */
#ifndef PGPU_BASE_CHILD_H
#define PGPU_BASE_CHILD_H

#include <stddef.h>
#include <sys/types.h>

/*
 * `path` is looked for in PATH where it has no '/'. `fds`: what it gets as 0, 1 and so on, `count` of them; -1:
 * /dev/null; others lie above those they become, and stay ours. 0, or the error's number.
 */
int child_start(const char *path, char *const argv[], char *const environment[], const int *fds, int count,
		pid_t *ret_pid);

/*
 * Runs it to its end, at most `timeout_ms`, with what it prints, complaints too, as `answer`, cut at `size` - 1 bytes.
 * Returns its status as waitpid(2) has it, or -1 where it could not be started: `answer` is "" then.
 */
int child_ask(char *const argv[], char *const environment[], int timeout_ms, char *answer, size_t size);

#endif
