/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What job_parse() and job_record_parse() share: the reading of a whole file. */
#ifndef PGPU_SUBMIT_JOBFILE_H
#define PGPU_SUBMIT_JOBFILE_H

#include "job.h"

/* As job_parse(), with the header's limit given; `file_name` NULL: no places in errors, no name for the job. */
int jobfile_read(const char *file_name, const char *text, size_t size, size_t header_limit, struct job *ret_job,
		 struct buf *notices, struct err *err);

#endif
