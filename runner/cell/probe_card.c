/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "probe_card.h"

#include <stdlib.h>
#include <string.h>

#include "conf/base/file.h"
#include "conf/base/fmt.h"
#include "conf/base/names.h"
#include "conf/base/scope.h"

/* PREFIX and a number and nothing behind it: connectors (card0-DP-1) have the same beginning. */
static bool is_numbered(const char *name, const char *prefix)
{
	size_t length = strlen(prefix);

	return strncmp(name, prefix, length) == 0 &&
	       (strcmp(name + length, "0") == 0 || probe_name_number(name + length, 99999) > 0);
}

/* Opens NAME/device and reads who drives it and where it is; -1: no card. */
static int open_device(int drm, const char *name, char driver[PROBE_PCI], uint64_t *ret_pci)
{
	char path[64], text[4096];
	struct probe_span key, value;

	driver[0] = '\0';
	*ret_pci = PROBE_NO_PCI;
	fmt(path, sizeof path, "%.32s/device", name);
	SCOPE_FD int device = probe_folder(drm, path);
	ssize_t size = device < 0 ? -1 : probe_read(device, "uevent", text, sizeof text);
	if (size < 0)
		return -1;
	struct probe_span rest = { text, (size_t)size };
	while (probe_line(&rest, '=', &key, &value)) {
		if (probe_is(key, "DRIVER") && !driver[0])
			probe_word(value, driver, PROBE_PCI);
		else if (probe_is(key, "PCI_SLOT_NAME") && *ret_pci == PROBE_NO_PCI)
			*ret_pci = probe_pci_parse(value);
	}
	return driver[0] ? TAKE_FD(device) : -1;
}

static bool sleeps(int device)
{
	char text[16];
	ssize_t size = probe_read(device, "power/runtime_status", text, sizeof text);

	return size > 0 && probe_is((struct probe_span){ text, (size_t)size }, "suspended\n");
}

static void read_pool(int device, const char *total, const char *used, int64_t *ret_total, int64_t *ret_used)
{
	*ret_total = probe_read_number(device, total, INT64_MAX);
	*ret_used = probe_read_number(device, used, INT64_MAX);
	if (*ret_total == 0)
		*ret_total = -1;
	if (*ret_total < 0 || *ret_used > *ret_total)
		*ret_used = -1;
}

/*
 * No file says so. mem_busy_percent is there for every card with memory of its own but the first Vega (8 GiB and more);
 * the part that an APU cuts off the machine's memory is small beside what it maps.
 */
static bool is_apu(int device, const struct probe_card *card)
{
	const int64_t largest_part = INT64_C(4) << 30;

	return strcmp(card->driver, "amdgpu") == 0 && card->vram_total_bytes > 0 &&
	       card->vram_total_bytes <= largest_part && card->gtt_total_bytes > card->vram_total_bytes &&
	       !file_exists(device, "mem_busy_percent");
}

static bool read_card(int drm, const char *name, struct probe_card *card)
{
	*card = (struct probe_card){ .busy_percent = -1 };
	SCOPE_FD int device = open_device(drm, name, card->driver, &card->pci);
	if (device < 0)
		return false;
	fmt(card->name, sizeof card->name, "%s", name);
	card->asleep = sleeps(device);
	card->busy_percent = card->asleep ? 0 : (int)probe_read_number(device, "gpu_busy_percent", 100);
	read_pool(device, "mem_info_vram_total", "mem_info_vram_used", &card->vram_total_bytes, &card->vram_used_bytes);
	read_pool(device, "mem_info_gtt_total", "mem_info_gtt_used", &card->gtt_total_bytes, &card->gtt_used_bytes);
	card->apu = is_apu(device, card);
	return true;
}

/*
 * The processes are read between the two looks. A job that takes or gives memory meanwhile is in its own figure and not
 * in the card's, or the other way round: with the larger of the two nothing is free twice.
 */
void probe_cards_read_used(int sys, struct probe_cards *cards)
{
	for (int i = 0; sys >= 0 && i < cards->count; i++) {
		struct probe_card *card = &cards->list[i];
		char path[64];

		if (card->vram_used_bytes < 0)
			continue;
		fmt(path, sizeof path, "class/drm/%s/device/mem_info_vram_used", card->name);
		int64_t used = probe_read_number(sys, path, INT64_MAX);
		if (used > card->vram_used_bytes && used <= card->vram_total_bytes)
			card->vram_used_bytes = used;
	}
}

static void note_render(int drm, const char *name, struct probe_cards *cards)
{
	char driver[PROBE_PCI];
	uint64_t pci;
	SCOPE_FD int device = open_device(drm, name, driver, &pci);

	for (int i = 0; device >= 0 && i < cards->count; i++) {
		struct probe_card *card = &cards->list[i];
		if (card->pci == pci && strcmp(card->driver, driver) == 0 && !card->render[0]) {
			fmt(card->render, sizeof card->render, "%s", name);
			return;
		}
	}
}

static int compare(const void *left, const void *right)
{
	const struct probe_card *a = left, *b = right;

	return a->pci != b->pci ? (a->pci > b->pci) - (a->pci < b->pci) : strcmp(a->name, b->name);
}

/* Two passes, since a render node may come before its card. */
void probe_cards_read(int sys, struct probe_cards *ret_cards)
{
	struct probe_cards *cards = ret_cards;
	const struct dirent64 *found;

	cards->count = 0;
	SCOPE_FD int drm = sys < 0 ? -1 : probe_folder(sys, "class/drm");
	for (int pass = 0; drm >= 0 && pass < 2; pass++) {
		SCOPE_NAMES struct names names = NAMES_NONE;
		if (names_open(&names, drm) < 0)
			return;
		while ((found = names_next(&names))) {
			if (pass == 0 && cards->count < PROBE_CARDS && is_numbered(found->d_name, "card") &&
			    read_card(drm, found->d_name, &cards->list[cards->count]))
				cards->count++;
			else if (pass == 1 && is_numbered(found->d_name, "renderD"))
				note_render(drm, found->d_name, cards);
		}
	}
	qsort(cards->list, (size_t)cards->count, sizeof cards->list[0], compare);
}

const struct probe_card *probe_cards_find(const struct probe_cards *cards, uint64_t pci, const char *driver)
{
	for (int i = 0; i < cards->count; i++) {
		const struct probe_card *card = &cards->list[i];
		if (card->pci == pci && (pci != PROBE_NO_PCI || strcmp(card->driver, driver) == 0))
			return card;
	}
	return NULL;
}

const struct probe_card *probe_cards_named(const struct probe_cards *cards, const char *node)
{
	for (int i = 0; i < cards->count; i++) {
		if (strcmp(cards->list[i].name, node) == 0 || strcmp(cards->list[i].render, node) == 0)
			return &cards->list[i];
	}
	return NULL;
}
