/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "jobheader.h"

#include <stdlib.h>
#include <string.h>

#include "conf/base/fmt.h"
#include "conf/base/scope.h"
#include "conf/base/text.h"
#include "conf/base/words.h"
#include "jobplace.h"
#include "jobset.h"

const char *const jobheader_large_keys[] = { "command", "script", "arguments", NULL };

struct header {
	const struct jobyaml_source *source;
	struct job *job;
	unsigned key_lines[JOB_KEYS]; /* 0: not seen yet */
};

#define REFUSE(header, place, err, ...) jobplace_refuse((header)->source->file_name, place, err, __VA_ARGS__)

/* An error of jobset.h with the key and the place put in front. */
static int blame(const struct header *header, const char *key, struct job_place place, struct err *err)
{
	err_wrap(err, "%s", key);
	return jobplace_blame(header->source->file_name, place, err);
}

static int need_values(const struct header *header, const struct jobyaml_entry *entry, struct err *err)
{
	const char *key = entry->key.text;

	if (entry->kind == JOBYAML_LIST && entry->count == 0)
		return REFUSE(header, entry->place, err, "%s: an empty list", key);
	for (size_t i = 0; i < entry->count; i++) {
		const struct jobyaml_text *item = &entry->items[i];
		if (item->null && item->size)
			return REFUSE(header, item->place, err,
				      "%s: a value is missing (quote it if '%s' is meant as text)", key, item->text);
		if (item->null || (item->size == 0 && entry->kind == JOBYAML_TEXT))
			return REFUSE(header, item->place, err, "%s: a value is missing", key);
	}
	return 0;
}

static int need_kind(const struct header *header, const struct jobyaml_entry *entry, bool right, const char *wanted,
		     struct err *err)
{
	static const char *const kinds[] = { [JOBYAML_TEXT] = "text", [JOBYAML_LIST] = "list", [JOBYAML_MAP] = "map" };

	if (right)
		return 0;
	return REFUSE(header, entry->place, err, "%s: must be %s, not a %s", entry->key.text, wanted,
		      kinds[entry->kind]);
}

/* The items' texts, handed over to a list of their own. */
static int take_words(const struct header *header, struct jobyaml_entry *entry, char ***ret_words, struct err *err)
{
	for (size_t i = 0; i < entry->count; i++) {
		if (jobset_string(entry->items[i].text, err) < 0)
			return blame(header, entry->key.text, entry->items[i].place, err);
	}
	char **words = words_new(entry->count);
	if (!words)
		return jobset_no_memory(err);
	for (size_t i = 0; i < entry->count; i++)
		words[i] = TAKE(entry->items[i].text);
	*ret_words = words;
	return 0;
}

static int take_plain(struct header *header, struct jobyaml_entry *entry, struct err *err)
{
	if (need_kind(header, entry, entry->kind == JOBYAML_TEXT, "a text", err) < 0)
		return -1;
	if (job_set(header->job, entry->key.text, entry->items[0].text, err) < 0)
		return jobplace_blame(header->source->file_name, entry->place, err);
	return 0;
}

static int take_export(struct header *header, struct jobyaml_entry *entry, struct err *err)
{
	if (entry->kind == JOBYAML_TEXT)
		return take_plain(header, entry, err);
	if (need_kind(header, entry, entry->kind == JOBYAML_LIST, "'all', 'none' or a list of names", err) < 0)
		return -1;
	char **words;
	if (take_words(header, entry, &words, err) < 0)
		return -1;
	int result = jobset_export(header->job, words, err);
	words_free(words);
	return result < 0 ? blame(header, entry->key.text, entry->place, err) : 0;
}

/* A text with commas, or a list of such texts. */
static int take_after(struct header *header, struct jobyaml_entry *entry, struct err *err)
{
	if (entry->kind != JOBYAML_LIST)
		return take_plain(header, entry, err);
	for (size_t i = 0; i < entry->count; i++) {
		if (after_parse(entry->items[i].text, &header->job->after, err) < 0)
			return blame(header, entry->key.text, entry->items[i].place, err);
	}
	return 0;
}

