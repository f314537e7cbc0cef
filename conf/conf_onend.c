/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "conf_onend.h"

#include <string.h>

#include "base/words.h"

#define KEY "on-end "

/* The line of that class, and its length with the newline; NULL without one. */
static const char *find_line(const struct conf *conf, const char *class_name, size_t *ret_length)
{
	size_t length = strlen(class_name);
	const char *end = conf->on_end + conf->on_end_size;

	for (const char *line = conf->on_end; line < end; line += *ret_length) {
		const char *name = line + strlen(KEY);
		*ret_length = (size_t)((const char *)memchr(line, '\n', (size_t)(end - line)) + 1 - line);
		if (strncmp(name, class_name, length) == 0 && (name[length] == CONF_WORD_END || name[length] == '\n'))
			return line;
	}
	return NULL;
}

static int add(struct conf *conf, const char *bytes, size_t count)
{
	if (count > sizeof conf->on_end - conf->on_end_size)
		return -1;
	memcpy(conf->on_end + conf->on_end_size, bytes, count);
	conf->on_end_size += count;
	return 0;
}

static int refuse_length(struct err *err)
{
	return err_set(err, EXIT_USAGE, "all commands together are longer than %d bytes", CONF_ON_END);
}

int conf_onend_put(struct conf *conf, const char *class_name, const char *words, struct err *err)
{
	static const char end = CONF_WORD_END;
	size_t length;
	const char *found = find_line(conf, class_name, &length);

	if (*words == CONF_WORD_END)
		return err_set(err, EXIT_USAGE, "its first word is empty");
	if (found) {
		char *old = conf->on_end + (found - conf->on_end);
		conf->on_end_size -= length;
		memmove(old, old + length, conf->on_end_size - (size_t)(old - conf->on_end));
	}
	/* Where there is no general one, it need not be said. */
	if (!*words && !*class_name)
		return 0;
	if (add(conf, KEY, strlen(KEY)) < 0 || add(conf, class_name, strlen(class_name)) < 0 ||
	    (*words && add(conf, &end, 1) < 0))
		return refuse_length(err);
	char *from = conf->on_end + conf->on_end_size, *quote;
	if (add(conf, words, strlen(words)) < 0 || add(conf, "\n", 1) < 0)
		return refuse_length(err);
	while ((quote = memchr(from, CONF_WORD_QUOTE, conf->on_end_size - (size_t)(from - conf->on_end))))
		*quote = '"';
	return 0;
}

int conf_onend_load(struct conf *conf, char **next)
{
	conf->on_end_size = 0;
	while (strncmp(*next, KEY, strlen(KEY)) == 0) {
		char *newline = strchr(*next, '\n');
		if (!newline || add(conf, *next, (size_t)(newline + 1 - *next)) < 0)
			return -1;
		*next = newline + 1;
	}
	return 0;
}

/* Up to the mark of the next word, or the newline. */
static size_t word_length(const char *word)
{
	return strcspn(word, "\x1f\n");
}

/* The word behind this one, or the first one of a line; NULL at the end. */
static const char *next_word(const char *word)
{
	word += word_length(word);
	return *word == CONF_WORD_END ? word + 1 : NULL;
}

void conf_onend_print(const struct conf *conf, const char *class_name, struct buf *buf)
{
	size_t length;
	const char *line = find_line(conf, class_name, &length), *before = "{ ";

	for (const char *word = line ? next_word(line) : NULL; word; word = next_word(word)) {
		char quote = memchr(word, '"', word_length(word)) ? '\'' : '"';
		buf_printf(buf, "%s%c%.*s%c", before, quote, (int)word_length(word), word, quote);
		before = ", ";
	}
	buf_puts(buf, *before == ',' ? " }" : "{}");
}

int conf_on_end(const struct conf *conf, const char *class_name, char ***ret_words)
{
	size_t length, count = 0;
	const char *line = find_line(conf, class_name, &length);

	*ret_words = NULL;
	if (!line)
		line = find_line(conf, "", &length);
	for (const char *word = line ? next_word(line) : NULL; word; word = next_word(word))
		count++;
	if (count == 0)
		return 0;
	char **words = words_new(count);
	count = 0;
	for (const char *word = next_word(line); words && word; word = next_word(word)) {
		words[count] = strndup(word, word_length(word));
		if (!words[count++]) {
			words_free(words);
			return -1;
		}
	}
	*ret_words = words;
	return words ? 0 : -1;
}
