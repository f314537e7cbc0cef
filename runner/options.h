/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The options of the commands: getopt_long(3) with messages that name the offending word and the nearest right one.
 *
 *     static const struct option long_options[] = { ... };   val is what options_next() returns
 *     struct options options = OPTIONS("run", argc, argv, "+p:q", long_options);
 *     for (int option; (option = options_next(&options, &err)) != 0;) if (option < 0) return say_err(&err); ...
 *
 * What is left starts at argv[optind]. `--help` is every command's own value.
 */
#ifndef PGPU_RUNNER_OPTIONS_H
#define PGPU_RUNNER_OPTIONS_H

#include <getopt.h>
#include <stddef.h>
#include <stdint.h>

#include "conf/base/err.h"
#include "conf/base/print.h"

struct options {
	const char *command;
	int argc;
	char **argv;
	const char *short_options;
	const struct option *long_options;
	int index; /* of the long option that was last returned, or -1; -2 before the first */
};

#define OPTIONS(command, argc, argv, short_options, long_options)                                                      \
	((struct options){ command, argc, argv, short_options, long_options, -2 })

/* The option's value, 0 at the end, -1 with a usage error. Long options are taken by their full names alone. */
int options_next(struct options *options, struct err *err);
/* "cannot read X: ..." for one argument too many, or 0. */
int options_end(const struct options *options, struct err *err);

/* A job id: digits only, above 0. */
int options_job_id(const char *text, uint64_t *ret_id, struct err *err);

#endif