static int check_variable(const struct header *header, const struct jobyaml_entry *entry, size_t i, struct err *err)
{
	const struct jobyaml_text *name = &entry->items[i], *value = &entry->items[i + 1];

	if (jobset_env_name(name->text, name->size, err) < 0)
		return blame(header, "env", name->place, err);
	if (name->size + 1 + value->size + 1 > JOB_ENV_STRING_MAX)
		return REFUSE(header, value->place, err, "env: '%.64s' is longer than 128 KiB", name->text);
	for (size_t j = 0; j < i; j += 2) {
		if (entry->items[j].size == name->size && memcmp(entry->items[j].text, name->text, name->size) == 0)
			return REFUSE(header, name->place, err, "env: '%.64s' is given twice, first on line %u",
				      name->text, entry->items[j].place.line);
	}
	return 0;
}

static int take_env(struct header *header, struct jobyaml_entry *entry, struct err *err)
{
	if (entry->kind == JOBYAML_TEXT && entry->items[0].null)
		return 0;
	if (need_kind(header, entry, entry->kind == JOBYAML_MAP, "a map of names and texts", err) < 0 ||
	    need_values(header, entry, err) < 0)
		return -1;
	if (entry->count == 0)
		return 0;
	char **env = header->job->env = words_new(entry->count / 2);
	if (!env)
		return jobset_no_memory(err);
	for (size_t i = 0; i < entry->count; i += 2) {
		if (check_variable(header, entry, i, err) < 0)
			return -1;
		env[i / 2] = fmt_new("%s=%s", entry->items[i].text, entry->items[i + 1].text);
		if (!env[i / 2])
			return jobset_no_memory(err);
	}
	return 0;
}

static bool is_blank(const char *text)
{
	return text[strspn(text, " \t\n\r")] == '\0';
}

static int need_only_command(const struct header *header, const struct jobyaml_entry *entry, struct err *err)
{
	unsigned other = header->key_lines[strcmp(entry->key.text, "script") == 0 ? JOB_KEY_COMMAND : JOB_KEY_SCRIPT];

	if (header->job->body == JOB_BODY_NONE)
		return 0;
	return REFUSE(header, entry->key.place, err,
		      "two commands, the first on line %u: 'command' and 'script' exclude each other", other);
}

static int refuse_arguments(const struct header *header, struct job_place place, struct err *err)
{
	return REFUSE(header, place, err, "arguments: only for a script or a shell line; write them into 'command'");
}

static int take_command(struct header *header, struct jobyaml_entry *entry, struct err *err)
{
	struct job *job = header->job;
	struct jobyaml_text *first = entry->items;

	if (need_kind(header, entry, entry->kind != JOBYAML_MAP, "a shell line or a list", err) < 0 ||
	    need_only_command(header, entry, err) < 0)
		return -1;
	if (entry->kind == JOBYAML_LIST) {
		if (first->size == 0)
			return REFUSE(header, first->place, err, "command: its first word is empty");
		if (job->argv)
			return refuse_arguments(header, job->places[JOB_KEY_ARGUMENTS], err);
		job->body = JOB_BODY_ARGV;
		return take_words(header, entry, &job->argv, err);
	}
	if (is_blank(first->text))
		return REFUSE(header, first->place, err, "command: nothing but blanks");
	if (jobset_string(first->text, err) < 0)
		return blame(header, "command", first->place, err);
	job->body = JOB_BODY_SHELL;
	job->script_size = first->size;
	job->script = TAKE(first->text);
	return 0;
}

