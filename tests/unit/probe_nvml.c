/* SPDX-License-Identifier: GPL-3.0-or-later */
/* NVIDIA's library, played by functions here: layouts, entries of two sizes, what is not known. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "runner/cell/probe_nvml.h"
#include "runner/cell/probe_use.h"
#include "runner/cell/nvml/library.h"

struct entry {
	unsigned pid;
	unsigned long long bytes;
};

/* What the library will say. */
static struct {
	const char *missing;
	int init, load_result, work_result, entry_size, list_result;
	unsigned load;
	unsigned long long total, used, last_us;
	unsigned compute_count, graphics_count, work_count;
	struct entry compute[8], graphics[8];
	struct {
		unsigned pid;
		unsigned long long at_us;
		unsigned sm, memory, encoder, decoder;
	} work[8];
	int started;
} says;

static int start(void)
{
	says.started++;
	return says.init;
}

static int stop(void)
{
	says.started--;
	return 0;
}

static int count_cards(unsigned *count)
{
	*count = 1;
	return 0;
}

static int card_of(unsigned index, void **card)
{
	*card = &says;
	return index == 0 ? 0 : 2;
}

static int address_of(void *card, void *info)
{
	const unsigned where[] = { 0, 0x83, 0 };

	(void)card;
	memset(info, 0x55, 68);
	memcpy((char *)info + 16, where, sizeof where);
	return 0;
}

static int load_of(void *card, unsigned load[2])
{
	(void)card;
	load[0] = says.load;
	return says.load_result;
}

static int memory_of(void *card, unsigned long long memory[3])
{
	(void)card;
	memory[0] = says.total;
	memory[1] = says.total - says.used;
	memory[2] = says.used;
	return 0;
}

static int work_of(void *card, void *samples, unsigned *count, unsigned long long since_us)
{
	(void)card;
	says.last_us = since_us;
	assert_true(*count >= says.work_count);
	memcpy(samples, says.work, says.work_count * sizeof says.work[0]);
	*count = says.work_count;
	return says.work_result;
}

static int list(const struct entry *entries, unsigned number, unsigned *count, unsigned char *bytes)
{
	static const uint64_t rest[2] = { 0x1111111122222222, 0x3333333344444444 };

	assert_true(*count >= number);
	for (unsigned i = 0; i < number; i++) {
		memcpy(bytes + i * (size_t)says.entry_size, &entries[i].pid, 4);
		memcpy(bytes + i * (size_t)says.entry_size + 8, &entries[i].bytes, 8);
		memcpy(bytes + i * (size_t)says.entry_size + 16, rest, (size_t)says.entry_size - 16);
	}
	*count = number;
	return says.list_result;
}

static int list_compute(void *card, unsigned *count, void *bytes)
{
	(void)card;
	return list(says.compute, says.compute_count, count, bytes);
}

static int list_graphics(void *card, unsigned *count, void *bytes)
{
	(void)card;
	return list(says.graphics, says.graphics_count, count, bytes);
}

static void *look_up(void *library, const char *name)
{
	static const struct {
		const char *name;
		void (*function)(void);
	} functions[] = {
		{ "nvmlInit_v2", (void (*)(void))start },
		{ "nvmlShutdown", (void (*)(void))stop },
		{ "nvmlDeviceGetCount_v2", (void (*)(void))count_cards },
		{ "nvmlDeviceGetHandleByIndex_v2", (void (*)(void))card_of },
		{ "nvmlDeviceGetPciInfo_v3", (void (*)(void))address_of },
		{ "nvmlDeviceGetUtilizationRates", (void (*)(void))load_of },
		{ "nvmlDeviceGetMemoryInfo", (void (*)(void))memory_of },
		{ "nvmlDeviceGetProcessUtilization", (void (*)(void))work_of },
		{ "nvmlDeviceGetComputeRunningProcesses_v3", (void (*)(void))list_compute },
		{ "nvmlDeviceGetGraphicsRunningProcesses_v2", (void (*)(void))list_graphics },
	};
	void *found = NULL;

	(void)library;
	for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++) {
		if (strcmp(functions[i].name, name) == 0 && !(says.missing && strcmp(says.missing, name) == 0))
			memcpy(&found, &functions[i].function, sizeof found);
	}
	return found;
}

