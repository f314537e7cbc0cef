/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "conf/base/scope.h"
#include "submit/after.h"

static void reads_back(const char *text, const char *written)
{
	struct after_list after = { 0 };
	struct err err = ERR_NONE;
	SCOPE_BUF struct buf out = BUF_EMPTY;

	if (after_parse(text, &after, &err) < 0)
		fail_msg("'%s': %s", text, err.text);
	after_put_all(&after, &out);
	assert_string_equal(out.text, written);
	after_free(&after);
}

static void conditions_read_back(void **state)
{
	(void)state;
	reads_back("afterok:12", "afterok:12");
	reads_back("afterok:12:13_4,afterany:9", "afterok:12,afterok:13_4,afterany:9");
	reads_back("singleton", "singleton");
	reads_back("after:1,afternotok:2,aftercorr:3,singleton", "after:1,afternotok:2,aftercorr:3,singleton");
}

static void refused(const char *text, const char *reason)
{
	struct after_list after = { 0 };
	struct err err = ERR_NONE;

	if (after_parse(text, &after, &err) == 0)
		fail_msg("accepted: %s", text);
	if (!strstr(err.text, reason))
		fail_msg("'%s' is '%s', not '%s'", text, err.text, reason);
	assert_int_equal(err.code, EXIT_USAGE);
	after_free(&after);
}

static void what_is_none_is_refused_with_the_nearest(void **state)
{
	(void)state;
	refused("12", "(afterok:12, afterany:12)");
	refused("aftrok:12", "did you mean 'afterok'?");
	refused("afterok", "a job id is missing");
	refused("afterok:", "'' is not a job id");
	refused("afterok:0", "'0' is not a job id");
	refused("afterok:12x", "'12x' is not a job id");
	refused("afterok:12+5", "is not a job id");
	refused("afterok:12,", "'' is no condition");
	refused("afterok:12?afterok:13", "all conditions have to be met");
	refused("singleton:12", "stands behind singleton");
	refused("afterok:12_", "is not a job id");
}

static void each_condition_is_judged_by_how_far_the_jobs_are(void **state)
{
	static const struct {
		enum after_kind kind;
		struct after_progress progress;
		enum after_verdict verdict;
	} rows[] = {
		{ AFTER_OK, { 1, 0, 0, 0 }, AFTER_WAITS },	{ AFTER_OK, { 0, 1, 0, 0 }, AFTER_WAITS },
		{ AFTER_OK, { 0, 0, 1, 0 }, AFTER_MET },	{ AFTER_OK, { 0, 0, 0, 1 }, AFTER_NEVER },
		{ AFTER_OK, { 5, 0, 9, 1 }, AFTER_NEVER },	{ AFTER_ANY, { 1, 0, 0, 1 }, AFTER_WAITS },
		{ AFTER_ANY, { 0, 0, 0, 1 }, AFTER_MET },	{ AFTER_NOT_OK, { 0, 0, 1, 0 }, AFTER_NEVER },
		{ AFTER_NOT_OK, { 0, 0, 1, 1 }, AFTER_MET },	{ AFTER_NOT_OK, { 0, 1, 0, 1 }, AFTER_WAITS },
		{ AFTER_BEGUN, { 1, 0, 0, 0 }, AFTER_WAITS },	{ AFTER_BEGUN, { 0, 1, 0, 0 }, AFTER_MET },
		{ AFTER_BEGUN, { 0, 0, 0, 1 }, AFTER_MET },	{ AFTER_CORR, { 0, 0, 1, 0 }, AFTER_MET },
		{ AFTER_SINGLETON, { 0, 0, 0, 0 }, AFTER_MET },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		if (after_judge(rows[i].kind, &rows[i].progress) != rows[i].verdict)
			fail_msg("row %zu", i);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(conditions_read_back),
		cmocka_unit_test(what_is_none_is_refused_with_the_nearest),
		cmocka_unit_test(each_condition_is_judged_by_how_far_the_jobs_are),
	};

	return cmocka_run_group_tests_name("after", tests, NULL, NULL);
}
