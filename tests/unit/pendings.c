/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What one process remembers of pending/ is what is in the folder, whatever others do there. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "conf/base/fmt.h"
#include "conf/jobid.h"
#include "submit/pendings.h"

enum { PILES = 64, NAMES = 400 };

static char root[] = "/tmp/pgpu-pendings.XXXXXX";
static int queue_fd, folder;
static struct spool spool;
static struct pendings *pendings;
static unsigned seed;
static bool twice;

/* In libc's place: each name twice, where that is wanted. */
ssize_t getdents64(int fd, void *names, size_t size)
{
	ssize_t got = syscall(SYS_getdents64, fd, names, size);

	if (got == 0 && twice && lseek(fd, 0, SEEK_SET) == 0) {
		twice = false;
		got = syscall(SYS_getdents64, fd, names, size);
	}
	return got;
}

static unsigned any(unsigned below)
{
	seed = seed * 1103515245U + 12345U;
	return (seed >> 16) % below;
}

/* A line for each pile: its tail, its lowest id, how many. */
struct piles {
	struct {
		char tail[256];
		uint64_t lowest;
		size_t count;
	} list[PILES];
	int count;
};

static int note(struct piles *piles, const char *file, size_t count)
{
	const char *tail;
	uint64_t id = jobid_read(file, &tail);
	int i = 0;

	while (i < piles->count && strcmp(piles->list[i].tail, tail) != 0)
		i++;
	assert_in_range(i, 0, PILES - 1);
	if (i == piles->count) {
		fmt(piles->list[i].tail, sizeof piles->list[i].tail, "%s", tail);
		piles->list[i].lowest = id;
		piles->list[i].count = 0;
		piles->count++;
	}
	piles->list[i].lowest = id < piles->list[i].lowest ? id : piles->list[i].lowest;
	piles->list[i].count += count;
	return 0;
}

static int note_name(const struct spool_name *name, const char *file, void *context)
{
	(void)name;
	return note(context, file, 1);
}

static int note_pile(const struct spool_name *name, const char *file, size_t count, void *context)
{
	struct spool_name parsed;

	assert_int_equal(spool_name_parse(file, &parsed), 0);
	assert_memory_equal(&parsed, name, sizeof parsed);
	return note(context, file, count);
}

static int compare_piles(const void *left, const void *right)
{
	return strcmp(left, right);
}

static void assert_true_to_the_folder(void)
{
	struct piles known = { .count = 0 }, there = { .count = 0 };
	struct err err = ERR_NONE;
	size_t total = 0;

	assert_int_equal(pendings_each(pendings, note_pile, &known), 0);
	assert_int_equal(spool_each(&spool, SPOOL_PENDING, note_name, &there, &err), 0);
	qsort(known.list, (size_t)known.count, sizeof known.list[0], compare_piles);
	qsort(there.list, (size_t)there.count, sizeof there.list[0], compare_piles);
	assert_int_equal(known.count, there.count);
	for (int i = 0; i < there.count; i++) {
		assert_string_equal(known.list[i].tail, there.list[i].tail);
		assert_int_equal(known.list[i].lowest, there.list[i].lowest);
		assert_int_equal(known.list[i].count, there.list[i].count);
		total += there.list[i].count;
	}
	assert_int_equal(pendings_count(pendings), total);
}

