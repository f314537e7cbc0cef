/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `pgpu log --foreign`: who else wanted the card of a standing job, a line for each process. */
#ifndef PGPU_SUBMIT_FOREIGNLIST_H
#define PGPU_SUBMIT_FOREIGNLIST_H

#include <stdbool.h>
#include <stdint.h>

#include "conf/base/buf.h"
#include "conf/base/err.h"

/* Adds the lines, or the JSON objects with commas between them, of what was seen since then. */
int foreign_list(int queue_fd, int64_t since_wall_ns, bool json, struct buf *out, struct err *err);

#endif
