/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * From the YAML of a header to the fields of a job: which keys there are, what kind of value each takes, that none is
 * given twice or left empty. What a single text may say is jobset.h's.
 */
#ifndef PGPU_SUBMIT_JOBHEADER_H
#define PGPU_SUBMIT_JOBHEADER_H

#include "job.h"
#include "jobyaml.h"

/* Adds what the header says to `job`, which the caller frees in any case. */
int jobheader_read(const struct jobyaml_source *source, struct job *job, struct err *err);

/* The values of these keys are the job's text, not its header: JOB_HEADER_MAX does not count them. */
extern const char *const jobheader_large_keys[];

#endif
