/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "idwords.h"

#include <string.h>

#include "conf/base/fmt.h"
#include "conf/base/text.h"
#include "conf/jobid.h"
#include "submit/array.h"

static int refuse(const char *word, struct err *err)
{
	char shown[64];

	text_show(word, shown, sizeof shown);
	return err_set(err, EXIT_USAGE, "'%s' is not a job id", shown);
}

static int add(struct idlist *ids, uint64_t id, struct err *err)
{
	return idlist_add(ids, id) < 0 ? err_sys(err, "cannot read job ids") : 0;
}

static int read_word(const char *word, struct idlist *ids, struct err *err)
{
	struct array tasks;
	char list[512];
	const char *end;
	uint64_t id = jobid_read(word, &end);
	size_t length = strlen(end);

	if (id && *end == '\0')
		return add(ids, id, err);
	if (!id || jobid_task(id) >= 0 || strncmp(end, "_[", 2) != 0 || end[length - 1] != ']' || length > sizeof list)
		return refuse(word, err);
	fmt(list, sizeof list, "%.*s", (int)length - 3, end + 2);
	if (array_parse(list, &tasks, err) < 0 || tasks.cap)
		return refuse(word, err);
	for (int32_t i = 0; i < array_size(&tasks); i++) {
		if (add(ids, jobid_with_task(id, array_task(&tasks, i)), err) < 0)
			return -1;
	}
	return 0;
}

int idwords_read(char *const *words, int count, struct idlist *ids, struct err *err)
{
	for (int i = 0; i < count; i++) {
		if (read_word(words[i], ids, err) < 0)
			return -1;
	}
	return 0;
}
