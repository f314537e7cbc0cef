/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Cards by their PCI address, and the sections of pgpu.conf that bind lanes to them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <fcntl.h>
#include <unistd.h>

#include <cmocka.h>

#include "conf/base/file.h"
#include "conf/base/pci.h"
#include "conf/conf.h"

static char folder[64];
static int folder_fd = -1;

static int setup(void **state)
{
	(void)state;
	snprintf(folder, sizeof folder, "/tmp/pgpu-lanes-test.XXXXXX");
	if (!mkdtemp(folder) || chdir(folder) < 0)
		return -1;
	folder_fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	setenv("PGPU_SYSFS", folder, 1);
	return folder_fd < 0 ? -1 : 0;
}

static int teardown(void **state)
{
	char command[128];

	(void)state;
	close(folder_fd);
	snprintf(command, sizeof command, "rm -rf '%s'", folder);
	return chdir("/") < 0 || system(command) != 0 ? -1 : 0;
}

static void put(const char *name, const char *text)
{
	assert_int_equal(file_replace(folder_fd, name, text, strlen(text), FILE_VOLATILE, NULL), 0);
}

static void put_card(const char *name, const char *uevent)
{
	char path[128];

	snprintf(path, sizeof path, "mkdir -p class/drm/%s/device", name);
	assert_int_equal(system(path), 0);
	snprintf(path, sizeof path, "class/drm/%s/device/uevent", name);
	FILE *file = fopen(path, "w");
	assert_non_null(file);
	assert_true(fputs(uevent, file) >= 0);
	assert_int_equal(fclose(file), 0);
}

static void load_ok(const char *text, struct conf *conf)
{
	struct err err = ERR_NONE;

	put("pgpu.conf", text);
	if (conf_load_file("pgpu.conf", conf, &err) < 0)
		fail_msg("%s\n%s", err.text, text);
}

static void refused(const char *text, const char *reason)
{
	static struct conf conf;
	struct err err = ERR_NONE;

	put("pgpu.conf", text);
	if (conf_load_file("pgpu.conf", &conf, &err) == 0)
		fail_msg("accepted: %s", text);
	assert_int_equal(err.code, EXIT_USAGE);
	assert_string_equal(err.text, reason);
}

static void an_address_has_one_spelling(void **state)
{
	static const char *const wrong[] = { "",
					     "0",
					     "card0",
					     "0000:03:00",
					     "0000:03:20.0",
					     "0000:03:00.8",
					     "03:00",
					     "0000:03:00.0 ",
					     "000:03:00.0",
					     "x000:03:00.0",
					     "000000000:03:00.0",
					     "0000:03:00.00",
					     "0000-03-00.0" };
	char address[PCI_TEXT] = "as before";

	(void)state;
	for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
		if (pci_read(wrong[i], address))
			fail_msg("accepted: %s", wrong[i]);
		assert_string_equal(address, "as before");
	}
	assert_true(pci_read("0000:03:00.0", address));
	assert_string_equal(address, "0000:03:00.0");
	assert_true(pci_read("0A:1f.7", address));
	assert_string_equal(address, "0000:0a:1f.7");
	assert_true(pci_read("00000000:01:00.0", address));
	assert_string_equal(address, "0000:01:00.0");
	assert_true(pci_read("10000:E1:00.0", address));
	assert_string_equal(address, "10000:e1:00.0");
	assert_true(pci_parse("0000:03:00.0\n", 13) == PCI_NONE);
}

static void a_file_name_carries_it(void **state)
{
	char text[64] = "x", address[PCI_TEXT];
	const char *at = text;

	(void)state;
	assert_int_equal(pci_mark_put(text, sizeof text, ""), 0);
	assert_int_equal(pci_mark_put(text, sizeof text, "0000:03:00.0"), 14);
	assert_string_equal(text, ":c0000-03-00.0");
	strcat(text, ":turn");
	assert_int_equal(pci_mark_parse(&at, address), 0);
	assert_string_equal(address, "0000:03:00.0");
	assert_string_equal(at, ":turn");
	/* What is none is left where it stands. */
	assert_int_equal(pci_mark_parse(&at, address), 0);
	assert_string_equal(address, "");
	assert_string_equal(at, ":turn");
	at = ":completed:0";
	assert_int_equal(pci_mark_parse(&at, address), 0);
	assert_string_equal(at, ":completed:0");
	at = ":c0000-03-00.9";
	assert_int_equal(pci_mark_parse(&at, address), -1);
}

