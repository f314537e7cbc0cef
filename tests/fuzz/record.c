/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A record that is read back from the spool: job_record_parse() of submit/job.h. */
#include "job.h"

int fuzz_one(const uint8_t *bytes, size_t size)
{
	struct job_facts facts = { 0 };
	struct job job = JOB_EMPTY;
	struct err err = ERR_NONE;
	char *text = fuzz_text(bytes, size);

	if (job_record_parse(text, size, &job, &facts, &err) == 0)
		fuzz_same_record(&job, &facts);
	job_free(&job);
	job_facts_free(&facts);
	free(text);
	return 0;
}
