/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "json.h"

#include "clock.h"

void json_text(struct buf *out, const char *key, const char *text)
{
	buf_printf(out, ",\"%s\":", key);
	buf_json(out, text);
}

void json_time(struct buf *out, const char *key, int64_t wall_ns)
{
	char text[CLOCK_TEXT];

	clock_wall_format(wall_ns, text);
	json_text(out, key, wall_ns ? text : NULL);
}

void json_seconds(struct buf *out, const char *key, int64_t ns)
{
	if (ns < 0)
		buf_printf(out, ",\"%s\":null", key);
	else
		buf_printf(out, ",\"%s\":%lld.%03lld", key, (long long)(ns / NS_PER_S),
			   (long long)(ns % NS_PER_S / NS_PER_MS));
}

void json_count(struct buf *out, const char *key, int64_t count)
{
	if (count < 0)
		buf_printf(out, ",\"%s\":null", key);
	else
		buf_printf(out, ",\"%s\":%lld", key, (long long)count);
}
