/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cell.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

#include "conf/base/clock.h"
#include "conf/base/file.h"
#include "conf/base/fmt.h"
#include "conf/base/scope.h"

static bool is_v2(const char *path)
{
	struct statfs found;

	return statfs(path, &found) == 0 && found.f_type == CGROUP2_SUPER_MAGIC;
}

/*
 * The mount point of the v2 tree: where systemd puts it, in a unified and in a hybrid tree; else field 5 of the
 * mountinfo line whose type, behind " - ", is cgroup2 (proc(5)).
 */
static bool find_mount(char path[PATH_MAX])
{
	const char *usual = is_v2("/sys/fs/cgroup") ? "/sys/fs/cgroup" : "/sys/fs/cgroup/unified";

	if (is_v2(usual))
		return fmt(path, PATH_MAX, "%s", usual) > 0;
	SCOPE_FREE char *text = malloc(65536);
	char *next = text;
	if (!text || file_read_pieces(AT_FDCWD, "/proc/self/mountinfo", text, 65536) <= 0)
		return false;
	for (char *row; (row = strsep(&next, "\n"));) {
		if (strstr(row, " - cgroup2 ") && sscanf(row, "%*s %*s %*s %*s %4095s", path) == 1)
			return true;
	}
	return false;
}

/* A row that `text` cut off has no end, and does not count. */
static bool find_own_in(char *text, size_t size, char path[PATH_MAX])
{
	char *next = text;

	if (file_read_small(AT_FDCWD, "/proc/self/cgroup", text, size) <= 0)
		return false;
	for (char *row; (row = strsep(&next, "\n")) && next;) {
		if (strncmp(row, "0::/", 4) == 0) {
			fmt(path, PATH_MAX, "%s", row + 3);
			return true;
		}
	}
	return false;
}

/* Our own cgroup in the v2 tree: the line "0::/PATH" (cgroups(7)). It stands behind those of v1, which may be long. */
static bool find_own(char path[PATH_MAX])
{
	enum { USUAL = 1024, ALL = 65536 };
	char usual[USUAL];
	SCOPE_FREE char *text = NULL;

	if (find_own_in(usual, USUAL, path))
		return true;
	text = malloc(ALL);
	return text && find_own_in(text, ALL, path);
}

static bool has_word(int folder, const char *file, const char *word)
{
	char text[512];
	char *next = text;

	if (file_read_small(folder, file, text, sizeof text) <= 0)
		return false;
	for (char *found; (found = strsep(&next, " \n"));) {
		if (strcmp(found, word) == 0)
			return true;
	}
	return false;
}

/*
 * May we make cells in `path`? A user's delegated folder belongs to the user. Root may write anywhere, but below
 * systemd a folder that was not delegated is systemd's own: there root takes the tree's root only, which nobody manages
 * in a container.
 */
static bool try_place(const char *path, bool is_root, struct cell_place *place)
{
	struct stat found;
	bool managed = access("/run/systemd/system", F_OK) == 0;
	SCOPE_FD int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0 || fstat(fd, &found) < 0 || faccessat(fd, "cgroup.procs", W_OK, AT_EACCESS) < 0 ||
	    faccessat(fd, ".", W_OK, AT_EACCESS) < 0)
		return false;
	if (found.st_uid != geteuid() || (geteuid() == 0 && managed && !is_root))
		return false;
	if (fmt(place->folder, sizeof place->folder, "%s", path) >= CELL_PATH)
		return false;
	place->available = true;
	place->freezer = true;
	place->memory = has_word(fd, "cgroup.subtree_control", "memory");
	if (!place->memory)
		fmt(place->reason, sizeof place->reason, "the memory controller is not enabled in %.120s", path);
	return true;
}

__attribute__((noinline)) static void find_place(struct cell_place *ret_place)
{
	char mount[PATH_MAX], own[PATH_MAX], path[2 * PATH_MAX];

	if (!find_mount(mount) || !find_own(own)) {
		fmt(ret_place->reason, sizeof ret_place->reason, "no cgroup v2 is mounted here");
		return;
	}
	bool is_root = strcmp(own, "/") == 0;
	if (!is_root) {
		int parent = (int)(strrchr(own, '/') - own);
		fmt(path, sizeof path, "%s%.*s", mount, parent, own);
		if (try_place(path, parent == 0, ret_place))
			return;
	}
	fmt(path, sizeof path, "%s%s", mount, is_root ? "" : own);
	if (!try_place(path, is_root, ret_place))
		fmt(ret_place->reason, sizeof ret_place->reason, "cgroup %.120s is not delegated to user %u", own,
		    geteuid());
}

static struct cell_place found_place;
static bool place_known;

