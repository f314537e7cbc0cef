/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Job files in their three spellings: submit/job.h. */
#include "job.h"

int fuzz_one(const uint8_t *bytes, size_t size)
{
	char *text = fuzz_text(bytes, size);

	fuzz_job_file(text, size);
	free(text);
	return 0;
}
