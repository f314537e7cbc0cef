/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "stray.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "conf/base/clock.h"
#include "conf/base/err.h"
#include "conf/base/file.h"
#include "conf/base/fmt.h"
#include "conf/base/scope.h"

/* Fields of /proc/PID/stat, as proc(5) numbers them. */
enum { PROC_PARENT = 4, PROC_SESSION = 6, PROC_START = 22, PROC_SIZE = 23, PROC_ENV_END = 51 };

/* One look may miss who was forked by a process that then ended, with a number that the look was past already. */
enum { QUIET_LOOKS = 2 };

struct process {
	pid_t pid, parent, session;
	uint64_t start;
	bool job;    /* belongs to the job */
	bool spared; /* or to one that is spared */
	bool memory; /* a kernel thread has none, nor what is as good as gone */
};

struct table {
	struct process *list;
	size_t count, room;
	size_t unknown; /* of these it could not be told: they are in the middle of an exec */
	bool torn;	/* some may be left out: memory, descriptors or /proc itself were not to be had */
};

/* After a call that failed: not because who was looked at is gone, or somebody else's. */
static bool is_torn(void)
{
	return err_may_pass(&(struct err){ .errnum = errno });
}

static struct process *find(const struct table *table, pid_t pid)
{
	for (size_t i = 0; i < table->count; i++) {
		if (table->list[i].pid == pid)
			return &table->list[i];
	}
	return NULL;
}

static void add(struct table *table, const struct process *process)
{
	if (table->count == table->room) {
		size_t room = table->room ? table->room * 2 : 256;
		struct process *list = realloc(table->list, room * sizeof *list);
		if (!list) {
			table->torn = true;
			return;
		}
		table->list = list;
		table->room = room;
	}
	table->list[table->count++] = *process;
}

static bool read_fields(const char *name, int64_t *field, int last)
{
	char path[64], text[1024];

	fmt(path, sizeof path, "/proc/%.20s/stat", name);
	if (file_read_small(AT_FDCWD, path, text, sizeof text) <= 0)
		return false;
	const char *rest = strrchr(text, ')');
	if (!rest || rest[1] != ' ' || rest[2] == 'Z' || rest[2] == 'X')
		return false;
	rest += 3;
	for (int i = PROC_PARENT; i <= last; i++)
		field[i] = fmt_read_signed(rest, &rest);
	return true;
}

static bool read_process(const char *name, struct process *ret)
{
	int64_t field[PROC_SIZE + 1] = { 0 };

	if (!read_fields(name, field, PROC_SIZE))
		return false;
	*ret = (struct process){ .pid = (pid_t)fmt_read_signed(name, NULL),
				 .parent = (pid_t)field[PROC_PARENT],
				 .session = (pid_t)field[PROC_SESSION],
				 .start = (uint64_t)field[PROC_START],
				 .memory = field[PROC_SIZE] != 0 };
	return field[PROC_START] != 0;
}

static void read_table(struct table *table)
{
	SCOPE_DIR DIR *proc = opendir("/proc");

	table->torn = !proc;
	errno = 0;
	for (struct dirent *found; proc && (found = readdir(proc)); errno = 0) {
		struct process process;
		if (found->d_name[0] < '1' || found->d_name[0] > '9')
			continue;
		errno = 0;
		if (read_process(found->d_name, &process))
			add(table, &process);
		else
			table->torn |= is_torn();
	}
	table->torn |= errno != 0;
}

enum marked { MARKED_NO, MARKED_YES, MARKED_UNKNOWN, MARKED_TORN };

/* Its environment reads empty: it has none, or is on its way from one program to the next, whose is not there yet. */
static enum marked judge_empty(pid_t pid)
{
	int64_t field[PROC_ENV_END + 1] = { 0 };
	char name[16];

	fmt(name, sizeof name, "%d", pid);
	bool empty = !read_fields(name, field, PROC_ENV_END) || field[PROC_SIZE] == 0 ||
		     (field[PROC_ENV_END] && field[PROC_ENV_END] == field[PROC_ENV_END - 1]);
	return empty ? MARKED_NO : MARKED_UNKNOWN;
}

/* Whether the environment a process was started with holds the assignment. */
static enum marked is_marked(pid_t pid, const char *mark)
{
	char path[64], text[65536];
	size_t length = strlen(mark);
	ssize_t got;
	bool empty = true;

	fmt(path, sizeof path, "/proc/%d/environ", pid);
	SCOPE_FD int fd = open(path, O_RDONLY | O_CLOEXEC);
	size_t kept = 0;
	while (fd >= 0 && (got = read(fd, text + kept, sizeof text - 1 - kept)) > 0) {
		size_t size = kept + (size_t)got;
		empty = false;
		text[size] = '\0';
		for (char *at = text; at + length < text + size; at++) {
			if ((at == text || at[-1] == '\0') && memcmp(at, mark, length) == 0 && at[length] == '\0')
				return MARKED_YES;
			at += strlen(at);
			if (at >= text + size)
				break;
		}
		/* The last string may go on in the next piece. */
		char *last = memrchr(text, '\0', size);
		kept = last && size - (size_t)(last - text) < sizeof text / 2 ? size - (size_t)(last - text) : 0;
		memmove(text, text + size - kept, kept);
	}
	if (fd < 0)
		return is_torn() ? MARKED_TORN : MARKED_NO;
	return empty ? judge_empty(pid) : MARKED_NO;
}

