/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The keys of a header and what their values may be: one place for options, job files and records, so that all three
 * refuse the same things with the same words. job_set() of job.h is here; the rest is for the header's reader.
 */
#ifndef PGPU_SUBMIT_JOBSET_H
#define PGPU_SUBMIT_JOBSET_H

#include "job.h"

/* A key's number by its name (`as` is the session), or -1. */
int jobset_key(const char *name);
/* The name a key is shown by. */
const char *jobset_key_name(enum job_key key);
/* ", did you mean 'X'?" or "". */
void jobset_key_hint(const char *name, char *hint, size_t size);

/* Takes the items of a list, or of `all,NAME,NAME=VALUE` split at its commas. */
int jobset_export(struct job *job, char *const items[], struct err *err);
/* A name of the environment, of `length` bytes: not empty and without '='. */
int jobset_env_name(const char *name, size_t length, struct err *err);
/* The kernel's limit for one string of an argument list or environment. */
int jobset_string(const char *text, struct err *err);

/* "out of memory" as an error, exit code 1. */
int jobset_no_memory(struct err *err);

#ifdef __clang_analyzer__ /* as in conf/base/err.h */
#define jobset_no_memory(err)                                                                                          \
	__extension__({                                                                                                \
		(void)jobset_no_memory(err);                                                                           \
		-1;                                                                                                    \
	})
#endif

#endif
