/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The benchmark's stopwatch: starts contenders in turn and prints a line `NAME<TAB>NANOSECONDS` a sample.
 *
 *     spawn start ROUNDS SPEC          from posix_spawn(3) to the return of waitpid(2)
 *     spawn hand-on ROUNDS SPEC DIR    from a holder's last instruction to the waiter's first; DIR is for its files
 *
 * SPEC is a file with a line a contender, fields separated by tabs: NAME, any number of VARIABLE=VALUE, `--`, the
 * argument vector with an absolute path first. `%r` in a field becomes the number of the round, from 00. Instead of a
 * command:
 *     @durable FOLDER     write, fsync, rename, fsync of the folder: what the disk itself asks for one durable file
 *     @sync FOLDER        fsync of a folder with a new name in it
 *     @pair               (hand-on) one process learns of the holder's end by pidfd and wakes a second by socket, which
 * spawns For a hand-on the argument vector is that of the wrapper: what holder and waiter run is appended. A first
 * field of the vector `@list` LIST is a command whose output must hold the word `queued` before the holder is let go.
 *
 * The contenders of a round run in a random order, the same in every run of the benchmark: what one leaves behind
 * (pages to free, a journal to write) must not always fall on the same other one.
 */
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { CONTENDERS = 16, FIELDS = 64, WARM_UP = 3, PATIENCE_S = 10 };

struct contender {
	char *name;
	char *environment[FIELDS]; /* what it has besides ours */
	char *argv[FIELDS];
	char *list; /* prints `queued` when the waiter stands in line */
};

static struct contender contenders[CONTENDERS];
static int count;
static posix_spawn_file_actions_t quiet;

static int64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

static void read_spec(const char *path)
{
	FILE *file = fopen(path, "r");
	char *line = NULL;
	size_t room = 0;

	if (!file)
		err(1, "%s", path);
	while (count < CONTENDERS && getline(&line, &room, file) > 0) {
		struct contender *one = &contenders[count++];
		char *rest = strdup(line), *field;
		int variables = 0, words = 0;
		bool command = false;

		rest[strcspn(rest, "\n")] = '\0';
		one->name = strsep(&rest, "\t");
		while ((field = strsep(&rest, "\t"))) {
			if (!command && strcmp(field, "--") == 0)
				command = true;
			else if (command && strcmp(field, "@list") == 0 && words == 0)
				one->list = strsep(&rest, "\t");
			else if (command && words < FIELDS - 8)
				one->argv[words++] = field;
			else if (!command && variables < FIELDS - 1)
				one->environment[variables++] = field;
		}
	}
	free(line);
	fclose(file);
}

static char *fill_in(const char *field, int round)
{
	const char *at = strstr(field, "%r");
	char *filled;

	if (!at)
		return strdup(field);
	if (asprintf(&filled, "%.*s%02d%s", (int)(at - field), field, round + WARM_UP, at + 2) < 0)
		err(1, "asprintf");
	return filled;
}

/* A vector in memory of its own: ours, then the contender's. */
static char **make_environment(const struct contender *one, int round)
{
	size_t ours = 0, used = 0;

	while (environ[ours])
		ours++;
	char **all = calloc(ours + FIELDS, sizeof *all);
	for (; used < ours; used++)
		all[used] = strdup(environ[used]);
	for (int i = 0; one->environment[i]; i++)
		all[used++] = fill_in(one->environment[i], round);
	return all;
}

static void free_list(char **list)
{
	for (int i = 0; list[i]; i++)
		free(list[i]);
	free(list);
}

static pid_t start(char *const argv[], char *const envp[])
{
	pid_t pid;
	int error = posix_spawn(&pid, argv[0], &quiet, NULL, argv, envp);

	errno = error;
	if (error)
		err(1, "%s", argv[0]);
	return pid;
}

static void finish(const struct contender *one, pid_t pid)
{
	int status;

	if (waitpid(pid, &status, 0) != pid)
		err(1, "%s", one->name);
	if (status != 0)
		errx(1, "%s: ended with status %d", one->name, status);
}