static struct nvml *nvml;
static struct probe_sample sample;

static int set_up(void **state)
{
	(void)state;
	memset(&says, 0, sizeof says);
	says.entry_size = 24;
	says.load = 42;
	says.total = 1 << 30;
	says.used = 1 << 20;
	nvml = nvml_start(look_up, NULL);
	return nvml ? 0 : -1;
}

static int tear_down(void **state)
{
	(void)state;
	probe_sample_free(&sample);
	nvml_end(nvml);
	return says.started;
}

static void add(struct nvml *from, const struct probe_set *only)
{
	static struct nvml_card card;

	assert_int_equal(nvml_count(from), 1);
	assert_false(nvml_read(from, 1, &card));
	assert_true(nvml_read(from, 0, &card));
	probe_nvml_add(&card, -1, only, &sample);
}

static void take(const struct probe_set *only)
{
	probe_sample_free(&sample);
	add(nvml, only);
}

static const struct probe_share *share_of(pid_t pid)
{
	for (size_t i = 0; i < sample.share_list.count; i++) {
		if (sample.processes[sample.shares[i].process].pid == pid)
			return &sample.shares[i];
	}
	fail_msg("pid %d is not there", pid);
	return NULL;
}

static void a_card_that_sysfs_does_not_know(void **state)
{
	(void)state;
	take(NULL);
	assert_int_equal(sample.cards.count, 1);
	assert_string_equal(sample.cards.list[0].name, "nvidia0");
	assert_string_equal(sample.cards.list[0].driver, "nvidia");
	assert_int_equal(sample.cards.list[0].pci, 0x8300);
	assert_int_equal(sample.cards.list[0].busy_percent, 42);
	assert_int_equal(sample.cards.list[0].vram_total_bytes, 1 << 30);
	assert_int_equal(sample.cards.list[0].vram_used_bytes, 1 << 20);
}

static void a_card_that_sysfs_knows_gets_its_figures(void **state)
{
	(void)state;
	sample.cards.count = 1;
	sample.cards.list[0] =
		(struct probe_card){ .name = "card3", .driver = "nvidia", .pci = 0x8300, .busy_percent = -1 };
	add(nvml, NULL);
	assert_int_equal(sample.cards.count, 1);
	assert_string_equal(sample.cards.list[0].name, "card3");
	assert_int_equal(sample.cards.list[0].busy_percent, 42);
}

static void figures_that_cannot_be_right_are_unknown(void **state)
{
	(void)state;
	says.load = 101;
	says.used = says.total + 1;
	take(NULL);
	assert_int_equal(sample.cards.list[0].busy_percent, -1);
	assert_int_equal(sample.cards.list[0].vram_total_bytes, -1);
	says.load = 50;
	says.load_result = 3;
	says.used = says.total = 0;
	take(NULL);
	assert_int_equal(sample.cards.list[0].busy_percent, -1);
	assert_int_equal(sample.cards.list[0].vram_used_bytes, -1);
}

static void entries_of_either_size(void **state)
{
	(void)state;
	for (says.entry_size = 24; says.entry_size <= 32; says.entry_size += 8) {
		says.compute_count = 3;
		for (unsigned i = 0; i < 3; i++)
			says.compute[i] = (struct entry){ 70 + i, 1000 * (i + 1) };
		take(NULL);
		assert_int_equal(sample.share_list.count, 3);
		for (int i = 0; i < 3; i++)
			assert_int_equal(share_of(70 + i)->vram_bytes, 1000 * (i + 1));
	}
}

