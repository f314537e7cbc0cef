/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The queue's copy is read at every start, so it is a form that costs microseconds: one value a line in the order of
 * the key tables, numbers plain; of a class, the keys that are not 0 or empty alone. The last line is a sum over all
 * before it, so that a torn or edited copy is damaged, never another configuration.
 *
 *     pgpu-conf 8
 *     source /home/ada/.config/pgpu/pgpu.conf
 *     stamp ...
 *     lanes 2                    every key of conf_root_keys
 *     classes 7
 *     class interactive          and the keys of conf_class_keys, for each; `paused 1` where it is
 *     lane left                  and the keys of conf_lane_keys, for each that is bound to a card
 *     on-end ...                 the lines of conf_onend.h
 *     sum 0123456789abcdef
 */
#include "conf.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/scope.h"
#include "base/text.h"
#include "conf_builtin.h"
#include "conf_keys.h"
#include "conf_onend.h"
#include "conf_place.h"

#define COPY_NAME    "conf"
#define COPY_VERSION 8

/* 64 classes of eleven lines, 64 lanes, and a path: larger is no copy of ours. Most fit COPY_USUAL, which touches no
 * new page of the stack. */
enum { COPY_LIMIT = 48 << 10, COPY_USUAL = 2 << 10, SUM_LINE = sizeof "sum 0123456789abcdef\n" - 1 };

static int refuse(struct err *err, int errnum, const char *reason)
{
	err_set(err, EXIT_FAILED, "cannot use the queue's copy of the configuration: %s", reason);
	if (err)
		err->errnum = errnum;
	return -1;
}

static int refuse_damaged(struct err *err)
{
	return refuse(err, EBADMSG, "it is damaged");
}

/* The next line if it is "NAME VALUE": the value, ended with a NUL. Else NULL. */
static const char *take_line(char **next, const char *name)
{
	size_t length = strlen(name);
	char *value = *next + length + 1;

	if (strncmp(*next, name, length) != 0 || (*next)[length] != ' ')
		return NULL;
	char *end = strchr(value, '\n');
	if (!end)
		return NULL;
	*end = '\0';
	*next = end + 1;
	return value;
}

static int take_text(char **next, const char *name, char *text, size_t size)
{
	const char *value = take_line(next, name);

	if (!value || *value == '\0' || strlen(value) >= size)
		return -1;
	memcpy(text, value, strlen(value) + 1);
	return 0;
}

/* `row` is zeroes; with `all` no key may be missing. */
static int take_keys(char **next, const struct conf_key keys[], bool all, void *row)
{
	for (; keys->name[0]; keys++) {
		if (keys->kind == CONF_COMMAND)
			continue;
		const char *value = take_line(next, keys->name);
		if (value ? conf_key_load(keys, row, value) < 0 : all)
			return -1;
	}
	return 0;
}

static int take_classes(char **next, struct conf *conf)
{
	const char *value = take_line(next, "classes");
	int64_t count;

	if (!value || text_number_parse(value, 1, CONF_CLASSES, &count, NULL) < 0)
		return -1;
	for (conf->class_count = 0; conf->class_count < count; conf->class_count++) {
		struct conf_class *row = &conf->classes[conf->class_count];
		memset(row, 0, sizeof *row);
		if (take_text(next, "class", row->name, sizeof row->name) < 0 || !text_class_ok(row->name) ||
		    take_keys(next, conf_class_keys, false, row) < 0)
			return -1;
		row->paused = take_line(next, "paused") != NULL;
	}
	return 0;
}

/* The lanes that are bound to a card are all of them, or none. */
static int take_lanes(char **next, struct conf *conf)
{
	int count = 0;

	for (; count < CONF_LANES && strncmp(*next, "lane ", 5) == 0; count++) {
		struct conf_lane *row = &conf->bound[count];
		if (take_text(next, "lane", row->name, sizeof row->name) < 0 || !text_class_ok(row->name) ||
		    take_keys(next, conf_lane_keys, true, row) < 0)
			return -1;
	}
	conf->bound_count = count;
	return count == 0 || count == conf->lanes ? 0 : -1;
}

static int take_drained(char **next, struct conf *conf)
{
	const char *value = take_line(next, "drained");

	return value ? text_number_parse(value, 0, CONF_NEVER, &conf->drained_until_s, NULL) : -1;
}

static void put_sum(char line[SUM_LINE], const char *text, size_t size)
{
	memcpy(line, "sum ", 4); /* NOLINT(bugprone-not-null-terminated-result): a piece of a line */
	*conf_sum_put(line + 4, conf_sum(text, size)) = '\n';
}

static int check_sum(const char *text, size_t size)
{
	char line[SUM_LINE];

	if (size < SUM_LINE)
		return -1;
	put_sum(line, text, size - SUM_LINE);
	return memcmp(text + size - SUM_LINE, line, SUM_LINE) == 0 ? 0 : -1;
}

