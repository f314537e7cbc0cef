/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base64.h"

static const char LETTERS[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

void base64_encode(const void *bytes, size_t size, struct buf *text)
{
	const unsigned char *p = bytes;

	for (size_t i = 0; i < size; i += 3) {
		size_t count = size - i < 3 ? size - i : 3;
		unsigned long group = (unsigned long)p[i] << 16;
		if (count > 1)
			group |= (unsigned long)p[i + 1] << 8;
		if (count > 2)
			group |= p[i + 2];
		char four[4] = { LETTERS[group >> 18], LETTERS[group >> 12 & 63],
				 count > 1 ? LETTERS[group >> 6 & 63] : '=', count > 2 ? LETTERS[group & 63] : '=' };
		buf_add(text, four, sizeof four);
	}
}

static int letter_value(char letter)
{
	if (letter >= 'A' && letter <= 'Z')
		return letter - 'A';
	if (letter >= 'a' && letter <= 'z')
		return letter - 'a' + 26;
	if (letter >= '0' && letter <= '9')
		return letter - '0' + 52;
	return letter == '+' ? 62 : letter == '/' ? 63 : -1;
}

int base64_decode(const char *text, size_t size, struct buf *bytes)
{
	unsigned long group = 0;
	unsigned letters = 0, pads = 0;

	for (size_t i = 0; i < size; i++) {
		if (text[i] == ' ' || text[i] == '\t' || text[i] == '\n')
			continue;
		int value = letter_value(text[i]);
		if (text[i] == '=') {
			pads++;
			continue;
		}
		if (value < 0 || pads)
			return -1;
		group = (group << 6 | (unsigned)value) & 0xffffff;
		if (++letters % 4 == 0) {
			char three[3] = { (char)(group >> 16), (char)(group >> 8), (char)group };
			buf_add(bytes, three, sizeof three);
		}
	}
	unsigned rest = letters % 4;
	if (rest == 1 || pads != (rest ? 4 - rest : 0))
		return -1;
	char two[2] = { (char)(rest == 2 ? group >> 4 : group >> 10), (char)(group >> 2) };
	buf_add(bytes, two, rest ? rest - 1 : 0);
	return 0;
}
