/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * job MARKS PULSE SLOTS LANES MS CODE FLAGS: a job that accounts for itself.
 *
 * It appends a line to MARKS when it starts and when it ends, each with one write, and a byte to PULSE when it starts:
 *     start ID RESTARTS TIME PID
 *     end ID RESTARTS TIME PID
 *     overlap ID RESTARTS TIME PID	more than LANES jobs live and are not frozen at once
 *     beside ID RESTARTS TIME PID	and this is the first process of one of the others
 * TIME is CLOCK_MONOTONIC in nanoseconds. In between it works for MS milliseconds, and it exits with CODE.
 *
 * While it has a lane it keeps one of the LANES files SLOTS-0, SLOTS-1, ... locked (flock(2)). The lock is shared by
 * its children, and the kernel drops it when the last of them is dead: so whoever finds no slot has found a lane that
 * was handed on too early.
 *
 * FLAGS: t it offers a turn half way; c it leaves a child behind in a session of its own, which ignores SIGTERM and
 * SIGHUP; i it ignores SIGTERM itself.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { PROGRAM, MARKS, PULSE, SLOTS, LANES, MS, CODE, FLAGS, WORDS };

static char **words;
static int slot = -1;

static void fail(const char *what)
{
	perror(what);
	exit(99);
}

static long long now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000LL + now.tv_nsec;
}

static void append(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);

	if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text) || close(fd) < 0)
		fail(path);
}

static void mark_pid(const char *what, int pid)
{
	const char *id = getenv("PGPU_JOB_ID"), *restarts = getenv("PGPU_RESTART_COUNT");
	char line[160];

	snprintf(line, sizeof line, "%s %s %s %lld %d\n", what, id ? id : "?", restarts ? restarts : "0", now_ns(),
		 pid);
	append(words[MARKS], line);
}

static void mark(const char *what)
{
	mark_pid(what, getpid());
}

/* A line for each slot's lock: who took it, a job's first process, whether that lives still or a child of it. */
static void mark_others(void)
{
	char line[256];
	FILE *locks = fopen("/proc/locks", "r");

	for (int number = 0; locks && number < atoi(words[LANES]); number++) {
		char path[512];
		struct stat slot_stat;
		snprintf(path, sizeof path, "%s-%d", words[SLOTS], number);
		rewind(locks);
		while (stat(path, &slot_stat) == 0 && fgets(line, sizeof line, locks)) {
			int pid;
			unsigned long inode;
			if (sscanf(line, "%*s FLOCK %*s %*s %d %*x:%*x:%lu", &pid, &inode) == 2 &&
			    inode == slot_stat.st_ino)
				mark_pid("beside", pid);
		}
	}
	if (locks)
		fclose(locks);
}

/* What the queue says at that moment, for whoever looks for the cause: MARKS.lanes. */
static void keep_lanes(void)
{
	char command[1024];

	snprintf(command, sizeof command,
		 "cd \"$XDG_STATE_HOME\"/pgpu/*/ && { date +%%s.%%N; ls running; ls boot-*/tickets;"
		 " grep -aE '^(gen|state|owner|job|main)' boot-*/[lst]*-* boot-*/s[te]*d* boot-*/tickets/*;"
		 " ps -o pid,ppid,stat,lstart,args; } >>%s.lanes 2>&1",
		 words[MARKS]);
	if (system(command) < 0)
		fail("system");
}

static void take_slot(void)
{
	for (int number = 0; number < atoi(words[LANES]); number++) {
		char path[512];
		snprintf(path, sizeof path, "%s-%d", words[SLOTS], number);
		slot = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
		if (slot < 0)
			fail(path);
		if (flock(slot, LOCK_EX | LOCK_NB) == 0)
			return;
		close(slot);
	}
	slot = -1;
	mark("overlap");
	keep_lanes();
	mark_others();
}

static void leave_slot(void)
{
	if (slot >= 0 && flock(slot, LOCK_UN) < 0)
		fail("flock");
	if (slot >= 0)
		close(slot);
	slot = -1;
}

static void work(long ms)
{
	struct timespec left = { ms / 1000, ms % 1000 * 1000000L };

	while (nanosleep(&left, &left) < 0 && errno == EINTR)
		;
}

/* Frozen and then ended, it must not go on for its grace: it has no slot. */
static void offer_turn(void)
{
	void (*deaf)(int) = signal(SIGTERM, SIG_DFL);

	leave_slot();
	pid_t child = fork();
	if (child < 0)
		fail("fork");
	if (child == 0) {
		execlp("pgpu", "pgpu", "turn", (char *)NULL);
		_exit(99);
	}
	while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
		;
	take_slot();
	signal(SIGTERM, deaf);
}

/* The slot's lock is its as well: it is to be ended before the lane goes on. */
static void leave_child(void)
{
	pid_t child = fork();

	if (child < 0)
		fail("fork");
	if (child > 0)
		return;
	setsid();
	signal(SIGTERM, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	work(600000);
	_exit(0);
}

int main(int argc, char **argv)
{
	if (argc != WORDS) {
		fprintf(stderr, "usage: job MARKS PULSE SLOTS LANES MS CODE FLAGS\n");
		return 2;
	}
	words = argv;
	if (strchr(argv[FLAGS], 'i'))
		signal(SIGTERM, SIG_IGN);
	take_slot();
	mark("start");
	append(argv[PULSE], ".");
	work(atol(argv[MS]) / 2);
	if (strchr(argv[FLAGS], 't'))
		offer_turn();
	if (strchr(argv[FLAGS], 'c'))
		leave_child();
	work(atol(argv[MS]) - atol(argv[MS]) / 2);
	mark("end");
	return atoi(argv[CODE]);
}
