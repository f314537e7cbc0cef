/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "foreignlist.h"

#include <stdlib.h>

#include "conf/base/clock.h"
#include "conf/base/fmt.h"
#include "conf/base/json.h"
#include "conf/base/text.h"
#include "conf/jobid.h"
#include "submit/foreign.h"

/* All that was noticed of one process. */
struct wanted {
	/* The last; kfd, where it ever was; its most VRAM; the last job that made room for it. */
	struct foreign_row row;
	int64_t first_wall_ns;
	int times;
};

struct wanted_list {
	int64_t since_wall_ns;
	struct wanted *list;
	size_t count, room;
};

static struct wanted *find_wanted(struct wanted_list *wanted, const struct foreign_row *row)
{
	for (size_t i = wanted->count; i-- > 0;) {
		if (wanted->list[i].row.pid == row->pid && wanted->list[i].row.start == row->start)
			return &wanted->list[i];
	}
	return NULL;
}

static int add_wanted(const struct foreign_row *row, void *context)
{
	struct wanted_list *wanted = context;
	struct wanted *one = find_wanted(wanted, row);

	if (row->seen_wall_ns < wanted->since_wall_ns)
		return 0;
	if (!one && wanted->count == wanted->room) {
		size_t room = wanted->room ? wanted->room * 2 : 64;
		struct wanted *list = realloc(wanted->list, room * sizeof *list);
		if (!list)
			return -1;
		wanted->list = list;
		wanted->room = room;
	}
	if (!one) {
		one = &wanted->list[wanted->count++];
		*one = (struct wanted){ .row = *row, .first_wall_ns = row->seen_wall_ns, .times = 1 };
		return 0;
	}
	struct foreign_row before = one->row;
	one->row = *row;
	one->row.kfd |= before.kfd;
	one->row.id = row->id ? row->id : before.id;
	one->row.vram_bytes = row->vram_bytes > before.vram_bytes ? row->vram_bytes : before.vram_bytes;
	one->times++;
	return 0;
}

static void put_wanted_json(const struct wanted *one, bool first, struct buf *out)
{
	buf_printf(out, "%s{\"pid\":%d", first ? "" : ",\n ", one->row.pid);
	json_text(out, "comm", one->row.comm[0] ? one->row.comm : NULL);
	buf_printf(out, ",\"kfd\":%s", one->row.kfd ? "true" : "false");
	json_count(out, "vram_bytes", one->row.vram_bytes);
	json_time(out, "first", one->first_wall_ns);
	json_time(out, "last", one->row.seen_wall_ns);
	json_count(out, "times", one->times);
	if (one->row.id)
		buf_printf(out, ",\"job\":\"%s\"}", JOBID(one->row.id));
	else
		buf_puts(out, ",\"job\":null}");
}

static void put_wanted_line(const struct wanted *one, bool first, struct buf *out)
{
	char when[CLOCK_TEXT], last[CLOCK_TEXT], name[40], bytes[TEXT_SIZE] = "?", job[24] = "-";

	clock_wall_format(one->first_wall_ns, when);
	clock_wall_format(one->row.seen_wall_ns, last);
	text_show(one->row.comm[0] ? one->row.comm : "?", name, 21);
	if (one->row.vram_bytes >= 0)
		text_size_show((uint64_t)one->row.vram_bytes, bytes);
	if (one->row.id)
		fmt(job, sizeof job, "%s", JOBID(one->row.id));
	if (first)
		buf_printf(out, "%-19s %-19s %10s %-20s %-3s %9s %5s %6s\n", "FIRST", "LAST", "PID", "NAME", "KFD",
			   "VRAM", "TIMES", "JOB");
	buf_printf(out, "%.19s %.19s %10d %-20s %-3s %9s %5d %6s\n", when, last, one->row.pid, name,
		   one->row.kfd ? "yes" : "no", bytes, one->times, job);
}

int foreign_list(int queue_fd, int64_t since_wall_ns, bool json, struct buf *out, struct err *err)
{
	struct wanted_list wanted = { .since_wall_ns = since_wall_ns };
	int result = foreign_each(queue_fd, add_wanted, &wanted, err);

	for (size_t i = 0; result == 0 && i < wanted.count; i++) {
		if (json)
			put_wanted_json(&wanted.list[i], i == 0, out);
		else
			put_wanted_line(&wanted.list[i], i == 0, out);
	}
	free(wanted.list);
	return result;
}
