/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "job.h"

#include <stdlib.h>
#include <string.h>

#include "conf/base/fmt.h"
#include "conf/base/words.h"
#include "conf/jobid.h"
#include "jobset.h"
#include "slurmenv.h"

void job_free(struct job *job)
{
	free(job->name);
	free(job->class_name);
	free(job->session);
	free(job->workdir);
	free(job->output);
	free(job->error);
	free(job->budget_signal);
	free(job->dedupe);
	words_free(job->on_end);
	words_free(job->env);
	words_free(job->export_names);
	free(job->script);
	words_free(job->argv);
	free(job->file_name);
	after_free(&job->after);
	free(job->skip_existing);
	*job = JOB_EMPTY;
}

void job_facts_free(struct job_facts *facts)
{
	free(facts->submit_dir);
	facts->submit_dir = NULL;
}

int job_set_argv(struct job *job, char *const argv[], struct err *err)
{
	if (job->body == JOB_BODY_ARGV)
		return err_set(err, EXIT_USAGE, "arguments are for a script, and this job's command is a list already");
	if (job->body == JOB_BODY_NONE && (!argv[0] || !*argv[0]))
		return err_set(err, EXIT_USAGE, "no command");
	for (size_t i = 0; argv[i]; i++) {
		if (jobset_string(argv[i], err) < 0)
			return -1;
	}
	char **copy = words_copy(argv);
	if (!copy)
		return jobset_no_memory(err);
	words_free(job->argv);
	job->argv = copy;
	if (job->body == JOB_BODY_NONE)
		job->body = JOB_BODY_ARGV;
	return 0;
}

void job_command_line(const struct job *job, struct buf *line)
{
	if (job->body == JOB_BODY_SHELL)
		buf_add(line, job->script, job->script_size);
	else if (job->body != JOB_BODY_ARGV)
		buf_shell(line, job->name ? job->name : "");
	if (!job->argv)
		return;
	if (job->body != JOB_BODY_ARGV && job->argv[0])
		buf_puts(line, " ");
	buf_shell_line(line, job->argv);
}

/* A name must not lead the path anywhere else, nor hide the file. */
static size_t put_name(const char *name, char *path, size_t size)
{
	size_t length = strlen(name);

	for (size_t i = 0; i < length && i < size; i++)
		path[i] = name[i] == '/' || (i == 0 && name[i] == '.') ? '_' : name[i];
	return length;
}

static size_t put_number(uint64_t number, int digits, char *path, size_t size)
{
	char text[24];

	fmt(text, sizeof text, "%0*llu", digits, (unsigned long long)number);
	return put_name(text, path, size);
}

/* A task's id with its array's number padded. */
static size_t put_id(uint64_t id, int digits, char *path, size_t size)
{
	char text[48];
	int used = fmt(text, sizeof text, "%0*llu", digits, (unsigned long long)jobid_number(id));

	if (jobid_task(id) >= 0)
		fmt(text + used, sizeof text - (size_t)used, "_%d", jobid_task(id));
	return put_name(text, path, size);
}

/* What `letter` stands for, without a NUL; the count it needs, or SIZE_MAX when it is unknown. */
static size_t put_piece(char letter, int digits, const struct job_pattern *values, char *path, size_t size)
{
	int32_t task = jobid_task(values->id);

	switch (letter) {
	case 'j': return put_id(values->id, digits, path, size);
	case 'A': return put_number(jobid_number(values->id), digits, path, size);
	case 'a': return task < 0 ? 0 : put_number((uint64_t)task, digits, path, size);
	case 'r': return put_number((uint64_t)values->restarts, digits, path, size);
	case 'x': return put_name(values->name, path, size);
	case 'u': return put_name(values->user, path, size);
	default: return SIZE_MAX;
	}
}

/* Slurm's: beyond the most it is the most. */
static int read_digits(const char **at)
{
	int digits = 0;

	for (; **at >= '0' && **at <= '9'; ++*at)
		digits = digits > JOB_PAD_MAX ? digits : digits * 10 + (**at - '0');
	return digits > JOB_PAD_MAX ? JOB_PAD_MAX : digits;
}

static int refuse_letter(const char *from, const char *letter, struct err *err)
{
	int shown = (int)(letter - from) + (*letter >= ' ' && *letter < 0x7f);

	return err_set(err, EXIT_USAGE, "unknown '%%%.*s' (%%j %%A %%a %%x %%u %%r, %%%% for a %%)",
		       shown < 20 ? shown : 20, from);
}

int job_output_expand(const char *pattern, const struct job_pattern *values, char *path, size_t size, struct err *err)
{
	size_t used = 0;

	for (const char *p = pattern; *p; p++) {
		size_t count = 1;
		if (*p != '%' || *++p == '%') {
			path[used] = *p;
		} else {
			const char *from = p;
			int digits = read_digits(&p);
			if ((count = put_piece(*p, digits, values, path + used, size - used)) == SIZE_MAX)
				return refuse_letter(from, p, err);
		}
		used += count;
		if (used + 1 > size)
			return err_set(err, EXIT_USAGE, "the path is longer than %zu bytes", size - 1);
	}
	path[used] = '\0';
	return 0;
}

int job_output_path(const char *pattern, uint64_t id, int restarts, const char *name, char *path, size_t size,
		    struct err *err)
{
	const struct job_pattern values = { .id = id, .restarts = restarts, .name = name, .user = "" };

	return job_output_expand(pattern, &values, path, size, err);
}

static bool begins(const char *text, const char *start)
{
	return strncmp(text, start, strlen(start)) == 0;
}

static bool is_ours(const char *assignment)
{
	return begins(assignment, "PGPU_JOB_") || begins(assignment, "PGPU_ARRAY_") ||
	       begins(assignment, "PGPU_SUBMIT_DIR=") || begins(assignment, "PGPU_RESTART_COUNT=") ||
	       begins(assignment, "PGPU_PROGRESS=") || begins(assignment, "GPU_QUEUE") || slurmenv_is_ours(assignment);
}

/* The item of that name, or NULL. */
static const char *find_name(char *const items[], const char *name, size_t length)
{
	for (size_t i = 0; items && items[i]; i++) {
		if (strncmp(items[i], name, length) == 0 && (items[i][length] == '=' || items[i][length] == '\0'))
			return items[i];
	}
	return NULL;
}

bool job_env_passes(const struct job *job, const char *assignment)
{
	size_t length = (size_t)(strchrnul(assignment, '=') - assignment);

	if (is_ours(assignment) || job->export == JOB_EXPORT_NONE)
		return false;
	const char *item = find_name(job->export_names, assignment, length);
	if (item && item[length] == '=')
		return false;
	return job->export == JOB_EXPORT_ALL || item;
}
