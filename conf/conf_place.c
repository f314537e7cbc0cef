/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "conf_place.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/account.h"
#include "base/clock.h"
#include "conf_builtin.h"

/* A name that does not fit would name another file once cut: it is kept cut, and `problem` says so. */
static bool look(struct conf_place *place, const char *folder, const char *name)
{
	struct stat link;
	size_t length = strnlen(folder, sizeof place->path - 1), rest = strlen(name) + 1;

	place->builtin = false;
	memmove(place->path, folder, length);
	place->path[length] = '\0';
	if (folder[length] != '\0' || length + rest > sizeof place->path) {
		place->problem = ENAMETOOLONG;
		return true;
	}
	memcpy(place->path + length, name, rest);
	place->problem = stat(place->path, &place->found) < 0 ? errno : 0;
	if (place->problem == ENOTDIR)
		return false;
	return place->problem != ENOENT || lstat(place->path, &link) == 0;
}

static const char *absolute(const char *path)
{
	return path && path[0] == '/' ? path : NULL;
}

/* The one that the accounts name lies where the file's path is going to be. */
static const char *home(struct conf_place *place)
{
	const char *path = absolute(getenv("HOME"));

	if (path)
		return path;
	return account_home(geteuid(), place->path, sizeof place->path) ? absolute(place->path) : NULL;
}

static bool look_in_config_home(struct conf_place *place)
{
	/* The XDG specification: a relative path is to be ignored. */
	const char *folder = absolute(getenv("XDG_CONFIG_HOME"));

	if (folder)
		return look(place, folder, "/pgpu/pgpu.conf");
	folder = home(place);
	return folder && look(place, folder, "/.config/pgpu/pgpu.conf");
}

void conf_place_find(struct conf_place *place)
{
	const char *named = getenv("PGPU_CONF");

	if (named && *named) {
		look(place, named, "");
		return;
	}
	if (look_in_config_home(place) || look(place, "/etc/pgpu.conf", ""))
		return;
	memcpy(place->path, CONF_BUILTIN, sizeof CONF_BUILTIN);
	place->builtin = true;
	place->problem = 0;
}

void conf_path(char path[PATH_MAX])
{
	struct conf_place place;

	conf_place_find(&place);
	memcpy(path, place.path, strlen(place.path) + 1);
}

static uint64_t in_ns(const struct timespec *time)
{
	return (uint64_t)time->tv_sec * NS_PER_S + (uint64_t)time->tv_nsec;
}

void conf_stamp_file(const struct stat *found, char stamp[CONF_STAMP])
{
	const uint64_t parts[] = { found->st_dev,	   found->st_ino,	   (uint64_t)found->st_size,
				   in_ns(&found->st_mtim), in_ns(&found->st_ctim), conf_builtin_sum() };

	_Static_assert(sizeof parts / sizeof parts[0] * 17 <= CONF_STAMP, "sixteen digits and a sign behind each");
	for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
		stamp = conf_sum_put(stamp, parts[i]);
		*stamp++ = ':';
	}
	stamp[-1] = '\0';
}

void conf_stamp_builtin(char stamp[CONF_STAMP])
{
	memcpy(stamp, CONF_BUILTIN ":", sizeof CONF_BUILTIN);
	*conf_sum_put(stamp + sizeof CONF_BUILTIN, conf_builtin_sum()) = '\0';
}
