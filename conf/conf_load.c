/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * From a place to a configuration. A file is read over the built-in table, which is read over nothing by the same
 * parser and so must name every key. The file is judged on its descriptor, opened so that a FIFO or a device cannot
 * block; a link is followed, because people keep their configuration in one folder and link to it.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/fmt.h"
#include "base/scope.h"
#include "conf_builtin.h"
#include "conf_file.h"
#include "conf_place.h"
#include "conf_scan.h"

enum { FILE_LIMIT = 1 << 20 };

static int read_builtin(struct conf *conf, struct conf_lines *lines, struct err *err)
{
	SCOPE_FREE char *text = strdup(conf_builtin_text);

	if (!text)
		return err_sys(err, "cannot read the built-in configuration");
	memset(conf, 0, sizeof *conf);
	if (conf_file_parse(CONF_BUILTIN, text, strlen(text), conf, lines, err) < 0)
		return -1;
	memset(lines, 0, sizeof *lines);
	memcpy(conf->source, CONF_BUILTIN, sizeof CONF_BUILTIN);
	conf_stamp_builtin(conf->stamp);
	return 0;
}

/* The system's file is root's, a user's own is theirs; what somebody else can change is nobody's configuration. */
static int check_file(int fd, const char *path, struct stat *found, struct err *err)
{
	const char *shown = conf_shown_path(path);

	if (fstat(fd, found) < 0)
		return err_sys(err, "%s: cannot look at it", shown);
	if (!S_ISREG(found->st_mode))
		return err_set(err, EXIT_USAGE, "%s: cannot use it: it is not a regular file", shown);
	if (found->st_uid != 0 && found->st_uid != geteuid())
		return err_set(err, EXIT_USAGE, "%s: cannot use it: it belongs to user %u, not to root or user %u",
			       shown, found->st_uid, geteuid());
	/* Many give each user a group of his own, and let that group write. */
	bool others = found->st_mode & S_IWOTH || (found->st_mode & S_IWGRP && found->st_gid != getegid());
	if (others)
		return err_set(err, EXIT_USAGE, "%s: cannot use it: other users may write to it (chmod go-w)", shown);
	return 0;
}

/* Stamped before it is read: a change in between makes the stamp an old one, and the next call reads again. */
static int open_and_read(const char *path, char **ret_text, size_t *ret_size, char stamp[CONF_STAMP], struct err *err)
{
	struct stat found;
	SCOPE_FD int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

	if (fd < 0)
		return err_sys(err, "%s: cannot open the configuration", conf_shown_path(path));
	if (check_file(fd, path, &found, err) < 0)
		return -1;
	conf_stamp_file(&found, stamp);
	if (file_read_fd(fd, FILE_LIMIT, ret_text, ret_size, err) < 0)
		return err_wrap(err, "%s", conf_shown_path(path));
	return 0;
}

static int load(const char *path, struct conf *conf, struct conf_lines *lines, struct err *err)
{
	SCOPE_FREE char *text = NULL;
	char stamp[CONF_STAMP];
	size_t size;

	for (const char *p = path; *p; p++) {
		if ((unsigned char)*p < 0x20 || *p == 0x7f)
			return err_set(err, EXIT_USAGE, "%s: cannot use it: a control character in the path",
				       conf_shown_path(path));
	}
	if (strlen(path) >= sizeof conf->source)
		return err_set(err, EXIT_USAGE, "%s: cannot use it: the path is too long", conf_shown_path(path));
	if (open_and_read(path, &text, &size, stamp, err) < 0) {
		if (err)
			err->code = EXIT_USAGE;
		return -1;
	}
	if (read_builtin(conf, lines, err) < 0 || conf_file_parse(path, text, size, conf, lines, err) < 0)
		return -1;
	fmt(conf->source, sizeof conf->source, "%s", path);
	memcpy(conf->stamp, stamp, sizeof stamp);
	return 0;
}

int conf_load_file_lines(const char *path, struct conf *ret_conf, struct conf_lines *ret_lines, struct err *err)
{
	struct conf conf;
	struct conf_lines lines;

	if (load(path, &conf, &lines, err) < 0)
		return -1;
	*ret_conf = conf;
	*ret_lines = lines;
	return 0;
}

int conf_load_lines(struct conf *ret_conf, struct conf_lines *ret_lines, struct err *err)
{
	struct conf conf;
	struct conf_lines lines;
	struct conf_place place;

	conf_place_find(&place);
	if (!place.builtin && place.problem == ENAMETOOLONG)
		return err_set(err, EXIT_USAGE, "%s: cannot open the configuration: the path is too long",
			       conf_shown_path(place.path));
	if (!place.builtin)
		return conf_load_file_lines(place.path, ret_conf, ret_lines, err);
	if (read_builtin(&conf, &lines, err) < 0)
		return -1;
	*ret_conf = conf;
	*ret_lines = lines;
	return 0;
}

int conf_load_builtin(struct conf *ret_conf, struct err *err)
{
	struct conf_lines lines;

	return read_builtin(ret_conf, &lines, err);
}

int conf_load(struct conf *ret_conf, struct err *err)
{
	struct conf_lines lines;

	return conf_load_lines(ret_conf, &lines, err);
}

int conf_load_file(const char *path, struct conf *ret_conf, struct err *err)
{
	struct conf_lines lines;

	return conf_load_file_lines(path, ret_conf, &lines, err);
}
