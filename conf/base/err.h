/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One error, filled where it happens, wrapped on the way up, printed once.
 *
 * A function that can fail takes a `struct err *` last, fills it and returns -1; on success it leaves it
 * untouched and returns 0 or more. Nothing below a command prints: commands hand the error to say_err().
 * The text follows one grammar, "cannot VERB THING: reason", without the program's name and without a newline: one that
 * a value holds becomes a '?'.
 */
#ifndef PGPU_BASE_ERR_H
#define PGPU_BASE_ERR_H

#include <stdbool.h>

/* Exit codes that are part of the interface (pgpu(1), EXIT STATUS). */
enum {
	EXIT_OK = 0,
	EXIT_FAILED = 1,     /* an error at run time */
	EXIT_USAGE = 2,	     /* the command line, a job file or the configuration did not parse */
	EXIT_NO_LANE = 75,   /* no lane in time */
	EXIT_STOPPED = 124,  /* past the limit, or stalled */
	EXIT_BROKEN = 125,   /* pgpu failed before the command began, or the job was lost */
	EXIT_NO_START = 127, /* the command could not start */
	EXIT_SIGNAL = 128,   /* plus the signal's number */
};

struct err {
	int code;	/* the exit code this error asks for */
	int errnum;	/* errno where a system call was the cause, else 0 */
	char text[768]; /* one line */
};

#define ERR_NONE ((struct err){ .code = EXIT_FAILED })

/* Each returns -1, so that `return err_set(...)` is the way out. `err` may be NULL: nobody asks. */
int err_set(struct err *err, int code, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* "FORMAT: strerror(errno)", exit code EXIT_FAILED. */
int err_sys(struct err *err, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Puts "FORMAT: " in front of what is there; the code stays. */
int err_wrap(struct err *err, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Whether it is the machine's, and another time it may go well: no memory, descriptors, processes or room, or a disk
 * that does not answer; or the limits of this process. */
bool err_may_pass(const struct err *err);

/* Hands an error that was filled elsewhere on. */
int err_pass(struct err *err, const struct err *why);

#ifdef __clang_analyzer__
/* The analyser sees one file at a time: it is told what they return. */
#define err_set(...)                                                                                                   \
	__extension__({                                                                                                \
		(void)err_set(__VA_ARGS__);                                                                            \
		-1;                                                                                                    \
	})
#define err_sys(...)                                                                                                   \
	__extension__({                                                                                                \
		(void)err_sys(__VA_ARGS__);                                                                            \
		-1;                                                                                                    \
	})
#define err_wrap(...)                                                                                                  \
	__extension__({                                                                                                \
		(void)err_wrap(__VA_ARGS__);                                                                           \
		-1;                                                                                                    \
	})
#define err_pass(...)                                                                                                  \
	__extension__({                                                                                                \
		(void)err_pass(__VA_ARGS__);                                                                           \
		-1;                                                                                                    \
	})
#endif

#endif
