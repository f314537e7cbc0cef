/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "pause.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "conf/base/buf.h"
#include "conf/base/file.h"
#include "conf/base/fmt.h"
#include "conf/base/scope.h"
#include "conf/base/text.h"
#include "conf/jobid.h"

#define FAILURES "failures"
enum { FILE_MAX = 16 << 10 };

bool pause_count(struct pause *one, uint64_t id, const char *outcome, int code, int limit)
{
	bool like = one->count > 0 && strcmp(one->outcome, outcome) == 0 && one->code == code;

	/* One that fails again and again is one. */
	if (one->paused || (like && one->id == id))
		return false;
	one->count = like ? one->count + 1 : 1;
	one->id = id;
	one->code = code;
	fmt(one->outcome, sizeof one->outcome, "%s", outcome);
	one->paused = one->count >= limit;
	return one->paused;
}

static int parse_number(const char *text, int *ret_number)
{
	int64_t number;

	if (!text || text_number_parse(text, 0, INT32_MAX, &number, NULL) < 0)
		return -1;
	*ret_number = (int)number;
	return 0;
}

/* "CLASS COUNT JOB OUTCOME CODE WORD", cut into pieces. */
static int parse(char *row, struct pause *ret_one)
{
	struct pause one = { 0 };
	const char *class_name = strsep(&row, " "), *count = strsep(&row, " "), *id = strsep(&row, " "),
		   *outcome = strsep(&row, " "), *code = strsep(&row, " ");

	if (!row || !text_class_ok(class_name) || parse_number(count, &one.count) < 0 || one.count < 1 ||
	    jobid_parse(id, &one.id, NULL) < 0 || strlen(outcome) >= sizeof one.outcome ||
	    parse_number(code, &one.code) < 0)
		return -1;
	fmt(one.class_name, sizeof one.class_name, "%s", class_name);
	fmt(one.outcome, sizeof one.outcome, "%s", outcome);
	one.paused = strcmp(row, "paused") == 0;
	*ret_one = one;
	return 0;
}

void pause_read(const struct line *line, struct pauses *ret_pauses)
{
	SCOPE_FREE char *text = NULL;
	struct err ignored = ERR_NONE;

	ret_pauses->count = 0;
	if (file_read(line->queue_fd, FAILURES, FILE_MAX, &text, NULL, &ignored) < 0)
		return;
	for (char *next = text, *row; (row = strsep(&next, "\n")) && ret_pauses->count < CONF_CLASSES;) {
		if (*row && parse(row, &ret_pauses->list[ret_pauses->count]) == 0)
			ret_pauses->count++;
	}
}

static struct pause *find(struct pauses *pauses, const char *class_name)
{
	for (int i = 0; i < pauses->count; i++) {
		if (strcmp(pauses->list[i].class_name, class_name) == 0)
			return &pauses->list[i];
	}
	return NULL;
}

const struct pause *pause_find(const struct pauses *pauses, const char *class_name)
{
	for (int i = 0; i < pauses->count; i++) {
		if (pauses->list[i].paused && strcmp(pauses->list[i].class_name, class_name) == 0)
			return &pauses->list[i];
	}
	return NULL;
}

static void apply(const struct pauses *pauses, struct conf *conf)
{
	for (int i = 0; i < conf->class_count; i++)
		conf->classes[i].paused = pause_find(pauses, conf->classes[i].name) != NULL;
}

void pause_apply(struct line *line)
{
	struct pauses pauses;

	pause_read(line, &pauses);
	apply(&pauses, &line->conf);
}

static int write_file(const struct line *line, const struct pauses *pauses, struct err *err)
{
	SCOPE_BUF struct buf text = BUF_EMPTY;

	if (pauses->count == 0 && (unlinkat(line->queue_fd, FAILURES, 0) == 0 || errno == ENOENT))
		return 0;
	for (int i = 0; i < pauses->count; i++) {
		const struct pause *one = &pauses->list[i];
		buf_printf(&text, "%s %d %s %s %d %s\n", one->class_name, one->count, JOBID(one->id), one->outcome,
			   one->code, one->paused ? "paused" : "counting");
	}
	if (!buf_ok(&text)) {
		errno = ENOMEM;
		return err_sys(err, "cannot write %s", FAILURES);
	}
	return file_replace(line->queue_fd, FAILURES, text.text ? text.text : "", text.size, FILE_VOLATILE, err);
}

/* File first: the copy can be made from it again. */
static int put(struct line *line, const struct pauses *pauses, struct err *err)
{
	if (write_file(line, pauses, err) < 0)
		return -1;
	line_conf_again(line, err);
	apply(pauses, &line->conf);
	return line_conf_put(line, err);
}

static void forget(struct pauses *pauses, struct pause *one)
{
	*one = pauses->list[--pauses->count];
}

int pause_note(struct line *line, const char *class_name, uint64_t id, const char *outcome, int code, int limit,
	       struct err *err)
{
	struct pauses pauses;

	pause_read(line, &pauses);
	struct pause *one = find(&pauses, class_name);
	if (one && one->paused)
		return 0;
	if (!outcome[0]) {
		if (!one)
			return 0;
		forget(&pauses, one);
		return write_file(line, &pauses, err);
	}
	if (!one && pauses.count < CONF_CLASSES) {
		one = &pauses.list[pauses.count++];
		*one = (struct pause){ 0 };
		fmt(one->class_name, sizeof one->class_name, "%s", class_name);
	}
	if (!one)
		return 0;
	if (pause_count(one, id, outcome, code, limit))
		return put(line, &pauses, err) < 0 ? -1 : 1;
	return write_file(line, &pauses, err);
}

int pause_sync(struct line *line, struct err *err)
{
	SCOPE_FD int fd = openat(line->queue_fd, FAILURES, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);

	/* Released again meanwhile, and the last of them. */
	if (fd < 0 && errno != ENOENT)
		return err_sys(err, "cannot sync %s", FAILURES);
	if ((fd >= 0 && fsync(fd) < 0) || fsync(line->queue_fd) < 0)
		return err_sys(err, "cannot sync %s", FAILURES);
	return 0;
}

int pause_release(struct line *line, const char *class_name, struct err *err)
{
	struct pauses pauses;
	int result = 0;

	if (line_lock(line, err) < 0)
		return -1;
	pause_read(line, &pauses);
	struct pause *one = find(&pauses, class_name);
	if (one) {
		forget(&pauses, one);
		result = put(line, &pauses, err);
	}
	line_unlock(line);
	if (result == 0 && one)
		result = pause_sync(line, err);
	return result < 0 ? err_wrap(err, "cannot release class %s", class_name) : 0;
}

void pause_tell(const struct pause *one, char sentence[128])
{
	fmt(sentence, 128, "paused: %d job%s in a row ended %s, exit code %d; pgpu release --class %s", one->count,
	    one->count == 1 ? "" : "s", one->outcome, one->code, one->class_name);
}
