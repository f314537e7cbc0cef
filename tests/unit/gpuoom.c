/* SPDX-License-Identifier: GPL-3.0-or-later */
/* When a failed job counts as one that ran out of the card's memory. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "runner/cell/gpuoom.h"

#define M (INT64_C(1) << 20)

/* Of 16 GiB, whose margin is 256 MiB. */
static const struct gpuoom_evidence full = {
	.failed = true, .exit_code = 1, .held_bytes = 15000 * M, .free_bytes = 256 * M - 1, .total_bytes = 16384 * M
};

static void a_failure_on_a_full_card_is_one(void **state)
{
	(void)state;
	assert_int_equal(gpuoom_verdict(&full), GPUOOM_FULL);
}

static void the_margin_is_a_64th(void **state)
{
	struct gpuoom_evidence evidence = full;
	(void)state;

	evidence.free_bytes = 256 * M;
	assert_int_equal(gpuoom_verdict(&evidence), GPUOOM_NO);
	evidence.free_bytes = 0;
	assert_int_equal(gpuoom_verdict(&evidence), GPUOOM_FULL);
}

static void who_had_little_of_it_did_not_fill_it(void **state)
{
	struct gpuoom_evidence evidence = full;
	(void)state;

	evidence.held_bytes = 256 * M;
	assert_int_equal(gpuoom_verdict(&evidence), GPUOOM_NO);
	evidence.held_bytes = 256 * M + 1;
	assert_int_equal(gpuoom_verdict(&evidence), GPUOOM_FULL);
	evidence.held_bytes = -1;
	assert_int_equal(gpuoom_verdict(&evidence), GPUOOM_NO);
}

static void what_is_unknown_is_no_evidence(void **state)
{
	struct gpuoom_evidence evidence = full;
	(void)state;

	evidence.free_bytes = -1;
	assert_int_equal(gpuoom_verdict(&evidence), GPUOOM_NO);
	evidence = full;
	evidence.total_bytes = -1;
	assert_int_equal(gpuoom_verdict(&evidence), GPUOOM_NO);
	evidence.total_bytes = evidence.free_bytes = 0;
	assert_int_equal(gpuoom_verdict(&evidence), GPUOOM_NO);
}

static void only_who_failed_by_itself_is_asked(void **state)
{
	struct gpuoom_evidence evidence = full;
	(void)state;

	evidence.phrase = "CUDA out of memory";
	evidence.exit_code = 0;
	assert_int_equal(gpuoom_verdict(&evidence), GPUOOM_NO);
	evidence.exit_code = 1;
	evidence.failed = false;
	assert_int_equal(gpuoom_verdict(&evidence), GPUOOM_NO);
}

static void its_own_words_count_most(void **state)
{
	struct gpuoom_evidence evidence = { .failed = true,
					    .exit_code = 130,
					    .phrase = "CUDA out of memory",
					    .held_bytes = -1,
					    .free_bytes = -1,
					    .total_bytes = -1 };
	(void)state;

	assert_int_equal(gpuoom_verdict(&evidence), GPUOOM_SAID);
	evidence.phrase = NULL;
	assert_int_equal(gpuoom_verdict(&evidence), GPUOOM_NO);
}

static void a_signal_of_its_own_is_a_failure_and_one_that_was_sent_is_not(void **state)
{
	static const int own[] = { 128 + 6, 128 + 11, 128 + 7, 128, 127, 255 };
	static const int sent[] = { 128 + 1, 128 + 2, 128 + 3, 128 + 9, 128 + 13, 128 + 15 };
	struct gpuoom_evidence evidence = full;
	(void)state;

	for (size_t i = 0; i < sizeof own / sizeof own[0]; i++) {
		evidence.exit_code = own[i];
		assert_int_equal(gpuoom_verdict(&evidence), GPUOOM_FULL);
	}
	for (size_t i = 0; i < sizeof sent / sizeof sent[0]; i++) {
		evidence.exit_code = sent[i];
		assert_int_equal(gpuoom_verdict(&evidence), GPUOOM_NO);
	}
}

static const char *phrase_in(const char *text)
{
	return gpuoom_phrase(text, strlen(text));
}

static void the_words_of_each_library_are_known(void **state)
{
	static const char *const texts[] = {
		"torch.OutOfMemoryError: HIP out of memory. Tried to allocate 2.00 GiB",
		"torch.cuda.OutOfMemoryError: CUDA out of memory.",
		"RuntimeError: CUDA error: out of memory",
		"HIP error: Out of memory in hipMalloc(&device_pointer, size)",
		"hipErrorOutOfMemory (error code 2)",
		"CUDA_ERROR_OUT_OF_MEMORY: out of memory",
		"cudaErrorMemoryAllocation",
		"vkAllocateMemory: VK_ERROR_OUT_OF_DEVICE_MEMORY",
		"vk::Device::allocateMemory: ErrorOutOfDeviceMemory",
	};
	(void)state;

	for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
		assert_non_null(phrase_in(texts[i]));
	assert_string_equal(phrase_in(texts[0]), "torch.OutOfMemoryError");
}

static void other_words_are_not(void **state)
{
	(void)state;
	assert_null(phrase_in(""));
	assert_null(phrase_in("MemoryError"));
	assert_null(phrase_in("out of memory"));
	assert_null(phrase_in("VK_ERROR_OUT_OF_HOST_MEMORY"));
	assert_null(gpuoom_phrase("CUDA out of memory", 17));
	assert_non_null(gpuoom_phrase("CUDA out of memory", 18));
	assert_non_null(gpuoom_phrase("\0\xff\0CUDA OUT OF MEMORY\0", 22));
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_failure_on_a_full_card_is_one),
		cmocka_unit_test(the_margin_is_a_64th),
		cmocka_unit_test(who_had_little_of_it_did_not_fill_it),
		cmocka_unit_test(what_is_unknown_is_no_evidence),
		cmocka_unit_test(only_who_failed_by_itself_is_asked),
		cmocka_unit_test(its_own_words_count_most),
		cmocka_unit_test(a_signal_of_its_own_is_a_failure_and_one_that_was_sent_is_not),
		cmocka_unit_test(the_words_of_each_library_are_known),
		cmocka_unit_test(other_words_are_not),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
