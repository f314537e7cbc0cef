/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A job file from its bytes: first what no job file may hold (UTF-16, NUL, DOS line ends), then the cut into header and
 * script, then each of them. The script is never changed; it is refused where it could not start as it stands.
 */
#include "jobfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "conf/base/fmt.h"
#include "conf/base/scope.h"
#include "conf/base/text.h"
#include "jobheader.h"
#include "jobplace.h"
#include "jobsbatch.h"
#include "jobset.h"
#include "jobspelling.h"
#include "jobyaml.h"

#define BOM "\xEF\xBB\xBF"

static bool starts_with(const char *text, size_t size, const char *start)
{
	size_t length = strlen(start);

	return size >= length && memcmp(text, start, length) == 0;
}

static int check_bytes(const char *file_name, const char *text, size_t size, struct err *err)
{
	bool marked = starts_with(text, size, "\xFF\xFE") || starts_with(text, size, "\xFE\xFF");
	const char *nul = memchr(text, '\0', size);
	const char *newline = memchr(text, '\n', size);

	if (marked || (size >= 2 && !text[0] != !text[1]))
		return jobplace_refuse(file_name, (struct job_place){ 1, 1 }, err,
				       "UTF-16 text; save the file as UTF-8");
	if (nul)
		return jobplace_refuse(file_name, jobplace_at(text, (size_t)(nul - text)), err,
				       "a NUL byte; a job file is text");
	if (newline && newline > text && newline[-1] == '\r')
		return jobplace_refuse(file_name, jobplace_at(text, (size_t)(newline - 1 - text)), err,
				       "DOS line ends (CRLF); save the file with Unix line ends");
	return 0;
}

static int read_header(const char *file_name, const struct jobspelling *spelling, size_t limit, struct job *job,
		       struct err *err)
{
	struct jobyaml_source source = {
		.file_name = file_name,
		.text = spelling->header.text,
		.size = spelling->header.size,
		.first_line = spelling->first_line,
		.lines = spelling->lines,
		.line_count = spelling->line_count,
		.indent = spelling->kind == JOBSPELLING_COMMENTS ? JOBSPELLING_INDENT : 0,
		.limit = limit,
		.large_keys = jobheader_large_keys,
	};

	return jobheader_read(&source, job, err);
}

/* Place of a byte of the body. */
static struct job_place body_place(const struct jobspelling *spelling, size_t offset)
{
	struct job_place place = jobplace_at(spelling->body, offset);

	place.line += spelling->body_line - 1;
	return place;
}

/* A kernel starts a file by its first two bytes; what looks like a '#!' line further on is told by its line. */
static int refuse_start(const char *file_name, const struct jobspelling *spelling, size_t blanks, struct err *err)
{
	const char *body = spelling->body;
	size_t size = spelling->body_size;

	if (starts_with(body, size, BOM))
		return jobplace_refuse(file_name, body_place(spelling, 0), err, "a byte-order mark (BOM) before '#!'");
	if (starts_with(body + blanks, size - blanks, "#!"))
		return jobplace_refuse(file_name, body_place(spelling, blanks), err,
				       "blanks or empty lines before '#!'; it must follow the header at once");
	return jobplace_refuse(file_name, body_place(spelling, 0), err,
			       "a script after the header must begin with '#!'");
}

static int refuse_second(const char *file_name, const struct jobspelling *spelling, const struct job *job,
			 struct err *err)
{
	enum job_key key = job->body == JOB_BODY_SCRIPT ? JOB_KEY_SCRIPT : JOB_KEY_COMMAND;

	return jobplace_refuse(file_name, job->places[key], err,
			       "two commands: '%s', and the script that begins on line %u", jobset_key_name(key),
			       spelling->body_line);
}

static int read_body(const char *file_name, const struct jobspelling *spelling, struct job *job, struct err *err)
{
	const char *body = spelling->body;
	size_t size = spelling->body_size, blanks = 0;

	while (blanks < size && strchr(" \t\r\n", body[blanks]))
		blanks++;
	if (blanks == size)
		return 0;
	if (!starts_with(body, size, "#!"))
		return refuse_start(file_name, spelling, blanks, err);
	if (job->body != JOB_BODY_NONE)
		return refuse_second(file_name, spelling, job, err);
	const char *newline = memchr(body, '\n', size);
	size_t line = newline ? (size_t)(newline - body) : size;
	if (body[line - 1] == '\r')
		return jobplace_refuse(file_name, body_place(spelling, line - 1), err,
				       "DOS line ends (CRLF) after '#!'");
	if (size > JOB_SCRIPT_MAX)
		return jobplace_refuse(file_name, body_place(spelling, 0), err, "the script is larger than %d MiB",
				       JOB_SCRIPT_MAX >> 20);
	if (!(job->script = malloc(size + 1)))
		return jobset_no_memory(err);
	memcpy(job->script, body, size);
	job->script[size] = '\0';
	job->script_size = size;
	job->body = JOB_BODY_TEXT;
	return 0;
}

