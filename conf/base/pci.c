/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "pci.h"

#include <string.h>

#include "fmt.h"
#include "text.h"

struct rest {
	const char *at;
	size_t size;
};

/* Between `least` and `most` hexadecimal digits; false when there is another count of them. */
static bool hex(struct rest *rest, size_t least, size_t most, uint64_t *number)
{
	static const char digits[] = "0123456789abcdef";
	size_t count = 0;

	for (*number = 0; count < rest->size && count <= most; count++) {
		const char *digit = rest->at[count] ? strchr(digits, rest->at[count]) : NULL;
		if (!digit)
			break;
		*number = *number << 4 | (uint64_t)(digit - digits);
	}
	rest->at += count;
	rest->size -= count;
	return count >= least && count <= most;
}

static bool sign(struct rest *rest, char wanted)
{
	if (rest->size == 0 || *rest->at != wanted)
		return false;
	rest->at++;
	rest->size--;
	return true;
}

uint64_t pci_parse(const char *text, size_t size)
{
	struct rest rest = { text, size };
	uint64_t domain, bus, device, function;

	if (!hex(&rest, 4, 8, &domain) || !sign(&rest, ':') || !hex(&rest, 2, 2, &bus) || !sign(&rest, ':') ||
	    !hex(&rest, 2, 2, &device) || !sign(&rest, '.') || !hex(&rest, 1, 1, &function) || rest.size ||
	    device > 31 || function > 7)
		return PCI_NONE;
	return domain << 16 | bus << 8 | device << 3 | function;
}

void pci_format(uint64_t pci, char text[PCI_TEXT])
{
	text[0] = '\0';
	if (pci != PCI_NONE)
		fmt(text, PCI_TEXT, "%04llx:%02llx:%02llx.%llu", (unsigned long long)(pci >> 16),
		    (unsigned long long)(pci >> 8 & 255), (unsigned long long)(pci >> 3 & 31),
		    (unsigned long long)(pci & 7));
}

bool pci_read(const char *text, char address[PCI_TEXT])
{
	char whole[PCI_TEXT];
	const char *colon = strchr(text, ':');
	int length = fmt(whole, sizeof whole, "%s%s", colon && !strchr(colon + 1, ':') ? "0000:" : "", text);

	if (length >= (int)sizeof whole)
		return false;
	for (char *p = whole; *p; p++)
		*p = *p >= 'A' && *p <= 'F' ? (char)(*p - 'A' + 'a') : *p;
	uint64_t pci = pci_parse(whole, (size_t)length);
	if (pci == PCI_NONE)
		return false;
	pci_format(pci, address);
	return true;
}

static void swap(char *text, char from, char to)
{
	for (; *text; text++)
		*text = *text == from ? to : *text;
}

int pci_mark_put(char *text, size_t room, const char *address)
{
	char part[PCI_TEXT];

	if (!*address)
		return 0;
	fmt(part, sizeof part, "%s", address);
	swap(part, ':', '-');
	return fmt(text, room, ":c%s", part);
}

int pci_mark_parse(const char **at, char address[PCI_TEXT])
{
	char part[PCI_TEXT];

	address[0] = '\0';
	/* An outcome begins like that too (":completed:0"), and no address is without a '-'. */
	if (strncmp(*at, ":c", 2) != 0)
		return 0;
	const char *end = text_part(*at + 2, part, sizeof part);
	if (!end || !strchr(part, '-'))
		return 0;
	swap(part, '-', ':');
	if (!pci_read(part, address))
		return -1;
	*at = end;
	return 0;
}
