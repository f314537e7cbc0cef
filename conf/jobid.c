/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "jobid.h"

#include <errno.h>

#include "conf/base/fmt.h"

_Static_assert(((JOBID_TASK_MAX + 1) & (JOBID_TASK_MAX + 2)) == 0, "a mask of all task bits");

struct jobid_text jobid_text(uint64_t id)
{
	struct jobid_text text;
	int used = fmt(text.text, sizeof text.text, "%llu", (unsigned long long)jobid_number(id));

	if (jobid_task(id) >= 0)
		fmt(text.text + used, sizeof text.text - (size_t)used, "_%d", (int)jobid_task(id));
	return text;
}

/* Digits in the one way to write that number, at most `max`. */
static bool read_figure(const char *text, uint64_t max, uint64_t *ret_figure, const char **ret_end)
{
	if (*text < '0' || *text > '9')
		return false;
	errno = 0;
	*ret_figure = fmt_read(text, ret_end);
	return errno == 0 && *ret_figure <= max && (*text != '0' || *ret_end == text + 1);
}

uint64_t jobid_read(const char *text, const char **ret_end)
{
	uint64_t number, task;
	const char *end, *task_end;

	*ret_end = text;
	if (!read_figure(text, JOBID_NUMBER_MAX, &number, &end) || number == 0)
		return 0;
	uint64_t id = jobid_of(number);
	if (*end == '_' && read_figure(end + 1, JOBID_TASK_MAX, &task, &task_end)) {
		id = jobid_with_task(id, (int32_t)task);
		end = task_end;
	}
	*ret_end = end;
	return id;
}

int jobid_parse(const char *word, uint64_t *ret_id, struct err *err)
{
	const char *end;

	*ret_id = jobid_read(word, &end);
	if (*ret_id == 0 || *end)
		return err_set(err, EXIT_USAGE, "'%.64s' is not a job id", word);
	return 0;
}
