/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "stall.h"

#include "conf/base/clock.h"

enum { LOOKS = 60 };

static bool reclaims(int pressure_percent)
{
	return pressure_percent >= STALL_PRESSURE_PERCENT;
}

bool stall_cpu_moves(const struct stall *stall, int64_t cpu_ns, int pressure_percent, int64_t ran_ns)
{
	int64_t used_ns = cpu_ns - stall->last.cpu_ns, passed_ns = ran_ns - stall->looked_ns;

	if (cpu_ns < 0 || stall->last.cpu_ns < 0 || reclaims(pressure_percent))
		return false;
	return used_ns > 0 && used_ns >= passed_ns / 100 * STALL_CPU_PERCENT;
}

static bool io_moves(const struct stall *stall, const struct activity *now)
{
	const struct activity *last = &stall->last;

	if (!last->looked_further || reclaims(now->pressure_percent))
		return false;
	return now->io_mark != last->io_mark ||
	       (now->outside_mark && last->outside_mark && now->outside_mark != last->outside_mark);
}

static bool gpu_moves(const struct stall *stall, const struct activity *now)
{
	if (now->gpu == GPU_UNKNOWN)
		return true;
	return now->gpu == GPU_KNOWN && stall->last.gpu == GPU_KNOWN && now->gpu_ns != stall->last.gpu_ns;
}

bool stall_look(struct stall *stall, const struct activity *now, int64_t ran_ns, int64_t after_ns)
{
	bool moves = stall_cpu_moves(stall, now->cpu_ns, now->pressure_percent, ran_ns);

	if (now->looked_further)
		moves = moves || io_moves(stall, now) || gpu_moves(stall, now) || now->reads_terminal;
	stall->last = *now;
	stall->looked_ns = ran_ns;
	if (moves) {
		stall->progress_ns = ran_ns;
		stall->progress_cpu_ns = now->cpu_ns;
	}
	return ran_ns - stall->progress_ns >= after_ns;
}

int64_t stall_next_ns(const struct stall *stall, int64_t after_ns)
{
	int64_t step_ns = after_ns / LOOKS, end_ns = stall->progress_ns + after_ns;

	if (step_ns < NS_PER_S)
		step_ns = NS_PER_S;
	int64_t next_ns = stall->looked_ns + step_ns;
	return end_ns > stall->looked_ns && end_ns < next_ns ? end_ns : next_ns;
}
