/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is written into a cell's dmem.max, and that a kernel without it is told apart. */
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

#include "runner/cell/dmem.h"

static void each_card_has_its_line(void **state)
{
	const char *next =
		"drm/0000:03:00.0/vram max\ndrm/0000:03:00.0/stolen max\ndrm/0000:0e:00.0/vram0 17179869184\n";
	char line[DMEM_LINE];
	(void)state;

	assert_true(dmem_next(&next, 8589934592, line));
	assert_string_equal(line, "drm/0000:03:00.0/vram 8589934592");
	assert_true(dmem_next(&next, 8589934592, line));
	assert_string_equal(line, "drm/0000:0e:00.0/vram0 8589934592");
	assert_false(dmem_next(&next, 8589934592, line));
}

static void what_is_no_card_is_passed_over(void **state)
{
	static const char *const texts[] = { "",
					     "\n\n",
					     "vram max\n",
					     "/vram max\n",
					     "cma/vram max\n",
					     "drm/0000:03:00.0/gtt max\n",
					     "drm/0000:03:00.0/system/x max" };
	char line[DMEM_LINE], large[200];
	(void)state;

	for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
		const char *next = texts[i];
		assert_false(dmem_next(&next, 1, line));
	}
	memset(large, 'x', sizeof large);
	memcpy(large, "drm/", 4);
	memcpy(large + sizeof large - 6, "/vram", 6);
	const char *next = large;
	assert_false(dmem_next(&next, 1, line));
}

/* A folder with a dmem.max of `text`, or without one. */
static int folder_with(const char *text, char path[64])
{
	snprintf(path, 64, "/tmp/pgpu-dmem.XXXXXX");
	assert_non_null(mkdtemp(path));
	int folder = open(path, O_RDONLY | O_DIRECTORY);
	if (text) {
		int fd = openat(folder, "dmem.max", O_WRONLY | O_CREAT | O_EXCL, 0600);
		assert_int_equal(write(fd, text, strlen(text)), strlen(text));
		close(fd);
	}
	return folder;
}

static void remove_folder(int folder, const char *path)
{
	unlinkat(folder, "dmem.max", 0);
	close(folder);
	rmdir(path);
}

static void it_is_written_to_the_cell(void **state)
{
	char path[64], text[128] = "";
	int folder = folder_with("drm/0000:03:00.0/vram max\n", path);
	(void)state;

	assert_true(dmem_set(folder, 4096));
	int fd = openat(folder, "dmem.max", O_RDONLY);
	assert_true(read(fd, text, sizeof text - 1) > 0);
	close(fd);
	assert_memory_equal(text, "drm/0000:03:00.0/vram 4096", 26);
	remove_folder(folder, path);
}

static void without_the_file_or_a_card_nothing_is_kept(void **state)
{
	char path[64];
	int folder = folder_with(NULL, path);
	(void)state;

	assert_false(dmem_set(folder, 4096));
	remove_folder(folder, path);
	folder = folder_with("", path);
	assert_false(dmem_set(folder, 4096));
	remove_folder(folder, path);
	folder = folder_with("drm/0000:03:00.0/stolen max\n", path);
	assert_false(dmem_set(folder, 4096));
	remove_folder(folder, path);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_card_has_its_line),
		cmocka_unit_test(what_is_no_card_is_passed_over),
		cmocka_unit_test(it_is_written_to_the_cell),
		cmocka_unit_test(without_the_file_or_a_card_nothing_is_kept),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
