/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * .incbin keeps one source of the table: a generated C array would be a second file to keep in step. The path counts
 * from the folder the compiler is called in, which is the project's root; the Makefile names the dependency.
 */
#include "conf_builtin.h"

#include <string.h>

/* STT_OBJECT, because the sign in front of "object" differs between machines. */
__asm__(".pushsection .rodata\n"
	".globl conf_builtin_text\n"
	".hidden conf_builtin_text\n"
	".type conf_builtin_text, STT_OBJECT\n"
	"conf_builtin_text:\n"
	".incbin \"conf/pgpu.conf\"\n"
	".byte 0\n"
	".size conf_builtin_text, . - conf_builtin_text\n"
	".popsection\n");

uint64_t conf_sum(const char *bytes, uint64_t count)
{
	uint64_t sum = UINT64_C(0xcbf29ce484222325);

	for (uint64_t i = 0; i < count; i++)
		sum = (sum ^ (unsigned char)bytes[i]) * UINT64_C(0x100000001b3);
	return sum;
}

char *conf_sum_put(char *to, uint64_t sum)
{
	for (int shift = 60; shift >= 0; shift -= 4)
		*to++ = "0123456789abcdef"[sum >> shift & 15];
	return to;
}

/* Every call of pgpu asks for it: eight bytes at a time, where conf_sum() takes one. */
uint64_t conf_builtin_sum(void)
{
	static uint64_t sum;
	uint64_t piece, i = 0, count = sum ? 0 : strlen(conf_builtin_text);

	for (; i + sizeof piece <= count; i += sizeof piece) {
		memcpy(&piece, conf_builtin_text + i, sizeof piece);
		sum = (sum ^ piece) * UINT64_C(0x100000001b3);
		sum ^= sum >> 32;
	}
	return i < count ? sum = conf_sum(conf_builtin_text + i, count - i) ^ sum : sum;
}