static void make(const char *file)
{
	char hidden[300];

	/* As submit does: under another name first. */
	fmt(hidden, sizeof hidden, ".%s", file);
	int fd = openat(folder, hidden, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	close(fd);
	assert_int_equal(renameat(folder, hidden, folder, file), 0);
}

static void any_name(char file[256])
{
	static const char *const tails[] = { "render:a:0",	"render:a:0:h",	  "render:b:0",	  "ci:a:0:m1G",
					     "ci:a:1",		"render:a:0:n-5", "render:a:0:a", "render:c:0:t4",
					     "interactive:d:0", "llm:s:0:s0" };

	fmt(file, 256, "%u:%s", 1 + any(NAMES), tails[any(sizeof tails / sizeof tails[0])]);
}

static int set_up(void **state)
{
	(void)state;
	if (!mkdtemp(root))
		return -1;
	queue_fd = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	spool_open(&spool, queue_fd);
	folder = spool_folder(&spool, SPOOL_PENDING_DIR, NULL);
	return folder < 0 ? -1 : 0;
}

static int remove_name(const struct spool_name *name, const char *file, void *context)
{
	(void)name;
	(void)context;
	return unlinkat(folder, file, 0);
}

static int tear_down(void **state)
{
	char command[64];
	struct err err = ERR_NONE;

	(void)state;
	pendings_free(pendings);
	pendings = NULL;
	spool_each(&spool, SPOOL_PENDING, remove_name, NULL, &err);
	spool_close(&spool);
	close(queue_fd);
	fmt(command, sizeof command, "rm -r %s", root);
	int code = system(command); /* NOLINT(cert-env33-c): a folder of ours */
	memcpy(root + sizeof root - 7, "XXXXXX", 6);
	return code;
}

static void begin(void)
{
	pendings = pendings_new(&spool);
	assert_non_null(pendings);
	assert_true(pendings_refresh(pendings));
	assert_true_to_the_folder();
}

static void change_something(void)
{
	char file[256], other[256];

	any_name(file);
	any_name(other);
	switch (any(4)) {
	case 0:
	case 1: make(file); break;
	case 2: unlinkat(folder, file, 0); break;
	default: renameat(folder, file, folder, other);
	}
}

static void whatever_happens_it_is_the_folder(void **state)
{
	(void)state;
	for (seed = 1; seed < 200000000; seed += 29999999) {
		for (int i = 0; i < 300; i++)
			change_something();
		begin();
		for (int round = 0; round < 200; round++) {
			for (unsigned i = any(20); i > 0; i--)
				change_something();
			assert_true(pendings_refresh(pendings));
			assert_true_to_the_folder();
		}
		pendings_free(pendings);
		pendings = NULL;
	}
}

/* The line of a film: the first goes, one comes behind the last. */
static void a_long_line_moves_on(void **state)
{
	char file[256];

	(void)state;
	for (int i = 1; i <= 2000; i++) {
		fmt(file, sizeof file, "%d:render:film:0", i);
		make(file);
	}
	begin();
	for (int i = 1; i <= 2000; i++) {
		fmt(file, sizeof file, "%d:render:film:0", i);
		assert_int_equal(unlinkat(folder, file, 0), 0);
		fmt(file, sizeof file, "%d:render:film:0", 2000 + i);
		make(file);
		assert_true(pendings_refresh(pendings));
		if (i % 100 == 0)
			assert_true_to_the_folder();
	}
	assert_int_equal(pendings_count(pendings), 2000);
}

static void what_only_the_folder_tells_ends_it(void **state)
{
	(void)state;
	make("1:render:a:0");
	begin();
	make("not-a-job");
	assert_false(pendings_refresh(pendings));
	unlinkat(folder, "not-a-job", 0);
	pendings_free(pendings);

	begin();
	assert_int_equal(mkfifoat(folder, "2:render:a:0", 0600), 0);
	assert_false(pendings_refresh(pendings));
	unlinkat(folder, "2:render:a:0", 0);
	pendings_free(pendings);

	begin();
	assert_int_equal(mkdirat(folder, "3:render:a:0", 0700), 0);
	assert_false(pendings_refresh(pendings));
	assert_false(pendings_refresh(pendings));
	unlinkat(folder, "3:render:a:0", AT_REMOVEDIR);
	pendings_free(pendings);

	begin();
	assert_int_equal(renameat(queue_fd, "pending", queue_fd, "elsewhere"), 0);
	assert_false(pendings_refresh(pendings));
	assert_int_equal(renameat(queue_fd, "elsewhere", queue_fd, "pending"), 0);
}

/* tmpfs does so with one that is moved away and back meanwhile: taken once, it would stand in line for ever. */
static void who_is_read_twice_is_there_once(void **state)
{
	(void)state;
	make("1:render:a:0");
	make("2:render:a:0");
	make("3:render:b:0:h");
	twice = true;
	begin();
	assert_false(twice);
	assert_int_equal(unlinkat(folder, "1:render:a:0", 0), 0);
	assert_int_equal(unlinkat(folder, "3:render:b:0:h", 0), 0);
	assert_true(pendings_refresh(pendings));
	assert_true_to_the_folder();
	assert_int_equal(pendings_count(pendings), 1);
}

static void more_than_the_kernel_keeps_ends_it(void **state)
{
	char text[32] = "";
	int fd = open("/proc/sys/fs/inotify/max_queued_events", O_RDONLY | O_CLOEXEC);

	(void)state;
	assert_true(fd >= 0 && read(fd, text, sizeof text - 1) > 0);
	close(fd);
	make("1:render:a:0");
	begin();
	long most = strtol(text, NULL, 10);
	/* Two that follow each other and are the same are one event. */
	for (long i = 0; i < most / 2 + 2; i++) {
		assert_int_equal(renameat(folder, "1:render:a:0", folder, "1:render:b:0"), 0);
		assert_int_equal(renameat(folder, "1:render:b:0", folder, "1:render:a:0"), 0);
	}
	assert_false(pendings_refresh(pendings));
}

#define WITH_A_SPOOL(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_A_SPOOL(whatever_happens_it_is_the_folder),
		WITH_A_SPOOL(a_long_line_moves_on),
		WITH_A_SPOOL(what_only_the_folder_tells_ends_it),
		WITH_A_SPOOL(who_is_read_twice_is_there_once),
		WITH_A_SPOOL(more_than_the_kernel_keeps_ends_it),
	};

	return cmocka_run_group_tests_name("pendings", tests, NULL, NULL);
}
