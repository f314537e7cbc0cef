/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * From a file's text to a configuration, with the line of each value for `pgpu conf`. conf_load() and conf_load_file()
 * of conf.h are the last two without the lines.
 */
#ifndef PGPU_CONF_FILE_H
#define PGPU_CONF_FILE_H

#include "conf.h"
#include "conf_keys.h"

/* By the row numbers of conf_root_keys, conf_class_keys and conf_lane_keys; 0: the file does not name it. */
struct conf_lines {
	int root[CONF_KEYS];
	int classes[CONF_CLASSES][CONF_KEYS];
	int bound[CONF_LANES][CONF_KEYS];
};

/*
 * `conf` holds the table that the text amends, class_count 0 for none; it is half changed when this fails. `file` is
 * for messages. `text` (`size` bytes and a NUL) is changed.
 */
int conf_file_parse(const char *file, char *text, size_t size, struct conf *conf, struct conf_lines *lines,
		    struct err *err);

int conf_load_lines(struct conf *ret_conf, struct conf_lines *ret_lines, struct err *err);
int conf_load_file_lines(const char *path, struct conf *ret_conf, struct conf_lines *ret_lines, struct err *err);

#endif
