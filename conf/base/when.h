/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Moments as a person names them:
 *
 *     08:30   22:00:30                 what the clock shows
 *     yesterday 22:00   today 08:30    of that day
 *     2026-12-01T02:30[:00][Z|+01:00]  or with a blank for the T; a date alone is its midnight
 *     8h                               so long ago
 *
 * In the local time zone where none is named; clock.h says what a night with daylight saving does to it.
 */
#ifndef PGPU_BASE_WHEN_H
#define PGPU_BASE_WHEN_H

#include <stdint.h>

#include "err.h"

/*
 * The last time at which the clock showed it, or that moment, which may be still to come. `now_wall_ns` is the clock's.
 * The error is the reason alone, exit code 2; callers wrap it with the option.
 */
int when_last(const char *text, int64_t now_wall_ns, int64_t *ret_wall_ns, struct err *err);

/* When the clock shows "22:00" or "22:00:30" on the day that is so many after today. -1: it is no such time. */
int when_on_day(const char *clock, int days, int64_t now_wall_ns, int64_t *ret_wall_ns);

/* What when_next() reads, also where it is over. */
int when_moment(const char *text, int64_t now_wall_ns, int64_t *ret_wall_ns, struct err *err);

/*
 * The next time at which the clock shows it, or that moment: "22:00", "tomorrow 02:30", a date, or "now+1h". One that
 * is over is refused.
 */
int when_next(const char *text, int64_t now_wall_ns, int64_t *ret_wall_ns, struct err *err);

#endif