static void each_section_is_a_lane(void **state)
{
	static struct conf conf;

	(void)state;
	load_ok("lane \"left\" { card = \"0000:03:00.0\" }\nlane right { card = 83:00.0 }\n"
		"lane again { card = '0000:03:00.0' }\n",
		&conf);
	assert_int_equal(conf.lanes, 3);
	assert_string_equal(conf_lane_card(&conf, 0), "0000:03:00.0");
	assert_string_equal(conf_lane_card(&conf, 1), "0000:83:00.0");
	assert_string_equal(conf_lane_card(&conf, 2), "0000:03:00.0");
	assert_string_equal(conf_lane_card(&conf, 3), "");
	assert_true(conf_binds(&conf, "0000:83:00.0"));
	assert_false(conf_binds(&conf, "0000:04:00.0"));
	load_ok("lane a { card = 03:00.0 }\nlanes = 1", &conf);
	assert_int_equal(conf.lanes, 1);
	load_ok("lanes = 4", &conf);
	assert_int_equal(conf.bound_count, 0);
	assert_string_equal(conf_lane_card(&conf, 0), "");
}

static void what_is_wrong_is_named_with_its_line(void **state)
{
	(void)state;
	refused("lanes = 3\nlane a { card = 03:00.0 }",
		"pgpu.conf:1: lanes: 3 is not the number of the lane sections, 1; they suffice");
	refused("\nlane a {\n}", "pgpu.conf:2: lane 'a' needs a card: card = \"0000:03:00.0\"");
	refused("lane a { card = 03:00.0 }\nlane a { card = 03:00.0 }",
		"pgpu.conf:2: lane 'a' is repeated; it stands on line 1");
	refused("lane { card = 03:00.0 }", "pgpu.conf:1: a lane needs a name: lane \"NAME\" { ... }");
	refused("lane a {\n", "pgpu.conf:1: lane 'a' is not closed with '}'");
	refused("lane a { rank = 1 }", "pgpu.conf:1: key 'rank' belongs into a class");
	refused("lane a { memory = 1G }", "pgpu.conf:1: key 'memory' belongs outside of a lane");
	refused("card = 03:00.0", "pgpu.conf:1: key 'card' belongs into a lane");
	refused("lane a { class x { } }", "pgpu.conf:1: a class cannot stand inside a lane; is a '}' missing?");
	refused("lame a { card = 03:00.0 }", "pgpu.conf:1: unknown section 'lame', did you mean 'lane'?");
	refused("lane a {\n card = radeon }",
		"pgpu.conf:2: card: 'radeon' is not the PCI address of a card, such as 0000:03:00.0");
}

/* cardN is another one after the next boot. */
static void a_number_is_refused_with_its_address(void **state)
{
	(void)state;
	put_card("card0", "DRIVER=amdgpu\nPCI_ID=1002:7590\nPCI_SLOT_NAME=0000:03:00.0\nMODALIAS=x\n");
	put_card("card1", "PCI_SLOT_NAME=0000:0e:00.0\n");
	put_card("card2", "DRIVER=v3d\n");
	refused("lane a { card = \"0\" }",
		"pgpu.conf:1: card: '0' may be another card after the next boot; now it is 0000:03:00.0");
	refused("\nlane a { card = card1 }",
		"pgpu.conf:2: card: 'card1' may be another card after the next boot; now it is 0000:0e:00.0");
	refused("lane a { card = 2 }", "pgpu.conf:1: card: '2' may be another card after the next boot, and is none "
				       "now; name a card by its PCI address, such as 0000:03:00.0");
}

static void the_queues_copy_has_the_lanes(void **state)
{
	static struct conf conf, copy;
	struct err err = ERR_NONE;

	(void)state;
	load_ok("lane \"left\" { card = \"0000:03:00.0\" }\nlane right { card = 83:00.0 }", &conf);
	assert_int_equal(conf_copy_write(folder_fd, &conf, &err), 0);
	memset(&copy, 0xa5, sizeof copy);
	if (conf_copy_read(folder_fd, &copy, &err) < 0)
		fail_msg("%s", err.text);
	assert_int_equal(copy.bound_count, 2);
	assert_string_equal(copy.bound[0].name, "left");
	assert_string_equal(copy.bound[1].card, "0000:83:00.0");
	/* One lane less than `lanes` says. */
	conf.bound_count = 1;
	assert_int_equal(conf_copy_write(folder_fd, &conf, &err), 0);
	assert_int_equal(conf_copy_read(folder_fd, &copy, &err), -1);
	conf.bound_count = 0;
	assert_int_equal(conf_copy_write(folder_fd, &conf, &err), 0);
	assert_int_equal(conf_copy_read(folder_fd, &copy, &err), 0);
	assert_int_equal(copy.bound_count, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_address_has_one_spelling),
		cmocka_unit_test(a_file_name_carries_it),
		cmocka_unit_test_setup_teardown(each_section_is_a_lane, setup, teardown),
		cmocka_unit_test_setup_teardown(what_is_wrong_is_named_with_its_line, setup, teardown),
		cmocka_unit_test_setup_teardown(a_number_is_refused_with_its_address, setup, teardown),
		cmocka_unit_test_setup_teardown(the_queues_copy_has_the_lanes, setup, teardown),
	};

	return cmocka_run_group_tests_name("conf_lanes", tests, NULL, NULL);
}
