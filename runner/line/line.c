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
#include "conf/base/fmt.h"
#include "conf/base/procid.h"
#include "conf/base/say.h"
#include "conf/base/scope.h"
#include "conf/base/text.h"
#include "conf/jobid.h"
#include "conf/paths.h"
#include "pause.h"

enum { ID_BLOCK = 100 };
#define DRAINED "drained"

void line_init(struct line *line)
{
	line->queue_fd = line->boot_fd = line->tickets_fd = line->lock_fd = -1;
	line->stops_blocked = false;
	line->conf_copy = 0;
	line->conf_broken = line->conf_new = line->conf_foreign = false;
	line->no_tickets = (struct names_empty){ 0 };
	line->spool = (struct line_spool){ 0 };
	line->card = (struct line_card){ 0 };
}

int line_open(struct line *line, struct err *err)
{
	char boot[64];
	const char *id = procid_boot(err);

	line->queue_fd = id ? paths_state_open(err) : -1;
	if (line->queue_fd < 0)
		return -1;
	fmt(boot, sizeof boot, "boot-%s", id);
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

int line_conf_put(struct line *line, struct err *err)
{
	int result = conf_copy_write(line->queue_fd, &line->conf, err);

	line->conf_copy = which_copy(line);
	return result;
}

static int take_over_conf(struct line *line, bool may_lock, struct err *err)
{
	if (!may_lock)
		return 0;
	if (line_lock(line, err) < 0)
		return -1;
	int result = line_conf_put(line, err);
	line_unlock(line);
	line->conf_new = result == 0;
	return result;
}

/* A file that cannot be read is one that says "for good": whoever drained the queue had his reasons. */
static int64_t read_drained(const struct line *line)
{
	SCOPE_FREE char *text = NULL;
	struct err why = ERR_NONE;
	int64_t until_s;

	if (file_read(line->queue_fd, DRAINED, 64, &text, NULL, &why) < 0)
		return why.errnum == ENOENT ? 0 : CONF_NEVER;
	text[strcspn(text, "\n")] = '\0';
	return text_number_parse(text, 1, CONF_NEVER, &until_s, NULL) < 0 ? CONF_NEVER : until_s;
}

static int write_drained(const struct line *line, int64_t until_s, struct err *err)
{
	char text[32];
	int size = fmt(text, sizeof text, "%lld\n", (long long)until_s);

	if (until_s)
		return file_replace(line->queue_fd, DRAINED, text, (size_t)size, FILE_DURABLE, err);
	if (unlinkat(line->queue_fd, DRAINED, 0) < 0)
		return errno == ENOENT ? 0 : err_sys(err, "cannot undrain the queue");
	return fsync(line->queue_fd) < 0 ? err_sys(err, "cannot undrain the queue") : 0;
}

int line_drain(struct line *line, int64_t until_s, struct err *err)
{
	if (write_drained(line, until_s, err) < 0)
		return err_wrap(err, "%s", until_s ? "cannot drain the queue" : "cannot undrain the queue");
	if (line_lock(line, err) < 0)
		return -1;
	line_conf_again(line, err);
	/* As the file says now: of two who say something at once the later one is right. */
	line->conf.drained_until_s = read_drained(line);
	int result = line_conf_put(line, err);
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

	line->conf_broken = false;
	if (have_copy && conf_copy_fresh(&line->conf))
		return 0;
	SCOPE_FREE struct conf *found = malloc(sizeof *found);
	if (!found)
		return err_sys(err, "cannot read the configuration");
	line->conf_err = ERR_NONE;
	line->conf_broken = conf_load(found, &line->conf_err) < 0;
	if (line->conf_broken) {
		if (have_copy)
			return 0;
		/* Our file and the copy are both a newer pgpu's. What it counts with we do not know: nothing is
		 * started by us. */
		line->conf_foreign = missing.errnum == EPROTO && conf_load_builtin(&line->conf, err) == 0;
		line->conf.drained_until_s = CONF_NEVER;
		return line->conf_foreign ? 0 : err_pass(err, &line->conf_err);
	}
	line->conf = *found;
	line->conf.drained_until_s = read_drained(line);
	pause_apply(line);
	/* What a newer pgpu wrote is left alone. */
	struct err why = ERR_NONE;
	if (take_over_conf(line, may_lock && missing.errnum != EPROTO, &why) == 0)
		return 0;
	/* One that cannot be put on file, on a full disk say, is not in force: others would count with another one. */
	if (!have_copy || conf_copy_read(line->queue_fd, &line->conf, NULL) < 0)
		return err_pass(err, &why);
	line->conf_broken = true;
	line->conf_err = why;
	return 0;
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
	fmt(wanted, sizeof wanted, ":%llu 0 EOF", (unsigned long long)found.st_ino);
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
struct next {
	int fd;
	int why; /* it could not be opened */
	uint64_t next, limit;
};
#define SCOPE_NEXT __attribute__((cleanup(close_next)))

static void close_next(struct next *next)
{
	scope_close(&next->fd);
}

static struct next open_next(struct line *line)
{
	const int flags = O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
	struct next next = { .fd = openat(line->boot_fd, "next", flags, 0600) };
	char text[64];
	const char *blank, *end;

	next.why = errno;
	ssize_t got = pread(next.fd, text, sizeof text - 1, 0);

	text[got < 0 ? 0 : got] = '\0';
	next.next = fmt_read(text, &blank);
	next.limit = fmt_read(blank, &end);
	if (blank == text || *blank != ' ' || *end != '\n')
		next.next = next.limit = 0;
	return next;
}

static int write_next(const struct next *next, struct err *err)
{
	char text[64];

	/* Fixed width: overwritten in place, never shorter than before. */
	fmt(text, sizeof text, "%020llu %020llu\n", (unsigned long long)next->next, (unsigned long long)next->limit);
	if (next->fd < 0)
		errno = next->why;
	if (next->fd < 0 || write_at(next->fd, text, 42, 0) < 0)
		return err_sys(err, "cannot write the id counter");
	return 0;
}

static int read_counter(struct line *line, uint64_t *ret_counter, struct err *err)
{
	const char *end;
	char text[32];
	ssize_t got = file_read_small(line->queue_fd, "counter", text, sizeof text);

	*ret_counter = 0;
	if (got < 0 && errno == ENOENT)
		return 0;
	if (got > 0)
		*ret_counter = fmt_read(text, &end);
	if (got <= 0 || *end != '\n' || *ret_counter == 0)
		return err_set(err, EXIT_FAILED,
			       "cannot read the id counter: it is damaged; write into it a number above every job's");
	return 0;
}

/* The sync is done on a file beside the counter, without the lock; the lock covers the look and the rename. */
static int raise_counter(struct line *line, unsigned count, struct err *err)
{
	char text[32], name[32];
	uint64_t counter, again, raised;

	if (read_counter(line, &counter, err) < 0)
		return -1;
	raised = counter + (count + ID_BLOCK - 1) / ID_BLOCK * ID_BLOCK;
	int length = fmt(text, sizeof text, "%llu\n", (unsigned long long)raised);
	fmt(name, sizeof name, ".counter.%d", getpid());
	if (file_replace(line->queue_fd, name, text, (size_t)length, FILE_DURABLE, err) < 0 || line_lock(line, err) < 0)
		return -1;
	int result = read_counter(line, &again, err);
	if (result == 0 && again == counter)
		result = file_rename(line->queue_fd, name, line->queue_fd, "counter", 0) < 0
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
	SCOPE_NEXT struct next next = open_next(line);
	/* Blocks follow each other within a boot; the first of a boot starts a new one. */
	if (next.next == 0 || next.limit != counter)
		next.next = counter + 1;
	bool raises = next.limit < raised;
	next.limit = raised;
	result = raises ? write_next(&next, err) : 0;
	line_unlock(line);
	return result;
}

/* `count` ids can be taken from what is there. */
static bool has_ids(const struct next *next, unsigned count)
{
	return next->next && next->next + count - 1 <= next->limit;
}

int line_reserve(struct line *line, unsigned count, struct err *err)
{
	for (;;) {
		SCOPE_NEXT struct next next = open_next(line);
		if (has_ids(&next, count))
			return 0;
		if (raise_counter(line, count, err) < 0)
			return -1;
	}
}

int line_take_ids(struct line *line, unsigned count, uint64_t *ret_first, struct err *err)
{
	SCOPE_NEXT struct next next = open_next(line);

	/* No reason to reserve again, for ever. */
	if (next.fd < 0) {
		errno = next.why;
		return err_sys(err, "cannot open the id counter");
	}
	if (!has_ids(&next, count))
		return 1;
	*ret_first = jobid_of(next.next);
	next.next += count;
	return write_next(&next, err);
}

bool line_id_known(struct line *line, uint64_t id)
{
	SCOPE_NEXT struct next next = open_next(line);
	uint64_t counter, number = jobid_number(id);
	struct err ignored = ERR_NONE;

	if (next.next)
		return number > 0 && number < next.next;
	return read_counter(line, &counter, &ignored) == 0 && number > 0 && number <= counter;
}
