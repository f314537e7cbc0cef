/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "login.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "conf/base/account.h"
#include "conf/base/child.h"
#include "conf/base/clock.h"
#include "conf/base/file.h"
#include "conf/base/fmt.h"
#include "conf/base/scope.h"
#include "conf/paths.h"

enum { KIN = 32, NUMBER = 24, UNIT = 64, ANSWER = 160, BUS_MS = 10000, MOVE_MS = 5000 };

/* Who is to be in the scope: this process and its ancestors up to its session's leader. */
struct kin {
	char pids[KIN][NUMBER];
	int count;
	char unit[UNIT]; /* named after the last, so that each login has one */
};

struct process {
	pid_t parent, session;
	uint64_t start;
	uid_t uid;
};

bool login_managed(void)
{
	return file_exists(AT_FDCWD, "/run/systemd/system");
}

size_t login_scope(const char *own)
{
	static const char ending[] = ".scope";
	const char *ours = strstr(own, "/pgpu.");

	if (!ours)
		return 0;
	const char *end = ours + 1;
	while (*end && *end != '/' && *end != '\n')
		end++;
	bool is_scope = end - ours > (ptrdiff_t)sizeof ending &&
			memcmp(end - (sizeof ending - 1), ending, sizeof ending - 1) == 0;
	return is_scope ? (size_t)(end - own) : 0;
}

/* Field `number` of /proc/PID/stat, counted as proc(5) does; `after_name` is field 3. */
static uint64_t field_of(const char *after_name, int number)
{
	for (int at = 3; at < number && after_name; at++) {
		after_name = strchr(after_name, ' ');
		after_name += after_name != NULL;
	}
	return after_name ? fmt_read(after_name, NULL) : 0;
}

static bool read_process(pid_t pid, struct process *ret)
{
	char path[40], text[1024];
	struct stat found;

	fmt(path, sizeof path, "/proc/%d/stat", pid);
	if (file_read_small(AT_FDCWD, path, text, sizeof text) <= 0 || stat(path, &found) < 0)
		return false;
	const char *name_end = strrchr(text, ')');
	if (!name_end || name_end[1] != ' ')
		return false;
	*ret = (struct process){ .parent = (pid_t)field_of(name_end + 2, 4),
				 .session = (pid_t)field_of(name_end + 2, 6),
				 .start = field_of(name_end + 2, 22),
				 .uid = found.st_uid };
	return true;
}

/* The process is where we are: only then is moving it our business. */
static bool is_beside_us(pid_t pid, const char *own)
{
	char path[40], text[4096];

	fmt(path, sizeof path, "/proc/%d/cgroup", pid);
	if (file_read_small(AT_FDCWD, path, text, sizeof text) <= 0)
		return false;
	const char *row = strstr(text, "0::/");
	size_t length = strlen(own);
	return row && strncmp(row + 3, own, length) == 0 && row[3 + length] == '\n';
}

static void name_unit(struct kin *kin, pid_t pid, uint64_t start)
{
	fmt(kin->unit, UNIT, "pgpu.%d-%llu.scope", pid, (unsigned long long)start);
}

static void find_kin(const char *own, struct kin *kin)
{
	pid_t pid = getpid();
	struct process process;

	kin->count = 0;
	while (kin->count < KIN && read_process(pid, &process) && process.uid == geteuid() && is_beside_us(pid, own)) {
		fmt(kin->pids[kin->count++], NUMBER, "%d", pid);
		name_unit(kin, pid, process.start);
		if (pid == process.session)
			return;
		pid = process.parent;
	}
}

/* The bus needs its address; cron and sudo give none. What else is in the environment is nobody's business. */
static void bus_environment(char runtime[64], char address[96], char path[256], char *environment[4])
{
	const char *search = getenv("PATH");

	fmt(runtime, 64, "XDG_RUNTIME_DIR=/run/user/%u", geteuid());
	fmt(address, 96, "DBUS_SESSION_BUS_ADDRESS=unix:path=/run/user/%u/bus", geteuid());
	fmt(path, 256, "PATH=%s", search && strlen(search) < 240 ? search : "/usr/bin:/bin");
	environment[0] = runtime;
	environment[1] = address;
	environment[2] = path;
	environment[3] = NULL;
}

