/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Names and homes of accounts, against what libc says of each. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>
#include <grp.h>
#include <pwd.h>

#include "conf/base/account.h"

static void every_user_is_found_as_libc_finds_it(void **state)
{
	const struct passwd *user;
	char text[4096];
	int count = 0;

	(void)state;
	for (setpwent(); (user = getpwent()); count++) {
		uid_t uid = user->pw_uid;
		const struct passwd *first = getpwuid(uid);
		assert_non_null(first);
		assert_true(account_user(uid, text, sizeof text));
		assert_string_equal(text, first->pw_name);
		assert_int_equal(account_home(uid, text, sizeof text), first->pw_dir[0] != '\0');
		if (first->pw_dir[0])
			assert_string_equal(text, first->pw_dir);
	}
	endpwent();
	assert_true(count > 0);
}

static void every_group_is_found_as_libc_finds_it(void **state)
{
	const struct group *group;
	char text[4096];
	int count = 0;

	(void)state;
	for (setgrent(); (group = getgrent()); count++) {
		gid_t gid = group->gr_gid;
		const struct group *first = getgrgid(gid);
		assert_non_null(first);
		assert_true(account_group(gid, text, sizeof text));
		assert_string_equal(text, first->gr_name);
	}
	endgrent();
	assert_true(count > 0);
}

static void what_is_not_there_or_does_not_fit_is_not_found(void **state)
{
	char text[64], small[4];

	(void)state;
	assert_null(getpwuid(3999999999));
	assert_false(account_user(3999999999, text, sizeof text));
	assert_false(account_home(3999999999, text, sizeof text));
	assert_false(account_group(3999999999, text, sizeof text));
	assert_true(account_user(0, text, sizeof text));
	assert_string_equal(text, "root");
	assert_false(account_user(0, small, sizeof small));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_user_is_found_as_libc_finds_it),
		cmocka_unit_test(every_group_is_found_as_libc_finds_it),
		cmocka_unit_test(what_is_not_there_or_does_not_fit_is_not_found),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
