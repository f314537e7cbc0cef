/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A card as pgpu.conf and job files name it: by its PCI address. A number as in cardN is refused, since the next boot
 * may give it to another card; the error has the address that cardN has now, from /sys/class/drm/cardN/device/uevent.
 */
#ifndef PGPU_CONF_CARD_H
#define PGPU_CONF_CARD_H

#include "base/err.h"
#include "base/pci.h"

/* The address in the kernel's spelling. The error is the reason alone, exit code 2. */
int conf_card_read(const char *value, char card[PCI_TEXT], struct err *err);

#endif
