/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "stray.h"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "conf/base/clock.h"
#include "conf/base/file.h"
#include "conf/base/fmt.h"
#include "conf/base/scope.h"

/* Fields of /proc/PID/stat, as proc(5) numbers them. */
enum { PROC_PARENT = 4, PROC_SESSION = 6, PROC_START = 22 };

struct process {
	pid_t pid, parent, session;
	uint64_t start;
	bool job;    /* belongs to the job */
	bool spared; /* or to one that is spared */
};

struct table {
	struct process *list;
	size_t count, room;
};

static bool read_process(const char *name, struct process *ret)
{
	char path[64], text[1024];

	fmt(path, sizeof path, "/proc/%.20s/stat", name);
	if (file_read_small(AT_FDCWD, path, text, sizeof text) <= 0)
		return false;
	const char *rest = strrchr(text, ')');
	int64_t field[PROC_START + 1] = { 0 };
	if (!rest || rest[1] != ' ' || rest[2] == 'Z' || rest[2] == 'X')
		return false;
	rest += 3;
	for (int i = PROC_PARENT; i <= PROC_START; i++)
		field[i] = fmt_read_signed(rest, &rest);
	*ret = (struct process){ .pid = (pid_t)fmt_read_signed(name, NULL),
				 .parent = (pid_t)field[PROC_PARENT],
				 .session = (pid_t)field[PROC_SESSION],
				 .start = (uint64_t)field[PROC_START] };
	return field[PROC_START] != 0;
}

static void read_table(struct table *table)
{
	SCOPE_DIR DIR *proc = opendir("/proc");

	for (struct dirent *found; proc && (found = readdir(proc));) {
		struct process process;
		if (found->d_name[0] < '1' || found->d_name[0] > '9' || !read_process(found->d_name, &process))
			continue;
		if (table->count == table->room) {
			size_t room = table->room ? table->room * 2 : 256;
			struct process *list = realloc(table->list, room * sizeof *list);
			if (!list)
				return;
			table->list = list;
			table->room = room;
		}
		table->list[table->count++] = process;
	}
}

/* True when the environment a process was started with holds the assignment. */
static bool is_marked(pid_t pid, const char *mark)
{
	char path[64], text[65536];
	size_t length = strlen(mark);
	ssize_t got;

	fmt(path, sizeof path, "/proc/%d/environ", pid);
	SCOPE_FD int fd = open(path, O_RDONLY | O_CLOEXEC);
	size_t kept = 0;
	while (fd >= 0 && (got = read(fd, text + kept, sizeof text - 1 - kept)) > 0) {
		size_t size = kept + (size_t)got;
		text[size] = '\0';
		for (char *at = text; at + length < text + size; at++) {
			if ((at == text || at[-1] == '\0') && memcmp(at, mark, length) == 0 && at[length] == '\0')
				return true;
			at += strlen(at);
			if (at >= text + size)
				break;
		}
		/* The last string may go on in the next piece. */
		char *last = memrchr(text, '\0', size);
		kept = last && size - (size_t)(last - text) < sizeof text / 2 ? size - (size_t)(last - text) : 0;
		memmove(text, text + size - kept, kept);
	}
	return false;
}

static struct process *find(const struct table *table, pid_t pid)
{
	for (size_t i = 0; i < table->count; i++) {
		if (table->list[i].pid == pid)
			return &table->list[i];
	}
	return NULL;
}

void stray_spare(struct stray *stray, pid_t pid)
{
	if (pid > 0 && stray->spared_count < STRAY_SPARED)
		stray->spared[stray->spared_count++] = pid;
}

int stray_children(pid_t parent, pid_t *pids, int room)
{
	struct table table = { 0 };
	siginfo_t none;
	int count = 0;

	/* Of ourselves the kernel says at once that there is none, which is the usual answer: no look through /proc. */
	if (parent == getpid() && waitid(P_ALL, 0, &none, WEXITED | WNOHANG | WNOWAIT) < 0)
		return 0;
	read_table(&table);
	for (size_t i = 0; i < table.count && count < room; i++) {
		if (table.list[i].parent == parent)
			pids[count++] = table.list[i].pid;
	}
	free(table.list);
	return count;
}

/*
 * A worker of pgpu whose starter died below us, so that it is ours now: it may have no seat that would tell so, stopped
 * for a while say. No job has it: a job starts none, and it has no job's mark.
 */
static bool is_worker(pid_t pid)
{
	static const char word[] = "worker";
	char path[64], text[64];
	struct stat own, exe;

	fmt(path, sizeof path, "/proc/%d/exe", pid);
	if (stat("/proc/self/exe", &own) < 0 || stat(path, &exe) < 0 || own.st_ino != exe.st_ino ||
	    own.st_dev != exe.st_dev)
		return false;
	fmt(path, sizeof path, "/proc/%d/cmdline", pid);
	SCOPE_FD int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t got = fd < 0 ? 0 : read(fd, text, sizeof text);
	const char *second = got > 0 ? memchr(text, '\0', (size_t)got) : NULL;
	return second && text + got - ++second >= (ssize_t)sizeof word && memcmp(second, word, sizeof word) == 0;
}

static bool is_spared(const struct stray *stray, pid_t pid)
{
	for (int i = 0; i < stray->spared_count; i++) {
		if (stray->spared[i] == pid)
			return true;
	}
	return false;
}

/* Marks what belongs to the job, until nothing changes: a child of a member is a member. */
static void spread(const struct stray *stray, struct table *table)
{
	for (size_t i = 0; i < table->count; i++) {
		struct process *one = &table->list[i];
		one->spared = is_spared(stray, one->pid) || one->pid == getpid();
		bool child = stray->supervisor && one->parent == stray->supervisor;
		one->job = !one->spared && (child || (stray->session && one->session == stray->session) ||
					    (stray->mark && stray->mark[0] && one->start >= stray->since &&
					     is_marked(one->pid, stray->mark)));
		if (one->job && child && is_worker(one->pid)) {
			one->job = false;
			one->spared = true;
		}
	}
	for (bool changed = true; changed;) {
		changed = false;
		for (size_t i = 0; i < table->count; i++) {
			struct process *one = &table->list[i], *parent = find(table, one->parent);
			if (!one->job && !one->spared && parent && parent->job)
				changed = one->job = true;
		}
	}
}

size_t stray_each(const struct stray *stray, void (*visit)(pid_t pid, void *context), void *context)
{
	struct table table = { 0 };
	size_t count = 0;

	read_table(&table);
	spread(stray, &table);
	for (size_t i = 0; i < table.count; i++) {
		if (!table.list[i].job)
			continue;
		count++;
		visit(table.list[i].pid, context);
	}
	free(table.list);
	return count;
}

static void signal_one(pid_t pid, void *context)
{
	SCOPE_FD int fd = pidfd_open(pid, 0);

	if (fd >= 0)
		pidfd_send_signal(fd, *(int *)context, NULL, 0);
}

size_t stray_signal(const struct stray *stray, int sig)
{
	return stray_each(stray, signal_one, &sig);
}

bool stray_kill(const struct stray *stray, int timeout_ms)
{
	int64_t until = clock_awake_ns() + timeout_ms * NS_PER_MS;

	while (stray_signal(stray, SIGSTOP) > 0) {
		/* Nothing is reaped here: zombies do not count, and how the first process ended is for the supervisor
		 * to learn. */
		stray_signal(stray, SIGKILL);
		if (clock_awake_ns() >= until)
			return false;
		poll(NULL, 0, 1);
	}
	return true;
}
