/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "probe_use.h"

#include <string.h>

const char *probe_doubt_text(enum probe_doubt doubt)
{
	static const char texts[PROBE_DOUBTS][64] = {
		[PROBE_KNOWN] = "known",
		[PROBE_SHUT] = "a process of it cannot be looked into",
		[PROBE_ABROAD] = "its processes have other numbers in this container",
		[PROBE_UNTOLD] = "the card's driver does not tell",
		[PROBE_QUEUES] = "it computes through the KFD, which does not tell how much",
		[PROBE_UNREAD] = "a figure cannot be read",
		[PROBE_FIRST] = "it was not looked at before",
		[PROBE_BACKWARD] = "a counter went back",
	};

	return texts[doubt];
}

static void doubts(struct probe_use *use, enum probe_doubt doubt)
{
	if (use->doubt == PROBE_KNOWN || doubt < use->doubt)
		use->doubt = doubt;
}

static struct probe_card_use *card_of(struct probe_use *use, uint64_t pci, const char *driver)
{
	for (int i = 0; i < use->card_count; i++) {
		struct probe_card_use *card = &use->cards[i];
		if (card->pci == pci && (pci != PROBE_NO_PCI || strcmp(card->driver, driver) == 0))
			return card;
	}
	if (use->card_count == PROBE_USES) {
		doubts(use, PROBE_UNREAD);
		return NULL;
	}
	struct probe_card_use *card = &use->cards[use->card_count++];
	*card = (struct probe_card_use){ .pci = pci };
	memcpy(card->driver, driver, strnlen(driver, sizeof card->driver - 1));
	return card;
}

/* Unknown stays unknown. */
static void add(int64_t *sum, int64_t bytes)
{
	if (*sum < 0 || bytes < 0 || __builtin_add_overflow(*sum, bytes, sum))
		*sum = -1;
}

static bool has_region(const struct probe_client *client, const char *begin)
{
	for (int i = 0; i < client->region_count; i++) {
		if (strncmp(client->regions[i].name, begin, strlen(begin)) == 0)
			return true;
	}
	return false;
}

/* Where a driver has no such memory at all, there is none of it. */
static int64_t pool_bytes(const struct probe_client *client, enum probe_pool pool)
{
	int64_t bytes = probe_client_bytes(client, pool);
	bool has = pool == PROBE_VRAM  ? has_region(client, "vram") || has_region(client, "local")
		   : pool == PROBE_GTT ? has_region(client, "gtt")
				       : has_region(client, "system") || has_region(client, "memory");

	return bytes < 0 && !has && client->region_count > 0 && !client->partial ? 0 : bytes;
}

static void add_client(struct probe_use *use, const struct probe_client *client)
{
	struct probe_card_use *card = card_of(use, client->pci, client->driver);

	use->clients++;
	if (!probe_client_timed(client))
		doubts(use, PROBE_UNTOLD);
	int64_t time_ns = probe_client_time_ns(client);
	if (time_ns >= 0 && __builtin_add_overflow(use->time_ns < 0 ? 0 : use->time_ns, time_ns, &use->time_ns))
		use->time_ns = INT64_MAX;
	if (client->partial)
		doubts(use, PROBE_UNREAD);
	if (!card)
		return;
	card->clients++;
	card->worked = card->worked || probe_client_worked(client);
	card->own_memory = card->own_memory || has_region(client, "vram") || has_region(client, "local");
	add(&card->vram_bytes, pool_bytes(client, PROBE_VRAM));
	add(&card->gtt_bytes, pool_bytes(client, PROBE_GTT));
	add(&card->system_bytes, pool_bytes(client, PROBE_SYSTEM));
}

bool probe_use_owns(const struct probe_sample *sample, const struct probe_set *set, const struct probe_client *client)
{
	return probe_set_has(set, sample->processes[client->owner].pid);
}

/* What the KFD or NVIDIA's library says of processes of the set, summed up card by card beside the clients' sums. */
static void add_shares(struct probe_use *use, const struct probe_sample *sample, const struct probe_set *set)
{
	int64_t said[PROBE_USES] = { 0 };

	for (size_t i = 0; i < sample->share_list.count; i++) {
		const struct probe_share *share = &sample->shares[i];
		struct probe_card_use *card;
		if (sample->abroad && share->via != PROBE_BLIND) {
			doubts(use, PROBE_ABROAD);
			continue;
		}
		if (!probe_set_has(set, sample->processes[share->process].pid) ||
		    sample->processes[share->process].gone || !(card = card_of(use, share->pci, "")))
			continue;
		if (share->via == PROBE_KFD)
			doubts(use, PROBE_QUEUES);
		else if (share->busy_percent < 0)
			doubts(use, PROBE_UNTOLD);
		card->kfd = card->kfd || share->via == PROBE_KFD;
		card->nvml = card->nvml || share->via == PROBE_NVML;
		card->worked = card->worked || share->queues > 0 || share->via == PROBE_NVML;
		card->own_memory = card->own_memory || share->via != PROBE_BLIND;
		add(&said[card - use->cards], share->vram_bytes);
	}
	for (int i = 0; i < use->card_count; i++) {
		struct probe_card_use *card = &use->cards[i];
		if (said[i] < 0 || (card->vram_bytes >= 0 && said[i] > card->vram_bytes))
			card->vram_bytes = said[i];
	}
}

void probe_use_of(const struct probe_sample *sample, const struct probe_set *set, struct probe_use *ret_use)
{
	struct probe_use *use = ret_use;

	*use = (struct probe_use){ .time_ns = -1 };
	for (size_t i = 0; i < sample->process_list.count; i++) {
		if (sample->processes[i].shut && probe_set_has(set, sample->processes[i].pid))
			doubts(use, PROBE_SHUT);
	}
	for (size_t i = 0; i < sample->client_list.count; i++) {
		if (probe_use_owns(sample, set, &sample->clients[i]))
			add_client(use, &sample->clients[i]);
	}
	add_shares(use, sample, set);
	use->holds = use->card_count > 0;
	if (sample->partial)
		doubts(use, PROBE_UNREAD);
}

int64_t probe_use_vram(const struct probe_use *use)
{
	int64_t sum = 0;

	if (use->doubt == PROBE_SHUT || use->doubt == PROBE_ABROAD)
		return -1;
	for (int i = 0; i < use->card_count; i++)
		add(&sum, use->cards[i].vram_bytes);
	return sum;
}

const struct probe_card_use *probe_use_card(const struct probe_use *use, uint64_t pci)
{
	for (int i = 0; i < use->card_count; i++) {
		if (use->cards[i].pci == pci)
			return &use->cards[i];
	}
	return NULL;
}
