/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The words by which a process is told whose `on-end` commands it is to run. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "conf/jobid.h"
#include "runner/onend.h"

static void words_come_back(void **state)
{
	const struct onend ends[] = {
		{ jobid_of(12), OUTCOME_COMPLETED, 0, 0 },
		{ jobid_with_task(jobid_of(12), 3), OUTCOME_GPU_OOM, 1, 7 },
		{ UINT64_MAX - 1, OUTCOME_CANCELLED, 143, SPOOL_RESTARTS_MAX },
	};
	static const char *const words[] = { "12:completed:0:0", "12_3:gpu-oom:1:7",
					     "1099511627775_16777213:cancelled:143:999999" };

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		struct onend found;
		char word[ONEND_WORD];
		onend_format(&ends[i], word);
		assert_string_equal(word, words[i]);
		assert_int_equal(onend_parse(word, &found), 0);
		assert_true(found.id == ends[i].id && found.outcome == ends[i].outcome);
		assert_true(found.code == ends[i].code && found.restarts == ends[i].restarts);
	}
}

static void others_are_refused(void **state)
{
	static const char *const bad[] = { "",
					   "12",
					   "12:completed",
					   "12:completed:0",
					   "0:completed:0:0",
					   "x:completed:0:0",
					   "12:done:0:0",
					   "12:completed:-1:0",
					   "12:completed:0:-1",
					   "12:completed:0:1000000",
					   "12:completed:0:0:0",
					   "12:completed::0",
					   "12:completed:0:0 ",
					   "--help" };
	struct onend found;

	(void)state;
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
		assert_int_equal(onend_parse(bad[i], &found), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(words_come_back),
		cmocka_unit_test(others_are_refused),
	};

	return cmocka_run_group_tests_name("on-end", tests, NULL, NULL);
}
