/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which jobs start again by themselves where they failed, and when. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "conf/base/clock.h"
#include "runner/retry.h"

static void only_what_failed_by_itself(void **state)
{
	(void)state;
	for (int outcome = OUTCOME_NONE; outcome < OUTCOMES; outcome++)
		assert_int_equal(retry_wanted((enum outcome)outcome, 0, 3), outcome == OUTCOME_FAILED);
}

static void so_often_and_no_more(void **state)
{
	(void)state;
	assert_false(retry_wanted(OUTCOME_FAILED, 0, 0));
	assert_true(retry_wanted(OUTCOME_FAILED, 2, 3));
	assert_false(retry_wanted(OUTCOME_FAILED, 3, 3));
	/* There were more once. */
	assert_false(retry_wanted(OUTCOME_FAILED, 5, 3));
}

static void the_pause_doubles_up_to_a_quarter_of_an_hour(void **state)
{
	static const int64_t wanted_s[] = { 30, 60, 120, 240, 480, 900, 900 };
	(void)state;

	for (int tries = 0; tries < 7; tries++)
		assert_true(retry_pause_ns(30 * NS_PER_S, tries) == wanted_s[tries] * NS_PER_S);
	assert_true(retry_pause_ns(30 * NS_PER_S, JOB_RETRIES_MAX) == 900 * NS_PER_S);
	assert_true(retry_pause_ns(0, 5) == 0);
	/* A longer one is as long as it says. */
	assert_true(retry_pause_ns(3600 * NS_PER_S, 0) == 3600 * NS_PER_S);
	assert_true(retry_pause_ns(3600 * NS_PER_S, 9) == 3600 * NS_PER_S);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_what_failed_by_itself),
		cmocka_unit_test(so_often_and_no_more),
		cmocka_unit_test(the_pause_doubles_up_to_a_quarter_of_an_hour),
	};

	return cmocka_run_group_tests_name("retry", tests, NULL, NULL);
}