/*
 * The version is asked before the sum: what else stands in a later pgpu's copy is its own business. With the right sum
 * the rest is right as well, so it is read to where it is wanted, without a second 13 KB in between.
 */
static int parse(char *text, size_t size, struct conf *conf, struct err *err)
{
	char *next = text;
	int64_t version;
	bool whole = memchr(text, '\0', size) == NULL && check_sum(text, size) == 0;
	const char *value = take_line(&next, "pgpu-conf");

	if (!value || text_number_parse(value, 1, INT32_MAX, &version, NULL) < 0)
		return refuse_damaged(err);
	if (version > COPY_VERSION)
		return refuse(err, EPROTO, "a newer pgpu wrote it");
	if (!whole || take_text(&next, "source", conf->source, sizeof conf->source) < 0 ||
	    take_text(&next, "stamp", conf->stamp, sizeof conf->stamp) < 0 || take_drained(&next, conf) < 0 ||
	    take_keys(&next, conf_root_keys, true, conf) < 0 || take_classes(&next, conf) < 0 ||
	    take_lanes(&next, conf) < 0 || conf_onend_load(conf, &next) < 0 || next != text + size - SUM_LINE)
		return refuse_damaged(err);
	if (!conf_class_find(conf, conf->run_class) || !conf_class_find(conf, conf->submit_class))
		return refuse_damaged(err);
	return 0;
}

/* One read: a piece missing from it fails the sum. `text` has room for one byte more. */
static ssize_t read_copy(int fd, char *text, size_t room)
{
	ssize_t size;

	do
		size = pread(fd, text, room, 0);
	while (size < 0 && errno == EINTR);
	text[size < 0 ? 0 : size] = '\0';
	return size;
}

int conf_copy_read(int queue_fd, struct conf *ret_conf, struct err *err)
{
	char usual[COPY_USUAL + 1], *text = usual;
	SCOPE_FREE char *large = NULL;
	SCOPE_FD int fd = openat(queue_fd, COPY_NAME, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);

	if (fd < 0)
		return err_sys(err, "cannot open the queue's copy of the configuration");
	if (!file_is_ours(fd, COPY_NAME, err))
		return -1;
	ssize_t size = read_copy(fd, usual, COPY_USUAL);
	if (size == COPY_USUAL) {
		text = large = malloc(COPY_LIMIT + 1);
		size = large ? read_copy(fd, large, COPY_LIMIT) : -1;
	}
	if (size < 0)
		return err_sys(err, "cannot read the queue's copy of the configuration");
	return parse(text, (size_t)size, ret_conf, err);
}

bool conf_copy_fresh(const struct conf *copy)
{
	struct conf_place place;
	char stamp[CONF_STAMP];

	conf_place_find(&place);
	if (place.problem || strcmp(place.path, copy->source) != 0)
		return false;
	if (place.builtin)
		conf_stamp_builtin(stamp);
	else
		conf_stamp_file(&place.found, stamp);
	return strcmp(stamp, copy->stamp) == 0;
}

static void put_keys(const struct conf_key keys[], bool all, const void *row, struct buf *buf)
{
	for (; keys->name[0]; keys++) {
		if (keys->kind != CONF_COMMAND && (all || conf_key_given(keys, row)))
			conf_key_store(keys, row, buf);
	}
}

/* Not synced, since the queue lock is held: what a power cut leaves of it fails the sum, and the file is read again.
 */
int conf_copy_write(int queue_fd, const struct conf *conf, struct err *err)
{
	char sum[SUM_LINE];
	SCOPE_BUF struct buf buf = BUF_EMPTY;

	buf_printf(&buf, "pgpu-conf %d\nsource %s\nstamp %s\ndrained %lld\n", COPY_VERSION, conf->source, conf->stamp,
		   (long long)conf->drained_until_s);
	put_keys(conf_root_keys, true, conf, &buf);
	buf_printf(&buf, "classes %d\n", conf->class_count);
	for (int i = 0; i < conf->class_count; i++) {
		buf_printf(&buf, "class %s\n", conf->classes[i].name);
		put_keys(conf_class_keys, false, &conf->classes[i], &buf);
		buf_puts(&buf, conf->classes[i].paused ? "paused 1\n" : "");
	}
	for (int i = 0; i < conf->bound_count; i++) {
		buf_printf(&buf, "lane %s\n", conf->bound[i].name);
		put_keys(conf_lane_keys, true, &conf->bound[i], &buf);
	}
	buf_add(&buf, conf->on_end, conf->on_end_size);
	if (buf_ok(&buf)) {
		put_sum(sum, buf.text, buf.size);
		buf_add(&buf, sum, sizeof sum);
	}
	if (!buf_ok(&buf)) {
		errno = ENOMEM;
		return err_sys(err, "cannot write the queue's copy of the configuration");
	}
	return file_replace(queue_fd, COPY_NAME, buf.text, buf.size, FILE_VOLATILE, err);
}