static int need_command(const char *file_name, const struct jobspelling *spelling, const struct job *job,
			struct err *err)
{
	unsigned line = spelling->kind == JOBSPELLING_FRONT ? spelling->body_line - 1 : 1;

	if (job->body != JOB_BODY_NONE)
		return 0;
	return jobplace_refuse(file_name, (struct job_place){ line, 1 }, err,
			       "no command: a 'command' or 'script' key, or a script after the header");
}

/* "a/b.tar.yaml" is "b.tar", ".hidden" itself. */
static int set_file(struct job *job, const char *file_name, struct err *err)
{
	const char *slash = strrchr(file_name, '/');
	const char *base = strcmp(file_name, "-") == 0 ? "stdin" : slash ? slash + 1 : file_name;
	const char *dot = strrchr(base, '.');
	char stem[JOB_NAME_MAX + 1], name[JOB_NAME_MAX + 1];

	fmt(stem, sizeof stem, "%.*s", dot && dot > base ? (int)(dot - base) : JOB_NAME_MAX, base);
	text_show(stem, name, sizeof name);
	if (!job->name)
		job->name = strdup(name);
	job->file_name = strdup(file_name);
	return job->name && job->file_name ? 0 : jobset_no_memory(err);
}

static int read_parts(const char *file_name, const struct jobspelling *spelling, size_t limit, struct job *job,
		      struct buf *notices, struct err *err)
{
	if (read_header(file_name, spelling, limit, job, err) < 0)
		return -1;
	if (spelling->kind == JOBSPELLING_COMMENTS &&
	    jobsbatch_read(file_name, spelling->body, spelling->body_size, job, notices, err) < 0)
		return -1;
	if (spelling->body && read_body(file_name, spelling, job, err) < 0)
		return -1;
	if (need_command(file_name, spelling, job, err) < 0)
		return -1;
	return file_name ? set_file(job, file_name, err) : 0;
}

int jobfile_read(const char *file_name, const char *text, size_t size, size_t header_limit, struct job *ret_job,
		 struct buf *notices, struct err *err)
{
	SCOPE_JOB struct job job = JOB_EMPTY;
	__attribute__((cleanup(jobspelling_free))) struct jobspelling spelling = { 0 };

	if (starts_with(text, size, BOM)) {
		text += strlen(BOM);
		size -= strlen(BOM);
	}
	if (check_bytes(file_name, text, size, err) < 0 ||
	    jobspelling_read(file_name, text, size, &spelling, err) < 0 ||
	    read_parts(file_name, &spelling, header_limit, &job, notices, err) < 0)
		return -1;
	*ret_job = job;
	job = JOB_EMPTY;
	return 0;
}

int job_parse(const char *file_name, const char *text, size_t size, struct job *ret_job, struct buf *notices,
	      struct err *err)
{
	return jobfile_read(file_name, text, size, JOB_HEADER_MAX, ret_job, notices, err);
}

int job_file_read(const char *name, char **ret_text, size_t *ret_size, struct err *err)
{
	enum { LIMIT = JOB_HEADER_MAX + JOB_SCRIPT_MAX };
	SCOPE_BUF struct buf all = BUF_EMPTY;
	SCOPE_FD int opened = strcmp(name, "-") == 0 ? dup(STDIN_FILENO) : open(name, O_RDONLY | O_CLOEXEC);
	char piece[65536];
	ssize_t got;

	if (opened < 0) {
		err_sys(err, "cannot open %s", name);
		err->code = EXIT_USAGE;
		return -1;
	}
	while ((got = read(opened, piece, sizeof piece)) != 0) {
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0) {
			err_sys(err, "cannot read %s", name);
			err->code = EXIT_USAGE;
			return -1;
		}
		buf_add(&all, piece, (size_t)got);
		if (all.size > LIMIT)
			return err_set(err, EXIT_USAGE, "%s: a job file ends at %d MiB", name, JOB_SCRIPT_MAX >> 20);
	}
	buf_add(&all, "", 0);
	if (!buf_ok(&all)) {
		errno = ENOMEM;
		return err_sys(err, "cannot read %s", name);
	}
	*ret_size = all.size;
	*ret_text = TAKE(all.text);
	return 0;
}
