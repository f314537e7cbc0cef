/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "times.h"

static int64_t moment(const struct times *times, enum due what)
{
	int64_t ahead_ns = times->signal.ahead_ns;

	switch (what) {
	case DUE_SIGNAL:
		if (!times->signal.sig || !times->budget_ns)
			return INT64_MAX;
		return ahead_ns < times->budget_ns ? times->budget_ns - ahead_ns : 0;
	case DUE_BUDGET: return times->budget_ns ? times->budget_ns : INT64_MAX;
	default: return times->limit_ns ? times->limit_ns : INT64_MAX;
	}
}

int times_due(const struct times *times, int done, int64_t ran_ns, int64_t *ret_next_ns)
{
	static const enum due all[] = { DUE_SIGNAL, DUE_BUDGET, DUE_LIMIT };
	int due = 0;

	*ret_next_ns = INT64_MAX;
	for (int i = 0; i < 3; i++) {
		int64_t at = moment(times, all[i]);
		if (done & (int)all[i])
			continue;
		if (ran_ns >= at)
			due |= (int)all[i];
		else if (at < *ret_next_ns)
			*ret_next_ns = at;
	}
	return due;
}
