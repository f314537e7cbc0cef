/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "paths.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "conf/base/account.h"
#include "conf/base/file.h"
#include "conf/base/fmt.h"
#include "conf/base/scope.h"

int paths_home(char path[PATH_MAX], struct err *err)
{
	const char *home = getenv("HOME");

	if (home && home[0] == '/') {
		if (fmt(path, PATH_MAX, "%s", home) >= PATH_MAX)
			return err_set(err, EXIT_FAILED, "cannot use HOME: it is too long");
		return 0;
	}
	if (!account_home(geteuid(), path, PATH_MAX) || path[0] != '/')
		return err_set(err, EXIT_FAILED, "cannot find the home folder of user %u: set HOME", geteuid());
	return 0;
}

int paths_xdg(const char *name, const char *fallback, char path[PATH_MAX], struct err *err)
{
	const char *value = getenv(name);

	if (value && value[0] == '/') {
		if (fmt(path, PATH_MAX, "%s", value) >= PATH_MAX)
			return err_set(err, EXIT_FAILED, "cannot use %s: it is too long", name);
		return 0;
	}
	if (paths_home(path, err) < 0)
		return -1;
	size_t used = strlen(path);
	if (fmt(path + used, PATH_MAX - used, "/%s", fallback) >= (int)(PATH_MAX - used))
		return err_set(err, EXIT_FAILED, "cannot use HOME: it is too long");
	return 0;
}

/* systemd's machine id, 32 hex digits; the host's name where the machine has none. One that is there and cannot be read
 * is an error: a call that took the name this once would be in another queue. */
static int read_machine(char *text, size_t size, struct err *err)
{
	ssize_t got = file_read_small(AT_FDCWD, "/etc/machine-id", text, size);
	int digits = 0;

	if (got < 0 && errno != ENOENT && errno != ENOTDIR)
		return err_sys(err, "cannot read /etc/machine-id");

	while (digits < got &&
	       ((text[digits] >= '0' && text[digits] <= '9') || (text[digits] >= 'a' && text[digits] <= 'f')))
		digits++;
	if (digits >= 32) {
		text[32] = '\0';
		return 0;
	}
	if (gethostname(text, size) < 0 || text[0] == '\0')
		fmt(text, size, "localhost");
	text[size - 1] = '\0';
	for (char *p = text; *p; p++) {
		if (*p == '/' || *p == '.')
			*p = '_';
	}
	return 0;
}

const char paths_state_advice[] = "export XDG_STATE_HOME=FOLDER in your profile: one of your own, on a local disk";
const char paths_runtime_advice[] = "unset XDG_RUNTIME_DIR, or set it to a folder of your own, mode 0700";

int paths_user_units(char path[PATH_MAX], struct err *err)
{
	char folder[PATH_MAX];

	if (paths_xdg("XDG_CONFIG_HOME", ".config", folder, err) < 0)
		return -1;
	if (fmt(path, PATH_MAX, "%s/systemd/user", folder) >= PATH_MAX)
		return err_set(err, EXIT_FAILED, "cannot use %.100s...: it is too long", folder);
	return 0;
}

int paths_state(char path[PATH_MAX], struct err *err)
{
	char machine[128];

	if (paths_xdg("XDG_STATE_HOME", ".local/state", path, err) < 0)
		return -1;
	if (read_machine(machine, sizeof machine, err) < 0)
		return -1;
	size_t used = strlen(path);
	if (fmt(path + used, PATH_MAX - used, "/pgpu/%s", machine) >= (int)(PATH_MAX - used))
		return err_set(err, EXIT_FAILED, "cannot use XDG_STATE_HOME: it is too long");
	return 0;
}

int paths_state_open(struct err *err)
{
	char path[PATH_MAX];

	if (paths_state(path, err) < 0)
		return -1;
	char *slash = strrchr(path, '/');
	*slash = '\0';
	SCOPE_FD int pgpu = folder_open_path(path, err);
	*slash = '/';
	return pgpu < 0 ? -1 : folder_open_as(pgpu, slash + 1, path, true, err);
}

static int open_below(const char *base, const char *name, char path[PATHS_RUNTIME], struct err *err)
{
	if (fmt(path, PATHS_RUNTIME, "%s/%s", base, name) >= PATHS_RUNTIME)
		return err_set(err, EXIT_FAILED, "cannot use folder %.100s…: the path is too long", base);
	return folder_open(AT_FDCWD, path, true, err);
}

int paths_runtime_open(char path[PATHS_RUNTIME], char ret_notice[256], struct err *err)
{
	const char *asked = getenv("XDG_RUNTIME_DIR");
	struct err ignored = ERR_NONE;
	struct stat found;
	char base[64];
	int fd;

	ret_notice[0] = '\0';
	if (asked && asked[0] == '/' && stat(asked, &found) == 0 && S_ISDIR(found.st_mode)) {
		if (found.st_uid != geteuid()) {
			fmt(ret_notice, 256, "XDG_RUNTIME_DIR %.120s belongs to user %u, not to user %u: not used",
			    asked, found.st_uid, geteuid());
		} else {
			fd = open_below(asked, "pgpu", path, &ignored);
			if (fd >= 0)
				return fd;
		}
	}
	fmt(base, sizeof base, "/run/user/%u", geteuid());
	if (stat(base, &found) == 0 && found.st_uid == geteuid()) {
		fd = open_below(base, "pgpu", path, &ignored);
		if (fd >= 0)
			return fd;
	}
	fmt(base, sizeof base, "pgpu-%u", geteuid());
	return open_below("/tmp", base, path, err);
}
