/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "activity.h"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/uio.h>
#include <unistd.h>

#include "conf/base/clock.h"
#include "conf/base/file.h"
#include "conf/base/fmt.h"
#include "conf/base/names.h"
#include "conf/base/scope.h"

/* Fields of /proc/PID/stat by their numbers in proc_pid_stat(5). */
enum { STAT_GROUP = 5, STAT_TERMINAL = 7, STAT_FOREGROUND = 8, STAT_USER = 14, STAT_SYSTEM = 15, STAT_START = 22 };
enum { STAT_FIELDS = STAT_START + 1, THREADS = 64, WAITED_FOR = 64 };

static bool read_stat(pid_t pid, int64_t fields[STAT_FIELDS])
{
	char path[40], text[1024];

	fmt(path, sizeof path, "/proc/%d/stat", pid);
	if (file_read_small(AT_FDCWD, path, text, sizeof text) <= 0)
		return false;
	/* The name may hold anything; behind its ')' stand a blank, the state, and figures. */
	const char *at = strrchr(text, ')');
	if (!at || at[1] != ' ' || !at[2] || at[2] == 'Z' || at[2] == 'X')
		return false;
	at += 3;
	for (int number = 4; number < STAT_FIELDS; number++) {
		const char *end;
		fields[number] = fmt_read_signed(at, &end);
		if (end == at)
			return false;
		at = end;
	}
	return true;
}

/* FNV-1a over the bytes of a figure. */
static uint64_t mix(uint64_t mark, uint64_t figure)
{
	for (int i = 0; i < 8; i++, figure >>= 8)
		mark = (mark ^ (figure & 0xff)) * UINT64_C(0x100000001b3);
	return mark;
}

/* Every figure of the file: rchar, wchar, the calls, and what really went to a disk. */
static uint64_t mix_io(uint64_t mark, pid_t pid)
{
	char path[40], text[512];

	fmt(path, sizeof path, "/proc/%d/io", pid);
	if (file_read_small(AT_FDCWD, path, text, sizeof text) <= 0)
		return mark;
	for (const char *at = strchr(text, ':'); at; at = strchr(at + 1, ':'))
		mark = mix(mark, fmt_read(at + 1, NULL));
	return mark;
}

void activity_add(pid_t pid, void *context)
{
	struct work *work = context;
	int64_t fields[STAT_FIELDS], tick_ns = NS_PER_S / sysconf(_SC_CLK_TCK);

	if (!read_stat(pid, fields))
		return;
	work->count++;
	work->cpu_ns += (fields[STAT_USER] + fields[STAT_SYSTEM]) * tick_ns;
	/* A sum, so that the order in which they are met does not count. */
	uint64_t mark = mix(mix(UINT64_C(0xcbf29ce484222325), (uint64_t)pid), (uint64_t)fields[STAT_START]);
	work->mark += mix_io(mark, pid);
}

/* What a thread sleeps in: the call and its first two arguments. */
struct sleep {
	long call;
	uint64_t first, second;
};

static uint64_t read_hex(const char **at)
{
	uint64_t value = 0;

	while (**at == ' ')
		++*at;
	if (strncmp(*at, "0x", 2) == 0)
		*at += 2;
	for (;; ++*at) {
		int digit = **at >= '0' && **at <= '9' ? **at - '0' : **at >= 'a' && **at <= 'f' ? **at - 'a' + 10 : -1;
		if (digit < 0)
			return value;
		value = value << 4 | (uint64_t)digit;
	}
}

static bool read_sleep(pid_t pid, const char *thread, struct sleep *ret_sleep)
{
	char path[80], text[256];
	const char *at;

	fmt(path, sizeof path, "/proc/%d/task/%.20s/syscall", pid, thread);
	if (file_read_small(AT_FDCWD, path, text, sizeof text) <= 0 || text[0] < '0' || text[0] > '9')
		return false;
	ret_sleep->call = (long)fmt_read(text, &at);
	ret_sleep->first = read_hex(&at);
	ret_sleep->second = read_hex(&at);
	return true;
}

static bool is_terminal(pid_t pid, int fd, dev_t terminal)
{
	char path[64];
	struct stat found;

	fmt(path, sizeof path, "/proc/%d/fd/%d", pid, fd);
	return stat(path, &found) == 0 && S_ISCHR(found.st_mode) &&
	       (found.st_rdev == terminal || found.st_rdev == makedev(5, 0));
}

static ssize_t copy_from(pid_t pid, uint64_t address, void *to, size_t size)
{
	struct iovec here = { to, size }, there = { NULL, size };

	/* The address is another process's; no pointer of ours is made of it. */
	memcpy(&there.iov_base, &address, sizeof there.iov_base);
	return process_vm_readv(pid, &here, 1, &there, 1, 0);
}

static bool polls_terminal(pid_t pid, const struct sleep *sleep, dev_t terminal)
{
	struct pollfd polls[WAITED_FOR];
	size_t count = sleep->second < WAITED_FOR ? (size_t)sleep->second : WAITED_FOR;

	if (count == 0 || copy_from(pid, sleep->first, polls, count * sizeof *polls) <= 0)
		return false;
	for (size_t i = 0; i < count; i++) {
		if ((polls[i].events & POLLIN) && polls[i].fd >= 0 && is_terminal(pid, polls[i].fd, terminal))
			return true;
	}
	return false;
}

static bool selects_terminal(pid_t pid, const struct sleep *sleep, dev_t terminal)
{
	uint64_t set = 0;
	int count = sleep->first < WAITED_FOR ? (int)sleep->first : WAITED_FOR;

	if (!sleep->second || copy_from(pid, sleep->second, &set, sizeof set) <= 0)
		return false;
	for (int fd = 0; fd < count; fd++) {
		if ((set >> fd & 1) && is_terminal(pid, fd, terminal))
			return true;
	}
	return false;
}

static bool waits_for(pid_t pid, const struct sleep *sleep, dev_t terminal)
{
	switch (sleep->call) {
	case SYS_read:
	case SYS_readv: return is_terminal(pid, (int)sleep->first, terminal);
#ifdef SYS_poll
	case SYS_poll:
#endif
	case SYS_ppoll: return polls_terminal(pid, sleep, terminal);
#ifdef SYS_select
	case SYS_select:
#endif
	case SYS_pselect6: return selects_terminal(pid, sleep, terminal);
	default: return false;
	}
}

void activity_reads_terminal(pid_t pid, void *context)
{
	bool *reads = context;
	int64_t fields[STAT_FIELDS];
	char path[40];
	struct sleep sleep;
	int seen = 0;

	if (*reads || !read_stat(pid, fields) || fields[STAT_TERMINAL] == 0 ||
	    fields[STAT_FOREGROUND] != fields[STAT_GROUP])
		return;
	/* The kernel's old form of a device number, which fits an int. */
	unsigned device = (unsigned)fields[STAT_TERMINAL];
	dev_t terminal = makedev(device >> 8 & 0xfff, (device & 0xff) | (device >> 12 & 0xfff00));
	fmt(path, sizeof path, "/proc/%d/task", pid);
	SCOPE_FD int folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	SCOPE_NAMES struct names names = NAMES_NONE;
	if (folder < 0 || names_open(&names, folder) < 0)
		return;
	for (const struct dirent64 *found; seen++ < THREADS && (found = names_next(&names));) {
		if (found->d_name[0] != '.' && read_sleep(pid, found->d_name, &sleep) &&
		    waits_for(pid, &sleep, terminal))
			*reads = true;
	}
}
