/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "after.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "conf/base/fmt.h"
#include "conf/base/text.h"
#include "conf/jobid.h"

static const char *const kind_names[AFTER_KINDS + 1] = {
	[AFTER_OK] = "afterok",	 [AFTER_ANY] = "afterany",   [AFTER_NOT_OK] = "afternotok",
	[AFTER_BEGUN] = "after", [AFTER_CORR] = "aftercorr", [AFTER_SINGLETON] = "singleton",
	[AFTER_KINDS] = NULL,
};

void after_free(struct after_list *after)
{
	free(after->list);
	*after = (struct after_list){ 0 };
}

static int add(struct after_list *after, enum after_kind kind, uint64_t id, struct err *err)
{
	if (after->count == AFTER_MAX)
		return err_set(err, EXIT_USAGE, "more than %d conditions", AFTER_MAX);
	struct after *more = realloc(after->list, (after->count + 1) * sizeof *more);
	if (!more) {
		errno = ENOMEM;
		return err_sys(err, "cannot read job");
	}
	after->list = more;
	more[after->count++] = (struct after){ kind, id };
	return 0;
}

static int find_kind(const char *word, size_t length)
{
	for (int kind = 0; kind < AFTER_KINDS; kind++) {
		if (strlen(kind_names[kind]) == length && strncmp(kind_names[kind], word, length) == 0)
			return kind;
	}
	return -1;
}

static int refuse_kind(const char *word, size_t length, struct err *err)
{
	char shown[64], name[64], hint[64];
	const char *end;

	fmt(name, sizeof name, "%.*s", (int)(length < 60 ? length : 60), word);
	text_show(name, shown, sizeof shown);
	if (jobid_read(name, &end) && *end == '\0')
		return err_set(err, EXIT_USAGE, "'%s' names no condition (afterok:%s, afterany:%s)", shown, shown,
			       shown);
	text_hint(name, kind_names, hint, sizeof hint);
	return err_set(err, EXIT_USAGE,
		       "'%s' is no condition%s (afterok:ID, afterany:ID, afternotok:ID, after:ID, "
		       "aftercorr:ID, singleton)",
		       shown, hint);
}

/* ":12:13_4" behind the word, up to a comma or the end. */
static int take_ids(const char **at, enum after_kind kind, struct after_list *after, struct err *err)
{
	if (kind == AFTER_SINGLETON)
		return add(after, kind, 0, err);
	if (**at != ':')
		return err_set(err, EXIT_USAGE, "%s: a job id is missing (%s:12)", kind_names[kind], kind_names[kind]);
	while (**at == ':') {
		const char *start = *at + 1, *end;
		uint64_t id = jobid_read(start, &end);
		char shown[64];
		if (id == 0 || (*end && *end != ':' && *end != ',' && *end != '?')) {
			text_show(start, shown, sizeof shown);
			return err_set(err, EXIT_USAGE, "%s: '%s' is not a job id", kind_names[kind], shown);
		}
		if (add(after, kind, id, err) < 0)
			return -1;
		*at = end;
	}
	return 0;
}

int after_parse(const char *text, struct after_list *after, struct err *err)
{
	const char *at = text;

	for (;;) {
		size_t length = strcspn(at, ":,?");
		int kind = find_kind(at, length);
		if (kind < 0)
			return refuse_kind(at, length, err);
		at += length;
		if (take_ids(&at, (enum after_kind)kind, after, err) < 0)
			return -1;
		if (*at == '\0')
			return 0;
		if (*at == '?')
			return err_set(err, EXIT_USAGE,
				       "'?' (any of several) is not known here; all conditions have to be met");
		if (*at != ',')
			return err_set(err, EXIT_USAGE, "'%.40s' stands behind %s", at, kind_names[kind]);
		at++;
	}
}

void after_put(const struct after_list *after, size_t index, struct buf *out)
{
	const struct after *one = &after->list[index];

	buf_puts(out, kind_names[one->kind]);
	if (one->kind != AFTER_SINGLETON)
		buf_printf(out, ":%s", JOBID(one->id));
}

void after_put_all(const struct after_list *after, struct buf *out)
{
	for (size_t i = 0; i < after->count; i++) {
		if (i)
			buf_puts(out, ",");
		after_put(after, i, out);
	}
}

static const char *const ends[AFTER_KINDS] = {
	[AFTER_OK] = "complete", [AFTER_ANY] = "end",	    [AFTER_NOT_OK] = "fail",
	[AFTER_BEGUN] = "begin", [AFTER_CORR] = "complete",
};

static void tell_one(const struct after *one, struct buf *out)
{
	if (one->kind == AFTER_SINGLETON)
		buf_puts(out, "earlier jobs of its name to end");
	else
		buf_printf(out, "%s%s to %s", one->kind == AFTER_CORR ? "the same task of job " : "job ",
			   JOBID(one->id), ends[one->kind]);
}

/* How many from `first` on are to do the same. */
static size_t alike(const struct after_list *after, size_t first)
{
	enum after_kind kind = after->list[first].kind;
	size_t count = 1;

	while (kind != AFTER_SINGLETON && kind != AFTER_CORR && first + count < after->count &&
	       after->list[first + count].kind == kind)
		count++;
	return count;
}

void after_tell(const struct after_list *after, struct buf *out)
{
	for (size_t i = 0, count; i < after->count; i += count) {
		count = alike(after, i);
		buf_puts(out, i ? ", " : "");
		if (count == 1) {
			tell_one(&after->list[i], out);
			continue;
		}
		buf_puts(out, "jobs ");
		for (size_t k = 0; k < count; k++)
			buf_printf(out, "%s%s",
				   k == 0	   ? ""
				   : k + 1 < count ? ", "
						   : " and ",
				   JOBID(after->list[i + k].id));
		buf_printf(out, " to %s", ends[after->list[i].kind]);
	}
}

enum after_verdict after_judge(enum after_kind kind, const struct after_progress *progress)
{
	bool over = progress->pending == 0 && progress->running == 0;

	switch (kind) {
	case AFTER_OK:
	case AFTER_CORR: return progress->badly ? AFTER_NEVER : over ? AFTER_MET : AFTER_WAITS;
	case AFTER_NOT_OK: return !over ? AFTER_WAITS : progress->badly ? AFTER_MET : AFTER_NEVER;
	case AFTER_BEGUN: return progress->pending ? AFTER_WAITS : AFTER_MET;
	default: return over ? AFTER_MET : AFTER_WAITS;
	}
}
