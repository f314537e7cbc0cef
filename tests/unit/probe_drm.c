/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The card's texts are read as hostile: a figure is exactly one, or it is unknown. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "runner/cell/probe_drm.h"
#include "runner/cell/probe_walk.h"

#define WHO	      "drm-driver:\tamdgpu\ndrm-client-id:\t5\ndrm-pdev:\t0000:03:00.0\n"
#define SPAN(literal) ((struct probe_span){ literal, sizeof literal - 1 })

static struct probe_client client;

static enum probe_drm parse(const char *text)
{
	memset(&client, 0x5a, sizeof client);
	return probe_drm_parse((struct probe_span){ text, strlen(text) }, &client);
}

/* The one engine's time that `line` gives. */
static int64_t time_of(const char *line)
{
	char text[512];

	snprintf(text, sizeof text, WHO "drm-memory-vram:\t1 KiB\n%s\n", line);
	assert_int_equal(parse(text), PROBE_DRM_CLIENT);
	assert_int_equal(client.engine_count, 1);
	assert_int_equal(client.partial, client.engines[0].time_ns < 0);
	return client.engines[0].time_ns;
}

static int64_t vram_of(const char *value)
{
	char text[512];

	snprintf(text, sizeof text, WHO "drm-resident-vram:\t%s\n", value);
	assert_int_equal(parse(text), PROBE_DRM_CLIENT);
	assert_int_equal(client.partial, probe_client_bytes(&client, PROBE_VRAM) < 0);
	return probe_client_bytes(&client, PROBE_VRAM);
}

static void a_time_is_a_number_a_blank_and_ns(void **state)
{
	(void)state;
	assert_int_equal(time_of("drm-engine-gfx:\t1234 ns"), 1234);
	assert_int_equal(time_of("drm-engine-gfx: \t0 ns"), 0);
	assert_int_equal(time_of("drm-engine-gfx:9223372036854775807 ns"), INT64_MAX);
	assert_int_equal(time_of("drm-engine-gfx:\t9223372036854775808 ns"), -1);
	assert_int_equal(time_of("drm-engine-gfx:\t99999999999999999999999 ns"), -1);
	assert_int_equal(time_of("drm-engine-gfx:\t-5 ns"), -1);
	assert_int_equal(time_of("drm-engine-gfx:\t+5 ns"), -1);
	assert_int_equal(time_of("drm-engine-gfx:\t0x10 ns"), -1);
	assert_int_equal(time_of("drm-engine-gfx:\t1.5 ns"), -1);
	assert_int_equal(time_of("drm-engine-gfx:\t5"), -1);
	assert_int_equal(time_of("drm-engine-gfx:\t5ns"), -1);
	assert_int_equal(time_of("drm-engine-gfx:\t5 ms"), -1);
	assert_int_equal(time_of("drm-engine-gfx:\t5 ns "), -1);
	assert_int_equal(time_of("drm-engine-gfx:\t5 nsx"), -1);
	assert_int_equal(time_of("drm-engine-gfx:\tfive ns"), -1);
	assert_int_equal(time_of("drm-engine-gfx:"), -1);
}

static void a_size_has_one_of_three_units_or_none(void **state)
{
	(void)state;
	assert_int_equal(vram_of("1048576"), 1 << 20);
	assert_int_equal(vram_of("1024 KiB"), 1 << 20);
	assert_int_equal(vram_of("1 MiB"), 1 << 20);
	assert_int_equal(vram_of("0"), 0);
	assert_int_equal(vram_of("1 GiB"), -1);
	assert_int_equal(vram_of("1 KB"), -1);
	assert_int_equal(vram_of("1KiB"), -1);
	assert_int_equal(vram_of("9007199254740991 KiB"), INT64_MAX - 1023);
	assert_int_equal(vram_of("9007199254740992 KiB"), -1);
	assert_int_equal(vram_of("18446744073709551615 KiB"), -1);
	assert_int_equal(vram_of("18446744073709551615"), -1);
	assert_int_equal(vram_of("-7 KiB"), -1);
}

