/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "words.h"

#include <stdlib.h>
#include <string.h>

void words_free(char **words)
{
	if (!words)
		return;
	for (size_t i = 0; words[i]; i++)
		free(words[i]);
	free(words);
}

size_t words_count(char *const words[])
{
	size_t count = 0;

	while (words && words[count])
		count++;
	return count;
}

char **words_new(size_t count)
{
	return calloc(count + 1, sizeof(char *));
}

char **words_copy(char *const words[])
{
	size_t count = words_count(words);
	char **copy = words_new(count);

	if (!copy)
		return NULL;
	for (size_t i = 0; i < count; i++) {
		copy[i] = strdup(words[i]);
		if (!copy[i]) {
			words_free(copy);
			return NULL;
		}
	}
	return copy;
}
