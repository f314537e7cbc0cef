/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "procid.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "file.h"
#include "fmt.h"
#include "scope.h"

static struct procid self;
static uint64_t self_ns;

/* State and start time of /proc/PID/stat: fields 3 and 22, counted after the last ')' since the name may hold anything.
 */
static int read_stat(pid_t pid, char *ret_state, uint64_t *ret_start)
{
	char path[40], text[1024];

	fmt(path, sizeof path, "/proc/%d/stat", pid);
	if (file_read_small(AT_FDCWD, path, text, sizeof text) <= 0)
		return -1;
	const char *field = strrchr(text, ')');
	if (!field || field[1] != ' ')
		return -1;
	*ret_state = field[2];
	field++;
	for (int number = 3; number <= 22; number++) {
		field = strchr(field, ' ');
		if (!field)
			return -1;
		field++;
	}
	*ret_start = fmt_read(field, NULL);
	return *ret_start ? 0 : -1;
}

static uint64_t read_ns(pid_t pid)
{
	char path[40];
	struct stat found;

	fmt(path, sizeof path, "/proc/%d/ns/pid", pid);
	return stat(path, &found) == 0 ? found.st_ino : 0;
}

/* By itself, since who only tells whether others are there needs no more of us: a file of /proc less to read. */
static uint64_t own_ns(void)
{
	if (self_ns == 0)
		self_ns = read_ns(getpid());
	return self_ns;
}

const struct procid *procid_self(void)
{
	char state;

	if (self.pid != 0)
		return &self;
	self.pid = getpid();
	if (read_stat(self.pid, &state, &self.start) < 0)
		self.start = 0;
	self.ns = own_ns();
	return &self;
}

void procid_forget(void)
{
	self = (struct procid){ 0 };
	self_ns = 0;
}

int procid_read(pid_t pid, struct procid *ret_id)
{
	char state;
	uint64_t start;

	if (pid <= 0 || read_stat(pid, &state, &start) < 0 || state == 'Z' || state == 'X')
		return -1;
	*ret_id = (struct procid){ .pid = pid, .start = start, .ns = own_ns() };
	return 0;
}

static bool same_namespace(const struct procid *id)
{
	return id->pid > 0 && id->ns == own_ns();
}

bool procid_alive(const struct procid *id)
{
	struct procid now;

	return same_namespace(id) && procid_read(id->pid, &now) == 0 && now.start == id->start;
}

bool procid_stopped(const struct procid *id)
{
	char state;
	uint64_t start;

	return same_namespace(id) && read_stat(id->pid, &state, &start) == 0 && start == id->start &&
	       (state == 'T' || state == 't');
}

int procid_open(const struct procid *id)
{
	if (!same_namespace(id)) {
		errno = ESRCH;
		return -1;
	}
	SCOPE_FD int fd = pidfd_open(id->pid, 0);
	if (fd < 0)
		return -1;
	if (fcntl(fd, F_SETFD, FD_CLOEXEC) < 0)
		return -1;
	if (!procid_alive(id)) {
		errno = ESRCH;
		return -1;
	}
	return TAKE_FD(fd);
}

bool procid_signal(const struct procid *id, int sig)
{
	SCOPE_FD int fd = procid_open(id);

	return fd >= 0 && pidfd_send_signal(fd, sig, NULL, 0) == 0;
}

bool procid_equal(const struct procid *a, const struct procid *b)
{
	return a->pid == b->pid && a->start == b->start && a->ns == b->ns;
}

const char *procid_boot(struct err *err)
{
	static char boot[40];
	char text[40];

	if (boot[0])
		return boot;
	ssize_t got = file_read_small(AT_FDCWD, "/proc/sys/kernel/random/boot_id", text, sizeof text);
	if (got != 37) {
		errno = got < 0 ? errno : EPROTO;
		err_sys(err, "cannot read /proc/sys/kernel/random/boot_id");
		return NULL;
	}
	fmt(boot, sizeof boot, "%.36s", text);
	return boot;
}
