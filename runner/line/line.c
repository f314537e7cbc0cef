/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "line.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

#include "conf/base/clock.h"
#include "conf/base/file.h"
#include "conf/base/procid.h"
#include "conf/base/say.h"
#include "conf/base/scope.h"
#include "conf/paths.h"

enum { ID_BLOCK = 100 };

void line_init(struct line *line)
{
	line->queue_fd = line->boot_fd = line->tickets_fd = line->lock_fd = -1;
	line->stops_blocked = false;
	line->conf_copy = 0;
	line->conf_err.text[0] = '\0';
	line->spool = (struct line_spool){ 0 };
}

int line_open(struct line *line, struct err *err)
{
	char boot[64];

	line->queue_fd = paths_state_open(err);
	if (line->queue_fd < 0)
		return -1;
	snprintf(boot, sizeof boot, "boot-%s", procid_boot());
	line->boot_fd = folder_open(line->queue_fd, boot, true, err);
	if (line->boot_fd < 0)
		return -1;
	line->tickets_fd = folder_open(line->boot_fd, "tickets", true, err);
	return line->tickets_fd < 0 ? -1 : 0;
}

void line_close(struct line *line)
{
	if (line->lock_fd >= 0)
		line_unlock(line);
	scope_close(&line->tickets_fd);
	scope_close(&line->boot_fd);
	scope_close(&line->queue_fd);
	line->tickets_fd = line->boot_fd = line->queue_fd = -1;
}

static uint64_t which_copy(const struct line *line)
{
	struct stat found;

	if (fstatat(line->queue_fd, "conf", &found, AT_SYMLINK_NOFOLLOW) < 0)
		return 0;
	return (found.st_ino << 32) ^ (uint64_t)(found.st_ctim.tv_sec * NS_PER_S + found.st_ctim.tv_nsec);
}

static int take_over_conf(struct line *line, bool may_lock, struct err *err)
{
	if (!may_lock)
		return 0;
	if (line_lock(line, err) < 0)
		return -1;
	int result = conf_copy_write(line->queue_fd, &line->conf, err);
	line->conf_copy = which_copy(line);
	line_unlock(line);
	return result;
}

int line_conf_again(struct line *line, struct err *err)
{
	uint64_t copy = which_copy(line);
	struct err why = ERR_NONE;

	if (copy == line->conf_copy)
		return 0;
	/* A copy that is missing or that a newer pgpu wrote: what we have was right a moment ago. */
	if (conf_copy_read(line->queue_fd, &line->conf, &why) == 0 || copy == 0)
		line->conf_copy = copy;
	(void)err;
	return 0;
}

int line_conf(struct line *line, bool may_lock, struct err *err)
{
	struct err missing = ERR_NONE;
	line->conf_copy = which_copy(line);
	bool have_copy = conf_copy_read(line->queue_fd, &line->conf, &missing) == 0;

	line->conf_err.text[0] = '\0';
	if (have_copy && conf_copy_fresh(&line->conf))
		return 0;
	SCOPE_FREE struct conf *found = malloc(sizeof *found);
	if (!found)
		return err_sys(err, "cannot read the configuration");
	line->conf_err = ERR_NONE;
	if (conf_load(found, &line->conf_err) < 0) {
		if (have_copy)
			return 0;
		return err_pass(err, &line->conf_err);
	}
	line->conf = *found;
	/* What a newer pgpu wrote is left alone. */
	return take_over_conf(line, may_lock && missing.errnum != EPROTO, err);
}

/* The pid that /proc/locks gives for our lock file: it names the owner of a flock(2) lock. */
static pid_t find_lock_holder(int fd)
{
	enum { ALL = 256 << 10 };
	SCOPE_FREE char *text = malloc(ALL);
	char wanted[64];
	struct stat found;

	if (!text || fstat(fd, &found) < 0 || file_read_pieces(AT_FDCWD, "/proc/locks", text, ALL) <= 0)
		return 0;
	snprintf(wanted, sizeof wanted, ":%llu 0 EOF", (unsigned long long)found.st_ino);
	for (char *next = text, *row; (row = strsep(&next, "\n"));) {
		int pid;
		if (strstr(row, wanted) && !strstr(row, "->") && sscanf(row, "%*s FLOCK %*s WRITE %d", &pid) == 1)
			return pid;
	}
	return 0;
}

static void nudge_lock_holder(int fd, int seconds)
{
	struct procid holder;

	if (procid_read(find_lock_holder(fd), &holder) < 0)
		return;
	procid_signal(&holder, SIGCONT);
	if (seconds == 10)
		say("waiting for the queue lock, held by process %d", holder.pid);
}

static void on_alarm(int sig)
{
	(void)sig;
}

/* flock(2) with a look around once a second: the interval timer breaks it off with EINTR. */
static int wait_for_lock(int fd)
{
	struct sigaction alarm = { .sa_handler = on_alarm }, old;
	struct itimerval second = { { 1, 0 }, { 1, 0 } }, none = { 0 };
	sigset_t only_alarm, mask;
	int result, seconds = 0;

	sigemptyset(&only_alarm);
	sigaddset(&only_alarm, SIGALRM);
	sigaction(SIGALRM, &alarm, &old);
	sigprocmask(SIG_UNBLOCK, &only_alarm, &mask);
	setitimer(ITIMER_REAL, &second, NULL);
	while ((result = flock(fd, LOCK_EX)) < 0 && errno == EINTR)
		nudge_lock_holder(fd, ++seconds);
	int saved = errno;
	setitimer(ITIMER_REAL, &none, NULL);
	sigprocmask(SIG_SETMASK, &mask, NULL);
	sigaction(SIGALRM, &old, NULL);
	errno = saved;
	return result;
}

