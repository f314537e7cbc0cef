/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "progress.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "conf/base/clock.h"
#include "conf/base/file.h"
#include "conf/base/fmt.h"
#include "conf/base/json.h"
#include "conf/base/scope.h"
#include "conf/base/text.h"
#include "runner/estimate.h"

/* Beyond it is no estimate of anything. */
#define LONGEST_NS (INT64_C(36500) * 86400 * NS_PER_S)

/* Digits alone, and as many as fit. */
static bool read_number(const char **at, const char *end, uint64_t *ret)
{
	const char *start = *at;

	for (*ret = 0; *at < end && **at >= '0' && **at <= '9'; ++*at) {
		if (*ret > (INT64_MAX - 9) / 10)
			return false;
		*ret = *ret * 10 + (uint64_t)(**at - '0');
	}
	return *at > start;
}

bool progress_parse(const char *text, size_t size, struct progress *ret)
{
	const char *newline = memchr(text, '\n', size), *end = newline ? newline : text + size, *at = text;
	struct progress found = { 0 };
	char words[PROGRESS_READ + 1];

	*ret = found;
	if (end - text > PROGRESS_READ || memchr(text, '\0', (size_t)(end - text)))
		return false;
	if (!read_number(&at, end, &found.done) || at == end || *at++ != '/' || !read_number(&at, end, &found.total) ||
	    found.total == 0 || found.done > found.total || (at < end && *at != ' '))
		return false;
	while (at < end && *at == ' ')
		at++;
	fmt(words, sizeof words, "%.*s", (int)(end - at), at);
	text_show(words, found.words, sizeof found.words);
	*ret = found;
	return true;
}

int64_t progress_left_ns(const struct progress *progress, int64_t ran_ns)
{
	if (progress->total == 0 || progress->done == 0 || ran_ns < 0)
		return -1;
	__uint128_t left = (__uint128_t)ran_ns * (progress->total - progress->done) / progress->done;
	return left > LONGEST_NS ? -1 : (int64_t)left;
}

void progress_show(const struct progress *progress, int64_t ran_ns, char text[PROGRESS_TEXT])
{
	char left[TEXT_DURATION];
	int64_t left_ns = progress_left_ns(progress, ran_ns);

	text[0] = '\0';
	if (progress->total == 0)
		return;
	int percent = (int)((__uint128_t)progress->done * 100 / progress->total);
	int used = fmt(text, PROGRESS_TEXT, "%llu/%llu %d%%", (unsigned long long)progress->done,
		       (unsigned long long)progress->total, percent);
	if (left_ns > 0) {
		text_duration_format(estimate_round(left_ns), left);
		used += fmt(text + used, PROGRESS_TEXT - (size_t)used, ", about %s left", left);
	}
	if (progress->words[0])
		fmt(text + used, PROGRESS_TEXT - (size_t)used, ": %s", progress->words);
}

void progress_json(const struct progress *progress, int64_t ran_ns, struct buf *out)
{
	if (progress->total == 0) {
		buf_puts(out, ",\"progress\":null");
		return;
	}
	buf_printf(out, ",\"progress\":{\"done\":%llu", (unsigned long long)progress->done);
	json_count(out, "total", (int64_t)progress->total);
	json_seconds(out, "left_s", progress_left_ns(progress, ran_ns));
	buf_puts(out, "}");
}

/* Opened through its folder, so that neither is a link nor anybody else's. */
static int open_file(const char *socket, struct err *err)
{
	char path[PROGRESS_PATH];

	progress_path(socket, path);
	char *slash = strrchr(path, '/');
	if (!slash || slash == path)
		return -1;
	*slash = '\0';
	SCOPE_FD int folder = folder_open(AT_FDCWD, path, false, err);
	if (folder < 0)
		return -1;
	SCOPE_FD int fd = openat(folder, slash + 1, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	return fd >= 0 && file_is_ours(fd, slash + 1, err) ? TAKE_FD(fd) : -1;
}

void progress_read(const char *socket, struct progress *ret)
{
	char text[PROGRESS_READ];
	struct err ignored = ERR_NONE;
	SCOPE_FD int fd = open_file(socket, &ignored);
	ssize_t got = -1;

	*ret = (struct progress){ 0 };
	if (fd < 0)
		return;
	do
		got = read(fd, text, sizeof text);
	while (got < 0 && errno == EINTR);
	if (got > 0)
		progress_parse(text, (size_t)got, ret);
}