static void the_longest_beginning_of_a_key_counts(void **state)
{
	(void)state;
	assert_int_equal(parse(WHO "drm-engine-capacity-video:\t2\ndrm-total-cycles-rcs:\t77\ndrm-cycles-rcs:\t7\n"
				   "drm-total-vram0:\t3 KiB\ndrm-engine-video:\t9 ns\ndrm-maxfreq-rcs:\t5 MHz\n"),
			 PROBE_DRM_CLIENT);
	assert_false(client.partial);
	assert_int_equal(client.engine_count, 2);
	assert_int_equal(client.engines[0].capacity, 2);
	assert_int_equal(client.engines[0].time_ns, 9);
	assert_int_equal(client.engines[1].total_cycles, 77);
	assert_int_equal(client.engines[1].cycles, 7);
	assert_int_equal(client.engines[1].max_hz, 5000000);
	assert_int_equal(client.region_count, 1);
	assert_string_equal(client.regions[0].name, "vram0");
	assert_int_equal(client.regions[0].total, 3072);
	assert_int_equal(client.regions[0].resident, -1);
}

static void of_a_key_that_comes_twice_the_first_counts(void **state)
{
	(void)state;
	assert_int_equal(parse(WHO "drm-driver:\txe\ndrm-client-id:\t6\ndrm-pdev:\t0000:04:00.0\n"
				   "drm-engine-gfx:\t1 ns\ndrm-engine-gfx:\t2 ns\ndrm-engine-capacity-gfx:\t0\n"
				   "drm-resident-vram:\t3 KiB\ndrm-memory-vram:\t4 KiB\ndrm-resident-vram:\t5 KiB\n"),
			 PROBE_DRM_CLIENT);
	assert_int_equal(client.id, 5);
	assert_string_equal(client.driver, "amdgpu");
	assert_int_equal(client.pci, 3 << 8);
	assert_int_equal(client.engines[0].time_ns, 1);
	assert_int_equal(client.engines[0].capacity, 0);
	assert_int_equal(probe_client_bytes(&client, PROBE_VRAM), 3072);
}

static void who_cannot_be_told_is_nobody(void **state)
{
	static const char *const nameless[] = {
		"drm-driver:\tamdgpu\ndrm-pdev:\t0000:03:00.0\n",
		"drm-driver:\tamdgpu\ndrm-client-id:\tseven\ndrm-pdev:\t0000:03:00.0\n",
		"drm-driver:\tamdgpu\ndrm-client-id:\t18446744073709551616\n",
		"drm-driver:\tamdgpu\ndrm-client-id:\t-1\n",
		"drm-driver:\tamdgpu\ndrm-client-id:\tdrm-client-id:\t5\n",
		"drm-driver:\tamdgpu\ndrm-client-id:\t5\ndrm-pdev:\t../../etc/passwd\n",
		"drm-driver:\tamdgpu\ndrm-client-id:\t5\ndrm-pdev:\t/0000:03:00.0\n",
		"drm-driver:\t\ndrm-client-id:\t5\n",
		"drm-driver:\ta driver of many words\ndrm-client-id:\t5\n",
		"drm-driver:\t\xff\xfe\ndrm-client-id:\t5\n",
		"drm-client-id:\t5\ndrm-pdev:\t0000:03:00.0\n",
		"pdev:\t0000:04:00.0\nvram mem:\t1 kB\n",
		"pdev:\tnowhere\npasid:\t7\nvram mem:\t1 kB\n",
	};
	static const char *const others[] = {
		"", "\n\n:\n", "pos:\t0\nflags:\t02\n", "tfd: 5 events: 19\n", "pasid:\t7\n", "drm-"
	};

	(void)state;
	for (size_t i = 0; i < sizeof nameless / sizeof nameless[0]; i++) {
		if (parse(nameless[i]) != PROBE_DRM_NAMELESS)
			fail_msg("not nameless: %s", nameless[i]);
	}
	for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
		if (parse(others[i]) != PROBE_DRM_OTHER)
			fail_msg("a card's: %s", others[i]);
	}
	assert_int_equal(parse("drm-driver:\tmsm\ndrm-client-id:\t18446744073709551615\n"), PROBE_DRM_CLIENT);
	assert_true(client.id == UINT64_MAX);
	assert_true(client.pci == PROBE_NO_PCI);
}

