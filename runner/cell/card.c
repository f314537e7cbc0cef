/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "card.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "conf/base/err.h"
#include "conf/base/file.h"
#include "conf/base/fmt.h"
#include "conf/base/scope.h"
#include "conf/base/text.h"

/* "cardN" and nothing behind it: connectors (card0-DP-1) and render nodes have the same files. */
static bool is_card(const char *name)
{
	return strncmp(name, "card", 4) == 0 && name[4] && name[4 + strspn(name + 4, "0123456789")] == '\0' &&
	       strlen(name) < 12;
}

/* One decimal number and nothing else; -1 for anything that is not. */
static int64_t read_figure(int folder, const char *name, int64_t most)
{
	char text[64];
	int64_t figure;
	struct err ignored = ERR_NONE;

	if (file_read_small(folder, name, text, sizeof text) <= 0)
		return -1;
	text[strcspn(text, "\n")] = '\0';
	return text_number_parse(text, 0, most, &figure, &ignored) < 0 ? -1 : figure;
}

/* A line KEY=VALUE of uevent. */
static void read_uevent(const char *text, const char *key, char *value, size_t size)
{
	size_t length = strlen(key);

	for (; *text; text += strcspn(text, "\n"), text += *text == '\n') {
		if (strncmp(text, key, length) == 0 && text[length] == '=') {
			fmt(value, size, "%.*s", (int)strcspn(text + length + 1, "\n"), text + length + 1);
			return;
		}
	}
}

static bool read_card(int drm, const char *name, struct card *card)
{
	char path[64], text[4096], state[32] = "";

	fmt(path, sizeof path, "%.32s/device", name);
	SCOPE_FD int device = openat(drm, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (device < 0 || file_read_small(device, "uevent", text, sizeof text) <= 0)
		return false;
	*card = (struct card){ .busy_percent = -1, .vram_total_bytes = -1, .vram_used_bytes = -1 };
	fmt(card->name, sizeof card->name, "%.31s", name);
	read_uevent(text, "DRIVER", card->driver, sizeof card->driver);
	read_uevent(text, "PCI_SLOT_NAME", card->pci, sizeof card->pci);
	if (file_read_small(device, "power/runtime_status", state, sizeof state) > 0)
		card->asleep = strcmp(state, "suspended\n") == 0;
	card->busy_percent = card->asleep ? 0 : (int)read_figure(device, "gpu_busy_percent", 100);
	card->vram_total_bytes = read_figure(device, "mem_info_vram_total", INT64_MAX);
	card->vram_used_bytes = read_figure(device, "mem_info_vram_used", INT64_MAX);
	if (card->vram_total_bytes <= 0 || card->vram_used_bytes > card->vram_total_bytes) {
		card->vram_used_bytes = -1;
		card->vram_total_bytes = card->vram_total_bytes > 0 ? card->vram_total_bytes : -1;
	}
	return true;
}

static int compare(const void *left, const void *right)
{
	const struct card *a = left, *b = right;
	int order = strcmp(a->pci, b->pci);

	return order ? order : strcmp(a->name, b->name);
}

int cards_read(struct card cards[CARDS_MAX])
{
	const char *root = secure_getenv("PGPU_SYSFS");
	char path[PATH_MAX];
	int count = 0;

	if (fmt(path, sizeof path, "%s/class/drm", root && root[0] == '/' ? root : "/sys") >= (int)sizeof path)
		return 0;
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	SCOPE_DIR DIR *list = fd < 0 ? NULL : fdopendir(fd);
	for (struct dirent *found; list && count < CARDS_MAX && (found = readdir(list));) {
		if (is_card(found->d_name) && read_card(fd, found->d_name, &cards[count]))
			count++;
	}
	qsort(cards, (size_t)count, sizeof cards[0], compare);
	return count;
}
