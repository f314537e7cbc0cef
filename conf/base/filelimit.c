/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "filelimit.h"

#include <signal.h>
#include <stddef.h>

static struct sigaction of_caller;

void filelimit_outlive(void)
{
	struct sigaction ignored = { .sa_handler = SIG_IGN };

	sigaction(SIGXFSZ, &ignored, &of_caller);
}

void filelimit_give_back(void)
{
	sigaction(SIGXFSZ, &of_caller, NULL);
}
