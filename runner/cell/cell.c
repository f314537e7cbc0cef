/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cell.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "conf/base/clock.h"
#include "conf/base/file.h"
#include "conf/base/fmt.h"
#include "conf/base/scope.h"
#include "dmem.h"

static int write_file(int folder, const char *name, const char *text)
{
	int fd_now;

	do
		fd_now = openat(folder, name, O_WRONLY | O_CLOEXEC);
	while (fd_now < 0 && errno == EINTR);
	SCOPE_FD int fd = fd_now;
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

/* /proc/swaps has a line of titles, and one for each swap. */
static bool machine_swaps(void)
{
	char text[256], *titles_end;

	if (file_read_small(AT_FDCWD, "/proc/swaps", text, sizeof text) <= 0)
		return false;
	titles_end = strchr(text, '\n');
	return titles_end && titles_end[1];
}

static int set_ceiling(struct cell *cell, uint64_t memory_bytes, struct err *err)
{
	char text[32];

	fmt(text, sizeof text, "%llu", (unsigned long long)memory_bytes);
	if (write_file(cell->fd, "memory.max", text) < 0)
		return err_sys(err, "cannot set the memory ceiling of %s", cell->path);
	if (write_file(cell->fd, "memory.swap.max", "0") < 0) {
		if (errno != ENOENT)
			return err_sys(err, "cannot forbid swap in %s", cell->path);
		cell->swaps = machine_swaps();
	}
	if (write_file(cell->fd, "memory.oom.group", "1") < 0 && errno != ENOENT)
		return err_sys(err, "cannot set the group kill of %s", cell->path);
	return 0;
}

static int set_limits(const struct cell_place *place, struct cell *cell, const struct cell_limits *limits,
		      struct err *err)
{
	char text[32];

	if (place->memory && set_ceiling(cell, limits->memory_bytes, err) < 0)
		return -1;
	fmt(text, sizeof text, "%d", limits->processes);
	if (place->pids && write_file(cell->fd, "pids.max", text) < 0)
		return err_sys(err, "cannot limit the processes of %s", cell->path);
	return 0;
}

void cell_path(const struct cell_place *place, const char *name, char path[CELL_PATH])
{
	if (fmt(path, CELL_PATH, "%s/%s", place->folder, name) >= CELL_PATH)
		path[0] = '\0';
}

/* The tree's very root has no such files; what is made in it has those that its kernel knows. */
static bool swap_is_free(const struct cell_place *place)
{
	SCOPE_FD int fd = open(place->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	return fd >= 0 && file_exists(fd, "memory.max") && !file_exists(fd, "memory.swap.max") && machine_swaps();
}

void cell_missing(const struct cell_place *place, const struct cell *cell, char text[CELL_MISSING])
{
	bool made = cell ? cell->fd >= 0 : place->available;
	bool memory = made && place->memory;
	struct {
		bool missing;
		const char *text;
	} parts[] = {
		{ !made, "children may escape" },
		{ !made || !place->freezer, "SIGSTOP stands in for the freezer" },
		{ !memory, "the memory ceiling is watched, not enforced by the kernel" },
		{ memory && (cell ? cell->swaps : swap_is_free(place)), "swap not limited (no memory.swap.max)" },
		{ !made || !place->pids, "processes not limited" },
	};
	int used = 0;

	text[0] = '\0';
	for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
		if (parts[i].missing)
			used += fmt(text + used, CELL_MISSING - (size_t)used, "%s%s", used ? "; " : "", parts[i].text);
	}
}

/* One of that name can only be what a queue of the same inode left long ago: its counters would be ours. */
static int make_folder(const char *path)
{
	if (mkdir(path, 0755) == 0)
		return 0;
	return errno == EEXIST && rmdir(path) == 0 ? mkdir(path, 0755) : -1;
}

int cell_make(const struct cell_place *place, const char *name, const struct cell_limits *limits, struct cell *ret_cell,
	      struct err *err)
{
	struct cell cell = CELL_NONE;

	cell_path(place, name, cell.path);
	if (!cell.path[0])
		return err_set(err, EXIT_FAILED, "cannot make cell %s: the path is too long", name);
	if (make_folder(cell.path) < 0)
		return err_sys(err, "cannot make cell %s", cell.path);
	if (limits->vram_bytes)
		cell_place_want_dmem(place);
	if (open_files(&cell, err) < 0 || set_limits(place, &cell, limits, err) < 0) {
		rmdir(cell.path);
		cell_close(&cell);
		return -1;
	}
	cell.vram = limits->vram_bytes && dmem_set(cell.fd, limits->vram_bytes);
	*ret_cell = cell;
	return 0;
}

bool cell_enter(int cell_fd)
{
	return write_file(cell_fd, "cgroup.procs", "0") == 0;
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

enum { EVENT_GONE = -1, EVENT_UNKNOWN = -2 };

/* The value of `key` in cgroup.events. A read after the cgroup's end gives ENODEV (cgroups(7)); what cannot be read may
 * be anything. */
static int read_event(const struct cell *cell, const char *key)
{
	char text[256];
	ssize_t got = pread(cell->events_fd, text, sizeof text - 1, 0);

	if (got < 0)
		return errno == ENODEV ? EVENT_GONE : EVENT_UNKNOWN;
	text[got] = '\0';
	char *found = strstr(text, key);
	return found ? found[strlen(key) + 1] == '1' : EVENT_UNKNOWN;
}

bool cell_populated(const struct cell *cell)
{
	int populated = cell->fd < 0 ? 0 : read_event(cell, "populated");

	return populated == 1 || populated == EVENT_UNKNOWN;
}

static bool wait_for_event(const struct cell *cell, const char *key, int value, int timeout_ms)
{
	int64_t until = clock_awake_ns() + timeout_ms * NS_PER_MS;

	for (;;) {
		int now = read_event(cell, key);
		if (now == EVENT_GONE || now == value)
			return true;
		int64_t left = (until - clock_awake_ns()) / NS_PER_MS;
		struct pollfd change = { .fd = cell->events_fd, .events = POLLPRI };
		if (left <= 0 || (poll(&change, 1, (int)left) < 0 && errno != EINTR)) {
			errno = ETIMEDOUT;
			return read_event(cell, key) == value;
		}
	}
}

bool cell_wait_empty(const struct cell *cell, int timeout_ms)
{
	return cell->fd < 0 || wait_for_event(cell, "populated", 0, timeout_ms);
}

bool cell_freeze(const struct cell *cell, bool frozen, int timeout_ms)
{
	if (write_file(cell->fd, "cgroup.freeze", frozen ? "1" : "0") < 0) {
		if (errno != ENOENT || cell->fd < 0)
			return false;
		cell_signal(cell, frozen ? SIGSTOP : SIGCONT);
		return true;
	}
	return wait_for_event(cell, "frozen", frozen, timeout_ms);
}

/* The number at `text`, in so many of what is returned; -1 for what is none ("max"), or does not fit. */
static int64_t figure(const char *text, int64_t unit)
{
	const char *end;
	uint64_t number = fmt_read(text, &end);

	return end == text || number > (uint64_t)(INT64_MAX / unit) ? -1 : (int64_t)number * unit;
}

/* A look at the cgroup open as `folder` and at those nested in it; removes the nested ones where that is wanted. */
struct walk {
	void (*look)(int folder, struct walk *walk);
	void (*visit)(pid_t pid, void *context);
	void *context;
	bool remove; /* the kernel removes only empty leaves */
};

/* NOLINTNEXTLINE(misc-no-recursion): `depth` bounds it */
static void walk_below(int folder, struct walk *walk, int depth)
{
	int copy = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	SCOPE_DIR DIR *list = copy < 0 ? NULL : fdopendir(copy);

	if (walk->look)
		walk->look(folder, walk);
	for (struct dirent *found; list && depth < 64 && (found = readdir(list));) {
		if (found->d_type != DT_DIR || found->d_name[0] == '.')
			continue;
		SCOPE_FD int below = openat(folder, found->d_name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
		if (below >= 0)
			walk_below(below, walk, depth + 1);
		if (walk->remove)
			unlinkat(folder, found->d_name, AT_REMOVEDIR);
	}
}

static void visit_processes(int folder, struct walk *walk)
{
	SCOPE_FREE char *pids = NULL;
	size_t size = 0;
	SCOPE_FD int fd = openat(folder, "cgroup.procs", O_RDONLY | O_CLOEXEC);
	FILE *file = fd < 0 ? NULL : fdopen(TAKE_FD(fd), "r");

	while (file && getline(&pids, &size, file) > 0) {
		int64_t pid = figure(pids, 1);
		if (pid > 0 && pid <= INT32_MAX)
			walk->visit((pid_t)pid, walk->context);
	}
	if (file)
		(void)fclose(file);
}

void cell_each(const struct cell *cell, void (*visit)(pid_t pid, void *context), void *context)
{
	struct walk walk = { .look = visit_processes, .visit = visit, .context = context };

	if (cell->fd >= 0)
		walk_below(cell->fd, &walk, 0);
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

static void thaw(int folder, struct walk *walk)
{
	(void)walk;
	write_file(folder, "cgroup.freeze", "0");
}

void cell_terminate(const struct cell *cell, int sig)
{
	enum { FREEZE_MS = 200 };
	struct walk walk = { .look = thaw };

	cell_freeze(cell, true, FREEZE_MS);
	cell_signal(cell, sig);
	cell_signal(cell, SIGCONT);
	walk_below(cell->fd, &walk, 0);
}

void cell_kill(const struct cell *cell)
{
	if (cell->fd < 0 || write_file(cell->fd, "cgroup.kill", "1") == 0)
		return;
	/* Before Linux 5.14, and of threaded cgroups: frozen, nothing forks, and SIGKILL ends what is frozen. */
	cell_freeze(cell, true, 500);
	for (int tries = 0; tries < 100 && cell_populated(cell); tries++) {
		cell_signal(cell, SIGKILL);
		cell_wait_empty(cell, 10);
	}
	cell_freeze(cell, false, 0);
}

static int64_t read_number(const struct cell *cell, const char *name)
{
	char text[32];

	return file_read_small(cell->fd, name, text, sizeof text) > 0 ? figure(text, 1) : -1;
}

void cell_read_figures(const struct cell *cell, struct cell_figures *ret_figures)
{
	char text[1024];

	*ret_figures = (struct cell_figures){ .cpu_ns = -1, .peak_memory_bytes = -1 };
	if (cell->fd < 0)
		return;
	if (file_read_small(cell->fd, "cpu.stat", text, sizeof text) > 0 && strncmp(text, "usage_usec ", 11) == 0)
		ret_figures->cpu_ns = figure(text + 11, 1000);
	ret_figures->peak_memory_bytes = read_number(cell, "memory.peak");
}

bool cell_knows_peak(const struct cell *cell)
{
	return file_exists(cell->fd, "memory.peak");
}

int64_t cell_memory_now(const struct cell *cell)
{
	return read_number(cell, "memory.current");
}

bool cell_is_full(const struct cell *cell)
{
	int64_t most = read_number(cell, "pids.max");

	return most > 0 && read_number(cell, "pids.current") >= most - most / 8;
}

/* The figure behind "KEY " at the start of a line; -1 where there is none. */
static int64_t read_figure(int folder, const char *name, const char *key)
{
	char text[4096], *next = text;
	size_t length = strlen(key);

	if (file_read_small(folder, name, text, sizeof text) <= 0)
		return -1;
	for (char *row; (row = strsep(&next, "\n"));) {
		if (strncmp(row, key, length) == 0 && row[length] == ' ')
			return figure(row + length, 1);
	}
	return -1;
}

int64_t cell_shared_memory(const struct cell *cell)
{
	return cell->fd < 0 ? -1 : read_figure(cell->fd, "memory.stat", "shmem");
}

void cell_read_pressure(const struct cell *cell, struct cell_pressure *ret_pressure)
{
	static const char percent[] = "full avg10=", total[] = "total=";
	char text[256];
	const char *found = NULL;

	*ret_pressure = (struct cell_pressure){ -1, -1 };
	if (cell->fd >= 0 && file_read_small(cell->fd, "memory.pressure", text, sizeof text) > 0)
		found = strstr(text, percent);
	if (!found)
		return;
	int64_t share = figure(found + sizeof percent - 1, 1);
	ret_pressure->percent = share > 100 ? -1 : (int)share;
	if ((found = strstr(found, total)))
		ret_pressure->waited_ns = figure(found + sizeof total - 1, 1000);
}

static uint64_t read_count(const struct cell *cell, const char *name, const char *key)
{
	int64_t count = read_figure(cell->fd, name, key);

	return count < 0 ? 0 : (uint64_t)count;
}

void cell_read_oom(const struct cell *cell, struct cell_oom *ret_oom)
{
	*ret_oom = (struct cell_oom){ 0 };
	if (cell->fd < 0 || (ret_oom->kills = read_count(cell, "memory.events", "oom_kill")) == 0)
		return;
	ret_oom->here = read_count(cell, "memory.events.local", "oom");
	ret_oom->below = read_count(cell, "memory.events", "oom");
}

void cell_remove(struct cell *cell)
{
	if (cell->fd < 0)
		return;
	if (rmdir(cell->path) < 0 && errno == EBUSY) {
		/* A job may have made cgroups of its own below. */
		struct walk walk = { .remove = true };
		walk_below(cell->fd, &walk, 0);
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
