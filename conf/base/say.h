/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The one writer to standard error. Only commands and the supervisor of a job speak; libraries return errors.
 * Every line is "pgpu: TEXT" and one write(2); control characters in TEXT (a hostile name, say) become \xNN.
 */
#ifndef PGPU_BASE_SAY_H
#define PGPU_BASE_SAY_H

#include <stdbool.h>

#include "err.h"

/* After say_quiet(true) say() is silent; say_err() never is. */
void say_quiet(bool quiet);
/*
 * While held, lines are kept and printed when it ends: nothing is written with the queue lock held, since a terminal
 * stopped by Ctrl-S would stop everybody. What does not fit is left out.
 */
void say_hold(bool hold);
/* For who would have to find out first what to say. */
bool say_is_quiet(void);
void say(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Prints the error and returns its exit code, for `return say_err(&err)`. */
int say_err(const struct err *err);

#endif
