/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A script with `#SBATCH` lines: submit/jobsbatch.h. Each line of the input is what stands behind that word. */
#include "job.h"

int fuzz_one(const uint8_t *bytes, size_t size)
{
	SCOPE_BUF struct buf text = BUF_EMPTY;
	const uint8_t *at = bytes, *end = bytes + size;

	buf_puts(&text, "#!/bin/sh\n");
	while (at < end) {
		const uint8_t *line = memchr(at, '\n', (size_t)(end - at));
		line = line ? line + 1 : end;
		buf_puts(&text, "#SBATCH ");
		buf_add(&text, (const char *)at, (size_t)(line - at));
		at = line;
	}
	buf_puts(&text, "\ntrue\n");
	HOLDS(buf_ok(&text));
	char *copy = fuzz_text((const uint8_t *)text.text, text.size);
	fuzz_job_file(copy, text.size);
	free(copy);
	return 0;
}
