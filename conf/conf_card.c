/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "conf_card.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/fmt.h"
#include "base/scope.h"
#include "base/text.h"

/* "0", "card0": the number, or -1. */
static int64_t card_number(const char *value)
{
	int64_t number = -1;

	if (strncmp(value, "card", 4) == 0)
		value += 4;
	return text_number_parse(value, 0, 99999, &number, NULL) < 0 ? -1 : number;
}

static bool find_address(int64_t number, char card[PCI_TEXT])
{
	static const char key[] = "\nPCI_SLOT_NAME=";
	const char *root = secure_getenv("PGPU_SYSFS");
	char name[64], text[4096] = "\n";
	SCOPE_FD int sys = open(root && root[0] == '/' ? root : "/sys", O_PATH | O_DIRECTORY | O_CLOEXEC);

	fmt(name, sizeof name, "class/drm/card%lld/device/uevent", (long long)number);
	if (sys < 0 || file_read_small(sys, name, text + 1, sizeof text - 1) <= 0)
		return false;
	char *value = strstr(text, key);
	if (!value)
		return false;
	value += sizeof key - 1;
	value[strcspn(value, "\n")] = '\0';
	return pci_read(value, card);
}

int conf_card_read(const char *value, char card[PCI_TEXT], struct err *err)
{
	char now[PCI_TEXT];

	if (pci_read(value, card))
		return 0;
	int64_t number = card_number(value);
	if (number < 0)
		return err_set(err, EXIT_USAGE, "'%.64s' is not the PCI address of a card, such as 0000:03:00.0",
			       value);
	if (!find_address(number, now))
		return err_set(err, EXIT_USAGE,
			       "'%.64s' may be another card after the next boot, and is none now; name a card by its "
			       "PCI address, such as 0000:03:00.0",
			       value);
	return err_set(err, EXIT_USAGE, "'%.64s' may be another card after the next boot; now it is %s", value, now);
}
