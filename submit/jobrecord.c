/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The record of a submitted job is a job file in the `---` spelling, so that a person reads in it what the queue reads,
 * and so that there is one parser. The facts of the submit are comments to that parser: lines "# pgpu KEY VALUE" right
 * after the first fence, each exactly once, the version first. Every text is written in double quotes, or as !!binary
 * where it is not UTF-8, on one line: no value can look like a fence or a fact. A script that came as text follows the
 * second fence byte for byte.
 */
#include "conf/base/fmt.h"
#include "job.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "conf/base/clock.h"
#include "conf/base/scope.h"
#include "conf/base/text.h"
#include "conf/jobid.h"
#include "jobfile.h"
#include "jobquote.h"
#include "jobset.h"

enum {
	RECORD_VERSION = 1,
	LONGEST_SIMPLE_KEY = 100,	 /* bytes, each up to 6 in quotes; YAML allows 1024 characters */
	FACTS_MAX = 1024 + 4 * PATH_MAX, /* a byte of the folder's name is up to 4 in the fact */
};

static void put_text(struct buf *record, const char *key, const char *text)
{
	if (!text)
		return;
	buf_printf(record, "%s: ", key);
	jobquote_yaml(record, text, strlen(text));
	buf_puts(record, "\n");
}

static void put_items(struct buf *record, char *const items[])
{
	for (size_t i = 0; items && items[i]; i++) {
		buf_puts(record, i ? ", " : "");
		jobquote_yaml(record, items[i], strlen(items[i]));
	}
}

static void put_list(struct buf *record, const char *key, char *const items[])
{
	if (!items || !items[0])
		return;
	buf_printf(record, "%s: [", key);
	put_items(record, items);
	buf_puts(record, "]\n");
}

/* text_duration_format() drops what is below a second; half of a limit may have it. */
static void put_duration(struct buf *record, const char *key, int64_t ns)
{
	char text[TEXT_DURATION];

	if (ns == 0)
		return;
	text_duration_format(ns, text);
	if (ns % NS_PER_S)
		fmt(text, sizeof text, "%lld.%09llds", (long long)(ns / NS_PER_S), (long long)(ns % NS_PER_S));
	buf_printf(record, "%s: %s\n", key, text);
}

/* The same for bytes below a KiB: whatever a size can say, nine decimals of a KiB say exactly. */
static void put_size(struct buf *record, const char *key, uint64_t bytes)
{
	char text[TEXT_SIZE];

	if (bytes == 0)
		return;
	text_size_format(bytes, text);
	if (bytes % 1024)
		fmt(text, sizeof text, "%llu.%09lluK", (unsigned long long)(bytes / 1024),
		    (unsigned long long)(bytes % 1024 * 1000000000 / 1024));
	buf_printf(record, "%s: %s\n", key, text);
}

/* A name that YAML would call too long for `NAME: VALUE` is written as an explicit key. */
static void put_env(struct buf *record, char *const env[])
{
	if (!env || !env[0])
		return;
	buf_puts(record, "env:\n");
	for (size_t i = 0; env[i]; i++) {
		size_t length = strcspn(env[i], "=");
		bool simple = length <= LONGEST_SIMPLE_KEY;
		buf_puts(record, simple ? "  " : "  ? ");
		jobquote_yaml(record, env[i], length);
		buf_puts(record, simple ? ": " : "\n  : ");
		jobquote_yaml(record, env[i] + length + 1, strlen(env[i] + length + 1));
		buf_puts(record, "\n");
	}
}

static void put_export(struct buf *record, const struct job *job)
{
	if (job->export == JOB_EXPORT_NONE) {
		buf_puts(record, "export: none\n");
	} else if (!job->export_names) {
		buf_puts(record, "export: all\n");
	} else {
		buf_puts(record, job->export == JOB_EXPORT_ALL ? "export: [all, " : "export: [");
		put_items(record, job->export_names);
		buf_puts(record, "]\n");
	}
}

static void put_begin(struct buf *record, int64_t begin_wall_ns)
{
	char when[CLOCK_TEXT];

	if (begin_wall_ns == 0)
		return;
	clock_utc_format(begin_wall_ns, when);
	buf_printf(record, "begin: %s\n", when);
}

static void put_after(struct buf *record, const struct after_list *after)
{
	for (size_t i = 0; i < after->count; i++) {
		buf_puts(record, i ? ", " : "after: [");
		after_put(after, i, record);
	}
	if (after->count)
		buf_puts(record, "]\n");
}

static void put_array(struct buf *record, const struct job *job)
{
	if (job->array.count) {
		buf_puts(record, "array: ");
		array_put(&job->array, record);
		buf_puts(record, "\n");
	}
	if (job->order == ARRAY_SPARSE)
		buf_puts(record, "order: sparse\n");
	put_text(record, "skip-existing", job->skip_existing);
}

