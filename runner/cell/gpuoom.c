/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "gpuoom.h"

#include <signal.h>
#include <string.h>
#include <strings.h>

enum { PHRASE = 33, SIGNALED = 128 };

/* The longer ones first: what is shown says most. */
static const char phrases[][PHRASE] = {
	"torch.cuda.OutOfMemoryError", "torch.OutOfMemoryError",
	"hipErrorOutOfMemory",	       "HIP out of memory",
	"HIP error: out of memory",    "CUDA_ERROR_OUT_OF_MEMORY",
	"cudaErrorMemoryAllocation",   "CUDA out of memory",
	"CUDA error: out of memory",   "VK_ERROR_OUT_OF_DEVICE_MEMORY",
	"ErrorOutOfDeviceMemory",
};

/* Signals that somebody sends. A shell has them in its code, too. */
static bool was_sent(int exit_code)
{
	static const unsigned char sent[] = { SIGHUP,  SIGINT,	SIGQUIT, SIGKILL, SIGPIPE,
					      SIGALRM, SIGTERM, SIGUSR1, SIGUSR2 };

	return exit_code > SIGNALED && memchr(sent, exit_code - SIGNALED, sizeof sent);
}

enum gpuoom gpuoom_verdict(const struct gpuoom_evidence *evidence)
{
	int64_t margin = evidence->total_bytes / GPUOOM_MARGIN_PART;

	if (!evidence->failed || evidence->exit_code == 0)
		return GPUOOM_NO;
	if (evidence->phrase)
		return GPUOOM_SAID;
	if (evidence->total_bytes <= 0 || evidence->free_bytes < 0 || was_sent(evidence->exit_code))
		return GPUOOM_NO;
	return evidence->free_bytes < margin && evidence->held_bytes > margin ? GPUOOM_FULL : GPUOOM_NO;
}

static bool has(const char *text, size_t size, const char *phrase)
{
	size_t length = strlen(phrase);

	for (size_t i = 0; i + length <= size; i++) {
		if (strncasecmp(text + i, phrase, length) == 0)
			return true;
	}
	return false;
}

const char *gpuoom_phrase(const char *text, size_t size)
{
	for (size_t i = 0; i < sizeof phrases / sizeof phrases[0]; i++) {
		if (has(text, size, phrases[i]))
			return phrases[i];
	}
	return NULL;
}
