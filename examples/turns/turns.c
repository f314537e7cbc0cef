/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Takes turns on the card from C. turn_take() lets a job that waits go first and returns the milliseconds that this one
 * was away: 0 when nobody came first, and outside of a job.
 *
 *     cc -o turns examples/turns/turns.c && pgpu run -- ./turns 24
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static long turn_take(void)
{
	const char *path = getenv("GPU_QUEUE_TURN");
	struct sockaddr_un queue = { .sun_family = AF_UNIX };
	char answer[256] = "";
	long away_ms = 0;

	if (!path || strlen(path) >= sizeof queue.sun_path)
		return 0;
	strcpy(queue.sun_path, path);
	int fd = socket(AF_UNIX, SOCK_SEQPACKET, 0);
	/* Nobody there, and no answer, both mean: go on. */
	if (connect(fd, (struct sockaddr *)&queue, sizeof queue) == 0 && send(fd, "turn", 4, MSG_NOSIGNAL) == 4 &&
	    recv(fd, answer, sizeof answer - 1, 0) > 0)
		sscanf(answer, "ok %ld", &away_ms);
	close(fd);
	return away_ms;
}

int main(int argc, char **argv)
{
	int last = argc > 1 ? atoi(argv[1]) : 3;

	for (int frame = 1; frame <= last; frame++) {
		printf("frame %d\n", frame);
		fflush(stdout);
		turn_take();
	}
	return 0;
}
