/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The rescue pass: what every call outside a job does first. Idempotent, and cheap when there is nothing to do: it
 * reads the seats and asks for their locks, and takes the queue lock only when something is wrong.
 *
 * Wrong is: a lane whose holder is dead; a grant that nobody takes; jobs waiting, a lane free, and nobody there to
 * start them; and, once after each boot, records that say running.
 */
#ifndef PGPU_RUNNER_RESCUE_H
#define PGPU_RUNNER_RESCUE_H

#include "runner/line/line.h"

/* The part of it that is done once after each boot. */
int rescue_sweep(struct line *line, struct err *err);
/* Model: FIRST, then RS1 to RS4, RST, which clear_dead() of member.c does.
 * With `always` it settles even where
 * nothing looks wrong (`pgpu rescue`). */
int rescue_pass(struct line *line, bool always, struct err *err);

#endif