static void bytes_of_any_kind(void **state)
{
	static const char odd[] = WHO "\0\xff\xfe\n:\n\t:\t\ndrm-engine-\xff:\t1 ns\ndrm-engine-a\0b:\t1 ns\ndrm-:\t1\n"
				      "drm-engine-gfx:\t7 ns\n";
	size_t size = (size_t)1 << 20;
	char *text = malloc(size + 256);

	(void)state;
	assert_int_equal(probe_drm_parse(SPAN(odd), &client), PROBE_DRM_CLIENT);
	assert_true(client.partial);
	assert_int_equal(client.engine_count, 1);
	assert_int_equal(probe_client_time_ns(&client), 7);
	/* A line of a megabyte, within and at the end. */
	memset(text, 'x', size);
	memcpy(text + size, "\n" WHO "drm-engine-gfx:\t7 ns\n", sizeof "\n" WHO "drm-engine-gfx:\t7 ns\n");
	assert_int_equal(parse(text), PROBE_DRM_CLIENT);
	assert_int_equal(probe_client_time_ns(&client), 7);
	assert_int_equal(probe_drm_parse((struct probe_span){ text, size }, &client), PROBE_DRM_OTHER);
	free(text);
}

static void a_line_that_is_cut_is_not_read(void **state)
{
	(void)state;
	assert_int_equal(parse(WHO "drm-engine-gfx:\t7 ns\ndrm-engine-dma:\t12"), PROBE_DRM_CLIENT);
	assert_true(client.partial);
	assert_int_equal(client.engine_count, 1);
	assert_int_equal(parse("drm-driver:\tamdgpu\ndrm-client-id:\t1"), PROBE_DRM_NAMELESS);
}

static void more_than_fits_is_known_to_be_more(void **state)
{
	char text[4096] = WHO, line[64];

	(void)state;
	for (int i = 0; i < PROBE_ENGINES + 1; i++) {
		assert_int_equal(parse(text), PROBE_DRM_CLIENT);
		assert_false(client.partial);
		snprintf(line, sizeof line, "drm-engine-e%d:\t1 ns\n", i);
		strcat(text, line);
	}
	assert_int_equal(parse(text), PROBE_DRM_CLIENT);
	assert_true(client.partial);
	assert_int_equal(probe_client_time_ns(&client), PROBE_ENGINES);
	parse(WHO "drm-engine-a-name-of-sixteen:\t1 ns\n");
	assert_true(client.partial);
	parse(WHO "drm-engine-a:\t9223372036854775807 ns\ndrm-engine-b:\t1 ns\n");
	assert_int_equal(probe_client_time_ns(&client), INT64_MAX);
	parse(WHO "drm-resident-vram0:\t9223372036854775807\ndrm-resident-vram1:\t1\n");
	assert_int_equal(probe_client_bytes(&client, PROBE_VRAM), -1);
}

static void a_driver_without_times_is_not_idle(void **state)
{
	(void)state;
	/* amdgpu leaves out engines that were not used; interrupted, it prints the core's three keys alone. */
	parse(WHO "drm-memory-vram:\t1 KiB\n");
	assert_true(probe_client_timed(&client));
	assert_int_equal(probe_client_time_ns(&client), 0);
	parse(WHO);
	assert_false(probe_client_timed(&client));
	assert_int_equal(probe_client_time_ns(&client), -1);
	assert_int_equal(probe_client_bytes(&client, PROBE_VRAM), -1);
	parse("drm-driver:\tpanfrost\ndrm-client-id:\t1\ndrm-maxfreq-fragment:\t9 Hz\ndrm-resident-memory:\t1 MiB\n");
	assert_false(probe_client_timed(&client));
	assert_int_equal(probe_client_bytes(&client, PROBE_SYSTEM), 1 << 20);
	assert_int_equal(probe_client_bytes(&client, PROBE_VRAM), -1);
	/* Ticks without a clock say that it worked, not how long. */
	parse("drm-driver:\txe\ndrm-client-id:\t1\ndrm-cycles-rcs:\t5\n");
	assert_false(probe_client_timed(&client));
	assert_true(probe_client_worked(&client));
}

static void regions_are_of_a_pool(void **state)
{
	(void)state;
	parse(WHO "drm-resident-vram0:\t1 KiB\ndrm-resident-local0:\t2 KiB\ndrm-resident-gtt:\t4 KiB\n"
		  "drm-resident-system0:\t8 KiB\ndrm-resident-cpu:\t16 KiB\ndrm-resident-gds:\t32 KiB\n"
		  "drm-resident-stolen-local0:\t64 KiB\ndrm-resident-stolen-system0:\t128 KiB\n");
	assert_int_equal(probe_client_bytes(&client, PROBE_VRAM), 67 << 10);
	assert_int_equal(probe_client_bytes(&client, PROBE_GTT), 4 << 10);
	assert_int_equal(probe_client_bytes(&client, PROBE_SYSTEM), 152 << 10);
}