static void one_process_counts_once_and_all_ones_are_unknown(void **state)
{
	(void)state;
	says.compute_count = 2;
	says.compute[0] = (struct entry){ 70, 4096 };
	says.compute[1] = (struct entry){ 71, UINT64_MAX };
	says.graphics_count = 2;
	says.graphics[0] = (struct entry){ 70, 4096 };
	says.graphics[1] = (struct entry){ 72, 5 };
	take(NULL);
	assert_int_equal(sample.share_list.count, 3);
	assert_int_equal(share_of(71)->vram_bytes, -1);
	take(&(struct probe_set){ (pid_t[]){ 72 }, 1 });
	assert_int_equal(sample.share_list.count, 1);
	assert_int_equal(share_of(72)->vram_bytes, 5);
}

static void a_list_that_does_not_fit_or_is_strange_is_partial(void **state)
{
	(void)state;
	says.compute_count = 2;
	says.compute[0].pid = 70;
	says.compute[1].pid = 71;
	says.list_result = 7;
	take(NULL);
	assert_true(sample.partial);
	assert_int_equal(sample.share_list.count, 0);
	says.list_result = 0;
	says.entry_size = 28;
	take(NULL);
	assert_true(sample.partial);
	assert_int_equal(sample.share_list.count, 0);
}

static void work_since_the_sample_before(void **state)
{
	(void)state;
	says.compute_count = 2;
	says.compute[0] = (struct entry){ 70, 1 };
	says.compute[1] = (struct entry){ 71, 1 };
	says.work_count = 1;
	says.work[0].pid = 70;
	says.work[0].at_us = 500;
	says.work[0].sm = 90;
	take(NULL);
	assert_int_equal(share_of(70)->busy_percent, -1);
	says.work_count = 4;
	says.work[1] = says.work[2] = says.work[3] = says.work[0];
	says.work[1].at_us = 600;
	says.work[1].sm = 30;
	says.work[2].at_us = 700;
	says.work[2].sm = 20;
	says.work[3].at_us = 800;
	says.work[3].sm = 65535;
	take(NULL);
	assert_int_equal(says.last_us, 500);
	assert_int_equal(share_of(70)->busy_percent, 30);
	assert_int_equal(share_of(71)->busy_percent, 0);
	/* No sample since then: idle. */
	says.work_result = 6;
	take(NULL);
	assert_int_equal(share_of(70)->busy_percent, 0);
	says.work_result = 3;
	take(NULL);
	assert_int_equal(share_of(70)->busy_percent, -1);
}

static void a_library_that_lacks_something(void **state)
{
	struct nvml *other;

	(void)state;
	says.missing = "nvmlDeviceGetMemoryInfo";
	assert_null(nvml_start(look_up, NULL));
	says.missing = "nvmlDeviceGetProcessUtilization";
	other = nvml_start(look_up, NULL);
	assert_non_null(other);
	says.compute_count = 1;
	says.compute[0].pid = 70;
	probe_sample_free(&sample);
	add(other, NULL);
	assert_int_equal(share_of(70)->busy_percent, -1);
	nvml_end(other);
	says.missing = NULL;
	says.init = 9;
	assert_null(nvml_start(look_up, NULL));
	says.started--;
	/* No driver in sysfs: the library is not even looked for. */
	assert_null(probe_nvml_open(-1));
}

#define WITH_A_LIBRARY(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_A_LIBRARY(a_card_that_sysfs_does_not_know),
		WITH_A_LIBRARY(a_card_that_sysfs_knows_gets_its_figures),
		WITH_A_LIBRARY(figures_that_cannot_be_right_are_unknown),
		WITH_A_LIBRARY(entries_of_either_size),
		WITH_A_LIBRARY(one_process_counts_once_and_all_ones_are_unknown),
		WITH_A_LIBRARY(a_list_that_does_not_fit_or_is_strange_is_partial),
		WITH_A_LIBRARY(work_since_the_sample_before),
		WITH_A_LIBRARY(a_library_that_lacks_something),
	};

	return cmocka_run_group_tests_name("probe_nvml", tests, NULL, NULL);
}