/* "# pgpu limits - - 8388608 ...", - for none */
static void put_limits(struct buf *record, const uint64_t limits[JOB_LIMITS])
{
	buf_puts(record, "# pgpu limits");
	for (int i = 0; i < JOB_LIMITS; i++) {
		if (limits[i] == UINT64_MAX)
			buf_puts(record, " -");
		else
			buf_printf(record, " %llu", (unsigned long long)limits[i]);
	}
	buf_puts(record, "\n");
}

static void put_facts(struct buf *record, const struct job_facts *facts)
{
	int64_t part = facts->submitted_wall_ns % NS_PER_S;
	char when[CLOCK_TEXT];

	clock_utc_format(facts->submitted_wall_ns - part, when);
	buf_printf(record, "# pgpu version %d\n", RECORD_VERSION);
	buf_printf(record, "# pgpu id %s\n", JOBID(facts->id));
	buf_printf(record, "# pgpu submitted %s +%lldns\n", when, (long long)part);
	buf_printf(record, "# pgpu umask %04o\n", (unsigned)facts->umask);
	buf_puts(record, "# pgpu env ");
	jobquote_line(record, facts->env_name);
	buf_puts(record, "\n# pgpu submit-dir ");
	jobquote_line(record, facts->submit_dir ? facts->submit_dir : "");
	buf_puts(record, "\n");
	if (facts->limits_known)
		put_limits(record, facts->limits);
}

void job_format(const struct job *job, const struct job_facts *facts, struct buf *record)
{
	buf_puts(record, "---\n");
	put_facts(record, facts);
	put_text(record, "name", job->name);
	put_text(record, "class", job->class_name);
	put_text(record, "session", job->session);
	put_duration(record, "budget", job->budget_ns);
	put_duration(record, "limit", job->limit_ns);
	if (job->min_run_ns < 0)
		buf_puts(record, "min-run-time: 0s\n");
	else
		put_duration(record, "min-run-time", job->min_run_ns);
	put_size(record, "memory", job->memory_bytes);
	if (job->vram_bytes)
		put_size(record, "vram", job->vram_bytes);
	put_text(record, "card", job->card[0] ? job->card : NULL);
	put_size(record, "vram-max", job->vram_max_bytes);
	if (job->retries)
		buf_printf(record, "retries: %d\n", job->retries);
	if (job->nice)
		buf_printf(record, "nice: %d\n", job->nice);
	put_text(record, "workdir", job->workdir);
	put_text(record, "output", job->output);
	put_text(record, "error", job->error);
	if (job->truncate)
		buf_puts(record, "open-mode: truncate\n");
	put_env(record, job->env);
	put_export(record, job);
	buf_printf(record, "requeue: %s\n", job->requeue ? "true" : "false");
	if (job->hold)
		buf_puts(record, "hold: true\n");
	put_begin(record, job->begin_wall_ns);
	put_after(record, &job->after);
	put_array(record, job);
	if (job->standing)
		buf_puts(record, "standing: true\n");
	put_text(record, "dedupe", job->dedupe);
	if (job->slurm_env)
		buf_puts(record, "slurm-env: true\n");
	put_text(record, "budget-signal", job->budget_signal);
	put_list(record, "on-end", job->on_end);
	if (job->on_end && !job->on_end[0])
		buf_puts(record, "on-end: []\n");
	put_list(record, job->body == JOB_BODY_ARGV ? "command" : "arguments", job->argv);
	if (job->body == JOB_BODY_SCRIPT || job->body == JOB_BODY_SHELL) {
		buf_puts(record, job->body == JOB_BODY_SCRIPT ? "script: " : "command: ");
		jobquote_yaml(record, job->script, job->script_size);
		buf_puts(record, "\n");
	}
	buf_puts(record, "---\n");
	if (job->body == JOB_BODY_TEXT)
		buf_add(record, job->script, job->script_size);
}

static int refuse_fact(const char *key, struct err *err)
{
	return err_set(err, EXIT_FAILED, "cannot read record: '# pgpu %s' is missing or damaged", key);
}

/* The value of the fact that `*next` stands at, owned by the caller; `*next` goes on to the next line. */
static char *take_fact(const char **next, const char *key)
{
	char start[32];
	int length = fmt(start, sizeof start, "# pgpu %s ", key);

	if (strncmp(*next, start, (size_t)length) != 0)
		return NULL;
	const char *value = *next + length;
	size_t size = strcspn(value, "\n");
	char *text = value[size] == '\n' ? strndup(value, size) : NULL;
	if (text && !jobquote_unline(text)) {
		free(text);
		return NULL;
	}
	*next = value + size + 1;
	return text;
}

static int take_number(const char **next, const char *key, int64_t least, int64_t *ret_number, struct err *err)
{
	SCOPE_FREE char *text = take_fact(next, key);

	return text && text_number_parse(text, least, INT64_MAX, ret_number, NULL) == 0 ? 0 : refuse_fact(key, err);
}

