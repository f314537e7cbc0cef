/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "gpuwatch.h"

/* Doubts about one step alone, which the account has dealt with. */
static bool passes(enum probe_doubt doubt)
{
	return doubt == PROBE_KNOWN || doubt == PROBE_FIRST || doubt == PROBE_BACKWARD;
}

static int64_t next_interval(const struct gpuwatch *watch)
{
	if (watch->holds)
		return GPUWATCH_OFTEN_NS;
	return watch->interval_ns < GPUWATCH_SELDOM_NS / 2 ? 2 * watch->interval_ns : GPUWATCH_SELDOM_NS;
}

void gpuwatch_add(struct gpuwatch *watch, const struct gpuwatch_look *look)
{
	const struct probe_step *step = look->step;

	watch->holds = step->holds;
	watch->held |= step->holds;
	watch->unknown |= !passes(step->doubt);
	watch->cardless = look->cardless;
	watch->permille = step->doubt == PROBE_KNOWN && step->wall_ns > 0 && !look->broken ? step->permille : -1;
	watch->busy_ns = look->busy_ns;
	watch->vram_bytes = look->vram_bytes;
	watch->interval_ns = next_interval(watch);
	watch->looked = true;
}

int64_t gpuwatch_total_ns(const struct gpuwatch *watch)
{
	return watch->looked && !watch->unknown ? watch->busy_ns : -1;
}

int gpuwatch_percent(int permille)
{
	return permille < 0 ? -1 : (permille + 5) / 10;
}

bool gpuwatch_is_news(const struct gpuwatch *watch, int told_permille, int64_t told_bytes, int64_t ago_ns)
{
	return gpuwatch_percent(watch->permille) != gpuwatch_percent(told_permille) ||
	       watch->vram_bytes != told_bytes || ago_ns >= GPUWATCH_FRESH_NS / 2;
}
