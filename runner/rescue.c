/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "rescue.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "conf/base/clock.h"
#include "conf/base/file.h"
#include "conf/base/fmt.h"
#include "conf/base/say.h"
#include "conf/base/scope.h"
#include "runner/line/member.h"
#include "runner/line/seat.h"
#include "runner/line/wake.h"

/* A blocking `run` has no record: that it was running when the machine went down is known from its lane alone. */
static void log_lost_run(struct line *line, int boot, const char *name)
{
	struct entry entry;
	struct err ignored = ERR_NONE;
	SCOPE_FD int fd = openat(boot, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);

	if (strncmp(name, "lane-", 5) != 0 || fd < 0 || entry_read(fd, &entry, &ignored) < 0 || entry.id == 0)
		return;
	if (entry.kind == ENTRY_RUN && (entry.state == ENTRY_RUNNING || entry.state == ENTRY_COMPLETING)) {
		entry.since_boot_ns = 0; /* of another boot's clock */
		line->spool.lost(line->spool.context, &entry, &ignored);
	}
}

/* Removes the folder of an earlier boot; what cannot be removed is in nobody's way. */
static void remove_boot(struct line *line, const char *name)
{
	static const char *const below[] = { "tickets", "." };
	SCOPE_FD int boot = openat(line->queue_fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);

	for (size_t i = 0; boot >= 0 && i < sizeof below / sizeof below[0]; i++) {
		int fd = openat(boot, below[i], O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
		SCOPE_DIR DIR *list = fd < 0 ? NULL : fdopendir(fd);
		for (struct dirent *found; list && (found = readdir(list));) {
			if (strcmp(found->d_name, ".") == 0 || strcmp(found->d_name, "..") == 0)
				continue;
			log_lost_run(line, fd, found->d_name);
			unlinkat(fd, found->d_name, found->d_type == DT_DIR ? AT_REMOVEDIR : 0);
		}
	}
	unlinkat(line->queue_fd, name, AT_REMOVEDIR);
}

static void remove_old_boots(struct line *line)
{
	struct err ignored = ERR_NONE;
	const char *boot = procid_boot(&ignored);
	char ours[64];
	int fd = !boot ? -1 : openat(line->queue_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	SCOPE_DIR DIR *list = fd < 0 ? NULL : fdopendir(fd);

	fmt(ours, sizeof ours, "boot-%s", boot ? boot : "");
	for (struct dirent *found; list && (found = readdir(list));) {
		if (strncmp(found->d_name, "boot-", 5) == 0 && strcmp(found->d_name, ours) != 0)
			remove_boot(line, found->d_name);
	}
}

/* The first call after a boot: nothing that says running can be. */
int rescue_sweep(struct line *line, struct err *err)
{
	if (file_exists(line->boot_fd, "swept"))
		return 0;
	if (line_lock(line, err) < 0)
		return -1;
	int result = 0;
	bool swept = file_exists(line->boot_fd, "swept");
	if (!swept) {
		result = line->spool.sweep(line->spool.context, err);
		SCOPE_FD int fd = result < 0 ? -1
					     : openat(line->boot_fd, "swept",
						      O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
		if (result == 0 && fd < 0)
			result = err_sys(err, "cannot note the sweep after the boot");
	}
	line_unlock(line);
	/* Another call was first; two that repair the log at once would write each row twice. */
	if (swept)
		return 0;
	remove_old_boots(line);
	const char *network = folder_network(line->queue_fd);
	if (network)
		say("the queue's folder is on a network file system (%s), on which its locks are not to be relied on: "
		    "pgpu-spool(5), CAVEATS",
		    network);
	if (result < 0 || line->spool.sync(line->spool.context, err) < 0)
		return -1;
	return line->spool.repair(line->spool.context, err);
}

/* A standing job that waits, or runs, is seen to by who watches, and so are those that wait for their time. */
static int is_waiting(struct line *line, bool watched, struct err *err)
{
	struct candidates candidates = { 0 };
	struct line_pending pending = { 0 };
	int result = line->spool.list(line->spool.context, &candidates, &pending, err);
	bool timed = pending.timed > 0;

	for (size_t i = 0; i < candidates.count; i++)
		timed |= candidates.list[i].standing && candidates.list[i].gate == WAITS_LANE;
	candidates_free(&candidates);
	return result < 0 ? -1 : pending.competing > 0 || (timed && !watched);
}

struct left {
	struct line *line;
	bool watched;
};

/* 1 ends the search: a job that was frozen when its wrapper died, or who stands in line unwatched. */
static int is_left(const struct ticket_name *name, const char *file, void *context)
{
	const struct left *left = context;

	if (!left->watched && (name->flag == TICKET_PLAIN || name->flag == TICKET_TURN))
		return 1;
	return (name->flag == TICKET_FROZEN || name->flag == TICKET_TURN) && !ticket_read(left->line, file, NULL);
}

/* Looks without the lock; a wrong alarm costs one settle. */
static int looks_wrong(struct line *line, struct err *err)
{
	struct left left = { .line = line };
	struct seat_view view;
	int busy = 0, holders = 0;
	bool spool_runs = false;

	if (seat_read(line, SEAT_STANDBY, &view, err) < 0)
		return -1;
	/* One that is stopped can do nothing, and those that would see it may be stopped as well, or dead. */
	bool watched = left.watched = view.held && !procid_stopped(&view.entry.owner);
	for (int lane = 0; lane < CONF_LANES; lane++) {
		if (seat_read(line, lane, &view, err) < 0)
			return -1;
		if (view.entry.gen == 0 && lane >= line->conf.lanes)
			break;
		if (view.entry.state == ENTRY_FREE)
			continue;
		busy++;
		holders += view.held;
		spool_runs |= view.entry.kind == ENTRY_SPOOL;
		bool fresh = view.entry.state == ENTRY_GRANTED &&
			     clock_boot_ns() < view.entry.since_boot_ns + line->conf.take_ns;
		/* Granted a moment ago by somebody who may be dead: whoever watches the line sees to that, if anybody.
		 */
		if (!view.held && (!fresh || !watched) && !entry_rests(&view.entry, clock_boot_ns()))
			return 1;
	}
	if (spool_runs && !watched)
		return 1;
	int wrong = ticket_each(line, is_left, &left, err);
	/* A lane is free: with somebody there to fill it, that is a matter of a moment. */
	if (wrong != 0 || (watched && (holders > 0 || busy >= line->conf.lanes)))
		return wrong;
	return is_waiting(line, watched, err);
}

/* Its class's hours may be over, or begin, by the new configuration; nobody else tells who sleeps. */
static int tell_holders(struct line *line, struct err *err)
{
	struct seat_view view;

	for (int lane = 0; lane < CONF_LANES; lane++) {
		if (seat_read(line, lane, &view, err) < 0)
			return -1;
		if (view.entry.gen == 0 && lane >= line->conf.lanes)
			break;
		int fd = view.held && view.entry.state == ENTRY_RUNNING ? wake_look(&view.entry) : -1;
		if (fd >= 0)
			close(fd);
	}
	return 0;
}

int rescue_pass(struct line *line, bool always, struct err *err)
{
	struct member guest;

	if (rescue_sweep(line, err) < 0)
		return -1;
	if (always && line->spool.repair(line->spool.context, err) < 0)
		return -1;
	if (line->conf_new && tell_holders(line, err) < 0)
		return -1;
	int wrong = always || line->conf_new ? 1 : looks_wrong(line, err);
	if (wrong <= 0)
		return wrong;
	member_open(&guest, line, MEMBER_GUEST);
	int result = member_leave(&guest, err);
	member_close(&guest);
	return result;
}