/* 0 is none yet: what `submit --dry-run` prints. */
static int take_id(const char **next, uint64_t *ret_id, struct err *err)
{
	SCOPE_FREE char *text = take_fact(next, "id");

	*ret_id = 0;
	return text && (strcmp(text, "0") == 0 || jobid_parse(text, ret_id, NULL) == 0) ? 0 : refuse_fact("id", err);
}

/* "2026-12-01T02:30:00+01:00 +123456789ns" */
static int take_time(const char **next, int64_t *ret_ns, struct err *err)
{
	SCOPE_FREE char *text = take_fact(next, "submitted");
	char *part = text ? strchr(text, ' ') : NULL;
	size_t length = part ? strlen(part) : 0;
	int64_t whole_ns, part_ns;

	if (length < 5 || part[1] != '+' || strcmp(part + length - 2, "ns") != 0)
		return refuse_fact("submitted", err);
	part[length - 2] = '\0';
	*part = '\0';
	if (text_number_parse(part + 2, 0, NS_PER_S - 1, &part_ns, NULL) < 0 || clock_wall_parse(text, &whole_ns) < 0)
		return refuse_fact("submitted", err);
	*ret_ns = whole_ns + part_ns;
	return 0;
}

static int take_umask(const char **next, mode_t *ret_umask, struct err *err)
{
	SCOPE_FREE char *text = take_fact(next, "umask");

	if (!text || strlen(text) != 4 || text[0] != '0' || strspn(text, "01234567") != 4)
		return refuse_fact("umask", err);
	*ret_umask = (mode_t)((text[1] - '0') << 6 | (text[2] - '0') << 3 | (text[3] - '0'));
	return 0;
}

static int take_env_name(const char **next, char name[64], struct err *err)
{
	SCOPE_FREE char *text = take_fact(next, "env");

	if (!text || strlen(text) > 63)
		return refuse_fact("env", err);
	memcpy(name, text, strlen(text) + 1);
	return 0;
}

/* Not there in older records. */
static int take_limits(const char **next, struct job_facts *facts, struct err *err)
{
	SCOPE_FREE char *text = take_fact(next, "limits");
	const char *at = text, *end;

	facts->limits_known = text != NULL;
	if (!at)
		return 0;
	for (int i = 0; i < JOB_LIMITS; i++) {
		at += *at == ' ';
		errno = 0;
		facts->limits[i] = *at == '-' ? UINT64_MAX : fmt_read(at, &end);
		if (*at != '-' && (*at < '0' || *at > '9' || errno))
			return refuse_fact("limits", err);
		at = *at == '-' ? at + 1 : end;
		if (*at != (i + 1 == JOB_LIMITS ? '\0' : ' '))
			return refuse_fact("limits", err);
	}
	return 0;
}

static int take_facts(const char *next, struct job_facts *facts, struct err *err)
{
	int64_t version;

	if (take_number(&next, "version", 1, &version, err) < 0)
		return -1;
	if (version > RECORD_VERSION) {
		err_set(err, EXIT_FAILED, "cannot read record: its version %lld is newer than this pgpu",
			(long long)version);
		if (err)
			err->errnum = EPROTO;
		return -1;
	}
	if (take_id(&next, &facts->id, err) < 0 || take_time(&next, &facts->submitted_wall_ns, err) < 0 ||
	    take_umask(&next, &facts->umask, err) < 0 || take_env_name(&next, facts->env_name, err) < 0)
		return -1;
	facts->submit_dir = take_fact(&next, "submit-dir");
	return facts->submit_dir ? take_limits(&next, facts, err) : refuse_fact("submit-dir", err);
}

/* A copy, because facts are looked for with string functions; of the head alone, because the script may be large. */
static int read_facts(const char *text, size_t size, struct job_facts *facts, struct err *err)
{
	SCOPE_FREE char *head = strndup(text, size < FACTS_MAX ? size : FACTS_MAX);

	if (!head)
		return jobset_no_memory(err);
	if (strncmp(head, "---\n", 4) != 0)
		return err_set(err, EXIT_FAILED, "cannot read record: it does not begin with '---'");
	return take_facts(head + 4, facts, err);
}

bool job_record_is_newer(const char *head)
{
	static const char start[] = "---\n# pgpu version ";
	const char *end;

	return strncmp(head, start, sizeof start - 1) == 0 && fmt_read(head + sizeof start - 1, &end) > RECORD_VERSION;
}

int job_record_parse(const char *text, size_t size, struct job *ret_job, struct job_facts *ret_facts, struct err *err)
{
	__attribute__((cleanup(job_facts_free))) struct job_facts facts = { 0 };

	if (read_facts(text, size, &facts, err) < 0)
		return -1;
	if (jobfile_read(NULL, text, size, SIZE_MAX, ret_job, NULL, err) < 0) {
		if (err)
			err->code = EXIT_FAILED;
		return err_wrap(err, "cannot read record");
	}
	ret_job->begin_recorded = true;
	*ret_facts = facts;
	facts.submit_dir = NULL;
	return 0;
}
