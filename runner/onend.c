/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "onend.h"

#include <stdlib.h>
#include <string.h>

#include "conf/base/fmt.h"
#include "conf/base/say.h"
#include "conf/base/scope.h"
#include "conf/base/text.h"
#include "conf/jobid.h"
#include "runner/line/spawn.h"

/* Most jobs of one process: it runs their commands one after the other. */
enum { AT_ONCE = 64 };

static pid_t started[ONEND_STARTED];

void onend_format(const struct onend *end, char word[ONEND_WORD])
{
	fmt(word, ONEND_WORD, "%s:%s:%d:%d", JOBID(end->id), outcome_names[end->outcome], end->code, end->restarts);
}

int onend_parse(const char *word, struct onend *ret)
{
	struct onend end = { 0 };
	const char *at;
	char part[24];
	int64_t code, restarts;

	end.id = jobid_read(word, &at);
	if (end.id == 0 || *at != ':' || !(at = text_part(at + 1, part, sizeof part)) || *at != ':')
		return -1;
	end.outcome = outcome_parse(part);
	if (end.outcome == OUTCOME_NONE || !(at = text_part(at + 1, part, sizeof part)) || *at != ':' ||
	    text_number_parse(part, 0, INT32_MAX, &code, NULL) < 0 ||
	    text_number_parse(at + 1, 0, SPOOL_RESTARTS_MAX, &restarts, NULL) < 0)
		return -1;
	end.code = (int)code;
	end.restarts = (int)restarts;
	*ret = end;
	return 0;
}

void onend_add(struct onends *ends, const struct onend *end)
{
	if (ends->count == ends->room) {
		size_t room = ends->room ? ends->room * 2 : 4;
		struct onend *more = realloc(ends->list, room * sizeof *more);
		if (!more)
			return;
		ends->list = more;
		ends->room = room;
	}
	ends->list[ends->count++] = *end;
}

void onend_of(struct onends *ends, struct spool *spool, const struct spool_name *name)
{
	SCOPE_JOB struct job job = JOB_EMPTY;
	struct job_facts facts = { 0 };
	struct err ignored = ERR_NONE;
	const struct onend end = { name->id, name->outcome, name->code, name->restarts };
	char file[256];

	spool_name_format(name, file);
	int result = spool_read(spool, SPOOL_ENDED, file, &job, &facts, &ignored);
	job_facts_free(&facts);
	if (result == 0 && job.on_end && job.on_end[0])
		onend_add(ends, &end);
}

static void start_some(const struct onend *ends, size_t count)
{
	char words[AT_ONCE][ONEND_WORD];
	char *argv[AT_ONCE + 3] = { "pgpu", "on-end" };
	struct err err = ERR_NONE;
	pid_t pid;

	for (size_t i = 0; i < count; i++) {
		onend_format(&ends[i], words[i]);
		argv[i + 2] = words[i];
	}
	if (spawn_plain(argv, &pid, &err) < 0) {
		say_err(&err);
		return;
	}
	memmove(started + 1, started, sizeof started - sizeof started[0]);
	started[0] = pid;
}

void onend_start(struct onends *ends)
{
	for (size_t i = 0; i < ends->count; i += AT_ONCE)
		start_some(ends->list + i, ends->count - i < AT_ONCE ? ends->count - i : AT_ONCE);
	free(ends->list);
	*ends = (struct onends){ 0 };
}

int onend_started(pid_t pids[ONEND_STARTED])
{
	int count = 0;

	while (count < ONEND_STARTED && started[count] > 0) {
		pids[count] = started[count];
		count++;
	}
	return count;
}