/* What busctl prints, or its complaint, is `answer`, one line: 0 when it says yes. */
static int busctl(char *argv[], char answer[ANSWER])
{
	char runtime[64], address[96], path[256], *environment[4];

	bus_environment(runtime, address, path, environment);
	int status = child_ask(argv, environment, BUS_MS, answer, ANSWER);
	if (status == -1)
		fmt(answer, ANSWER, "busctl cannot be started");
	*strchrnul(answer, '\n') = '\0';
	return status == 0 ? 0 : -1;
}

#define MANAGER	  "call", "org.freedesktop.systemd1", "/org/freedesktop/systemd1", "org.freedesktop.systemd1.Manager"
#define WHICH_BUS (geteuid() == 0 ? "--system" : "--user")

static int ask_for_scope(const struct kin *kin, char answer[ANSWER])
{
	char count[NUMBER], *argv[KIN + 32] = {
		"busctl", WHICH_BUS, MANAGER, "StartTransientUnit", "ssa(sv)a(sa(sv))", (char *)kin->unit, "fail", "4",
		"PIDs",	  "au",	     count
	};
	static char *const rest[] = { "Delegate",    "b", "true",
				      "CollectMode", "s", "inactive-or-failed",
				      "Description", "s", "jobs of pgpu from one login",
				      "0",	     NULL };
	int used = 14;

	fmt(count, sizeof count, "%d", kin->count);
	for (int i = 0; i < kin->count; i++)
		argv[used++] = (char *)kin->pids[i];
	for (char *const *word = rest; *word; word++)
		argv[used++] = *word;
	argv[used] = NULL;
	return busctl(argv, answer);
}

/* Another call from the same shell may have been first, without knowing of us: then we go alone. */
static int ask(struct kin *kin, char answer[ANSWER])
{
	struct process self;

	if (ask_for_scope(kin, answer) == 0)
		return 0;
	if (kin->count == 1 || !read_process(getpid(), &self))
		return -1;
	kin->count = 1;
	name_unit(kin, getpid(), self.start);
	return ask_for_scope(kin, answer);
}

static bool lingers(void)
{
	char path[300], user[200];

	if (!account_user(geteuid(), user, sizeof user) || strchr(user, '/'))
		return false;
	fmt(path, sizeof path, "/var/lib/systemd/linger/%s", user);
	return file_exists(AT_FDCWD, path);
}

static bool is_below_manager(const char *own)
{
	char manager[64];

	fmt(manager, sizeof manager, "/user@%u.service/", geteuid());
	return strstr(own, manager) != NULL;
}

bool login_may_enter(const char *own, char *reason, size_t size)
{
	char bus[64];

	fmt(bus, sizeof bus, "/run/user/%u/bus", geteuid());
	if (geteuid() != 0 && !file_exists(AT_FDCWD, bus)) {
		fmt(reason, size, "user %u has no systemd of its own here to ask for a cgroup", geteuid());
		return false;
	}
	if (geteuid() == 0 || is_below_manager(own) || lingers())
		return true;
	fmt(reason, size, "a cgroup from systemd would end with the last logout; 'loginctl enable-linger' keeps it");
	return false;
}

/* A file of the runtime folder for this login, locked: one asks, the others wait. What is in it is the answer. */
struct memory {
	int folder, fd;
	char name[UNIT + 16];
};
#define SCOPE_MEMORY __attribute__((cleanup(close_memory)))

static void close_memory(struct memory *memory)
{
	scope_close(&memory->fd);
	scope_close(&memory->folder);
}

static struct memory open_memory(const char *kind, const char *unit)
{
	char path[PATHS_RUNTIME], notice[256];
	struct err ignored = ERR_NONE;
	struct memory memory = { .folder = paths_runtime_open(path, notice, &ignored), .fd = -1 };

