/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the targets of job files share: a job that was read is written as a record, and the record reads as the same. */
#ifndef PGPU_TESTS_FUZZ_JOB_H
#define PGPU_TESTS_FUZZ_JOB_H

#include <string.h>

#include "conf/base/scope.h"
#include "fuzz.h"
#include "submit/job.h"

static inline void fuzz_same_record(const struct job *job, const struct job_facts *facts)
{
	SCOPE_BUF struct buf record = BUF_EMPTY, again = BUF_EMPTY, line = BUF_EMPTY;
	SCOPE_JOB struct job read = JOB_EMPTY;
	struct job_facts read_facts = { 0 };
	struct err err = ERR_NONE;

	job_format(job, facts, &record);
	HOLDS(buf_ok(&record));
	if (job_record_parse(record.text, record.size, &read, &read_facts, &err) < 0) {
		fprintf(stderr, "%s\n%.*s\n", err.text, (int)record.size, record.text);
		HOLDS(!"the record is read again");
	}
	job_format(&read, &read_facts, &again);
	if (again.size != record.size || memcmp(again.text, record.text, record.size) != 0)
		fprintf(stderr, "%.*s\n%.*s\n", (int)record.size, record.text, (int)again.size, again.text);
	HOLDS(again.size == record.size && memcmp(again.text, record.text, record.size) == 0);
	job_command_line(&read, &line);
	job_facts_free(&read_facts);
}

/* The job file in all three of its uses: its messages, the record, the output's path. */
static inline void fuzz_job_file(const char *text, size_t size)
{
	SCOPE_BUF struct buf notices = BUF_EMPTY;
	struct job_facts facts = { .id = UINT64_C(12) << 24, .umask = 022, .env_name = "0", .submit_dir = "/" };
	struct job job = JOB_EMPTY;
	struct err err = ERR_NONE;
	char path[256];

	if (job_parse("fuzz.yaml", text, size, &job, &notices, &err) < 0) {
		HOLDS(err.text[0] && err.code == EXIT_USAGE && !strchr(err.text, '\n'));
		return;
	}
	fuzz_same_record(&job, &facts);
	if (job.output)
		job_output_path(job.output, facts.id | 4, 1, job.name, path, sizeof path, &err);
	job_free(&job);
}

#endif
