/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "jobset.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "conf/base/clock.h"
#include "conf/base/scope.h"
#include "conf/base/sigspec.h"
#include "conf/base/text.h"
#include "conf/base/when.h"
#include "conf/base/words.h"
#include "conf/conf_card.h"

/* What the analyser is told of them, in the header. */
#undef jobset_no_memory

static const char *const KEY_NAMES[] = {
	[JOB_KEY_NAME] = "name",
	[JOB_KEY_CLASS] = "class",
	[JOB_KEY_SESSION] = "session",
	[JOB_KEY_BUDGET] = "budget",
	[JOB_KEY_LIMIT] = "limit",
	[JOB_KEY_MEMORY] = "memory",
	[JOB_KEY_VRAM] = "vram",
	[JOB_KEY_CARD] = "card",
	[JOB_KEY_VRAM_MAX] = "vram-max",
	[JOB_KEY_NICE] = "nice",
	[JOB_KEY_MIN_RUN_TIME] = "min-run-time",
	[JOB_KEY_RETRIES] = "retries",
	[JOB_KEY_WORKDIR] = "workdir",
	[JOB_KEY_OUTPUT] = "output",
	[JOB_KEY_ERROR] = "error",
	[JOB_KEY_OPEN_MODE] = "open-mode",
	[JOB_KEY_ENV] = "env",
	[JOB_KEY_EXPORT] = "export",
	[JOB_KEY_REQUEUE] = "requeue",
	[JOB_KEY_STANDING] = "standing",
	[JOB_KEY_DEDUPE] = "dedupe",
	[JOB_KEY_SLURM_ENV] = "slurm-env",
	[JOB_KEY_HOLD] = "hold",
	[JOB_KEY_BEGIN] = "begin",
	[JOB_KEY_AFTER] = "after",
	[JOB_KEY_ARRAY] = "array",
	[JOB_KEY_ORDER] = "order",
	[JOB_KEY_SKIP_EXISTING] = "skip-existing",
	[JOB_KEY_BUDGET_SIGNAL] = "budget-signal",
	[JOB_KEY_ON_END] = "on-end",
	[JOB_KEY_COMMAND] = "command",
	[JOB_KEY_SCRIPT] = "script",
	[JOB_KEY_ARGUMENTS] = "arguments",
	[JOB_KEYS] = NULL,
};

int jobset_key(const char *name)
{
	if (strcmp(name, "as") == 0)
		return JOB_KEY_SESSION;
	for (int key = 0; key < JOB_KEYS; key++) {
		if (strcmp(name, KEY_NAMES[key]) == 0)
			return key;
	}
	return -1;
}

const char *jobset_key_name(enum job_key key)
{
	return KEY_NAMES[key];
}

void jobset_key_hint(const char *name, char *hint, size_t size)
{
	text_hint(name, KEY_NAMES, hint, size);
}

int jobset_no_memory(struct err *err)
{
	errno = ENOMEM;
	return err_sys(err, "cannot read job");
}

static int set_text(char **field, const char *text, struct err *err)
{
	char *copy = strdup(text);

	if (!copy)
		return jobset_no_memory(err);
	free(*field);
	*field = copy;
	return 0;
}

/* C0, DEL, and C1 as UTF-8 has them: any of these can drive a terminal that shows the name. */
static bool has_control(const char *text)
{
	for (const unsigned char *p = (const unsigned char *)text; *p; p++) {
		if (*p < 0x20 || *p == 0x7f || (p[0] == 0xc2 && p[1] >= 0x80 && p[1] < 0xa0))
			return true;
	}
	return false;
}

static int set_name(struct job *job, const char *value, struct err *err)
{
	if (has_control(value))
		return err_set(err, EXIT_USAGE, "a control character in the name");
	if (strlen(value) > JOB_NAME_MAX)
		return err_set(err, EXIT_USAGE, "longer than %d bytes", JOB_NAME_MAX);
	return set_text(&job->name, value, err);
}

