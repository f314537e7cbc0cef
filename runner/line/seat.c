/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "seat.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "conf/base/clock.h"
#include "conf/base/file.h"
#include "conf/base/fmt.h"
#include "conf/base/scope.h"

void seat_name(int number, char name[32])
{
	if (number == SEAT_STANDING)
		fmt(name, 32, "standing-0");
	else if (number == SEAT_STANDBY || number == SEAT_SECOND)
		fmt(name, 32, "%s", number == SEAT_STANDBY ? "standby" : "second");
	else
		fmt(name, 32, "lane-%d", number);
}

static int cannot(struct err *err, const char *verb, int number)
{
	char name[32];

	seat_name(number, name);
	return err_sys(err, "cannot %s %s", verb, name);
}

static int open_seat(struct line *line, int number, int flags)
{
	char name[32];

	seat_name(number, name);
	return openat(line->boot_fd, name, flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
}

static struct flock byte_lock(uint64_t gen)
{
	return (struct flock){ .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = (off_t)gen, .l_len = 1 };
}

/* Whether anybody has any byte of it locked. */
static bool any_held(int fd)
{
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };

	return fcntl(fd, F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

/* A text that cannot be read must not stop the queue: locked, the seat is busy with something; unlocked, it starts
 * anew. */
static void read_damaged(int fd, struct seat_view *view)
{
	view->unreadable = true;
	view->held = any_held(fd);
	view->entry =
		(struct entry){ .state = view->held ? ENTRY_COMPLETING : ENTRY_FREE, .gen = (uint64_t)clock_boot_ns() };
}

static bool byte_held(int fd, uint64_t gen)
{
	struct flock lock = byte_lock(gen);

	return fcntl(fd, F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

int seat_read(struct line *line, int number, struct seat_view *ret_view, struct err *err)
{
	SCOPE_FD int fd = open_seat(line, number, O_RDONLY);

	ret_view->number = number;
	ret_view->held = ret_view->unreadable = false;
	ret_view->entry = (struct entry){ 0 };
	if (fd < 0)
		return errno == ENOENT ? 0 : cannot(err, "open", number);
	struct err damaged = ERR_NONE;
	if (entry_read(fd, &ret_view->entry, &damaged) < 0)
		read_damaged(fd, ret_view);
	else
		ret_view->held = byte_held(fd, ret_view->entry.gen);
	return 0;
}

/* After the number of lanes was lowered, what runs in the others still counts. */
static int count_lanes(struct line *line)
{
	char name[32];
	int count = line->conf.lanes > 0 ? line->conf.lanes : 1;

	for (; count < CONF_LANES; count++) {
		seat_name(count, name);
		if (!file_exists(line->boot_fd, name))
			break;
	}
	return count;
}

int seat_read_all(struct line *line, struct seat_view **ret_views, int *ret_lanes, struct err *err)
{
	int count = count_lanes(line);
	struct seat_view *views = malloc((size_t)(count + 2) * sizeof *views);

	*ret_views = views;
	*ret_lanes = count;
	if (!views)
		return err_sys(err, "cannot look at the lanes");
	for (int lane = 0; lane < count; lane++) {
		if (seat_read(line, lane, &views[lane], err) < 0)
			return -1;
	}
	if (seat_read(line, SEAT_STANDBY, &views[count], err) < 0)
		return -1;
	return seat_read(line, SEAT_SECOND, &views[count + 1], err);
}

int seat_take(struct line *line, const struct seat_view *view, struct entry *entry, struct seat *ret_seat,
	      struct err *err)
{
	SCOPE_FD int fd = open_seat(line, view->number, O_RDWR | O_CREAT);
	struct flock lock = byte_lock(view->entry.gen + 1);

	if (fd < 0)
		return cannot(err, "open", view->number);
	if (fcntl(fd, F_OFD_SETLK, &lock) < 0)
		return cannot(err, "lock", view->number);
	entry->gen = view->entry.gen + 1;
	entry->since_boot_ns = clock_boot_ns();
	if (entry_write(fd, entry, err) < 0)
		return -1;
	*ret_seat = (struct seat){ .fd = TAKE_FD(fd), .number = view->number, .gen = entry->gen };
	return 0;
}

/* The next generation's text, of a seat that nobody has locked. */
static int put(struct line *line, const struct seat_view *view, struct entry *entry, struct err *err)
{
	SCOPE_FD int fd = open_seat(line, view->number, O_RDWR | O_CREAT);

	if (fd < 0)
		return cannot(err, "open", view->number);
	entry->gen = view->entry.gen + 1;
	return entry_write(fd, entry, err);
}

int seat_grant(struct line *line, const struct seat_view *view, struct entry *entry, struct err *err)
{
	entry->state = ENTRY_GRANTED;
	entry->since_boot_ns = clock_boot_ns();
	return put(line, view, entry, err);
}

int seat_take_back(struct line *line, const struct seat_view *view, struct err *err)
{
	struct entry entry = { .state = ENTRY_FREE };

	return put(line, view, &entry, err);
}

int seat_update(const struct seat *seat, struct entry *entry, struct err *err)
{
	entry->gen = seat->gen;
	return entry_write(seat->fd, entry, err);
}

bool seat_ours(const struct seat *seat)
{
	struct entry now;
	struct err ignored = ERR_NONE;

	return seat->fd >= 0 && entry_read(seat->fd, &now, &ignored) == 0 && now.gen == seat->gen;
}

int seat_free(struct seat *seat, struct err *err)
{
	struct entry entry = { .gen = seat->gen, .state = ENTRY_FREE };
	int result = 0;

	if (seat->fd < 0)
		return 0;
	if (seat_ours(seat))
		result = entry_write(seat->fd, &entry, err);
	seat_drop(seat);
	return result;
}

void seat_drop(struct seat *seat)
{
	if (seat->fd >= 0)
		close(seat->fd);
	*seat = SEAT_NONE;
}
