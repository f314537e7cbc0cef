/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The reader of NVIDIA's library as a process, with a library that is loaded as the vendor's is (tests/nvml). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "conf/base/fmt.h"
#include "conf/base/scope.h"
#include "runner/cell/probe_nvml.h"
#include "runner/cell/stray.h"

static char folder[PATH_MAX]; /* build/tests/unit */
static char reader[PATH_MAX];
static struct probe_nvml *nvml;
static struct probe_sample sample;

static int set_up(void **state)
{
	char text[PATH_MAX];

	(void)state;
	fmt(text, sizeof text, "%s/../nvml", folder);
	setenv("LD_LIBRARY_PATH", text, 1);
	fmt(text, sizeof text, "%d", getpid());
	setenv("NVML_PID", text, 1);
	unsetenv("NVML_HANG");
	nvml = probe_nvml_of(reader);
	return nvml ? 0 : -1;
}

static int tear_down(void **state)
{
	(void)state;
	probe_sample_free(&sample);
	probe_nvml_close(nvml);
	return waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD ? 0 : -1;
}

static void look(void)
{
	probe_sample_free(&sample);
	memset(&sample, 0, sizeof sample);
	probe_nvml_read(nvml, -1, NULL, &sample);
}

static void what_the_library_knows_is_in_the_sample(void **state)
{
	(void)state;
	assert_int_equal(probe_nvml_reader(nvml), 0);
	look();
	assert_int_not_equal(probe_nvml_reader(nvml), 0);
	assert_int_equal(sample.cards.count, 1);
	assert_string_equal(sample.cards.list[0].name, "nvidia0");
	assert_int_equal(sample.cards.list[0].pci, 0x8300);
	assert_int_equal(sample.cards.list[0].busy_percent, 10);
	assert_int_equal(sample.cards.list[0].vram_total_bytes, 8 << 20);
	assert_int_equal(sample.cards.list[0].vram_used_bytes, 4 << 20);
	assert_int_equal(sample.share_list.count, 1);
	assert_int_equal(sample.processes[sample.shares[0].process].pid, getpid());
	assert_int_equal(sample.shares[0].vram_bytes, 4 << 20);
	look();
	assert_int_equal(sample.cards.list[0].busy_percent, 20);
}

static void a_reader_that_dies_is_unknown_from_then_on(void **state)
{
	(void)state;
	look();
	assert_int_equal(sample.cards.count, 1);
	pid_t pid = probe_nvml_reader(nvml);
	kill(pid, SIGKILL);
	assert_int_equal(waitid(P_PID, (id_t)pid, &(siginfo_t){ 0 }, WEXITED | WNOWAIT), 0);
	look();
	assert_int_equal(sample.cards.count, 0);
	assert_int_equal(probe_nvml_reader(nvml), 0);
	look();
	assert_int_equal(sample.cards.count, 0);
}

static void a_library_that_hangs_is_given_up(void **state)
{
	(void)state;
	setenv("NVML_HANG", "2", 1);
	look();
	assert_int_equal(sample.cards.count, 1);
	pid_t pid = probe_nvml_reader(nvml);
	look();
	assert_int_equal(sample.cards.count, 0);
	assert_int_equal(probe_nvml_reader(nvml), 0);
	assert_int_equal(kill(pid, 0), -1);
	assert_int_equal(errno, ESRCH);
}

static void without_a_library_there_is_nothing(void **state)
{
	(void)state;
	setenv("LD_LIBRARY_PATH", "/nowhere", 1);
	look();
	assert_int_equal(sample.cards.count, 0);
	assert_int_equal(probe_nvml_reader(nvml), 0);
}

static void another_program_is_no_reader(void **state)
{
	(void)state;
	probe_nvml_close(nvml);
	nvml = probe_nvml_of("/bin/true");
	look();
	assert_int_equal(sample.cards.count, 0);
	probe_nvml_close(nvml);
	nvml = probe_nvml_of("/nowhere/pgpu-nvml");
	look();
	assert_int_equal(sample.cards.count, 0);
}

/* Whoever watches a job without a cell takes its own children for the job's, but for this one. */
static void a_reader_is_spared(void **state)
{
	struct stray stray = { .supervisor = getpid() };

	(void)state;
	prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
	look();
	assert_false(stray_childless(&stray));
	stray_spare(&stray, probe_nvml_reader(nvml));
	assert_true(stray_childless(&stray));
	assert_true(stray_kill(&stray, 1000));
	look();
	assert_int_equal(sample.cards.count, 1);
}

/* A /sys that has the driver; the reader beside us, or in libexec, once it is there and nobody else may change it. */
static void it_is_found_where_it_is_installed(void **state)
{
	char root[] = "/tmp/pgpu-reader.XXXXXX", path[PATH_MAX], home[PATH_MAX],
	     *parts[] = { "bus", "pci", "drivers", "nvidia", "0000:83:00.0" };
	struct probe_nvml *found;

	(void)state;
	assert_non_null(mkdtemp(root));
	fmt(path, sizeof path, "%s", root);
	for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
		size_t used = strlen(path);
		fmt(path + used, sizeof path - used, "/%s", parts[i]);
		assert_int_equal(mkdir(path, 0700), 0);
	}
	SCOPE_FD int sys = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_null(probe_nvml_open(sys));
	fmt(home, sizeof home, "%s/../libexec/pgpu/pgpu-nvml", folder);
	assert_int_equal(link(reader, home), 0);
	found = probe_nvml_open(sys);
	assert_non_null(found);
	probe_nvml_close(found);
	chmod(home, 0775);
	found = probe_nvml_open(sys);
	chmod(home, 0755);
	assert_int_equal(unlink(home), 0);
	assert_null(found);
	for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
		assert_int_equal(rmdir(path), 0);
		*strrchr(path, '/') = '\0';
	}
	assert_int_equal(rmdir(root), 0);
}

#define WITH_A_READER(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_A_READER(what_the_library_knows_is_in_the_sample),
		WITH_A_READER(a_reader_that_dies_is_unknown_from_then_on),
		WITH_A_READER(a_library_that_hangs_is_given_up),
		WITH_A_READER(without_a_library_there_is_nothing),
		WITH_A_READER(another_program_is_no_reader),
		WITH_A_READER(a_reader_is_spared),
		WITH_A_READER(it_is_found_where_it_is_installed),
	};
	char libexec[PATH_MAX];

	ssize_t length = readlink("/proc/self/exe", folder, sizeof folder - 1);
	if (length <= 0)
		return EXIT_FAILURE;
	*strrchr(folder, '/') = '\0';
	fmt(reader, sizeof reader, "%s/../../pgpu-nvml", folder);
	fmt(libexec, sizeof libexec, "%s/../libexec", folder);
	mkdir(libexec, 0755);
	fmt(libexec, sizeof libexec, "%s/../libexec/pgpu", folder);
	mkdir(libexec, 0755);
	return cmocka_run_group_tests_name("probe_reader", tests, NULL, NULL);
}
