/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "clock.h"

#include <stdbool.h>
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

int clock_left_ms(int64_t at_ns, int64_t now_ns)
{
	const int64_t most = 3600000;
	int64_t left = (at_ns - now_ns + NS_PER_MS - 1) / NS_PER_MS;

	return (int)(left < 0 ? 0 : left > most ? most : left);
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

/* `before` (0: nothing) and then exactly `count` digits, from `least` to `most`. */
static bool take(const char **at, char before, int count, int least, int most, int *ret)
{
	int number = 0;

	if (before && *(*at)++ != before)
		return false;
	for (; count > 0; count--, ++*at) {
		if (**at < '0' || **at > '9')
			return false;
		number = number * 10 + (**at - '0');
	}
	*ret = number;
	return number >= least && number <= most;
}

/* The reverse of what clock_utc_format() counts: days from 1970, the year in eras that begin in March. */
static int64_t count_days(int year, int month, int day)
{
	int march_year = year - (month <= 2), era = march_year / ERA_YEARS, year_of_era = march_year % ERA_YEARS;
	int day_of_year = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1;

	return (int64_t)era * ERA_DAYS + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year -
	       MARCH_OF_0_TO_1970;
}

static int days_in(int year, int month)
{
	int next = month == 12 ? 1 : month + 1;

	return (int)(count_days(month == 12 ? year + 1 : year, next, 1) - count_days(year, month, 1));
}

struct wall {
	int year, month, day, hour, minute, second;
};

static int of_local(const struct wall *wall, int64_t *ret_ns)
{
	struct tm tm = { .tm_year = wall->year - 1900,
			 .tm_mon = wall->month - 1,
			 .tm_mday = wall->day,
			 .tm_hour = wall->hour,
			 .tm_min = wall->minute,
			 .tm_sec = wall->second,
			 .tm_isdst = 1 };
	struct tm standard = tm;
	time_t first = mktime(&tm);

	/* With daylight saving the clock shows it earlier than without, if it does. */
	if (first != -1 && tm.tm_hour == wall->hour && tm.tm_min == wall->minute)
		return to_ns(first, ret_ns);
	standard.tm_isdst = 0;
	return to_ns(mktime(&standard), ret_ns);
}

int clock_wall_parse(const char *text, int64_t *wall_ns)
{
	struct wall wall = { 0 };
	int hours, minutes;

	if (!take(&text, 0, 4, 1, 9999, &wall.year) || !take(&text, '-', 2, 1, 12, &wall.month) ||
	    !take(&text, '-', 2, 1, days_in(wall.year, wall.month), &wall.day) ||
	    !take(&text, 'T', 2, 0, 23, &wall.hour) || !take(&text, ':', 2, 0, 59, &wall.minute) ||
	    (*text == ':' && !take(&text, ':', 2, 0, 60, &wall.second)))
		return -1;
	if (*text == '\0')
		return of_local(&wall, wall_ns);
	bool behind = *text == '-';
	if ((*text != '+' && !behind) || !take(&text, *text, 2, 0, 23, &hours) ||
	    !take(&text, ':', 2, 0, 59, &minutes) || *text)
		return -1;
	int64_t offset = (hours * 60 + minutes) * 60;
	int64_t seconds =
		count_days(wall.year, wall.month, wall.day) * DAY_S + (wall.hour * 60 + wall.minute) * 60 + wall.second;
	return to_ns(seconds - (behind ? -offset : offset), wall_ns);
}
