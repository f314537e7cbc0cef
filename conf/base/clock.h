/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The clocks and what each is for (clock_gettime(2)):
 *   awake  CLOCK_MONOTONIC, stands still while the machine is suspended: budgets, limits, time-outs;
 *   boot   CLOCK_BOOTTIME, goes on in suspend, means nothing after a reboot: "waiting since";
 *   wall   CLOCK_REALTIME, jumps: shown to people, never subtracted.
 * All in nanoseconds.
 */
#ifndef PGPU_BASE_CLOCK_H
#define PGPU_BASE_CLOCK_H

#include <stdint.h>

#define NS_PER_S  INT64_C(1000000000)
#define NS_PER_MS INT64_C(1000000)

int64_t clock_awake_ns(void);
int64_t clock_boot_ns(void);
int64_t clock_wall_ns(void);

/* From `now_ns` until `at_ns` of the same clock, for poll(2): rounded up, 0 when it is over, an hour at most. */
int clock_left_ms(int64_t at_ns, int64_t now_ns);

/* RFC 3339 with the local offset, seconds resolution: "2026-12-01T02:30:00+01:00". `text` holds 32 bytes. */
enum { CLOCK_TEXT = 32 };
void clock_wall_format(int64_t wall_ns, char text[CLOCK_TEXT]);
/* The same in UTC ("...+00:00"), which needs no time zone: the first look at that costs more than a small command's
 * other work. */
void clock_utc_format(int64_t wall_ns, char text[CLOCK_TEXT]);
/*
 * The reverse, and plain "YYYY-MM-DDTHH:MM[:SS]" as local time; returns -1 when it is neither. A local
 * time that the day skips, because daylight saving begins, is taken by the clock from before; of one that it has twice,
 * the first.
 */
int clock_wall_parse(const char *text, int64_t *wall_ns);

#endif
