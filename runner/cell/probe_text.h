/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Reading the text of the card's files and of /proc as hostile: bytes of any kind, ended by nothing but their count.
 *
 *     ssize_t size = probe_read(folder, "uevent", text, sizeof text);
 *     struct probe_span rest = { text, size }, key, value;
 *     while (probe_line(&rest, '=', &key, &value)) ...
 *
 * Nothing here rounds, wraps round or guesses: what is not exactly a figure is none.
 */
#ifndef PGPU_RUNNER_PROBE_TEXT_H
#define PGPU_RUNNER_PROBE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "conf/base/pci.h"

struct probe_span {
	const char *at;
	size_t size;
};

/* Reads a file of the kernel to its end, or `size` bytes of it; -1 with errno. The name itself is never a link. */
ssize_t probe_read(int folder, const char *name, char *text, size_t size);
/* A folder, -1 with errno. sysfs joins its own folders by links: those are followed, and the last name may be one. */
int probe_folder(int at, const char *path);

/*
 * Takes the next whole line that has `separator` off `*rest`: `*ret_key` is what is before it, `*ret_value` what is
 * behind, blanks at its front skipped. Lines without one are passed over, so is the last when no newline ends it: it
 * may be cut. False at the end.
 */
bool probe_line(struct probe_span *rest, char separator, struct probe_span *ret_key, struct probe_span *ret_value);

bool probe_is(struct probe_span span, const char *word);
/* True when it begins with `word`, which is then taken off. */
bool probe_skip(struct probe_span *span, const char *word);
/* Takes decimal digits off the front; false, and nothing taken, when there are none or they do not fit 64 bits. */
bool probe_digits(struct probe_span *span, uint64_t *ret_number);
/* All of it is one decimal number up to `most`, one newline behind it allowed. Else -1. */
int64_t probe_number(struct probe_span span, int64_t most);
/* The file's number as above, -1 for whatever is none. */
int64_t probe_read_number(int folder, const char *name, int64_t most);
/* The same of a name: digits alone, no zero in front, 1 to `most`. 0: none. */
int64_t probe_name_number(const char *name, int64_t most);
/* Copies; false when it is empty, does not fit, or holds anything but printable ASCII without a blank. */
bool probe_word(struct probe_span span, char *word, size_t size);

/* PCI addresses as drm-pdev and PCI_SLOT_NAME spell them (conf/base/pci.h). */
#define PROBE_NO_PCI PCI_NONE
enum { PROBE_PCI = PCI_TEXT };
uint64_t probe_pci_parse(struct probe_span span);
#define probe_pci_format pci_format

#endif
