/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Who wants the card while a service has it: the KFD, growth, and its own processes, each at its edge. */
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

#include "runner/cell/contender.h"
#include "runner/cell/probe.h"

#define MIB (INT64_C(1) << 20)
enum { CARD = 0x300, OTHER_CARD = 0x400, ALLOWED = 512 << 20 };

static const struct probe_set nobody;

/* A sample that one makes by hand: processes, and a client each. */
static void add_client(struct probe_sample *sample, pid_t pid, uint64_t pci, uint64_t id, int64_t bytes)
{
	uint32_t process = probe_find_process(sample, pid);
	struct probe_process who = { .pid = pid, .start = (uint64_t)pid * 10, .named = true, .comm = "game" };
	struct probe_client client = { .pci = pci, .id = id, .driver = "amdgpu", .region_count = 1 };

	if (process == PROBE_NOBODY)
		process = probe_add_process(sample, &who);
	snprintf(client.regions[0].name, sizeof client.regions[0].name, "vram");
	client.regions[0].resident = bytes;
	client.regions[0].memory = client.regions[0].total = client.regions[0].shared = -1;
	assert_int_not_equal(probe_add_client(sample, &client, process), PROBE_NOBODY);
}

static bool find(const struct probe_sample *sample, const struct probe_set *ours, const struct contender_base *base,
		 struct contender *found)
{
	struct contender_kfd none = { 0 };

	return contender_find(sample, ours, &none, base, ALLOWED, found);
}

static void growth_counts_beyond_what_is_allowed(void **state)
{
	struct probe_sample before = { 0 }, now = { 0 };
	struct contender_base base;
	struct contender found;
	(void)state;

	add_client(&before, 100, CARD, 1, 300 * MIB);
	assert_int_equal(contender_base_take(&before, &base, NULL), 0);
	add_client(&now, 100, CARD, 1, 812 * MIB);
	assert_false(find(&now, &nobody, &base, &found));
	now.clients[0].regions[0].resident++;
	assert_true(find(&now, &nobody, &base, &found));
	assert_int_equal(found.pid, 100);
	assert_int_equal(found.start, 1000);
	assert_string_equal(found.comm, "game");
	assert_false(found.kfd);
	assert_int_equal(found.vram_bytes, 812 * MIB + 1);
	/* Without a base nobody's growth counts. */
	assert_false(find(&now, &nobody, NULL, &found));
	contender_base_free(&base);
	probe_sample_free(&before);
	probe_sample_free(&now);
}

static void who_was_not_there_held_nothing(void **state)
{
	struct probe_sample before = { 0 }, now = { 0 };
	struct contender_base base;
	struct contender found;
	(void)state;

	add_client(&before, 100, OTHER_CARD, 1, 900 * MIB);
	assert_int_equal(contender_base_take(&before, &base, NULL), 0);
	/* The same number on another card is another client. */
	add_client(&now, 100, CARD, 1, 512 * MIB);
	assert_false(find(&now, &nobody, &base, &found));
	add_client(&now, 101, CARD, 2, 512 * MIB + 1);
	assert_true(find(&now, &nobody, &base, &found));
	assert_int_equal(found.pid, 101);
	contender_base_free(&base);
	probe_sample_free(&before);
	probe_sample_free(&now);
}

static void who_cannot_be_read_is_none(void **state)
{
	struct probe_sample before = { 0 }, now = { 0 };
	struct contender_base base;
	struct contender found;
	(void)state;

	add_client(&before, 100, CARD, 1, -1);
	add_client(&before, 101, CARD, 2, 0);
	assert_int_equal(contender_base_take(&before, &base, NULL), 0);
	add_client(&now, 100, CARD, 1, 9000 * MIB);
	add_client(&now, 101, CARD, 2, -1);
	assert_false(find(&now, &nobody, &base, &found));
	contender_base_free(&base);
	probe_sample_free(&before);
	probe_sample_free(&now);
}

static void its_own_processes_never_are(void **state)
{
	struct probe_sample now = { 0 };
	struct contender_base base = { 0 };
	struct contender found;
	struct probe_process own[] = { { .pid = 100 }, { .pid = 102, .named = true, .comm = "train" } };
	struct contender_kfd kfd = { own, { 2, 2 } };
	const pid_t pids[] = { 100, 101 };
	const struct probe_set ours = { pids, 2 };
	(void)state;

	add_client(&now, 100, CARD, 1, 9000 * MIB);
	add_client(&now, 101, CARD, 2, 9000 * MIB);
	assert_false(find(&now, &ours, &base, &found));
	assert_true(contender_find(&now, &ours, &kfd, &base, ALLOWED, &found));
	assert_int_equal(found.pid, 102);
	assert_true(found.kfd);
	assert_string_equal(found.comm, "train");
	/* It registers before it allocates. */
	assert_int_equal(found.vram_bytes, -1);
	kfd.size.count = 1;
	assert_false(contender_find(&now, &ours, &kfd, &base, ALLOWED, &found));
	/* A client of theirs that a foreign process holds as well is whose it was first. */
	add_client(&now, 100, CARD, 3, 9000 * MIB);
	assert_false(find(&now, &ours, &base, &found));
	assert_true(find(&now, &nobody, &base, &found));
	probe_sample_free(&now);
}

static void put(const char *root, const char *name, const char *text)
{
	char path[512];

	snprintf(path, sizeof path, "%s/%s", root, name);
	for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		mkdir(path, 0700);
		*slash = '/';
	}
	FILE *file = text ? fopen(path, "w") : NULL;
	if (file) {
		fputs(text, file);
		fclose(file);
	} else {
		mkdir(path, 0700);
	}
}

static void who_is_registered_and_there_is_listed(void **state)
{
	char root[] = "/tmp/pgpu-contender.XXXXXX", command[64];
	struct contender_kfd kfd;
	struct probe probe = { .nvml = NULL };
	(void)state;

	assert_non_null(mkdtemp(root));
	put(root, "sys/class/kfd/kfd/proc/4100", NULL);
	put(root, "sys/class/kfd/kfd/proc/4200", NULL);
	put(root, "sys/class/kfd/kfd/proc/strange", NULL);
	put(root, "proc/4100/comm", "ollama\n");
	put(root, "proc/4100/stat", "4100 (x) S 1 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 777 0 0\n");
	snprintf(command, sizeof command, "%s/proc", root);
	probe.proc = open(command, O_RDONLY | O_DIRECTORY);
	snprintf(command, sizeof command, "%s/sys", root);
	probe.sys = open(command, O_RDONLY | O_DIRECTORY);
	contender_kfd_read(&probe, &kfd);
	assert_int_equal(kfd.size.count, 1);
	assert_int_equal(kfd.list[0].pid, 4100);
	assert_int_equal(kfd.list[0].start, 777);
	assert_string_equal(kfd.list[0].comm, "ollama");
	contender_kfd_free(&kfd);
	/* Numbers of another pid namespace tell nothing. */
	probe.abroad = true;
	contender_kfd_read(&probe, &kfd);
	assert_int_equal(kfd.size.count, 0);
	contender_kfd_free(&kfd);
	close(probe.proc);
	close(probe.sys);
	snprintf(command, sizeof command, "rm -rf %s", root);
	assert_int_equal(system(command), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(growth_counts_beyond_what_is_allowed),
		cmocka_unit_test(who_was_not_there_held_nothing),
		cmocka_unit_test(who_cannot_be_read_is_none),
		cmocka_unit_test(its_own_processes_never_are),
		cmocka_unit_test(who_is_registered_and_there_is_listed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
