/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Windows of the day, "22:00-07:00" or "12:00-13:30,22:00-07:00", by the local clock: open from each first time up to
 * its second, which is on the next day where it is not later. A time that daylight saving skips or has twice is the one
 * that clock.h takes.
 */
#ifndef PGPU_BASE_HOURS_H
#define PGPU_BASE_HOURS_H

#include <stdbool.h>
#include <stdint.h>

#include "err.h"

enum { HOURS_TEXT = 48, HOURS_WINDOWS = 4 };

/* The error is the reason alone, exit code 2. */
int hours_check(const char *text, struct err *err);
/*
 * Whether it is open at that moment of the wall clock, and the next moment at which that may be different. `text` was
 * checked; one that is wrong is open for good, with no such moment (0).
 */
bool hours_open(const char *text, int64_t now_wall_ns, int64_t *ret_change_ns);

#endif