static int set_class(struct job *job, const char *value, struct err *err)
{
	return set_text(&job->class_name, value, err);
}

static int set_session(struct job *job, const char *value, struct err *err)
{
	char clean[JOB_SESSION_MAX + 1];

	text_session_clean(value, clean, sizeof clean);
	return set_text(&job->session, clean, err);
}

static int set_budget(struct job *job, const char *value, struct err *err)
{
	return text_duration_parse(value, false, &job->budget_ns, err);
}

static int set_limit(struct job *job, const char *value, struct err *err)
{
	return text_duration_parse(value, false, &job->limit_ns, err);
}

static int set_memory(struct job *job, const char *value, struct err *err)
{
	job->memory_default = false;
	return text_size_parse(value, &job->memory_bytes, err);
}

static int set_vram(struct job *job, const char *value, struct err *err)
{
	return text_size_parse(value, &job->vram_bytes, err);
}

static int set_card(struct job *job, const char *value, struct err *err)
{
	if (strcmp(value, "any") != 0)
		return conf_card_read(value, job->card, err);
	job->card[0] = '\0';
	return 0;
}

static int set_vram_max(struct job *job, const char *value, struct err *err)
{
	return text_size_parse(value, &job->vram_max_bytes, err);
}

static int set_nice(struct job *job, const char *value, struct err *err)
{
	int64_t nice;

	if (text_number_parse(value, -(int64_t)JOB_NICE_MAX, JOB_NICE_MAX, &nice, err) < 0)
		return -1;
	job->nice = (int)nice;
	return 0;
}

static int set_min_run_time(struct job *job, const char *value, struct err *err)
{
	int64_t min_run_ns;

	if (text_duration_parse(value, true, &min_run_ns, err) < 0)
		return -1;
	job->min_run_ns = min_run_ns ? min_run_ns : -1;
	return 0;
}

static int set_retries(struct job *job, const char *value, struct err *err)
{
	int64_t retries;

	if (text_number_parse(value, 0, JOB_RETRIES_MAX, &retries, err) < 0)
		return -1;
	job->retries = (int)retries;
	return 0;
}

static int set_workdir(struct job *job, const char *value, struct err *err)
{
	if (strlen(value) >= PATH_MAX)
		return err_set(err, EXIT_USAGE, "longer than %d bytes", PATH_MAX - 1);
	return set_text(&job->workdir, value, err);
}

static int set_pattern(char **field, const char *value, struct err *err)
{
	char path[PATH_MAX];

	if (job_output_path(value, 0, 0, "", path, sizeof path, err) < 0)
		return -1;
	if (value[strlen(value) - 1] == '/')
		return err_set(err, EXIT_USAGE, "'%.200s' names a folder, not a file", value);
	return set_text(field, value, err);
}

static int set_output(struct job *job, const char *value, struct err *err)
{
	return set_pattern(&job->output, value, err);
}

static int set_error(struct job *job, const char *value, struct err *err)
{
	return set_pattern(&job->error, value, err);
}

static int set_open_mode(struct job *job, const char *value, struct err *err)
{
	static const char *const words[] = { "append", "truncate", NULL };
	char shown[64], hint[64];

	if (strcmp(value, words[0]) != 0 && strcmp(value, words[1]) != 0) {
		text_show(value, shown, sizeof shown);
		text_hint(value, words, hint, sizeof hint);
		return err_set(err, EXIT_USAGE, "'%s' is neither append nor truncate%s", shown, hint);
	}
	job->truncate = *value == 't';
	return 0;
}

static int set_requeue(struct job *job, const char *value, struct err *err)
{
	if (text_bool_parse(value, &job->requeue, err) < 0)
		return -1;
	job->requeue_set = true;
	return 0;
}

static int set_standing(struct job *job, const char *value, struct err *err)
{
	return text_bool_parse(value, &job->standing, err);
}