	fmt(memory.name, sizeof memory.name, "%s-%s", kind, unit);
	if (memory.folder >= 0)
		memory.fd = openat(memory.folder, memory.name, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	while (memory.fd >= 0 && flock(memory.fd, LOCK_EX) < 0 && errno == EINTR)
		;
	return memory;
}

static bool recall(const struct memory *memory, char *text, size_t size)
{
	ssize_t got = memory->fd < 0 ? -1 : pread(memory->fd, text, size - 1, 0);

	text[got < 0 ? 0 : got] = '\0';
	return got > 0;
}

/* Forgetting it costs one more question. */
static void remember(const struct memory *memory, const char *text)
{
	if (memory->fd >= 0 && pwrite(memory->fd, text, strlen(text), 0) < 0)
		return;
}

static bool is_moved(void)
{
	char own[4096];

	return file_read_small(AT_FDCWD, "/proc/self/cgroup", own, sizeof own) > 0 && login_scope(own);
}

/* One that has ended meanwhile is nowhere. */
static bool all_moved(const struct kin *kin, const char *own)
{
	for (int i = 0; i < kin->count; i++) {
		if (is_beside_us((pid_t)fmt_read_signed(kin->pids[i], NULL), own))
			return false;
	}
	return is_moved();
}

/*
 * systemd has said yes and moves us, one after the other, when it comes to it. All of us are waited for: one that came
 * to the scope's top after it was furnished would keep it from giving its controllers on.
 */
static bool wait_until_moved(const struct kin *kin, const char *own)
{
	int64_t until = clock_awake_ns() + MOVE_MS * NS_PER_MS;

	while (!all_moved(kin, own)) {
		if (clock_awake_ns() > until)
			return false;
		poll(NULL, 0, 1);
	}
	return true;
}

bool login_enter(const char *own, char *reason, size_t size)
{
	char answer[ANSWER];
	struct kin kin;

	if (!login_may_enter(own, reason, size))
		return false;
	find_kin(own, &kin);
	if (kin.count == 0) {
		fmt(reason, size, "cgroup %.120s is not delegated to user %u", own, geteuid());
		return false;
	}
	SCOPE_MEMORY struct memory memory = open_memory("asked", kin.unit);
	if (is_moved())
		return true;
	if (recall(&memory, reason, size))
		return false;
	if (ask(&kin, answer) == 0 && wait_until_moved(&kin, own)) {
		unlinkat(memory.folder, memory.name, 0);
		return true;
	}
	fmt(reason, size, "systemd gave no scope: %s", answer[0] ? answer : "it has not moved us");
	remember(&memory, reason);
	return false;
}

/* Whether logind ends what a login leaves behind: asked once a login. */
static bool ends_with_login(const char *own)
{
	char answer[ANSWER], *argv[] = { "busctl",
					 "--system",
					 "get-property",
					 "org.freedesktop.login1",
					 "/org/freedesktop/login1",
					 "org.freedesktop.login1.Manager",
					 "KillUserProcesses",
					 NULL };
	struct kin kin;

	find_kin(own, &kin);
	if (kin.count == 0)
		return false;
	SCOPE_MEMORY struct memory memory = open_memory("mortal", kin.unit);
	if (!recall(&memory, answer, sizeof answer)) {
		if (busctl(argv, answer) < 0)
			return false;
		remember(&memory, answer);
	}
	return strcmp(answer, "b true") == 0;
}

const char *login_mortal(const char *own)
{
	static const char mortal[] = "a detached job ends when you log out; 'loginctl enable-linger' keeps it";
	static const char exposed[] =
		"a detached job ends when you log out: only a cell lies outside of the login, and there is none";

	if (geteuid() == 0 || !login_managed())
		return NULL;
	if (is_below_manager(own))
		return lingers() ? NULL : mortal;
	if (!strstr(own, "/session-") || !ends_with_login(own))
		return NULL;
	return lingers() ? exposed : mortal;
}
