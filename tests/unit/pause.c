/* SPDX-License-Identifier: GPL-3.0-or-later */
/* When a class is paused by its failures, and the file that says so. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "conf/base/file.h"
#include "conf/jobid.h"
#include "runner/line/pause.h"

static void like_failures_of_different_jobs_in_a_row(void **state)
{
	struct pause one = { 0 };
	(void)state;

	assert_false(pause_count(&one, jobid_of(1), "failed", 2, 3));
	assert_false(pause_count(&one, jobid_of(2), "failed", 2, 3));
	assert_false(pause_count(&one, jobid_of(2), "failed", 2, 3));
	assert_int_equal(one.count, 2);
	assert_true(pause_count(&one, jobid_of(3), "failed", 2, 3));
	assert_true(one.paused);
	/* It is paused once. */
	assert_false(pause_count(&one, jobid_of(4), "failed", 2, 3));
	assert_int_equal(one.id, jobid_of(3));
}

static void another_failure_begins_anew(void **state)
{
	struct pause one = { 0 };
	(void)state;

	assert_false(pause_count(&one, jobid_of(1), "failed", 124, 2));
	assert_false(pause_count(&one, jobid_of(2), "timeout", 124, 2));
	assert_false(pause_count(&one, jobid_of(3), "failed", 124, 2));
	assert_false(pause_count(&one, jobid_of(4), "failed", 1, 2));
	/* The same job is one more where it fails in another way. */
	assert_false(pause_count(&one, jobid_of(4), "failed", 2, 2));
	assert_int_equal(one.count, 1);
	assert_true(pause_count(&one, jobid_of(5), "failed", 2, 2));
}

static void one_is_enough_where_it_says_so(void **state)
{
	struct pause one = { 0 };
	(void)state;

	assert_true(pause_count(&one, jobid_of(1), "stalled", 124, 1));
}

static void a_class_takes_its_own_number(void **state)
{
	static struct conf conf;
	struct conf_class class = { .pause_after = 0 };
	(void)state;

	conf.pause_after = 3;
	assert_int_equal(conf_pause_after(&conf, &class), 3);
	class.pause_after = 5;
	assert_int_equal(conf_pause_after(&conf, &class), 5);
	class.pause_after = -1;
	assert_int_equal(conf_pause_after(&conf, &class), 0);
}

static void damaged_lines_are_none(void **state)
{
	static const char text[] = "render 3 17 failed 2 paused\n\nclip 1 18 timeout 124 counting\n"
				   "bench\nbench 1\nbench x 18 failed 1 paused\nbench 0 18 failed 1 paused\n"
				   "bench 1 0 failed 1 paused\nbench 1 18 muchtoolongaword 1 paused\n"
				   "bench 1 18 failed -1 paused\nb:nch 1 18 failed 1 paused\nbench 1 18 failed 1";
	char folder[] = "/tmp/pgpu-unit.XXXXXX";
	struct line line;
	struct pauses pauses;
	(void)state;

	assert_non_null(mkdtemp(folder));
	line.queue_fd = open(folder, O_RDONLY | O_DIRECTORY);
	pause_read(&line, &pauses);
	assert_int_equal(pauses.count, 0);
	assert_int_equal(file_replace(line.queue_fd, "failures", text, sizeof text - 1, FILE_VOLATILE, NULL), 0);
	pause_read(&line, &pauses);
	assert_int_equal(pauses.count, 2);
	assert_int_equal(pause_find(&pauses, "render")->code, 2);
	assert_int_equal(pause_find(&pauses, "render")->id, jobid_of(17));
	/* It is counted, and not paused. */
	assert_null(pause_find(&pauses, "clip"));
	assert_null(pause_find(&pauses, "bench"));
	unlinkat(line.queue_fd, "failures", 0);
	close(line.queue_fd);
	rmdir(folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(like_failures_of_different_jobs_in_a_row),
		cmocka_unit_test(another_failure_begins_anew),
		cmocka_unit_test(one_is_enough_where_it_says_so),
		cmocka_unit_test(a_class_takes_its_own_number),
		cmocka_unit_test(damaged_lines_are_none),
	};

	return cmocka_run_group_tests_name("pause", tests, NULL, NULL);
}