int line_lock(struct line *line, struct err *err)
{
	SCOPE_FD int fd = openat(line->queue_fd, "lock", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	sigset_t stops;

	if (fd < 0)
		return err_sys(err, "cannot open the queue lock");
	/* Stopped by the terminal while holding it, we would stop everybody. */
	sigemptyset(&stops);
	sigaddset(&stops, SIGTSTP);
	sigaddset(&stops, SIGTTIN);
	sigaddset(&stops, SIGTTOU);
	if (!line->stops_blocked)
		sigprocmask(SIG_BLOCK, &stops, &line->mask);
	if (flock(fd, LOCK_EX | LOCK_NB) < 0 && (errno != EWOULDBLOCK || wait_for_lock(fd) < 0)) {
		err_sys(err, "cannot lock the queue");
		if (!line->stops_blocked)
			sigprocmask(SIG_SETMASK, &line->mask, NULL);
		return -1;
	}
	line->lock_fd = TAKE_FD(fd);
	say_hold(true);
	return 0;
}

void line_unlock(struct line *line)
{
	close(line->lock_fd);
	line->lock_fd = -1;
	say_hold(false);
	if (!line->stops_blocked)
		sigprocmask(SIG_SETMASK, &line->mask, NULL);
}

/* boot/next: "NEXT LIMIT"; ids from NEXT up to LIMIT are free to give out without a sync. */
static int read_next(struct line *line, uint64_t *ret_next, uint64_t *ret_limit)
{
	char text[64], *blank, *end;

	*ret_next = *ret_limit = 0;
	if (file_read_small(line->boot_fd, "next", text, sizeof text) <= 0)
		return 0;
	uint64_t next = strtoull(text, &blank, 10), limit = strtoull(blank, &end, 10);
	if (blank > text && *blank == ' ' && *end == '\n') {
		*ret_next = next;
		*ret_limit = limit;
	}
	return 0;
}

static int write_next(struct line *line, uint64_t next, uint64_t limit, struct err *err)
{
	char text[64];
	SCOPE_FD int fd = openat(line->boot_fd, "next", O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);

	if (fd < 0)
		return err_sys(err, "cannot open the id counter");
	/* Fixed width: overwritten in place, never shorter than before. */
	snprintf(text, sizeof text, "%020llu %020llu\n", (unsigned long long)next, (unsigned long long)limit);
	if (pwrite(fd, text, 42, 0) != 42)
		return err_sys(err, "cannot write the id counter");
	return 0;
}

static int read_counter(struct line *line, uint64_t *ret_counter, struct err *err)
{
	char text[32], *end;
	ssize_t got = file_read_small(line->queue_fd, "counter", text, sizeof text);

	*ret_counter = 0;
	if (got < 0 && errno == ENOENT)
		return 0;
	if (got > 0)
		*ret_counter = strtoull(text, &end, 10);
	if (got <= 0 || *end != '\n' || *ret_counter == 0)
		return err_set(err, EXIT_FAILED,
			       "cannot read the id counter: it is damaged; write into it a number above every job's");
	return 0;
}

/* The sync is done on a file beside the counter, without the lock; the lock covers the look and the rename. */
static int raise_counter(struct line *line, unsigned count, struct err *err)
{
	char text[32], name[32];
	uint64_t counter, again, next, limit, raised;

	if (read_counter(line, &counter, err) < 0)
		return -1;
	raised = counter + (count + ID_BLOCK - 1) / ID_BLOCK * ID_BLOCK;
	int length = snprintf(text, sizeof text, "%llu\n", (unsigned long long)raised);
	snprintf(name, sizeof name, ".counter.%d", getpid());
	if (file_replace(line->queue_fd, name, text, (size_t)length, FILE_DURABLE, err) < 0 || line_lock(line, err) < 0)
		return -1;
	int result = read_counter(line, &again, err);
	if (result == 0 && again == counter)
		result = renameat(line->queue_fd, name, line->queue_fd, "counter") < 0
				 ? err_sys(err, "cannot raise the id counter")
				 : 1;
	line_unlock(line);
	if (result != 1) {
		unlinkat(line->queue_fd, name, 0);
		return result;
	}
	if (fsync(line->queue_fd) < 0)
		return err_sys(err, "cannot sync the id counter");
	if (line_lock(line, err) < 0)
		return -1;
	read_next(line, &next, &limit);
	/* Blocks follow each other within a boot; the first of a boot starts a new one. */
	if (next == 0 || limit != counter)
		next = counter + 1;
	result = limit < raised ? write_next(line, next, raised, err) : 0;
	line_unlock(line);
	return result;
}

int line_reserve(struct line *line, unsigned count, struct err *err)
{
	uint64_t next, limit;

	for (;;) {
		read_next(line, &next, &limit);
		if (next && next + count - 1 <= limit)
			return 0;
		if (raise_counter(line, count, err) < 0)
			return -1;
	}
}

int line_take_ids(struct line *line, unsigned count, uint64_t *ret_first, struct err *err)
{
	uint64_t next, limit;

	read_next(line, &next, &limit);
	if (!next || next + count - 1 > limit)
		return 1;
	if (write_next(line, next + count, limit, err) < 0)
		return -1;
	*ret_first = next;
	return 0;
}

bool line_id_known(struct line *line, uint64_t id)
{
	uint64_t next, limit, counter;
	struct err ignored = ERR_NONE;

	read_next(line, &next, &limit);
	if (next)
		return id > 0 && id < next;
	return read_counter(line, &counter, &ignored) == 0 && id > 0 && id <= counter;
}
