/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "conf/jobid.h"

static void ids_read_back_as_they_were_written(void **state)
{
	static const char *const ids[] = { "1", "12", "12_0", "12_3", "1099511627775", "1099511627775_16777214" };
	uint64_t before = 0;

	(void)state;
	for (size_t i = 0; i < sizeof ids / sizeof ids[0]; i++) {
		uint64_t id;
		assert_int_equal(jobid_parse(ids[i], &id, NULL), 0);
		assert_string_equal(JOBID(id), ids[i]);
		assert_true(id > before); /* the order of arrival */
		before = id;
	}
}

static void what_is_no_id_is_refused(void **state)
{
	static const char *const words[] = { "",
					     "0",
					     "012",
					     "-1",
					     "+1",
					     " 1",
					     "1 ",
					     "1_",
					     "_1",
					     "1_01",
					     "1_-1",
					     "1_2_3",
					     "0x10",
					     "1.",
					     "1099511627776",
					     "0_1",
					     "a",
					     "1a",
					     "1__2",
					     "1_ 2",
					     "1_+2",
					     "1_16777215",
					     "99999999999999999999" };

	(void)state;
	for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
		struct err err = ERR_NONE;
		uint64_t id;
		assert_int_equal(jobid_parse(words[i], &id, &err), -1);
		assert_int_equal(err.code, EXIT_USAGE);
	}
}

static void a_task_knows_its_array(void **state)
{
	uint64_t array = jobid_of(12), task = jobid_with_task(array, 3);

	(void)state;
	assert_int_equal(jobid_task(array), -1);
	assert_int_equal(jobid_task(task), 3);
	assert_int_equal(jobid_task(jobid_with_task(array, 0)), 0);
	assert_true(jobid_array(task) == array && jobid_number(task) == 12);
	assert_true(jobid_with_task(task, 4) == jobid_with_task(array, 4));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ids_read_back_as_they_were_written),
		cmocka_unit_test(what_is_no_id_is_refused),
		cmocka_unit_test(a_task_knows_its_array),
	};

	return cmocka_run_group_tests_name("jobid", tests, NULL, NULL);
}
