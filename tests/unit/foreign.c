/* SPDX-License-Identifier: GPL-3.0-or-later */
/* foreign.tsv: what is written is read back, hostile names too; what is damaged is passed over; it stays bounded. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "conf/base/clock.h"
#include "conf/jobid.h"
#include "submit/foreign.h"

struct seen {
	int count;
	struct foreign_row first, last;
};

static int see(const struct foreign_row *row, void *context)
{
	struct seen *seen = context;

	if (seen->count++ == 0)
		seen->first = *row;
	seen->last = *row;
	return 0;
}

static int open_queue(void **state)
{
	static char folder[] = "/tmp/pgpu-foreign.XXXXXX";
	static int fd;

	memcpy(folder + strlen(folder) - 6, "XXXXXX", 6);
	if (!mkdtemp(folder) || (fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)) < 0)
		return -1;
	*state = &fd;
	return 0;
}

static int remove_queue(void **state)
{
	int fd = *(int *)*state;
	char command[64], path[32];

	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	ssize_t size = readlink(path, command + 7, sizeof command - 8);
	memcpy(command, "rm -rf ", 7);
	command[7 + size] = '\0';
	close(fd);
	return system(command);
}

static void what_is_written_is_read_back(void **state)
{
	int fd = *(int *)*state;
	struct seen seen = { 0 };
	struct foreign_row row = { .seen_wall_ns = 1764500000 * NS_PER_S,
				   .pid = 4100,
				   .start = 777,
				   .comm = "a\tb\\c\n",
				   .kfd = true,
				   .vram_bytes = -1,
				   .id = jobid_of(12) };

	assert_int_equal(foreign_each(fd, see, &seen, NULL), 0);
	assert_int_equal(seen.count, 0);
	assert_int_equal(foreign_append(fd, &row, NULL), 0);
	row.comm[0] = '\0';
	row.kfd = false;
	row.vram_bytes = 0;
	row.id = 0;
	assert_int_equal(foreign_append(fd, &row, NULL), 0);
	assert_int_equal(foreign_each(fd, see, &seen, NULL), 0);
	assert_int_equal(seen.count, 2);
	assert_int_equal(seen.first.seen_wall_ns, 1764500000 * NS_PER_S);
	assert_int_equal(seen.first.pid, 4100);
	assert_int_equal(seen.first.start, 777);
	assert_string_equal(seen.first.comm, "a\tb\\c\n");
	assert_true(seen.first.kfd);
	assert_int_equal(seen.first.vram_bytes, -1);
	assert_int_equal(seen.first.id, jobid_of(12));
	assert_string_equal(seen.last.comm, "");
	assert_false(seen.last.kfd);
	assert_int_equal(seen.last.vram_bytes, 0);
	assert_int_equal(seen.last.id, 0);
}

static void a_line_without_its_end_costs_that_line(void **state)
{
	int fd = *(int *)*state;
	struct seen seen = { 0 };
	struct foreign_row row = { .seen_wall_ns = NS_PER_S, .pid = 1, .vram_bytes = -1 };
	int file = openat(fd, "foreign.tsv", O_WRONLY | O_CREAT, 0600);

	assert_int_equal(write(file, "2025-11-30T10:00", 16), 16);
	close(file);
	assert_int_equal(foreign_append(fd, &row, NULL), 0);
	assert_int_equal(foreign_each(fd, see, &seen, NULL), 0);
	assert_int_equal(seen.count, 1);
}

static void a_link_is_refused(void **state)
{
	int fd = *(int *)*state;
	struct foreign_row row = { .pid = 1, .vram_bytes = -1 };
	struct err err = ERR_NONE;

	assert_int_equal(symlinkat("elsewhere", fd, "foreign.tsv"), 0);
	assert_int_equal(foreign_append(fd, &row, &err), -1);
	assert_int_equal(faccessat(fd, "elsewhere", F_OK, 0), -1);
}

static void it_stays_bounded(void **state)
{
	int fd = *(int *)*state;
	struct seen seen = { 0 };
	struct foreign_row row = { .seen_wall_ns = NS_PER_S, .comm = "some program", .vram_bytes = 12345678 };
	struct stat now, before;

	for (int i = 1; i <= 20000; i++) {
		row.pid = i;
		assert_int_equal(foreign_append(fd, &row, NULL), 0);
	}
	assert_int_equal(fstatat(fd, "foreign.tsv", &now, 0), 0);
	assert_int_equal(fstatat(fd, "foreign.tsv.old", &before, 0), 0);
	assert_true(now.st_size + before.st_size <= FOREIGN_BYTES + 1024);
	assert_int_equal(foreign_each(fd, see, &seen, NULL), 0);
	assert_int_equal(seen.last.pid, 20000);
	assert_int_equal(seen.last.pid - seen.first.pid + 1, seen.count);
	assert_true(seen.count > 2000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(what_is_written_is_read_back, open_queue, remove_queue),
		cmocka_unit_test_setup_teardown(a_line_without_its_end_costs_that_line, open_queue, remove_queue),
		cmocka_unit_test_setup_teardown(a_link_is_refused, open_queue, remove_queue),
		cmocka_unit_test_setup_teardown(it_stays_bounded, open_queue, remove_queue),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