static int64_t durable(const char *folder)
{
	char text[300];
	int64_t began = now_ns();
	int at = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int fd = openat(at, "new", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

	memset(text, 'x', sizeof text);
	if (fd < 0 || write(fd, text, sizeof text) != sizeof text || fsync(fd) < 0 || close(fd) < 0 ||
	    renameat(at, "new", at, "file") < 0 || fsync(at) < 0)
		err(1, "%s", folder);
	close(at);
	return now_ns() - began;
}

static int64_t synced(const char *folder)
{
	int at = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int fd = openat(at, "first", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

	if (fd < 0 || close(fd) < 0 || renameat(at, "first", at, "second") < 0)
		err(1, "%s", folder);
	int64_t began = now_ns();
	if (fsync(at) < 0)
		err(1, "%s", folder);
	int64_t took = now_ns() - began;
	close(at);
	return took;
}

static int64_t time_start(const struct contender *one, int round)
{
	if (strcmp(one->argv[0], "@durable") == 0)
		return durable(one->argv[1]);
	if (strcmp(one->argv[0], "@sync") == 0)
		return synced(one->argv[1]);
	char **environment = make_environment(one, round);
	char *argv[FIELDS] = { 0 };
	for (size_t i = 0; one->argv[i]; i++)
		argv[i] = fill_in(one->argv[i], round);
	int64_t began = now_ns();
	finish(one, start(argv, environment));
	int64_t took = now_ns() - began;
	for (size_t i = 0; argv[i]; i++)
		free(argv[i]);
	free_list(environment);
	return took;
}

/* The system call a process sleeps in, -1 while it runs. */
static long sleeps_in(pid_t pid)
{
	char path[40], text[128] = "";

	snprintf(path, sizeof path, "/proc/%d/syscall", pid);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || read(fd, text, sizeof text - 1) <= 0 || text[0] == 'r')
		text[0] = '\0';
	if (fd >= 0)
		close(fd);
	return text[0] ? strtol(text, NULL, 10) : -1;
}

/* Every contender's waiter sleeps in one of these when it stands in line, and in none of them on its way there but for
 * the list's. */
static bool sleeps_in_line(pid_t pid)
{
	static const long calls[] = {
#ifdef SYS_poll
		SYS_poll,
#endif
		SYS_ppoll, SYS_flock, SYS_recvfrom, SYS_recvmsg, SYS_read,
	};
	long call = sleeps_in(pid);

	for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
		if (call == calls[i])
			return true;
	}
	return false;
}

static bool list_says_queued(const struct contender *one, char **environment)
{
	char text[65536];
	size_t used = 0;
	ssize_t got;
	int ends[2];
	pid_t pid;
	char *argv[] = { one->list, NULL };
	posix_spawn_file_actions_t actions;

	if (!one->list)
		return true;
	if (pipe2(ends, O_CLOEXEC) < 0)
		err(1, "pipe");
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
	if (posix_spawn(&pid, argv[0], &actions, NULL, argv, environment) != 0)
		errx(1, "cannot start %s", one->list);
	posix_spawn_file_actions_destroy(&actions);
	close(ends[1]);
	while (used < sizeof text - 1 && (got = read(ends[0], text + used, sizeof text - 1 - used)) > 0)
		used += (size_t)got;
	text[used] = '\0';
	close(ends[0]);
	waitpid(pid, NULL, 0);
	return strstr(text, "queued") != NULL;
}

static void wait_in_line(const struct contender *one, char **environment, pid_t waiter)
{
	int64_t until = now_ns() + PATIENCE_S * INT64_C(1000000000);

	while (!list_says_queued(one, environment) || !sleeps_in_line(waiter)) {
		if (now_ns() > until)
			errx(1, "%s: the waiter does not get in line", one->name);
		sched_yield();
	}
}

static int64_t read_stamp(const char *path)
{
	int64_t stamp;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0 || read(fd, &stamp, sizeof stamp) != sizeof stamp)
		err(1, "%s", path);
	close(fd);
	return stamp;
}

struct paths {
	char stamp[256], gate[256], holder[256], waiter[256];
};

