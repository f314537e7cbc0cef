/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "vramback.h"

#include <poll.h>
#include <stdlib.h>

#include "conf/base/clock.h"
#include "conf/base/scope.h"
#include "runner/cell/probe.h"

bool vramback_is(uint64_t used_bytes, uint64_t floor_bytes)
{
	return used_bytes <= floor_bytes || used_bytes - floor_bytes <= VRAMBACK_SLACK_BYTES;
}

/* An APU's jobs live in the machine's memory as well. */
static bool sum_of(const struct probe_cards *cards, uint64_t *ret_bytes)
{
	bool known = false;

	*ret_bytes = 0;
	for (int i = 0; i < cards->count; i++) {
		const struct probe_card *card = &cards->list[i];
		if (card->vram_used_bytes < 0)
			continue;
		known = true;
		*ret_bytes += (uint64_t)card->vram_used_bytes;
		if (card->apu && card->gtt_used_bytes >= 0)
			*ret_bytes += (uint64_t)card->gtt_used_bytes;
	}
	return known;
}

bool vramback_used(uint64_t *ret_bytes)
{
	SCOPE_FREE struct probe *probe = malloc(sizeof *probe);
	struct probe_cards cards;

	if (!probe)
		return false;
	probe_open(probe);
	probe_cards_read(probe->sys, &cards);
	probe_close(probe);
	return sum_of(&cards, ret_bytes);
}

void vramback_wait(void *context, uint64_t floor_bytes)
{
	SCOPE_FREE struct probe *probe = malloc(sizeof *probe);
	int64_t until_ns = clock_boot_ns() + VRAMBACK_MS * NS_PER_MS;
	struct probe_cards cards;
	uint64_t used_bytes;
	(void)context;

	if (!probe)
		return;
	probe_open(probe);
	for (;;) {
		probe_cards_read(probe->sys, &cards);
		if (!sum_of(&cards, &used_bytes) || vramback_is(used_bytes, floor_bytes) || clock_boot_ns() >= until_ns)
			break;
		poll(NULL, 0, VRAMBACK_STEP_MS);
	}
	probe_close(probe);
}
