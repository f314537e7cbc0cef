/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * pgpu-nvml: reads NVIDIA's library for a pgpu that asks (answer.h). It is a program of its own since that library can
 * be loaded only by one that is linked with the machine's libc, since it takes megabytes that a waiting pgpu does not,
 * and since a card that fell off its bus makes it hang: whoever asks can give it up.
 */
#include <dlfcn.h>
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/socket.h>

#include "library.h"

enum { ASKER = 0 }; /* the descriptor */

static bool say(const void *packet, size_t size)
{
	ssize_t sent;

	do
		sent = send(ASKER, packet, size, MSG_NOSIGNAL);
	while (sent < 0 && errno == EINTR);
	return sent == (ssize_t)size;
}

/* A card that cannot be read is left out of the packets, and of their number. */
static bool answer(struct nvml *nvml, struct nvml_card *cards)
{
	struct nvml_head head = { .version = NVML_VERSION };
	int count = nvml_count(nvml);

	for (int i = 0; i < count; i++)
		head.cards += nvml_read(nvml, (unsigned)i, &cards[head.cards]);
	if (!say(&head, sizeof head))
		return false;
	for (uint32_t i = 0; i < head.cards; i++) {
		size_t size = offsetof(struct nvml_card, users) + cards[i].user_count * sizeof cards[i].users[0];
		if (!say(&cards[i], size))
			return false;
	}
	return true;
}

int main(void)
{
	/* The name without .1 is the development package's. */
	void *library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
	struct nvml *nvml = library ? nvml_start(dlsym, library) : NULL;
	struct nvml_card *cards = calloc(NVML_CARDS, sizeof *cards);
	char order;
	ssize_t got = 1;

	while (nvml && cards && got == 1) {
		do
			got = recv(ASKER, &order, 1, 0);
		while (got < 0 && errno == EINTR);
		if (got == 1 && !answer(nvml, cards))
			got = -1;
	}
	nvml_end(nvml);
	free(cards);
	return got == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
