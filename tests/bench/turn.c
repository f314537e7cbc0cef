/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the jobs of the turn's rows run. Figures go to FILE when all is done, so that nothing is written between two of
 * them.
 *
 *     turn ask ROUNDS FILE    in a job: connect, send, receive, close; a line `NANOSECONDS` a round
 *     turn bare ROUNDS FILE   the same with a process of its own behind the socket that does nothing else
 *     turn pass ROUNDS FILE   in a job: a pass of 10 ms, then a turn; a line `LEFT BACK` a round:
 *                             CLOCK_MONOTONIC as the last act before the message, and as the first one after the answer
 *     turn spin               a job that is never idle
 */
#include <err.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum { WARM_UP = 10, PASS_NS = 10000000 };

static struct sockaddr_un name = { .sun_family = AF_UNIX };

static int64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

static void name_socket(const char *path)
{
	if (!path || strlen(path) >= sizeof name.sun_path)
		errx(2, "no socket: run this as a job");
	strcpy(name.sun_path, path);
}

static void take_turn(int64_t *ret_left_ns, int64_t *ret_back_ns)
{
	char answer[64];

	*ret_left_ns = now_ns();
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (connect(fd, (struct sockaddr *)&name, sizeof name) < 0 || send(fd, "turn", 4, 0) != 4)
		err(1, "%s", name.sun_path);
	ssize_t got = recv(fd, answer, sizeof answer, 0);
	*ret_back_ns = now_ns();
	close(fd);
	if (got < 4 || memcmp(answer, "ok ", 3) != 0)
		errx(1, "no turn");
}

/* A supervisor's part of an answer and no more. */
static void serve(const char *path)
{
	char message[64];
	int listening = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	name_socket(path);
	if (bind(listening, (struct sockaddr *)&name, sizeof name) < 0 || listen(listening, 8) < 0)
		err(1, "%s", path);
	if (fork() != 0)
		return;
	for (int fd; (fd = accept4(listening, NULL, NULL, SOCK_CLOEXEC)) >= 0; close(fd)) {
		if (recv(fd, message, sizeof message, 0) <= 0)
			_exit(0);
		send(fd, "ok 0", 4, MSG_NOSIGNAL);
	}
	_exit(1);
}

static void end_server(void)
{
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	connect(fd, (struct sockaddr *)&name, sizeof name);
	close(fd);
	unlink(name.sun_path);
}

int main(int argc, char **argv)
{
	char path[200];

	if (argc == 2 && strcmp(argv[1], "spin") == 0) {
		for (;;)
			;
	}
	if (argc != 4)
		errx(2, "usage: turn ask|bare|pass ROUNDS FILE, or turn spin");
	bool bare = strcmp(argv[1], "bare") == 0, passes = strcmp(argv[1], "pass") == 0;
	int rounds = (int)strtol(argv[2], NULL, 10);
	int64_t *left = calloc((size_t)rounds, sizeof *left), *back = calloc((size_t)rounds, sizeof *back);
	snprintf(path, sizeof path, "%s.socket", argv[3]);
	if (bare)
		serve(path);
	else
		name_socket(getenv("GPU_QUEUE_TURN"));
	for (int i = passes ? 0 : -WARM_UP; i < rounds; i++) {
		int at = i < 0 ? 0 : i;
		if (passes)
			nanosleep(&(struct timespec){ .tv_nsec = PASS_NS }, NULL);
		take_turn(&left[at], &back[at]);
	}
	if (bare)
		end_server();
	FILE *file = fopen(argv[3], "w");
	for (int i = 0; file && i < rounds; i++) {
		if (passes)
			fprintf(file, "%lld %lld\n", (long long)left[i], (long long)back[i]);
		else
			fprintf(file, "%lld\n", (long long)(back[i] - left[i]));
	}
	return !file || fclose(file) != 0;
}
