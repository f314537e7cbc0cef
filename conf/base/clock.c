/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "clock.h"

#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "fmt.h"

static int64_t read_ns(clockid_t id)
{
	struct timespec now;

	/* Not by clock_gettime(3): for a short process three page faults cost more than a few calls. */
	syscall(SYS_clock_gettime, id, &now);
	return now.tv_sec * NS_PER_S + now.tv_nsec;
}

int64_t clock_awake_ns(void)
{
	return read_ns(CLOCK_MONOTONIC);
}

int64_t clock_boot_ns(void)
{
	return read_ns(CLOCK_BOOTTIME);
}

int64_t clock_wall_ns(void)
{
	return read_ns(CLOCK_REALTIME);
}

void clock_wall_format(int64_t wall_ns, char text[CLOCK_TEXT])
{
	time_t seconds = (time_t)(wall_ns / NS_PER_S);
	struct tm local;
	char plain[CLOCK_TEXT];

	if (!localtime_r(&seconds, &local) || strftime(plain, sizeof plain, "%Y-%m-%dT%H:%M:%S%z", &local) < 24) {
		text[0] = '\0';
		return;
	}
	/* strftime gives +0100; RFC 3339 wants +01:00. */
	fmt(text, CLOCK_TEXT, "%.22s:%.2s", plain, plain + 22);
}

enum { DAY_S = 86400, ERA_DAYS = 146097, ERA_YEARS = 400, MARCH_OF_0_TO_1970 = 719468 };

/*
 * gmtime_r(3) would read the time zone too. Counted in eras of 400 years that begin in March, so that a leap day is the
 * last of its year; the months from March on begin at day (153 * month + 2) / 5.
 */
void clock_utc_format(int64_t wall_ns, char text[CLOCK_TEXT])
{
	int64_t seconds = wall_ns / NS_PER_S - (wall_ns % NS_PER_S < 0);
	int second_of_day = (int)((seconds % DAY_S + DAY_S) % DAY_S);
	int64_t days = (seconds - second_of_day) / DAY_S + MARCH_OF_0_TO_1970;
	int day = (int)(days % ERA_DAYS);
	int year = (day - day / 1460 + day / 36524 - day / (ERA_DAYS - 1)) / 365;
	int day_of_year = day - (365 * year + year / 4 - year / 100);
	int month = (5 * day_of_year + 2) / 153;

	unsigned full_year = (unsigned)((int)(days / ERA_DAYS) * ERA_YEARS + year + (month >= 10)) % 10000U;
	fmt(text, CLOCK_TEXT, "%04u-%02u-%02uT%02u:%02u:%02u+00:00", full_year,
	    (unsigned)(month < 10 ? month + 3 : month - 9) % 100U,
	    (unsigned)(day_of_year - (153 * month + 2) / 5 + 1) % 100U, (unsigned)second_of_day / 3600U % 100U,
	    (unsigned)second_of_day / 60U % 60U, (unsigned)second_of_day % 60U);
}

/* -1 beyond the years that nanoseconds can count (1677 to 2262). */
static int to_ns(time_t seconds, int64_t *ret_ns)
{
	int64_t ns;

	if (__builtin_mul_overflow((int64_t)seconds, NS_PER_S, &ns))
		return -1;
	*ret_ns = ns;
	return 0;
}

int clock_wall_parse(const char *text, int64_t *wall_ns)
{
	struct tm tm = { .tm_isdst = -1 };
	int used = 0, zone_hours, zone_minutes;
	char sign;

	if (sscanf(text, "%4d-%2d-%2dT%2d:%2d%n", &tm.tm_year, &tm.tm_mon, &tm.tm_mday, &tm.tm_hour, &tm.tm_min,
		   &used) != 5)
		return -1;
	const char *rest = text + used;
	if (sscanf(rest, ":%2d%n", &tm.tm_sec, &used) == 1)
		rest += used;
	tm.tm_year -= 1900;
	tm.tm_mon -= 1;
	struct tm asked = tm;
	if (*rest == '\0') {
		time_t local = mktime(&tm);
		if (tm.tm_mday != asked.tm_mday || tm.tm_mon != asked.tm_mon || tm.tm_min != asked.tm_min)
			return -1;
		return to_ns(local, wall_ns);
	}
	if (sscanf(rest, "%c%2d:%2d%n", &sign, &zone_hours, &zone_minutes, &used) != 3 || rest[used] != '\0' ||
	    (sign != '+' && sign != '-'))
		return -1;
	int offset = (zone_hours * 60 + zone_minutes) * 60;
	time_t seconds = timegm(&tm) - (sign == '+' ? offset : -offset);
	if (tm.tm_mday != asked.tm_mday || tm.tm_mon != asked.tm_mon || tm.tm_min != asked.tm_min)
		return -1;
	return to_ns(seconds, wall_ns);
}
