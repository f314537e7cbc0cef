/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "retry.h"

#include "conf/base/clock.h"

bool retry_wanted(enum outcome outcome, int tries, int retries)
{
	return outcome == OUTCOME_FAILED && tries < retries;
}

int64_t retry_pause_ns(int64_t first_ns, int tries)
{
	int64_t most_ns = first_ns > RETRY_MOST_NS ? first_ns : RETRY_MOST_NS, pause_ns = first_ns;

	for (int i = 0; i < tries && pause_ns < most_ns; i++)
		pause_ns *= 2;
	return pause_ns < most_ns ? pause_ns : most_ns;
}