static pid_t start_wrapped(const struct contender *one, char **environment, const struct paths *paths, bool holds)
{
	char *argv[FIELDS] = { 0 };
	int used = 0;

	for (; one->argv[used] && strcmp(one->argv[0], "@pair") != 0; used++)
		argv[used] = one->argv[used];
	argv[used++] = (char *)paths->stamp;
	argv[used++] = holds ? "hold" : "first";
	argv[used++] = (char *)(holds ? paths->holder : paths->waiter);
	if (holds)
		argv[used++] = (char *)paths->gate;
	return start(argv, environment);
}

/* The floor: the first process waits for the holder, the second for a word of the first. */
static pid_t start_pair(const struct contender *one, char **environment, const struct paths *paths, pid_t holder)
{
	int ends[2], pidfd = pidfd_open(holder, 0);
	char word;

	if (pidfd < 0 || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
		err(1, "pair");
	pid_t second = fork();
	if (second == 0) {
		if (recv(ends[1], &word, 1, 0) == 1)
			finish(one, start_wrapped(one, environment, paths, false));
		_exit(0);
	}
	if (fork() == 0) {
		struct pollfd end = { .fd = pidfd, .events = POLLIN };
		poll(&end, 1, -1);
		send(ends[0], "x", 1, MSG_NOSIGNAL);
		_exit(0);
	}
	close(pidfd);
	close(ends[0]);
	close(ends[1]);
	return second;
}

static int64_t time_hand_on(const struct contender *one, int round, const struct paths *paths)
{
	char **environment = make_environment(one, round);

	unlink(paths->waiter);
	pid_t holder = start_wrapped(one, environment, paths, true), waiter;
	/* Returns once the holder has opened the other side: it runs then. */
	int gate = open(paths->gate, O_WRONLY | O_CLOEXEC);
	if (strcmp(one->argv[0], "@pair") == 0)
		waiter = start_pair(one, environment, paths, holder);
	else
		waiter = start_wrapped(one, environment, paths, false);
	wait_in_line(one, environment, waiter);
	if (gate < 0 || write(gate, "x", 1) != 1)
		err(1, "%s", paths->gate);
	finish(one, holder);
	finish(one, waiter);
	close(gate);
	while (waitpid(-1, NULL, WNOHANG) > 0)
		;
	free_list(environment);
	return read_stamp(paths->waiter) - read_stamp(paths->holder);
}

static void shuffle(int order[CONTENDERS])
{
	for (int i = 0; i < count; i++) {
		int other = (int)(random() % (i + 1));
		order[i] = order[other];
		order[other] = i;
	}
}

int main(int argc, char **argv)
{
	struct paths paths;
	bool hands_on = argc > 4 && strcmp(argv[1], "hand-on") == 0;

	if (argc < 4 || (!hands_on && strcmp(argv[1], "start") != 0))
		errx(2, "usage: spawn start ROUNDS SPEC, or spawn hand-on ROUNDS SPEC DIR");
	int rounds = (int)strtol(argv[2], NULL, 10);
	read_spec(argv[3]);
	posix_spawn_file_actions_init(&quiet);
	posix_spawn_file_actions_addopen(&quiet, 0, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_addopen(&quiet, 1, "/dev/null", O_WRONLY, 0);
	posix_spawn_file_actions_addopen(&quiet, 2, "/dev/null", O_WRONLY, 0);
	if (hands_on) {
		snprintf(paths.stamp, sizeof paths.stamp, "%s/stamp", argv[4]);
		snprintf(paths.gate, sizeof paths.gate, "%s/gate", argv[4]);
		snprintf(paths.holder, sizeof paths.holder, "%s/holder", argv[4]);
		snprintf(paths.waiter, sizeof paths.waiter, "%s/waiter", argv[4]);
		if (mkfifo(paths.gate, 0600) < 0 && errno != EEXIST)
			err(1, "%s", paths.gate);
	}
	for (int round = -WARM_UP; round < rounds; round++) {
		int order[CONTENDERS];
		shuffle(order);
		for (int i = 0; i < count; i++) {
			const struct contender *one = &contenders[order[i]];
			int64_t took = hands_on ? time_hand_on(one, round, &paths) : time_start(one, round);
			if (round >= 0)
				printf("%s\t%lld\n", one->name, (long long)took);
		}
	}
	return 0;
}
