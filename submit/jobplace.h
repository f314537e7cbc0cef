/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Errors that name a place in a job file: "FILE:LINE:COLUMN: what is wrong". With `file_name` NULL they name none. */
#ifndef PGPU_SUBMIT_JOBPLACE_H
#define PGPU_SUBMIT_JOBPLACE_H

#include "job.h"

/* "FILE:LINE:COLUMN: FORMAT", exit code 2. */
int jobplace_refuse(const char *file_name, struct job_place place, struct err *err, const char *format, ...)
	__attribute__((format(printf, 4, 5)));
/* Puts the place in front of an error that is there. */
int jobplace_blame(const char *file_name, struct job_place place, struct err *err);
/* The place of a byte of a text, counted from 1, as if `text` began the file. */
struct job_place jobplace_at(const char *text, size_t offset);

#ifdef __clang_analyzer__ /* as in conf/base/err.h */
#define jobplace_refuse(...)                                                                                           \
	__extension__({                                                                                                \
		(void)jobplace_refuse(__VA_ARGS__);                                                                    \
		-1;                                                                                                    \
	})
#define jobplace_blame(...)                                                                                            \
	__extension__({                                                                                                \
		(void)jobplace_blame(__VA_ARGS__);                                                                     \
		-1;                                                                                                    \
	})
#endif

#endif