static int take_script(struct header *header, struct jobyaml_entry *entry, struct err *err)
{
	struct job *job = header->job;

	if (need_kind(header, entry, entry->kind == JOBYAML_TEXT, "a block of text", err) < 0 ||
	    need_only_command(header, entry, err) < 0)
		return -1;
	struct jobyaml_text *text = &entry->items[0];
	size_t line = strcspn(text->text, "\n");
	if (is_blank(text->text))
		return REFUSE(header, text->place, err, "script: nothing but blanks");
	if (strncmp(text->text, "#!", 2) == 0 && text->text[line - 1] == '\r')
		return REFUSE(header, text->place, err, "script: its '#!' line has a DOS line end (CRLF)");
	if (text->size > JOB_SCRIPT_MAX)
		return REFUSE(header, text->place, err, "script: larger than %d MiB", JOB_SCRIPT_MAX >> 20);
	job->body = JOB_BODY_SCRIPT;
	job->script_size = text->size;
	job->script = TAKE(text->text);
	return 0;
}

/* A shell line is kept as the list that runs it. */
static int take_on_end(struct header *header, struct jobyaml_entry *entry, struct err *err)
{
	char ***words = &header->job->on_end;

	if (need_kind(header, entry, entry->kind != JOBYAML_MAP, "a shell line or a list", err) < 0 ||
	    (entry->count && need_values(header, entry, err) < 0))
		return -1;
	if (entry->count && entry->kind == JOBYAML_LIST && entry->items[0].size == 0)
		return REFUSE(header, entry->items[0].place, err, "on-end: its first word is empty");
	if (entry->kind == JOBYAML_LIST)
		return take_words(header, entry, words, err);
	if (is_blank(entry->items[0].text))
		return REFUSE(header, entry->items[0].place, err, "on-end: nothing but blanks");
	if (jobset_string(entry->items[0].text, err) < 0)
		return blame(header, "on-end", entry->items[0].place, err);
	char *const line[] = { "/bin/sh", "-c", entry->items[0].text, NULL };
	*words = words_copy(line);
	return *words ? 0 : jobset_no_memory(err);
}

static int take_arguments(struct header *header, struct jobyaml_entry *entry, struct err *err)
{
	char **words;

	if (need_kind(header, entry, entry->kind == JOBYAML_LIST, "a list", err) < 0 ||
	    take_words(header, entry, &words, err) < 0)
		return -1;
	if (header->job->body == JOB_BODY_ARGV) {
		words_free(words);
		return refuse_arguments(header, entry->place, err);
	}
	header->job->argv = words;
	return 0;
}

static int take_value(struct header *header, enum job_key key, struct jobyaml_entry *entry, struct err *err)
{
	if (key == JOB_KEY_ENV)
		return take_env(header, entry, err);
	if (key == JOB_KEY_ON_END)
		return take_on_end(header, entry, err);
	if (need_values(header, entry, err) < 0)
		return -1;
	switch (key) {
	case JOB_KEY_EXPORT: return take_export(header, entry, err);
	case JOB_KEY_AFTER: return take_after(header, entry, err);
	case JOB_KEY_COMMAND: return take_command(header, entry, err);
	case JOB_KEY_SCRIPT: return take_script(header, entry, err);
	case JOB_KEY_ARGUMENTS: return take_arguments(header, entry, err);
	default: return take_plain(header, entry, err);
	}
}

static int take_entry(void *context, struct jobyaml_entry *entry, struct err *err)
{
	struct header *header = context;
	int key = jobset_key(entry->key.text);
	char text[64], hint[64];

	text_show(entry->key.text, text, sizeof text);
	if (key < 0) {
		jobset_key_hint(entry->key.text, hint, sizeof hint);
		return REFUSE(header, entry->key.place, err, "unknown key '%s'%s", text, hint);
	}
	if (header->key_lines[key])
		return REFUSE(header, entry->key.place, err, "'%s' is given twice, first on line %u", text,
			      header->key_lines[key]);
	header->key_lines[key] = entry->key.place.line;
	if (take_value(header, (enum job_key)key, entry, err) < 0)
		return -1;
	header->job->places[key] = entry->place;
	return 0;
}

int jobheader_read(const struct jobyaml_source *source, struct job *job, struct err *err)
{
	struct header header = { .source = source, .job = job };

	return jobyaml_read(source, take_entry, &header, err);
}
