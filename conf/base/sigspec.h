/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A signal that is sent ahead of a job's end, as people write it: [B:]NAME[@TIME], such as USR1@60s (sbatch(1) has the
 * same spelling with bare seconds, which are refused here).
 */
#ifndef PGPU_BASE_SIGSPEC_H
#define PGPU_BASE_SIGSPEC_H

#include <stdbool.h>
#include <stdint.h>

#include "err.h"

struct sigspec {
	int sig;	  /* 0: none is wanted */
	int64_t ahead_ns; /* so long before; 0: at that moment */
	bool first_alone; /* B: to the job's first process (its script) and not to all of them */
};

/* NAME with or without SIG, in capitals, of those that a process can catch. The error is the reason alone, exit code 2;
 * `text` "" gives sig 0. */
int sigspec_parse(const char *text, struct sigspec *ret_spec, struct err *err);

/* A signal that is sent now: a name with or without SIG, in any case, or a number; KILL and STOP too. */
int sigspec_signal(const char *text, int *ret_sig, struct err *err);
/* "USR1"; the number of one without a name. `text` holds 24 bytes. */
void sigspec_name(int sig, char text[24]);

#endif
