/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The PCI address of a card, which is its name: cardN may be another card after the next boot. As a number it is
 * domain, bus, device and function in 16 bits and more, 8, 5 and 3 bits; as text it is spelled as the kernel does in
 * PCI_SLOT_NAME and drm-pdev, "0000:03:00.0".
 */
#ifndef PGPU_BASE_PCI_H
#define PGPU_BASE_PCI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PCI_NONE UINT64_MAX
enum { PCI_TEXT = 20 };

/* All of the text is an address in the kernel's spelling, or PCI_NONE. */
uint64_t pci_parse(const char *text, size_t size);
/* "" for PCI_NONE. */
void pci_format(uint64_t pci, char text[PCI_TEXT]);
/* As people write it: capitals too, and without a domain as lspci(8) prints it. `address` is untouched when it is none.
 */
bool pci_read(const char *text, char address[PCI_TEXT]);

/*
 * As part of a file's name, where colons are taken: ":c0000-03-00.0", "" for "". pci_mark_put() returns its length;
 * pci_mark_parse() moves `*at` behind it; one that is missing is "" and no error.
 */
int pci_mark_put(char *text, size_t room, const char *address);
int pci_mark_parse(const char **at, char address[PCI_TEXT]);

#endif
