/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Control sockets: SOCK_SEQPACKET, one a process of the line, in the runtime folder, named by pid and start time.
 *
 * "look" asks the other side to look at the files again; it carries nothing else. The connection stays open until the
 * receiver has looked and what follows from it is settled: the end of file is the answer, and the death of the receiver
 * gives it too. Where there is no socket (the runtime folder was lost), SIGURG through a pidfd says the same, without
 * an answer.
 *
 * Other messages are questions of a program inside a job to the job's supervisor, with one answer (supervise.h). Only
 * processes of the same user, or root, are heard (SO_PEERCRED).
 */
#ifndef PGPU_RUNNER_WAKE_H
#define PGPU_RUNNER_WAKE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "entry.h"

enum { WAKE_MESSAGE = 256 };

struct wake {
	int fd; /* listening; -1: none */
	int folder_fd;
	uid_t user;	/* who is heard, beside root */
	char path[108]; /* "" where there is none */
};

#define WAKE_NONE ((struct wake){ .fd = -1, .folder_fd = -1 })

/* Makes the socket of this process. Without a runtime folder it stays WAKE_NONE and that is no error. */
void wake_open(struct wake *wake);
/* Removes the socket. */
void wake_close(struct wake *wake);
/* The next caller, non-blocking; -1 when there is none. */
int wake_accept(struct wake *wake);
/* Whether who called still waits for an answer: its end is open. */
bool wake_is_there(int fd);
/* Receives one message into `text` (WAKE_MESSAGE bytes, NUL-ended): its length, 0 at the end of file, -1 when none is
 * there yet. */
int wake_receive(int fd, char *text);

/* Connects and sends; returns the connection, or -1 when there is nobody (or the message went as a signal). */
int wake_look(const struct entry *to);
/*
 * Sends `message` to the socket at `path` and waits for the answer up to `timeout_ms`, -1: for ever; its length, or -1
 * with errno, which is ECONNRESET at an end of file. A process that is stopped is continued after a second.
 */
int wake_ask(const char *path, const char *message, char *answer, int timeout_ms);

#endif
