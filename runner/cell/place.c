/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "place.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

#include "conf/base/file.h"
#include "conf/base/fmt.h"
#include "conf/base/scope.h"
#include "login.h"

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
	char *end;

	if (file_read_small(AT_FDCWD, "/proc/self/cgroup", text, size) <= 0)
		return false;
	for (char *row = text; (end = strchr(row, '\n')); row = end + 1) {
		if (strncmp(row, "0::/", 4) == 0) {
			fmt(path, PATH_MAX, "%.*s", (int)(end - row) - 3, row + 3);
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

/* `text` is words between blanks, and a line's end. */
static bool has_word(const char *text, const char *word)
{
	size_t length = strlen(word);

	for (const char *at = text; *at; at += *at == ' ') {
		if (strncmp(at, word, length) == 0 && (at[length] == ' ' || at[length] == '\n'))
			return true;
		at = strchrnul(at, ' ');
	}
	return false;
}

static bool may_write(int folder)
{
	struct stat found;

	return fstat(folder, &found) == 0 && found.st_uid == geteuid() &&
	       faccessat(folder, "cgroup.procs", W_OK, AT_EACCESS) == 0 &&
	       faccessat(folder, ".", W_OK, AT_EACCESS) == 0;
}

/* The folder as a place for cells; false when nothing may be made in it. */
static bool try_place(const char *path, struct cell_place *place)
{
	SCOPE_FD int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	char controllers[512];

	if (fd < 0 || !may_write(fd) || fmt(place->folder, sizeof place->folder, "%s", path) >= CELL_PATH)
		return false;
	place->available = true;
	place->freezer = true;
	if (file_read_small(fd, "cgroup.subtree_control", controllers, sizeof controllers) < 0)
		controllers[0] = '\0';
	place->memory = has_word(controllers, "memory");
	place->pids = has_word(controllers, "pids");
	if (!place->memory)
		fmt(place->reason, sizeof place->reason, "the memory controller is not enabled in %.120s", path);
	return true;
}

static bool put(int folder, const char *name, const char *text)
{
	SCOPE_FD int fd = openat(folder, name, O_WRONLY | O_CLOEXEC);

	return fd >= 0 && write_all(fd, text, strlen(text)) == 0;
}

/*
 * A scope that was just made has us and our shell at its top, and a cgroup with processes of its own cannot give its
 * controllers on ("no internal processes"): they go one step down, into `callers`, cells stay beside it. Once a login,
 * never when a job starts: a move costs more than a start. Who forks meanwhile is caught by the next round.
 */
static void furnish(const char *scope)
{
	enum { ROUNDS = 100 };
	SCOPE_FD int top = open(scope, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	char pids[4096];

	if (top < 0 || (mkdirat(top, "callers", 0755) < 0 && errno != EEXIST))
		return;
	for (int round = 0; round < ROUNDS; round++) {
		char *next = pids;
		if (file_read_small(top, "cgroup.procs", pids, sizeof pids) <= 0)
			break;
		for (char *pid; (pid = strsep(&next, "\n")) && next;)
			put(top, "callers/cgroup.procs", pid);
	}
	put(top, "cgroup.subtree_control", "+memory");
	put(top, "cgroup.subtree_control", "+pids");
}

/* Below systemd only a scope of ours is a place: all else is systemd's own, and it may take controllers away again. */
static bool try_scope(const char *mount, char own[PATH_MAX], bool ask, struct cell_place *place)
{
	char scope[CELL_PATH];

	if (!login_scope(own) && (!ask || !login_enter(own, place->reason, sizeof place->reason) || !find_own(own)))
		return false;
	size_t length = login_scope(own);
	if (fmt(scope, sizeof scope, "%s%.*s", mount, (int)length, own) >= CELL_PATH)
		return false;
	/* Also where whoever was to do it was killed half-way. */
	if (try_place(scope, place) && place->memory)
		return true;
	place->reason[0] = '\0';
	furnish(scope);
	return try_place(scope, place);
}

/* Without systemd: what lies beside us, else below us, where it is ours. */
static bool try_around(const char *mount, const char *own, struct cell_place *place)
{
	char path[2 * PATH_MAX];
	bool is_root = strcmp(own, "/") == 0;

	fmt(path, sizeof path, "%s%.*s", mount, (int)(strrchr(own, '/') - own), own);
	if (!is_root && try_place(path, place))
		return true;
	fmt(path, sizeof path, "%s%s", mount, is_root ? "" : own);
	return try_place(path, place);
}

__attribute__((noinline)) static void find_place(bool ask, struct cell_place *ret_place)
{
	char mount[PATH_MAX], own[PATH_MAX];

	if (!find_mount(mount) || !find_own(own)) {
		fmt(ret_place->reason, sizeof ret_place->reason, "no cgroup v2 is mounted here");
		return;
	}
	if (login_managed() ? try_scope(mount, own, ask, ret_place) : try_around(mount, own, ret_place))
		return;
	if (login_managed() && !ask && login_may_enter(own, ret_place->reason, sizeof ret_place->reason))
		fmt(ret_place->reason, sizeof ret_place->reason,
		    "the first job of this login asks systemd for a place");
	else if (!ret_place->reason[0])
		fmt(ret_place->reason, sizeof ret_place->reason, "cgroup %.120s is not delegated to user %u", own,
		    geteuid());
}

static struct cell_place found_place;
static bool place_known;

void cell_place_want_dmem(const struct cell_place *place)
{
	SCOPE_FD int folder = open(place->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (folder >= 0)
		put(folder, "cgroup.subtree_control", "+dmem");
}

bool cell_place_has_dmem(const struct cell_place *place)
{
	SCOPE_FD int folder = place->available ? open(place->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
	char controllers[512];

	/* It is enabled for the first job that wants it. */
	return folder >= 0 && file_read_small(folder, "cgroup.controllers", controllers, sizeof controllers) > 0 &&
	       has_word(controllers, "dmem");
}

void cell_place_mend(const struct cell_place *place, char *mend, size_t size)
{
	bool managed = login_managed();

	if (strstr(place->reason, "enable-linger"))
		fmt(mend, size, "loginctl enable-linger");
	else if (access("/sys/fs/cgroup/cgroup.controllers", F_OK) < 0)
		fmt(mend, size, "boot with %s on the kernel's command line",
		    managed ? "systemd.unified_cgroup_hierarchy=1" : "cgroup_no_v1=all");
	else if (place->available && managed)
		fmt(mend, size, "sudo systemctl edit user@.service: [Service] Delegate=memory pids, and log in again");
	else if (place->available)
		fmt(mend, size, "echo +memory +pids | sudo tee %.300s/cgroup.subtree_control", place->folder);
	else if (managed)
		fmt(mend, size, "log in anew, by ssh or at the screen: su and sudo have no systemd of their own");
	else
		fmt(mend, size, "as root: chown -R %u on that cgroup's folder, see With a cell and without in pgpu(7)",
		    geteuid());
}

void cell_place_forget(void)
{
	place_known = false;
}

static const struct cell_place *look(bool wanted, bool ask)
{
	if (place_known && wanted)
		return &found_place;
	found_place.available = found_place.memory = found_place.pids = found_place.freezer = false;
	found_place.reason[0] = found_place.folder[0] = '\0';
	if (wanted)
		find_place(ask, &found_place);
	else
		fmt(found_place.reason, sizeof found_place.reason, "cells are off in the configuration");
	place_known = wanted && ask;
	return &found_place;
}

const struct cell_place *cell_place_find(bool wanted)
{
	return look(wanted, true);
}

const struct cell_place *cell_place_look(bool wanted)
{
	return look(wanted, false);
}

const char *cell_place_mortal(void)
{
	char own[PATH_MAX];

	return login_managed() && find_own(own) ? login_mortal(own) : NULL;
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
