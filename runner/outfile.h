/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The file that a spooled job's output goes to, opened when the job starts, with its umask in force.
 *
 * Folders of the path that are missing are made, one after the other from the root on, each through the one before it;
 * a folder that is there may be a link, as people keep such. The file itself is never reached through a link, and a new
 * one is made exclusively.
 */
#ifndef PGPU_RUNNER_OUTFILE_H
#define PGPU_RUNNER_OUTFILE_H

#include <stdbool.h>

#include "conf/base/err.h"

/* `path` is absolute. The descriptor appends, also where `empty` says that what was in the file goes; -1: the error
 * names the folder or file. */
int outfile_open(const char *path, bool empty, struct err *err);

#endif