static int set_dedupe(struct job *job, const char *value, struct err *err)
{
	if (has_control(value))
		return err_set(err, EXIT_USAGE, "a control character in the key");
	if (strlen(value) > JOB_DEDUPE_MAX)
		return err_set(err, EXIT_USAGE, "longer than %d bytes", JOB_DEDUPE_MAX);
	return set_text(&job->dedupe, value, err);
}

static int set_slurm_env(struct job *job, const char *value, struct err *err)
{
	return text_bool_parse(value, &job->slurm_env, err);
}

static int set_budget_signal(struct job *job, const char *value, struct err *err)
{
	struct sigspec ignored;

	return sigspec_parse(value, &ignored, err) < 0 ? -1 : set_text(&job->budget_signal, value, err);
}

int jobset_string(const char *text, struct err *err)
{
	if (strlen(text) + 1 > JOB_ENV_STRING_MAX)
		return err_set(err, EXIT_USAGE, "a text longer than 128 KiB, which no program can be given");
	return 0;
}

int jobset_env_name(const char *name, size_t length, struct err *err)
{
	if (length == 0)
		return err_set(err, EXIT_USAGE, "an empty name");
	if (memchr(name, '=', length))
		return err_set(err, EXIT_USAGE, "'%.*s' is not a name: it holds a '='",
			       (int)(length < 64 ? length : 64), name);
	return 0;
}

static bool is_all(const char *item)
{
	return strcmp(item, "all") == 0 || strcmp(item, "ALL") == 0;
}

static bool is_none(const char *item)
{
	return strcmp(item, "none") == 0 || strcmp(item, "NONE") == 0;
}

static int check_export(char *const items[], bool *ret_all, struct err *err)
{
	*ret_all = false;
	for (size_t i = 0; items[i]; i++) {
		if (is_none(items[i]))
			return err_set(err, EXIT_USAGE, "'none' stands alone");
		if (is_all(items[i]))
			*ret_all = true;
		if (jobset_env_name(items[i], strcspn(items[i], "="), err) < 0 || jobset_string(items[i], err) < 0)
			return -1;
	}
	return 0;
}

/* With `all`, only the assignments say anything new. */
int jobset_export(struct job *job, char *const items[], struct err *err)
{
	bool all;
	bool none = items[0] && !items[1] && is_none(items[0]);

	if (!none && check_export(items, &all, err) < 0)
		return -1;
	char **names = NULL;
	size_t count = 0;
	if (!none && !(names = words_new(words_count(items))))
		return jobset_no_memory(err);
	for (size_t i = 0; !none && items[i]; i++) {
		if (all && !strchr(items[i], '='))
			continue;
		names[count] = strdup(items[i]);
		if (!names[count++]) {
			words_free(names);
			return jobset_no_memory(err);
		}
	}
	if (count == 0) {
		words_free(names);
		names = NULL;
	}
	words_free(job->export_names);
	job->export_names = names;
	job->export = none ? JOB_EXPORT_NONE : all ? JOB_EXPORT_ALL : JOB_EXPORT_LIST;
	return 0;
}

/* Cuts a copy of the text at its commas; the items are pieces of that copy. */
static int set_export(struct job *job, const char *value, struct err *err)
{
	SCOPE_FREE char *text = strdup(value);
	size_t count = 1;

	for (const char *p = value; *p; p++)
		count += *p == ',';
	SCOPE_FREE char **items = calloc(count + 1, sizeof *items);
	if (!text || !items)
		return jobset_no_memory(err);
	char *next = text;
	for (size_t i = 0; i < count; i++) {
		items[i] = next;
		next += strcspn(next, ",");
		*next++ = '\0';
	}
	return jobset_export(job, items, err);
}

static int set_hold(struct job *job, const char *value, struct err *err)
{
	return text_bool_parse(value, &job->hold, err);
}

