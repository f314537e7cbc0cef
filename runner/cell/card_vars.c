/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "card_vars.h"

#include <stdlib.h>
#include <string.h>

#include "conf/base/fmt.h"
#include "conf/base/names.h"
#include "conf/base/scope.h"
#include "probe.h"
#include "probe_kfd.h"

static void add_card(struct card_list *cards, uint64_t pci, const char *driver)
{
	char card[PCI_TEXT];
	int at = cards->count;

	pci_format(pci, card);
	for (int i = 0; i < cards->count; i++) {
		if (strcmp(cards->list[i].card, card) == 0)
			return;
	}
	if (!card[0] || at == PROBE_CARDS)
		return;
	/* Sorted by the number, not by the text: a domain may be longer than another. */
	for (; at > 0 && pci_parse(cards->list[at - 1].card, strlen(cards->list[at - 1].card)) > pci; at--)
		cards->list[at] = cards->list[at - 1];
	memcpy(cards->list[at].card, card, sizeof card);
	fmt(cards->list[at].driver, sizeof cards->list[at].driver, "%s", driver);
	cards->count++;
}

/* Without nvidia-drm a card of NVIDIA's is not among those of DRM. */
static void add_nvidia(int proc, struct card_list *cards)
{
	SCOPE_FD int gpus = proc < 0 ? -1 : probe_folder(proc, "driver/nvidia/gpus");
	SCOPE_NAMES struct names names = NAMES_NONE;
	const struct dirent64 *found;

	if (gpus < 0 || names_open(&names, gpus) < 0)
		return;
	while ((found = names_next(&names)))
		add_card(cards, pci_parse(found->d_name, strlen(found->d_name)), "nvidia");
}

static void read_cards(int proc, int sys, struct card_list *cards)
{
	SCOPE_FREE struct probe_cards *found = malloc(sizeof *found);

	cards->count = 0;
	if (!found)
		return;
	probe_cards_read(sys, found);
	for (int i = 0; i < found->count; i++)
		add_card(cards, found->list[i].pci, found->list[i].driver);
	add_nvidia(proc, cards);
}

void card_list_read(struct card_list *ret_cards)
{
	SCOPE_FD int proc = probe_open_proc();
	SCOPE_FD int sys = probe_open_sys();

	read_cards(proc, sys, ret_cards);
}

static void put(struct card_vars *vars, const char *name, const char *value)
{
	fmt(vars->list[vars->count++], CARD_VAR, "%s=%s", name, value);
}

/* Mesa's spelling: pci-0000_03_00_0. */
static void put_mesa(const char *card, struct card_vars *vars)
{
	char value[PCI_TEXT + 4];

	fmt(value, sizeof value, "pci-%s", card);
	for (char *p = value; *p; p++)
		*p = *p == ':' || *p == '.' ? '_' : *p;
	put(vars, "DRI_PRIME", value);
	put(vars, "MESA_VK_DEVICE_SELECT_FORCE_DEFAULT_DEVICE", "1");
}

/*
 * By its unique id where it has one, since that stays what it is; else by its place among the nodes that are cards,
 * which is neither cardN's order nor that of the addresses. What cannot compute is to use no other card: an empty
 * list is none.
 */
static void put_rocm(int sys, const char *card, struct card_vars *vars)
{
	SCOPE_FD int nodes = sys < 0 ? -1 : probe_folder(sys, "class/kfd/kfd/topology/nodes");
	uint64_t pci = pci_parse(card, strlen(card)), unique_id = 0;
	int index = 0, place = -1, same = 0;
	struct probe_kfd_node node;
	char value[24] = "", name[16];

	if (nodes < 0)
		return;
	for (int number = 0; number < PROBE_KFD_NODES; number++) {
		fmt(name, sizeof name, "%d", number);
		if (!probe_kfd_node(nodes, name, &node))
			continue;
		if (place < 0 && node.pci == pci) {
			place = index;
			unique_id = node.unique_id;
		}
		index++;
	}
	for (int number = 0; unique_id && number < PROBE_KFD_NODES; number++) {
		fmt(name, sizeof name, "%d", number);
		same += probe_kfd_node(nodes, name, &node) && node.unique_id == unique_id;
	}
	if (place >= 0 && same == 1)
		fmt(value, sizeof value, "GPU-%016llx", (unsigned long long)unique_id);
	else if (place >= 0)
		fmt(value, sizeof value, "%d", place);
	put(vars, "ROCR_VISIBLE_DEVICES", value);
}

