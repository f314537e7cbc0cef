/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Where pgpu's folders are; nothing else in the project spells such a path. pgpu-spool(5) lists what they hold.
 *
 * state    $XDG_STATE_HOME/pgpu/MACHINE (~/.local/state): the queue. MACHINE is /etc/machine-id, so that a home
 *          shared by two machines never runs a job twice.
 * runtime  $XDG_RUNTIME_DIR/pgpu, else /run/user/UID/pgpu, else /tmp/pgpu-UID: sockets and frozen counters. It may
 *          vanish and come back; nothing is lost with it.
 *
 * Relative values of the XDG variables are ignored, as their specification demands.
 */
#ifndef PGPU_PATHS_H
#define PGPU_PATHS_H

#include <limits.h>
#include <stddef.h>

#include "conf/base/err.h"

/* The user's home: $HOME when absolute, else the password database's; -1 when there is none. */
int paths_home(char path[PATH_MAX], struct err *err);
/* $NAME when absolute, else HOME/`fallback`. */
int paths_xdg(const char *name, const char *fallback, char path[PATH_MAX], struct err *err);
int paths_state(char path[PATH_MAX], struct err *err);
/* Where a user's own units of systemd are enabled. */
int paths_user_units(char path[PATH_MAX], struct err *err);
/* How a person moves the queue to a local disk, and mends a runtime folder that cannot be used. */
extern const char paths_state_advice[], paths_runtime_advice[];
/* Opens it, and makes it; neither `pgpu` nor MACHINE may be a link or somebody else's. */
int paths_state_open(struct err *err);
/*
 * Opens (and makes) the runtime folder; `path` is filled with its name. A runtime folder of another user is not used:
 * `ret_notice` then gets one line with both user ids, else "". One whose name is too long for a socket in it
 * (unix(7): 108 bytes) is not used either.
 */
enum { PATHS_RUNTIME = 80 };
int paths_runtime_open(char path[PATHS_RUNTIME], char ret_notice[256], struct err *err);

#endif
