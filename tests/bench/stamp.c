/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What holder and waiter of a hand-on run, and what stands beside a waiting wrapper. Linked statically for the stamps,
 * so that the start of a process weighs as little as it can, and the same for all.
 *
 *     stamp hold FILE GATE   opens the FIFO GATE, waits for a byte, writes the time to FILE as its last act
 *     stamp first FILE       writes the time of its first act to FILE
 *     stamp pause            sleeps until it is ended
 */
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	struct timespec now;
	int64_t stamp;
	char byte;

	clock_gettime(CLOCK_MONOTONIC, &now);
	if (argc == 2 && strcmp(argv[1], "pause") == 0)
		return pause();
	if (argc < 3)
		return 2;
	int file = open(argv[2], O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (argc == 4) {
		int gate = open(argv[3], O_RDONLY | O_CLOEXEC);
		if (gate < 0 || read(gate, &byte, 1) != 1)
			return 1;
		clock_gettime(CLOCK_MONOTONIC, &now);
	}
	stamp = now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
	_exit(write(file, &stamp, sizeof stamp) != sizeof stamp);
}