void cell_place_forget(void)
{
	place_known = false;
}

const struct cell_place *cell_place_find(bool wanted)
{
	if (place_known && wanted)
		return &found_place;
	found_place.available = found_place.memory = found_place.freezer = false;
	found_place.reason[0] = found_place.folder[0] = '\0';
	if (wanted)
		find_place(&found_place);
	else
		fmt(found_place.reason, sizeof found_place.reason, "cells are off in the configuration");
	place_known = wanted;
	return &found_place;
}

static int write_file(int folder, const char *name, const char *text)
{
	SCOPE_FD int fd = openat(folder, name, O_WRONLY | O_CLOEXEC);

	return fd < 0 ? -1 : write_all(fd, text, strlen(text));
}

static int open_files(struct cell *cell, struct err *err)
{
	cell->fd = open(cell->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	if (cell->fd >= 0)
		cell->events_fd = openat(cell->fd, "cgroup.events", O_RDONLY | O_CLOEXEC);
	if (cell->fd >= 0 && cell->events_fd >= 0)
		return 0;
	err_sys(err, "cannot open cell %s", cell->path);
	cell_close(cell);
	return -1;
}

static int set_ceiling(struct cell *cell, uint64_t memory_bytes, struct err *err)
{
	char text[32];

	fmt(text, sizeof text, "%llu", (unsigned long long)memory_bytes);
	if (write_file(cell->fd, "memory.max", text) < 0)
		return err_sys(err, "cannot set the memory ceiling of %s", cell->path);
	if (write_file(cell->fd, "memory.swap.max", "0") < 0 && errno != ENOENT)
		return err_sys(err, "cannot forbid swap in %s", cell->path);
	if (write_file(cell->fd, "memory.oom.group", "1") < 0 && errno != ENOENT)
		return err_sys(err, "cannot set the group kill of %s", cell->path);
	return 0;
}

void cell_path(const struct cell_place *place, const char *name, char path[CELL_PATH])
{
	if (fmt(path, CELL_PATH, "%s/%s", place->folder, name) >= CELL_PATH)
		path[0] = '\0';
}

int cell_make(const struct cell_place *place, const char *name, uint64_t memory_bytes, struct cell *ret_cell,
	      struct err *err)
{
	struct cell cell = CELL_NONE;

	cell_path(place, name, cell.path);
	if (!cell.path[0])
		return err_set(err, EXIT_FAILED, "cannot make cell %s: the path is too long", name);
	if (mkdir(cell.path, 0755) < 0 && errno != EEXIST)
		return err_sys(err, "cannot make cell %s", cell.path);
	if (open_files(&cell, err) < 0 || (place->memory && set_ceiling(&cell, memory_bytes, err) < 0)) {
		rmdir(cell.path);
		cell_close(&cell);
		return -1;
	}
	*ret_cell = cell;
	return 0;
}

int cell_open(const char *path, struct cell *ret_cell, struct err *err)
{
	struct cell cell = CELL_NONE;

	if (fmt(cell.path, sizeof cell.path, "%s", path) >= (int)sizeof cell.path)
		return err_set(err, EXIT_FAILED, "cannot open cell: the path is too long");
	if (open_files(&cell, err) < 0)
		return -1;
	*ret_cell = cell;
	return 0;
}

bool cell_contains_self(const char *path)
{
	char mount[PATH_MAX], own[PATH_MAX], full[2 * PATH_MAX];
	size_t length = strlen(path);

	if (!find_own(own) || strcmp(own, "/") == 0 || !find_mount(mount))
		return false;
	fmt(full, sizeof full, "%s%s", mount, own);
	return strncmp(full, path, length) == 0 && (full[length] == '\0' || full[length] == '/');
}

bool cell_self_is_job(void)
{
	char own[PATH_MAX];

	return find_own(own) && strstr(own, "/pgpu-");
}

/* The value of `key` in cgroup.events; -1 when the cgroup is gone. */
static int read_event(const struct cell *cell, const char *key)
{
	char text[256];
	ssize_t got = pread(cell->events_fd, text, sizeof text - 1, 0);

	if (got < 0)
		return -1;
	text[got] = '\0';
	char *found = strstr(text, key);
	return found ? found[strlen(key) + 1] == '1' : -1;
}

bool cell_populated(const struct cell *cell)
{
	return cell->fd >= 0 && read_event(cell, "populated") == 1;
}

static bool wait_for_event(const struct cell *cell, const char *key, int value, int timeout_ms)
{
	int64_t until = clock_awake_ns() + timeout_ms * NS_PER_MS;

	for (;;) {
		int now = read_event(cell, key);
		if (now < 0 || now == value)
			return true;
		int64_t left = (until - clock_awake_ns()) / NS_PER_MS;
		struct pollfd change = { .fd = cell->events_fd, .events = POLLPRI };
		if (left <= 0 || (poll(&change, 1, (int)left) < 0 && errno != EINTR))
			return read_event(cell, key) == value;
	}
}

bool cell_wait_empty(const struct cell *cell, int timeout_ms)
{
	return cell->fd < 0 || wait_for_event(cell, "populated", 0, timeout_ms);
}

bool cell_freeze(const struct cell *cell, bool frozen, int timeout_ms)
{
	if (write_file(cell->fd, "cgroup.freeze", frozen ? "1" : "0") < 0)
		return false;
	return wait_for_event(cell, "frozen", frozen, timeout_ms);
}

static void each_below(int folder, void (*visit)(pid_t, void *), void *context, int depth)
{
	SCOPE_FREE char *pids = NULL;
	size_t size = 0;
	SCOPE_FD int fd = openat(folder, "cgroup.procs", O_RDONLY | O_CLOEXEC);
	FILE *file = fd < 0 ? NULL : fdopen(TAKE_FD(fd), "r");

	if (file) {
		while (getline(&pids, &size, file) > 0) {
			pid_t pid = (pid_t)fmt_read_signed(pids, NULL);
			if (pid > 0)
				visit(pid, context);
		}
		fclose(file);
	}
	int copy = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	SCOPE_DIR DIR *list = copy < 0 ? NULL : fdopendir(copy);
	for (struct dirent *found; list && depth < 64 && (found = readdir(list));) {
		if (found->d_type != DT_DIR || found->d_name[0] == '.')
			continue;
		SCOPE_FD int below = openat(folder, found->d_name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
		if (below >= 0)
			each_below(below, visit, context, depth + 1);
	}
}

void cell_each(const struct cell *cell, void (*visit)(pid_t pid, void *context), void *context)
{
	if (cell->fd >= 0)
		each_below(cell->fd, visit, context, 0);
}

static void signal_one(pid_t pid, void *context)
{
	SCOPE_FD int fd = pidfd_open(pid, 0);

	if (fd >= 0)
		pidfd_send_signal(fd, *(int *)context, NULL, 0);
}

void cell_signal(const struct cell *cell, int sig)
{
	cell_each(cell, signal_one, &sig);
}

void cell_kill(const struct cell *cell)
{
	if (cell->fd < 0 || write_file(cell->fd, "cgroup.kill", "1") == 0)
		return;
	/* Before Linux 5.14: frozen, nothing forks any more; a killed process leaves a frozen cgroup. */
	cell_freeze(cell, true, 500);
	for (int tries = 0; tries < 100 && cell_populated(cell); tries++) {
		cell_signal(cell, SIGKILL);
		cell_freeze(cell, false, 0);
		cell_wait_empty(cell, 10);
	}
}

void cell_read_figures(const struct cell *cell, struct cell_figures *ret_figures)
{
	char text[1024];

	*ret_figures = (struct cell_figures){ .cpu_ns = -1, .peak_memory_bytes = -1 };
	if (cell->fd < 0)
		return;
	if (file_read_small(cell->fd, "cpu.stat", text, sizeof text) > 0 && strncmp(text, "usage_usec ", 11) == 0)
		ret_figures->cpu_ns = fmt_read_signed(text + 11, NULL) * 1000;
	if (file_read_small(cell->fd, "memory.peak", text, sizeof text) > 0)
		ret_figures->peak_memory_bytes = fmt_read_signed(text, NULL);
}

/* A job may have made cgroups of its own below; the kernel removes only empty leaves. */
static void remove_below(int folder, int depth)
{
	int copy = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	SCOPE_DIR DIR *list = copy < 0 ? NULL : fdopendir(copy);

	for (struct dirent *found; list && depth < 64 && (found = readdir(list));) {
		if (found->d_type != DT_DIR || found->d_name[0] == '.')
			continue;
		SCOPE_FD int below = openat(folder, found->d_name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
		if (below >= 0)
			remove_below(below, depth + 1);
		unlinkat(folder, found->d_name, AT_REMOVEDIR);
	}
}

void cell_remove(struct cell *cell)
{
	if (cell->fd < 0)
		return;
	if (rmdir(cell->path) < 0 && errno == EBUSY) {
		remove_below(cell->fd, 0);
		rmdir(cell->path);
	}
	cell_close(cell);
}

void cell_close(struct cell *cell)
{
	scope_close(&cell->fd);
	scope_close(&cell->events_fd);
	cell->fd = cell->events_fd = -1;
}
