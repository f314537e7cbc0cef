/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sums over rows of the log. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "conf/base/clock.h"
#include "submit/historysum.h"

static void add(struct history_sums *sums, const char *class_name, enum outcome outcome, int64_t ran_s, int64_t gpu_s)
{
	static struct history_row row;

	row = HISTORY_ROW;
	strcpy(row.class_name, class_name);
	strcpy(row.session, "film");
	row.outcome = outcome;
	row.ran_ns = ran_s < 0 ? -1 : ran_s * NS_PER_S;
	row.gpu_ns = gpu_s < 0 ? -1 : gpu_s * NS_PER_S;
	row.peak_memory_bytes = ran_s;
	assert_int_equal(history_sums_add(sums, &row), 0);
}

static void what_is_known_is_added(void **state)
{
	struct history_sums sums = HISTORY_SUMS(false);
	(void)state;

	add(&sums, "clip", OUTCOME_COMPLETED, 5, -1);
	add(&sums, "render", OUTCOME_TURN, 7, 2);
	add(&sums, "render", OUTCOME_FAILED, 3, -1);
	add(&sums, "clip", OUTCOME_CANCELLED, -1, -1);
	add(&sums, "clip", OUTCOME_OOM, 1, -1);
	history_sums_sort(&sums);
	assert_int_equal(sums.count, 2);
	assert_string_equal(sums.list[0].name, "render");
	assert_int_equal(sums.list[0].jobs, 1);
	assert_int_equal(sums.list[0].failed, 1);
	assert_int_equal(sums.list[0].ran_ns, 10 * NS_PER_S);
	assert_int_equal(sums.list[0].gpu_ns, 2 * NS_PER_S);
	assert_int_equal(sums.list[0].peak_memory_bytes, 7);
	assert_string_equal(sums.list[1].name, "clip");
	assert_int_equal(sums.list[1].jobs, 3);
	assert_int_equal(sums.list[1].failed, 1);
	assert_int_equal(sums.list[1].ran_ns, 6 * NS_PER_S);
	assert_int_equal(sums.list[1].gpu_ns, -1);
	history_sums_free(&sums);
}

static void sessions_are_one_line_each(void **state)
{
	struct history_sums sums = HISTORY_SUMS(true);
	char name[16];
	(void)state;

	add(&sums, "a", OUTCOME_COMPLETED, 1, -1);
	add(&sums, "b", OUTCOME_COMPLETED, 1, -1);
	assert_int_equal(sums.count, 1);
	assert_string_equal(sums.list[0].name, "film");
	history_sums_free(&sums);
	sums = HISTORY_SUMS(false);
	for (int i = 0; i < 100; i++) {
		snprintf(name, sizeof name, "c%02d", i);
		add(&sums, name, OUTCOME_COMPLETED, 1, -1);
	}
	history_sums_sort(&sums);
	assert_int_equal(sums.count, 100);
	assert_string_equal(sums.list[99].name, "c99");
	history_sums_free(&sums);
	history_sums_sort(&sums);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_known_is_added),
		cmocka_unit_test(sessions_are_one_line_each),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
