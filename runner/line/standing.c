/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "standing.h"

#include "conf/base/clock.h"

#define DELAY_LEAST_NS (NS_PER_S)
#define DELAY_MOST_NS  (15 * 60 * NS_PER_S)
/* Who ran for so long has not failed at its start. */
#define STARTED_NS (60 * NS_PER_S)
enum { FAILURES_MOST = 20 };

int64_t standing_delay_ns(int64_t after_ns, int failures)
{
	int64_t most_ns = after_ns > DELAY_MOST_NS ? after_ns : DELAY_MOST_NS;
	int64_t delay_ns = failures > 0 && after_ns < DELAY_LEAST_NS ? DELAY_LEAST_NS : after_ns;

	for (int i = 1; i < failures && delay_ns < most_ns; i++)
		delay_ns = delay_ns > most_ns / 2 ? most_ns : delay_ns * 2;
	return delay_ns;
}

enum standing standing_judge(const struct standing_scene *scene, const struct candidate *service, int64_t *ret_at_ns)
{
	*ret_at_ns = 0;
	if (scene->up_id == service->id)
		return STANDING_UP;
	if (service->gate != WAITS_LANE)
		return STANDING_HELD;
	if (scene->job)
		return STANDING_JOB;
	if (scene->up_id)
		return STANDING_OTHER;
	if (!scene->seen)
		return STANDING_UNSEEN;
	if (scene->foreign)
		return STANDING_FOREIGN;
	if (!elect_has_vram(&scene->vram, service))
		return STANDING_VRAM;
	*ret_at_ns = scene->free_since_ns + standing_delay_ns(scene->after_ns, service->failures);
	if (scene->now_ns >= *ret_at_ns)
		return STANDING_READY;
	return service->failures ? STANDING_FAILED : STANDING_AFTER;
}

const struct candidate *standing_pick(const struct standing_scene *scene, const struct candidates *services,
				      int64_t *ret_at_ns)
{
	const struct candidate *first = NULL;
	int64_t at_ns;

	*ret_at_ns = 0;
	for (size_t i = 0; i < services->count; i++) {
		const struct candidate *one = &services->list[i];
		enum standing why = standing_judge(scene, one, &at_ns);
		if (why == STANDING_READY && (!first || one->id < first->id))
			first = one;
		if ((why == STANDING_AFTER || why == STANDING_FAILED) && (*ret_at_ns == 0 || at_ns < *ret_at_ns))
			*ret_at_ns = at_ns;
	}
	return first;
}

int standing_failures(int before, enum standing_end how, int64_t ran_ns)
{
	if (ran_ns >= STARTED_NS)
		before = 0;
	if (how == STANDING_SENT_AWAY)
		return before;
	return before < FAILURES_MOST ? before + 1 : FAILURES_MOST;
}

/* Generations only grow, and each change of hands counts one up: no two changes cancel each other out. */
uint64_t standing_hands(const uint64_t *gens, int count)
{
	uint64_t sum = 0;

	for (int i = 0; i < count; i++)
		sum += gens[i];
	return sum;
}
