/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "probe_text.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "conf/base/fmt.h"
#include "conf/base/scope.h"

ssize_t probe_read(int folder, const char *name, char *text, size_t size)
{
	SCOPE_FD int fd = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	size_t used = 0;
	ssize_t got = 1;

	if (fd < 0)
		return -1;
	while (got != 0 && used < size) {
		got = read(fd, text + used, size - used);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -1;
		used += (size_t)got;
	}
	return (ssize_t)used;
}

int probe_folder(int at, const char *path)
{
	return openat(at, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

bool probe_line(struct probe_span *rest, char separator, struct probe_span *ret_key, struct probe_span *ret_value)
{
	const char *end, *middle;

	for (; rest->size && (end = memchr(rest->at, '\n', rest->size)); rest->at = end + 1) {
		size_t length = (size_t)(end - rest->at);
		const char *line = rest->at;
		rest->size -= length + 1;
		middle = memchr(line, separator, length);
		if (!middle)
			continue;
		*ret_key = (struct probe_span){ line, (size_t)(middle - line) };
		for (middle++; middle < end && (*middle == ' ' || *middle == '\t');)
			middle++;
		*ret_value = (struct probe_span){ middle, (size_t)(end - middle) };
		rest->at = end + 1;
		return true;
	}
	return false;
}

bool probe_is(struct probe_span span, const char *word)
{
	return span.size == strlen(word) && memcmp(span.at, word, span.size) == 0;
}

bool probe_skip(struct probe_span *span, const char *word)
{
	size_t length = strlen(word);

	if (span->size < length || memcmp(span->at, word, length) != 0)
		return false;
	span->at += length;
	span->size -= length;
	return true;
}

bool probe_digits(struct probe_span *span, uint64_t *ret_number)
{
	uint64_t number = 0;
	size_t count = 0;

	for (; count < span->size && span->at[count] >= '0' && span->at[count] <= '9'; count++) {
		if (__builtin_mul_overflow(number, 10U, &number) ||
		    __builtin_add_overflow(number, (unsigned)(span->at[count] - '0'), &number))
			return false;
	}
	if (count == 0)
		return false;
	span->at += count;
	span->size -= count;
	*ret_number = number;
	return true;
}

int64_t probe_number(struct probe_span span, int64_t most)
{
	uint64_t number;

	if (!probe_digits(&span, &number) || number > (uint64_t)most)
		return -1;
	return span.size == 0 || probe_is(span, "\n") ? (int64_t)number : -1;
}

int64_t probe_read_number(int folder, const char *name, int64_t most)
{
	char text[64];
	ssize_t size = probe_read(folder, name, text, sizeof text);

	return size < 0 ? -1 : probe_number((struct probe_span){ text, (size_t)size }, most);
}

int64_t probe_name_number(const char *name, int64_t most)
{
	struct probe_span span = { name, strlen(name) };
	uint64_t number;

	if (name[0] == '0' || !probe_digits(&span, &number) || span.size || number > (uint64_t)most)
		return 0;
	return (int64_t)number;
}

bool probe_word(struct probe_span span, char *word, size_t size)
{
	if (span.size == 0 || span.size >= size)
		return false;
	for (size_t i = 0; i < span.size; i++) {
		if (span.at[i] <= ' ' || span.at[i] > '~')
			return false;
	}
	memcpy(word, span.at, span.size);
	word[span.size] = '\0';
	return true;
}

uint64_t probe_pci_parse(struct probe_span span)
{
	return pci_parse(span.at, span.size);
}