/* Its place among the cards of these drivers, in the order of their addresses. */
static void place_of(const struct card_list *cards, const char *card, const char *driver, const char *other,
		     char value[16])
{
	int place = 0;

	for (int i = 0; i < cards->count && strcmp(cards->list[i].card, card) != 0; i++)
		place += strcmp(cards->list[i].driver, driver) == 0 || strcmp(cards->list[i].driver, other) == 0;
	fmt(value, 16, "%d", place);
}

static bool is_uuid(const char *text)
{
	return strncmp(text, "GPU-", 4) == 0 && text[4] && text[4 + strspn(text + 4, "0123456789abcdef-")] == '\0';
}

/* Until the driver has set the card up, its UUID is of question marks. */
static void put_cuda(int proc, const struct card_list *cards, const char *card, struct card_vars *vars)
{
	char path[64], text[4096], place[16], word[64];
	SCOPE_FD int gpus = proc < 0 ? -1 : probe_folder(proc, "driver/nvidia/gpus");
	struct probe_span key, value;

	place_of(cards, card, "nvidia", "nvidia", place);
	fmt(path, sizeof path, "%s/information", card);
	ssize_t size = gpus < 0 ? -1 : probe_read(gpus, path, text, sizeof text);
	struct probe_span rest = { text, size > 0 ? (size_t)size : 0 };
	bool found = false;
	while (!found && probe_line(&rest, ':', &key, &value)) {
		while (value.size && (value.at[value.size - 1] == ' ' || value.at[value.size - 1] == '\t'))
			value.size--;
		found = probe_is(key, "GPU UUID") && probe_word(value, word, sizeof word) && is_uuid(word);
	}
	put(vars, "CUDA_VISIBLE_DEVICES", found ? word : place);
	put(vars, "CUDA_DEVICE_ORDER", "PCI_BUS_ID");
}

static void put_intel(const struct card_list *cards, const char *card, struct card_vars *vars)
{
	char place[16];

	place_of(cards, card, "i915", "xe", place);
	put(vars, "ZE_AFFINITY_MASK", place);
	put(vars, "ZE_ENABLE_PCI_ID_DEVICE_ORDER", "1");
}

bool card_vars_find(const char *card, struct card_vars *ret_vars)
{
	SCOPE_FD int proc = probe_open_proc();
	SCOPE_FD int sys = probe_open_sys();
	SCOPE_FREE struct card_list *cards = malloc(sizeof *cards);
	int at = 0;

	ret_vars->count = 0;
	if (!cards)
		return false;
	read_cards(proc, sys, cards);
	while (at < cards->count && strcmp(cards->list[at].card, card) != 0)
		at++;
	if (at == cards->count)
		return false;
	const char *driver = cards->list[at].driver;
	if (strcmp(driver, "nvidia") == 0) {
		put_cuda(proc, cards, card, ret_vars);
		return true;
	}
	put_mesa(card, ret_vars);
	if (strcmp(driver, "amdgpu") == 0)
		put_rocm(sys, card, ret_vars);
	else if (strcmp(driver, "i915") == 0 || strcmp(driver, "xe") == 0)
		put_intel(cards, card, ret_vars);
	return true;
}

/* Of bytes, not of pointers: see conf_caps.c. */
static const char stale[][48] = {
	"ROCR_VISIBLE_DEVICES",
	"HIP_VISIBLE_DEVICES",
	"CUDA_VISIBLE_DEVICES",
	"CUDA_DEVICE_ORDER",
	"GPU_DEVICE_ORDINAL",
	"ZE_AFFINITY_MASK",
	"ZE_ENABLE_PCI_ID_DEVICE_ORDER",
	"ONEAPI_DEVICE_SELECTOR",
	"DRI_PRIME",
	"MESA_VK_DEVICE_SELECT",
	"MESA_VK_DEVICE_SELECT_FORCE_DEFAULT_DEVICE",
};

bool card_vars_stale(const char *assignment)
{
	size_t length = strcspn(assignment, "=");

	for (size_t i = 0; i < sizeof stale / sizeof stale[0]; i++) {
		if (strncmp(assignment, stale[i], length) == 0 && stale[i][length] == '\0')
			return true;
	}
	return false;
}
