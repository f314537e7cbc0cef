/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "place.h"

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
	place->pids = has_word(fd, "cgroup.subtree_control", "pids");
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
	found_place.available = found_place.memory = found_place.pids = found_place.freezer = false;
	found_place.reason[0] = found_place.folder[0] = '\0';
	if (wanted)
		find_place(&found_place);
	else
		fmt(found_place.reason, sizeof found_place.reason, "cells are off in the configuration");
	place_known = wanted;
	return &found_place;
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
