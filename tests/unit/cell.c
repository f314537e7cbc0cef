/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which guarantees are missing, in words: exact for each combination of what a place has. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "runner/cell/cell.h"

static const char *missing(struct cell_place place, struct cell cell)
{
	static char text[CELL_MISSING];

	cell_missing(&place, &cell, text);
	return text;
}

static void what_is_missing_is_said(void **state)
{
	(void)state;
	struct cell made = CELL_NONE, swapping = CELL_NONE;
	struct cell_place all = { .available = true, .memory = true, .freezer = true, .pids = true };
	struct cell_place watched = { .available = true, .freezer = true, .pids = true };

	made.fd = swapping.fd = 0;
	swapping.swaps = true;
	assert_string_equal(missing(all, made), "");
	/* C141: a kernel without memory.swap.max, and a machine that swaps. */
	assert_string_equal(missing(all, swapping), "swap not limited (no memory.swap.max)");
	/* C033 */
	assert_string_equal(missing(watched, made), "the memory ceiling is watched, not enforced by the kernel");
	assert_non_null(strstr(missing(all, CELL_NONE), "children may escape"));
	assert_non_null(strstr(missing(all, CELL_NONE), "SIGSTOP stands in for the freezer"));
	assert_non_null(strstr(missing(all, CELL_NONE), "processes not limited"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_missing_is_said),
	};

	return cmocka_run_group_tests_name("cell", tests, NULL, NULL);
}
