/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The options of the commands: words as getopt_long(3) takes them, but long ones by their full names alone, and with
 * messages that name the offending word and the nearest right one. A reader of our own, since libc's lies in a part of
 * its text that a start touches for nothing else.
 *
 *     static const struct option long_options[] = { { "class", OPTION_VALUE, 'p' }, ..., { .name = "" } };
 *     struct options options = OPTIONS("run", argc, argv, "+p:q", long_options);
 *     for (int option; (option = options_next(&options, &err)) != 0;) if (option < 0) return say_err(&err); ...
 *
 * `letters` are the short options, with ':' behind one that takes a value; with '+' in front the first argument ends
 * the options, else arguments may stand between them and are moved behind. What is left starts at argv[options.next].
 * `--help` is every command's own value.
 */
#ifndef PGPU_RUNNER_OPTIONS_H
#define PGPU_RUNNER_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "conf/base/err.h"
#include "conf/base/print.h"

enum option_takes { OPTION_FLAG, OPTION_VALUE };

/* The last row has no name. Names lie in the row: a pointer would be one more place for the loader to fill in. */
struct option {
	char name[12];
	enum option_takes takes;
	int option; /* what options_next() returns */
};

struct options {
	const char *command;
	int argc;
	char **argv;
	const char *letters;
	const struct option *long_options;
	int next;	    /* the first word that was not read as an option or its value */
	int passed;	    /* arguments from there on that an option may still stand behind */
	const char *value;  /* of the option that was last returned, or NULL */
	const char *bundle; /* what is left of a word of several letters */
};

#define OPTIONS(command, argc, argv, letters, long_options)                                                            \
	((struct options){ command, argc, argv, letters, long_options, .next = 1 })

/* Reads the command line of a command that has --json and --help alone. -1: it goes on; else its exit code, what there
 * was to say having been said. */
int options_json_alone(const char *command, int argc, char **argv, const char *usage, bool *ret_json);
/* The option's value, 0 at the end, -1 with a usage error. */
int options_next(struct options *options, struct err *err);
/* "cannot read X: ..." for one argument too many, or 0. */
int options_end(const struct options *options, struct err *err);

#endif