/* A time that is over is refused where a person gives it (jobcomplete.c); in a record it has come. */
static int set_begin(struct job *job, const char *value, struct err *err)
{
	int64_t begin_ns = 0;

	if (strcmp(value, "now") != 0 && when_moment(value, clock_wall_ns(), &begin_ns, err) < 0)
		return -1;
	job->begin_recorded = false;
	job->begin_wall_ns = (begin_ns + NS_PER_S - 1) / NS_PER_S * NS_PER_S;
	return 0;
}

static int set_after(struct job *job, const char *value, struct err *err)
{
	struct after_list after = { 0 };

	if (strcmp(value, "none") != 0 && after_parse(value, &after, err) < 0) {
		after_free(&after);
		return -1;
	}
	after_free(&job->after);
	job->after = after;
	return 0;
}

static int set_array(struct job *job, const char *value, struct err *err)
{
	return array_parse(value, &job->array, err);
}

static int set_order(struct job *job, const char *value, struct err *err)
{
	static const char *const words[] = { [ARRAY_PLAIN] = "plain", [ARRAY_SPARSE] = "sparse", NULL };
	char hint[64];

	for (int order = 0; words[order]; order++) {
		if (strcmp(value, words[order]) == 0) {
			job->order = (enum array_order)order;
			return 0;
		}
	}
	text_hint(value, words, hint, sizeof hint);
	return err_set(err, EXIT_USAGE, "'%.64s' is not plain or sparse%s", value, hint);
}

static int set_skip_existing(struct job *job, const char *value, struct err *err)
{
	return set_pattern(&job->skip_existing, value, err);
}

static int (*const SETTERS[JOB_KEYS])(struct job *job, const char *value, struct err *err) = {
	[JOB_KEY_NAME] = set_name,
	[JOB_KEY_CLASS] = set_class,
	[JOB_KEY_SESSION] = set_session,
	[JOB_KEY_BUDGET] = set_budget,
	[JOB_KEY_LIMIT] = set_limit,
	[JOB_KEY_MEMORY] = set_memory,
	[JOB_KEY_VRAM] = set_vram,
	[JOB_KEY_CARD] = set_card,
	[JOB_KEY_WORKDIR] = set_workdir,
	[JOB_KEY_OUTPUT] = set_output,
	[JOB_KEY_ERROR] = set_error,
	[JOB_KEY_EXPORT] = set_export,
	[JOB_KEY_REQUEUE] = set_requeue,
	[JOB_KEY_BUDGET_SIGNAL] = set_budget_signal,
	[JOB_KEY_HOLD] = set_hold,
	[JOB_KEY_STANDING] = set_standing,
	[JOB_KEY_VRAM_MAX] = set_vram_max,
	[JOB_KEY_BEGIN] = set_begin,
	[JOB_KEY_AFTER] = set_after,
	[JOB_KEY_NICE] = set_nice,
	[JOB_KEY_MIN_RUN_TIME] = set_min_run_time,
	[JOB_KEY_RETRIES] = set_retries,
	[JOB_KEY_ARRAY] = set_array,
	[JOB_KEY_ORDER] = set_order,
	[JOB_KEY_SKIP_EXISTING] = set_skip_existing,
	[JOB_KEY_DEDUPE] = set_dedupe,
	[JOB_KEY_SLURM_ENV] = set_slurm_env,
	[JOB_KEY_OPEN_MODE] = set_open_mode,
};

int job_set(struct job *job, const char *key, const char *value, struct err *err)
{
	int number = jobset_key(key);

	if (number < 0) {
		char hint[64], shown[64];
		jobset_key_hint(key, hint, sizeof hint);
		text_show(key, shown, sizeof shown);
		return err_set(err, EXIT_USAGE, "unknown key '%s'%s", shown, hint);
	}
	if (!SETTERS[number])
		return err_set(err, EXIT_USAGE, "%s: cannot be set from a text", key);
	if (*value == '\0')
		return err_set(err, EXIT_USAGE, "%s: a value is missing", key);
	if (SETTERS[number](job, value, err) < 0)
		return err_wrap(err, "%s", key);
	job->places[number] = (struct job_place){ 0 };
	return 0;
}