void stray_spare(struct stray *stray, pid_t pid)
{
	if (pid > 0 && stray->spared_count < STRAY_SPARED)
		stray->spared[stray->spared_count++] = pid;
}

/*
 * -1 where the kernel does not tell (CONFIG_PROC_CHILDREN). proc(5) warns that some may be left out when one is reaped
 * meanwhile: ours are by nobody else.
 */
static int own_children(pid_t *pids, int room)
{
	char text[4096];
	siginfo_t none;
	int count = 0;

	/* There is none, as a rule. */
	if (waitid(P_ALL, 0, &none, WEXITED | WNOHANG | WNOWAIT) < 0)
		return 0;
	ssize_t got = file_read_small(AT_FDCWD, "/proc/thread-self/children", text, sizeof text);
	if (got < 0 || got >= (ssize_t)sizeof text - 1)
		return -1;
	for (const char *at = text, *next; count < room; at = next + (*next == ' ')) {
		pid_t pid = (pid_t)fmt_read(at, &next);
		if (next == at)
			break;
		pids[count++] = pid;
	}
	return count;
}

int stray_children(pid_t parent, pid_t *pids, int room)
{
	struct table table = { 0 };
	int count = parent == getpid() ? own_children(pids, room) : -1;

	if (count >= 0)
		return count;
	count = 0;
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

bool stray_childless(const struct stray *stray)
{
	pid_t pids[STRAY_SPARED];
	int count = own_children(pids, STRAY_SPARED);

	for (int i = 0; i < count; i++) {
		if (!is_spared(stray, pids[i]) && !is_worker(pids[i]))
			return false;
	}
	return count >= 0 && count < STRAY_SPARED;
}

/* Marks what belongs to the job, until nothing changes: a child of a member is a member. Whoever dies has no
 * environment any more while it still has its files, and the card: who was `seen` is one until it is gone. */
static void spread(const struct stray *stray, const struct table *seen, struct table *table)
{
	for (size_t i = 0; i < table->count; i++) {
		struct process *one = &table->list[i];
		one->spared = is_spared(stray, one->pid) || one->pid == getpid();
		bool child = stray->supervisor && one->parent == stray->supervisor;
		const struct process *before = find(seen, one->pid);
		bool known = (before && before->start == one->start) ||
			     (one->pid == stray->first.pid && one->start == stray->first.start);
		one->job = !one->spared && (known || child || (stray->session && one->session == stray->session));
		if (!one->job && !one->spared && one->memory && stray->mark && stray->mark[0] &&
		    one->start >= stray->since) {
			enum marked marked = is_marked(one->pid, stray->mark);
			one->job = marked == MARKED_YES;
			table->unknown += marked == MARKED_UNKNOWN;
			table->torn |= marked == MARKED_TORN;
		}
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

/* `seen`: who was found by earlier looks; filled. One more is counted where some may be left out: what cannot be read
 * is not gone. */
static size_t look(const struct stray *stray, struct table *seen,
		   void (*visit)(const struct process *process, void *context), void *context)
{
	struct table table = { 0 };
	size_t count = 0;

	read_table(&table);
	spread(stray, seen, &table);
	for (size_t i = 0; i < table.count; i++) {
		if (!table.list[i].job)
			continue;
		count++;
		if (!find(seen, table.list[i].pid))
			add(seen, &table.list[i]);
		visit(&table.list[i], context);
	}
	free(table.list);
	seen->unknown = table.unknown;
	return count + table.torn;
}

struct visitor {
	void (*visit)(pid_t pid, void *context);
	void *context;
};

static void visit_pid(const struct process *process, void *context)
{
	const struct visitor *visitor = context;

	visitor->visit(process->pid, visitor->context);
}

/* Between the look and the signal its number may have become somebody else's. */
static void signal_one(const struct process *process, void *context)
{
	struct procid id = { .pid = process->pid, .start = process->start, .ns = procid_self()->ns };

	procid_signal(&id, *(int *)context);
}

static size_t look_once(const struct stray *stray, void (*visit)(const struct process *process, void *context),
			void *context)
{
	struct table seen = { 0 };
	size_t count = look(stray, &seen, visit, context);

	free(seen.list);
	return count;
}

size_t stray_each(const struct stray *stray, void (*visit)(pid_t pid, void *context), void *context)
{
	struct visitor visitor = { visit, context };

	return look_once(stray, visit_pid, &visitor);
}

size_t stray_signal(const struct stray *stray, int sig)
{
	return look_once(stray, signal_one, &sig);
}

bool stray_kill(const struct stray *stray, int timeout_ms)
{
	int64_t until = clock_awake_ns() + timeout_ms * NS_PER_MS;
	struct table seen = { 0 };
	size_t found = 0;

	for (int quiet = 0; quiet < QUIET_LOOKS;) {
		int stop = SIGSTOP, end = SIGKILL;
		found = look(stray, &seen, signal_one, &stop);
		quiet = found + seen.unknown > 0 ? 0 : quiet + 1;
		if (quiet)
			continue;
		/* Nothing is reaped here: zombies do not count, and how the first process ended is for the supervisor
		 * to learn. */
		if (found > 0)
			look(stray, &seen, signal_one, &end);
		/* An exec that takes so long is no reason to keep a lane: as likely as not it is nobody of the job. */
		if (clock_awake_ns() >= until)
			break;
		poll(NULL, 0, 1);
	}
	free(seen.list);
	return found == 0;
}