static void addresses(void **state)
{
	static const char *const wrong[] = { "",
					     "0000:03:00",
					     "0000:03:00.8",
					     "0000:03:20.0",
					     "000:03:00.0",
					     "0000:03:00.0 ",
					     "0000:3:00.0",
					     "0000-03-00.0",
					     "0000:03:00.00",
					     "000000001:03:00.0",
					     "0000:0G:00.0",
					     "0000:03:00.0\n" };
	char text[PROBE_PCI];

	(void)state;
	for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
		if (probe_pci_parse((struct probe_span){ wrong[i], strlen(wrong[i]) }) != PROBE_NO_PCI)
			fail_msg("an address: %s", wrong[i]);
	}
	assert_int_equal(probe_pci_parse(SPAN("0000:83:1f.7")), 0x83ff);
	probe_pci_format(probe_pci_parse(SPAN("0000:83:1f.7")), text);
	assert_string_equal(text, "0000:83:1f.7");
	probe_pci_format(probe_pci_parse(SPAN("10000:e1:00.0")), text);
	assert_string_equal(text, "10000:e1:00.0");
	probe_pci_format(PROBE_NO_PCI, text);
	assert_string_equal(text, "");
}

static void names_that_are_numbers(void **state)
{
	(void)state;
	assert_int_equal(probe_name_number("1", INT32_MAX), 1);
	assert_int_equal(probe_name_number("2147483647", INT32_MAX), INT32_MAX);
	assert_int_equal(probe_name_number("2147483648", INT32_MAX), 0);
	assert_int_equal(probe_name_number("99999999999999999999", INT32_MAX), 0);
	assert_int_equal(probe_name_number("007", INT32_MAX), 0);
	assert_int_equal(probe_name_number("0", INT32_MAX), 0);
	assert_int_equal(probe_name_number("-5", INT32_MAX), 0);
	assert_int_equal(probe_name_number("", INT32_MAX), 0);
	assert_int_equal(probe_name_number("5x", INT32_MAX), 0);
	assert_int_equal(probe_number(SPAN("12\n"), 100), 12);
	assert_int_equal(probe_number(SPAN("12"), 100), 12);
	assert_int_equal(probe_number(SPAN("12\n\n"), 100), -1);
	assert_int_equal(probe_number(SPAN("101"), 100), -1);
	assert_int_equal(probe_number(SPAN(""), 100), -1);
	assert_int_equal(probe_number(SPAN(" 1"), 100), -1);
}

static void a_start_time_behind_any_name(void **state)
{
	(void)state;
	assert_int_equal(probe_stat_start(SPAN("7 (a) S 1 7 7 0 -1 4194304 1 0 3 0 1 2 0 0 20 0 1 0 251002 4096 1\n")),
			 251002);
	assert_int_equal(
		probe_stat_start(SPAN("7 (a) R 9 (b\n) S 1 7 7 0 -1 4194304 1 0 3 0 1 2 0 0 20 0 1 0 251002 4096 1\n")),
		251002);
	assert_int_equal(probe_stat_start(SPAN("7 (a) S 1 7 7 0 -1 4194304 1 0 3 0 1 2 0 0 20 0 1 0 2510")), 0);
	assert_int_equal(probe_stat_start(SPAN("9002 (trunca")), 0);
	assert_int_equal(probe_stat_start(SPAN("9002 (a)")), 0);
	assert_int_equal(probe_stat_start((struct probe_span){ "", 0 }), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_time_is_a_number_a_blank_and_ns),
		cmocka_unit_test(a_size_has_one_of_three_units_or_none),
		cmocka_unit_test(the_longest_beginning_of_a_key_counts),
		cmocka_unit_test(of_a_key_that_comes_twice_the_first_counts),
		cmocka_unit_test(who_cannot_be_told_is_nobody),
		cmocka_unit_test(bytes_of_any_kind),
		cmocka_unit_test(a_line_that_is_cut_is_not_read),
		cmocka_unit_test(more_than_fits_is_known_to_be_more),
		cmocka_unit_test(a_driver_without_times_is_not_idle),
		cmocka_unit_test(regions_are_of_a_pool),
		cmocka_unit_test(addresses),
		cmocka_unit_test(names_that_are_numbers),
		cmocka_unit_test(a_start_time_behind_any_name),
	};

	return cmocka_run_group_tests_name("probe_drm", tests, NULL, NULL);
}
