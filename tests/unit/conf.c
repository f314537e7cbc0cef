/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * pgpu.conf as a specification: what is read, what each error says and where, what the queue's copy keeps. Every test
 * runs in a folder of its own, which is $HOME as well. No file may make a call hang: each is read under an alarm.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/capability.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "conf/base/buf.h"
#include "conf/base/clock.h"
#include "conf/base/file.h"
#include "conf/base/scope.h"
#include "conf/base/words.h"
#include "conf/conf.h"
#include "conf/conf_builtin.h"
#include "patience.h"
#include "runner/commands.h"

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))
#define FILE_NAME   "pgpu.conf"

static char folder[64];
static int folder_fd = -1;

static int setup(void **state)
{
	(void)state;
	snprintf(folder, sizeof folder, "/tmp/pgpu-conf-test.XXXXXX");
	if (!mkdtemp(folder) || chdir(folder) < 0)
		return -1;
	folder_fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	unsetenv("PGPU_CONF");
	unsetenv("XDG_CONFIG_HOME");
	setenv("HOME", folder, 1);
	alarm(patience(20));
	return 0;
}

static int teardown(void **state)
{
	char command[128];

	(void)state;
	alarm(0);
	close(folder_fd);
	snprintf(command, sizeof command, "rm -rf '%s'", folder);
	return chdir("/") < 0 || system(command) != 0 ? -1 : 0;
}

static void put_bytes(const char *name, const void *bytes, size_t size)
{
	int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(write_all(fd, bytes, size), 0);
	close(fd);
}

static void put(const char *name, const char *text)
{
	put_bytes(name, text, strlen(text));
}

static void load_ok(const char *text, struct conf *conf)
{
	struct err err = ERR_NONE;

	put(FILE_NAME, text);
	alarm(patience(1));
	if (conf_load_file(FILE_NAME, conf, &err) < 0)
		fail_msg("%s\n%s", err.text, text);
	alarm(patience(20));
}

static void refused_bytes(const char *bytes, size_t size, const char *reason)
{
	struct conf conf;
	struct err err = ERR_NONE;

	put_bytes(FILE_NAME, bytes, size);
	conf.lanes = -7;
	alarm(patience(1));
	if (conf_load_file(FILE_NAME, &conf, &err) == 0)
		fail_msg("accepted: %s", bytes);
	if (strncmp(err.text, reason, strlen(reason)) != 0)
		fail_msg("'%s' is '%s', not '%s'", bytes, err.text, reason);
	assert_int_equal(err.code, EXIT_USAGE);
	assert_null(strchr(err.text, '\n'));
	assert_int_equal(conf.lanes, -7);
	assert_int_equal(conf_load_file(FILE_NAME, &conf, NULL), -1);
	alarm(patience(20));
}

static void refused(const char *text, const char *reason)
{
	refused_bytes(text, strlen(text), reason);
}

/* All that counts, as text: the queue's copy without its source, stamp and sum. */
static void essence(const struct conf *conf, struct buf *text)
{
	SCOPE_FREE char *copy = NULL;

	assert_int_equal(conf_copy_write(folder_fd, conf, NULL), 0);
	assert_int_equal(file_read(folder_fd, "conf", 1 << 20, &copy, NULL, NULL), 0);
	char *from = strstr(copy, "\nlanes "), *end = strstr(copy, "\nsum ");
	assert_true(from && end);
	buf_add(text, from, (size_t)(end - from));
}

static void assert_same(const struct conf *a, const struct conf *b)
{
	SCOPE_BUF struct buf first = BUF_EMPTY;
	SCOPE_BUF struct buf second = BUF_EMPTY;

	essence(a, &first);
	essence(b, &second);
	assert_string_equal(first.text, second.text);
}

static const struct conf_class *row(const struct conf *conf, const char *name)
{
	const struct conf_class *found = conf_class_find(conf, name);

	assert_non_null(found);
	return found;
}

static void the_builtin_table_is_the_contracts(void **state)
{
	(void)state;
	static const struct conf_class rows[] = {
		{ .name = "interactive",
		  .rank = 0,
		  .budget_ns = 300 * NS_PER_S,
		  .turns_as = "clip",
		  .turns_as_after_run_ns = 60 * NS_PER_S,
		  .turns_as_without_turn_ns = 5 * NS_PER_S },
		{ .name = "test", .rank = 1, .budget_ns = 600 * NS_PER_S },
		{ .name = "clip", .rank = 1, .budget_ns = 1500 * NS_PER_S },
		{ .name = "render", .rank = 1, .budget_ns = 1500 * NS_PER_S },
		{ .name = "bench", .rank = 1, .budget_ns = 1200 * NS_PER_S },
		{ .name = "truth",
		  .rank = 2,
		  .budget_ns = 3600 * NS_PER_S,
		  .turns_as = "clip",
		  .turns_as_after_wait_ns = 600 * NS_PER_S },
		{ .name = "search",
		  .rank = 3,
		  .budget_ns = 3600 * NS_PER_S,
		  .turns_as = "clip",
		  .turns_as_after_wait_ns = 600 * NS_PER_S },
	};
	struct conf conf;
	struct conf expected = {
		.lanes = 2,
		.memory_bytes = UINT64_C(24) << 30,
		.keep_ns = 30 * 86400 * NS_PER_S,
		.keep_jobs = 10000,
		.log_bytes = UINT64_C(16) << 20,
		.lost_limit = 3,
		.retry_after_ns = 30 * NS_PER_S,
		.processes = 16384,
		.grace_ns = 10 * NS_PER_S,
		.take_ns = 3 * NS_PER_S,
		.stall_after_ns = 300 * NS_PER_S,
		.vram_patience_ns = 600 * NS_PER_S,
		.standing_after_ns = 30 * NS_PER_S,
		.contender_vram_bytes = UINT64_C(512) << 20,
		.vram_settle_ns = 2 * NS_PER_S,
		.cells = true,
		.amd_priority = true,
		.run_class = "interactive",
		.submit_class = "render",
		.class_count = COUNT(rows),
		.source = "x",
		.stamp = "x",
	};
	struct err err = ERR_NONE;

	memcpy(expected.classes, rows, sizeof rows);
	if (conf_load(&conf, &err) < 0)
		fail_msg("%s", err.text);
	assert_same(&conf, &expected);
	assert_string_equal(conf.source, "built-in");
}

static void the_shipped_file_and_an_empty_one_change_nothing(void **state)
{
	(void)state;
	struct conf builtin, conf;

	assert_int_equal(conf_load(&builtin, NULL), 0);
	load_ok(conf_builtin_text, &conf);
	assert_same(&conf, &builtin);
	assert_string_equal(conf.source, FILE_NAME);
	load_ok("", &conf);
	assert_same(&conf, &builtin);
	load_ok("\xEF\xBB\xBF# a note\r\n\r\n", &conf);
	assert_same(&conf, &builtin);
}

static void values_are_read(void **state)
{
	(void)state;
	struct conf conf;

	load_ok("lanes = \"3\" memory = '1.5G'\ngrace = 0\ntake-within=0.5s\r\ncells = off\namd-priority\n=\n\"off\"\n"
		"run-class = clip submit-class = test",
		&conf);
	assert_int_equal(conf.lanes, 3);
	assert_true(conf.memory_bytes == UINT64_C(1536) << 20);
	assert_int_equal(conf.grace_ns, 0);
	assert_int_equal(conf.take_ns, NS_PER_S / 2);
	assert_false(conf.cells);
	assert_false(conf.amd_priority);
	assert_string_equal(conf.run_class, "clip");
	assert_string_equal(conf.submit_class, "test");
}

static void what_the_rules_go_by_is_read(void **state)
{
	(void)state;
	struct conf conf;

	load_ok("stall-after = 0 ram = 20G resident = 5\n"
		"class clip { turns = forced min-hold = 90s stall-after = 10m budget-signal = \"B:USR1@60s\" }\n"
		"class test { stall-after = 0 turns = asked }\n",
		&conf);
	assert_true(conf.stall_after_ns == CONF_NEVER);
	assert_true(conf_ram(&conf) == UINT64_C(20) << 30);
	assert_int_equal(conf_resident(&conf), 5);
	assert_true(row(&conf, "clip")->turns_forced);
	assert_int_equal(row(&conf, "clip")->min_hold_ns, 90 * NS_PER_S);
	assert_int_equal(row(&conf, "clip")->stall_after_ns, 600 * NS_PER_S);
	assert_string_equal(row(&conf, "clip")->budget_signal, "B:USR1@60s");
	assert_true(row(&conf, "test")->stall_after_ns == CONF_NEVER);
	assert_int_equal(row(&conf, "render")->stall_after_ns, 0);
	assert_false(row(&conf, "test")->turns_forced);
	load_ok("lanes = 3", &conf);
	assert_int_equal(conf_resident(&conf), 4);
	assert_true(conf_ram(&conf) > 0 && conf_ram(&conf) % 4096 == 0);
}

static void a_builtin_row_is_amended_key_by_key(void **state)
{
	(void)state;
	struct conf conf;

	load_ok("class interactive { budget = 10m memory = 2G }\nclass \"truth\" { turns-as = \"\" }\n"
		"class \"search\" { turns-as-after-wait = \"0\" turns-as-after-run = 1h limit = 3h }\n",
		&conf);
	assert_int_equal(conf.class_count, 7);
	const struct conf_class *found = row(&conf, "interactive");
	assert_int_equal(found->budget_ns, 600 * NS_PER_S);
	assert_true(found->memory_bytes == UINT64_C(2) << 30);
	assert_int_equal(found->rank, 0);
	assert_string_equal(found->turns_as, "clip");
	assert_int_equal(found->turns_as_after_run_ns, 60 * NS_PER_S);
	found = row(&conf, "truth");
	assert_string_equal(found->turns_as, "");
	assert_int_equal(found->turns_as_after_wait_ns, 0);
	found = row(&conf, "search");
	assert_int_equal(found->turns_as_after_wait_ns, 0);
	assert_int_equal(found->turns_as_after_run_ns, 3600 * NS_PER_S);
	assert_int_equal(found->limit_ns, 10800 * NS_PER_S);
}

static void another_name_adds_a_class(void **state)
{
	(void)state;
	struct conf conf;

	load_ok("run-class = \"night\"\nclass \"day\" { rank = 0 budget = 1m turns-as = night turns-as-after-run = 5s "
		"}\n"
		"class \"night\" { rank = 4  budget = \"12h\" memory = \"48G\" }\n",
		&conf);
	assert_int_equal(conf.class_count, 9);
	assert_int_equal(row(&conf, "night")->rank, 4);
	assert_int_equal(row(&conf, "night")->limit_ns, 0);
	assert_true(row(&conf, "night")->memory_bytes == UINT64_C(48) << 30);
	assert_string_equal(row(&conf, "day")->turns_as, "night");
	assert_true(row(&conf, "day")->memory_bytes == 0);
	assert_string_equal(conf.run_class, "night");
}

static void capabilities_are_a_list(void **state)
{
	(void)state;
	struct conf conf;

	load_ok("class clip { rank = 1 }", &conf);
	assert_true(row(&conf, "clip")->capabilities == 0);
	assert_false(row(&conf, "clip")->no_new_privileges);
	load_ok("class clip { capabilities = {} no-new-privileges = true }", &conf);
	assert_true(row(&conf, "clip")->capabilities == CONF_CAPS_LIMITED);
	assert_true(row(&conf, "clip")->no_new_privileges);
	load_ok("class clip { capabilities\n=\n{ \"sys_nice\" ,CAP_chown, 'bpf', } rank = 3 }", &conf);
	assert_true(row(&conf, "clip")->capabilities ==
		    (CONF_CAPS_LIMITED | 1 << CAP_SYS_NICE | 1 << CAP_CHOWN | UINT64_C(1) << CAP_BPF));
	assert_int_equal(row(&conf, "clip")->rank, 3);
}

/* The command's words with a '|' behind each. */
static void runs_at_the_end(const struct conf *conf, const char *class_name, const char *wanted)
{
	char **words, found[256] = "";

	assert_int_equal(conf_on_end(conf, class_name, &words), 0);
	for (char **word = words; word && *word; word++)
		strcat(strcat(found, *word), "|");
	words_free(words);
	assert_string_equal(found, wanted);
}

static void a_command_is_a_list(void **state)
{
	(void)state;
	struct conf conf;

	load_ok("", &conf);
	runs_at_the_end(&conf, "clip", "");
	load_ok("on-end = { notify-send, \"it's over\", 'say \"hi\"', '', \"/x\ty\" , }", &conf);
	runs_at_the_end(&conf, "clip", "notify-send|it's over|say \"hi\"||/x\ty|");
	load_ok("class clip { on-end = {a,b} rank = 3 }\non-end={'c'}\nclass test { on-end = {} }", &conf);
	runs_at_the_end(&conf, "clip", "a|b|");
	runs_at_the_end(&conf, "test", "");
	runs_at_the_end(&conf, "render", "c|");
	runs_at_the_end(&conf, "no-such-class", "c|");
	assert_int_equal(row(&conf, "clip")->rank, 3);
	/* A name that begins like another's. */
	load_ok("class cli { rank = 1 budget = 1m on-end = { x } }\nclass clip { on-end = { y } }", &conf);
	runs_at_the_end(&conf, "cli", "x|");
	runs_at_the_end(&conf, "clip", "y|");
	runs_at_the_end(&conf, "c", "");
}

static void commands_are_refused_at_their_line(void **state)
{
	(void)state;
	char text[8192];

	refused("\non-end = x", "pgpu.conf:2: the value of 'on-end' is a list: {} or { \"CMD\", \"ARG\", ... }");
	refused("on-end = \"x\"", "pgpu.conf:1: the value of 'on-end' is a list");
	refused("on-end = { \"\" }", "pgpu.conf:1: on-end: its first word is empty");
	refused("on-end = { '', a }", "pgpu.conf:1: on-end: its first word is empty");
	refused("on-end = { a b }", "pgpu.conf:1: ',' or '}' is missing in the list of 'on-end'");
	refused("on-end = { a, /b }", "pgpu.conf:1: a word or '}' is missing in the list of 'on-end'");
	refused("on-end = { , }", "pgpu.conf:1: a word or '}' is missing in the list of 'on-end'");
	refused("on-end = { a,\nb }", "pgpu.conf:1: the list of 'on-end' is not closed on its line");
	refused("on-end = { a\n}", "pgpu.conf:1: the list of 'on-end' is not closed on its line");
	refused("on-end = {", "pgpu.conf:1: a word or '}' is missing in the list of 'on-end'");
	refused("on-end = { '${HOME}' }", "pgpu.conf:1: '${...}' is not filled in from the environment");
	refused("on-end = {a} on-end = {b}", "pgpu.conf:1: key 'on-end' is repeated; it stands on line 1");
	refused("class clip {\non-end = {a}\non-end = {} }", "pgpu.conf:3: key 'on-end' is repeated");
	struct conf conf;
	snprintf(text, sizeof text, "on-end = { \"%0*d\" }", CONF_ON_END - 9, 0);
	load_ok(text, &conf);
	snprintf(text, sizeof text, "on-end = { \"%0*d\" }", CONF_ON_END - 8, 0);
	refused(text, "pgpu.conf:1: on-end: all commands together are longer than 4096 bytes");
}

/* Each name is the kernel's, by its number. */
static void capabilities_have_the_names_of_libcap(void **state)
{
	(void)state;
	struct conf conf;
	char text[128];

	for (int cap = 0; cap <= CAP_LAST_CAP; cap++) {
		char *name = cap_to_name(cap);
		snprintf(text, sizeof text, "class clip { capabilities = { %s } }", name);
		load_ok(text, &conf);
		assert_true(row(&conf, "clip")->capabilities == (CONF_CAPS_LIMITED | UINT64_C(1) << cap));
		cap_free(name);
	}
}

static void capabilities_are_refused_at_their_line(void **state)
{
	(void)state;
	refused("\nclass clip { capabilities = { \"sys_nic\" } }",
		"pgpu.conf:2: capabilities: unknown capability 'sys_nic', did you mean 'sys_nice'?");
	refused("class clip { capabilities = { cap_net_rw } }",
		"pgpu.conf:1: capabilities: unknown capability 'net_rw', did you mean 'net_raw'?");
	refused("class clip { capabilities = { all } }", "pgpu.conf:1: capabilities: unknown capability 'all'");
	refused("class clip {\ncapabilities = sys_nice }", "pgpu.conf:2: the value of 'capabilities' is a list");
	refused("class clip {\ncapabilities = \"\" }", "pgpu.conf:2: the value of 'capabilities' is a list");
	refused("class clip { capabilities = { \"\" } }", "pgpu.conf:1: capabilities: '' is not a name");
	refused("class clip { capabilities = { \"a,b\" } }", "pgpu.conf:1: capabilities: 'a,b' is not a name");
	refused("class clip { capabilities = { , } }", "pgpu.conf:1: a name or '}' is missing in the list");
	refused("class clip { capabilities = { kill chown } }", "pgpu.conf:1: ',' or '}' is missing in the list");
	refused("class clip { capabilities = { kill,\nchown } }",
		"pgpu.conf:1: the list of 'capabilities' is not closed");
	refused("class clip {\n capabilities = {", "pgpu.conf:2: a name or '}' is missing in the list");
	refused("class clip { capabilities = {} capabilities = {} }",
		"pgpu.conf:1: key 'capabilities' is repeated; it stands on line 1");
	refused("class clip { rank = {} }", "pgpu.conf:1: a value is missing after 'rank ='");
	refused("class clip { no-new-privileges = yes }",
		"pgpu.conf:1: no-new-privileges: 'yes' is not \"true\" or \"false\"");
	refused("capabilities = {}", "pgpu.conf:1: key 'capabilities' belongs into a class");
}

static void unknown_words_are_named_with_the_nearest(void **state)
{
	(void)state;
	refused("\n# x\nlane = 2\n", "pgpu.conf:3: unknown key 'lane', did you mean 'lanes'?");
	refused("vram = 5G", "pgpu.conf:1: key 'vram' belongs into a class");
	refused("hold = 5G", "pgpu.conf:1: unknown key 'hold'");
	refused("zzz = 1", "pgpu.conf:1: unknown key 'zzz'");
	refused("\nclas \"x\" {\n}\n", "pgpu.conf:2: unknown section 'clas', did you mean 'class'?");
	refused("windows {}", "pgpu.conf:1: unknown section 'windows'");
	refused("class \"x\" {\n rank = 1\n budgt = 5m\n}", "pgpu.conf:3: unknown key 'budgt', did you mean 'budget'?");
	refused("class clip { windows = \"22:00-07:00\" }", "pgpu.conf:1: unknown key 'windows'");
	refused("class clip { hours = \"22-07\" }", "pgpu.conf:1: hours: '22-07' is no window of the day");
	refused("class clip {\nlanes = 2 }", "pgpu.conf:2: key 'lanes' belongs outside of a class");
	refused("rank = 2", "pgpu.conf:1: key 'rank' belongs into a class");
	refused("include(\"other.conf\")", "pgpu.conf:1: 'include' is not possible");
	refused("\ninclude = x", "pgpu.conf:2: 'include' is not possible");
	refused("class clip { include(\"x\") }", "pgpu.conf:1: 'include' is not possible");
	refused("run-class = rendr", "pgpu.conf:1: run-class: unknown class 'rendr', did you mean 'render'?");
	refused("\nsubmit-class = \"nightly\"", "pgpu.conf:2: submit-class: unknown class 'nightly'");
	refused("class clip {\n turns-as = tests\n turns-as-after-run = 5s\n}",
		"pgpu.conf:2: turns-as: unknown class 'tests', did you mean 'test'?");
}

static void repetition_is_refused_with_both_lines(void **state)
{
	(void)state;
	refused("lanes = 1\n\nlanes = 1\n", "pgpu.conf:3: key 'lanes' is repeated; it stands on line 1");
	refused("class clip {\nrank = 1\n\nrank = 1\n}", "pgpu.conf:4: key 'rank' is repeated; it stands on line 2");
	refused("class clip {\n}\nclass \"test\" { }\nclass \"clip\" { }\n",
		"pgpu.conf:4: class 'clip' is repeated; it stands on line 1");
}

static void values_are_refused_at_their_line(void **state)
{
	(void)state;
	refused("lanes = 0", "pgpu.conf:1: lanes: '0' is not from 1 to 64");
	refused("processes = 0", "pgpu.conf:1: processes: '0' is not from 1 to 4194304");
	refused("resident = 1025", "pgpu.conf:1: resident: '1025' is not from 0 to 1024");
	refused("ram = 20", "pgpu.conf:1: ram: '20' is 20M or 20G; write one of them");
	refused("stall-after = 5", "pgpu.conf:1: stall-after: '5' is 5s or 5m; write one of them");
	refused("class clip { budget-signal = USR3 }",
		"pgpu.conf:1: budget-signal: unknown signal 'USR3', did you mean 'USR1'?");
	refused("class clip { budget-signal = \"KILL@5s\" }", "pgpu.conf:1: budget-signal: no process can catch KILL");
	refused("class clip { budget-signal = \"USR1@60\" }",
		"pgpu.conf:1: budget-signal: '60' is 60s or 60m; write one of them");
	refused("class clip { turns = force }",
		"pgpu.conf:1: turns: 'force' is not \"forced\" or \"asked\", did you mean 'forced'?");
	refused("class clip {\n min-hold = 5s }", "pgpu.conf:2: min-hold: class 'clip' is without turns = \"forced\"");
	refused("lanes = 65", "pgpu.conf:1: lanes: '65' is not from 1 to 64");
	refused("lanes = 2.0", "pgpu.conf:1: lanes: '2.0' is not a whole number");
	refused("lanes = ~", "pgpu.conf:1: lanes: '~' is not a whole number");
	refused("lanes = ~root/x", "pgpu.conf:1: unexpected '/'");
	refused("lanes = \"\"", "pgpu.conf:1: lanes: '' is not a whole number");
	refused("\n\nmemory = 24", "pgpu.conf:3: memory: '24' is 24M or 24G; write one of them");
	refused("memory = 24GB", "pgpu.conf:1: memory: '24GB' is not a size; write 24G");
	refused("/*\n*/ grace = 30 # x", "pgpu.conf:2: grace: '30' is 30s or 30m; write one of them");
	refused("grace =\n15min", "pgpu.conf:2: grace: '15min' is not a duration; write 15m");
	refused("take-within = \"0\"", "pgpu.conf:1: take-within: '0' is no time at all");
	refused("cells = on", "pgpu.conf:1: cells: 'on' is not \"auto\" or \"off\"");
	refused("amd-priority = true", "pgpu.conf:1: amd-priority: 'true' is not \"on\" or \"off\"");
	refused("run-class = ''", "pgpu.conf:1: run-class: '' is not a class name");
	refused("class clip {\n\n budget = 1:30 }", "pgpu.conf:3: budget: '1:30' is 1h30m or 1m30s; write one of them");
	refused("class clip { rank = 100 }", "pgpu.conf:1: rank: '100' is not from 0 to 99");
	refused("class clip { rank = -1 }", "pgpu.conf:1: rank: '-1' is not a whole number");
	refused("class clip { limit = 0 }", "pgpu.conf:1: limit: '0' is no time at all");
	refused("class \"a b\" { }", "pgpu.conf:1: 'a b' is not a class name");
	refused("class '' { }", "pgpu.conf:1: '' is not a class name");
	refused("class \"a\x1b[2J\" { }", "pgpu.conf:1: control character 0x1b in a value");
}

static void rows_must_make_sense(void **state)
{
	(void)state;
	refused("\nclass night {\nbudget = 1h }", "pgpu.conf:2: class 'night' is new and needs a rank");
	refused("class rendr { rank = 1 }",
		"pgpu.conf:1: class 'rendr' is new and needs a budget, did you mean 'render'?");
	refused("class night { }", "pgpu.conf:1: class 'night' is new and needs a rank");
	refused("class clip {\nlimit = 5m }",
		"pgpu.conf:2: limit: class 'clip' would be stopped before its budget is over");
	refused("class clip {\nturns-as = clip\nturns-as-after-run = 5s }",
		"pgpu.conf:2: turns-as: class 'clip' names itself");
	refused("class clip {\nturns-as = test }", "pgpu.conf:2: turns-as: class 'clip' does not say when");
	refused("class clip {\nturns-as-after-run = 5s }",
		"pgpu.conf:1: class 'clip' says when it turns but not turns-as what");
}

static void too_many_classes_are_refused(void **state)
{
	(void)state;
	SCOPE_BUF struct buf text = BUF_EMPTY;
	struct conf conf;

	for (int i = 0; i < CONF_CLASSES - 7; i++)
		buf_printf(&text, "class c%d { rank = 1 budget = 1m }\n", i);
	load_ok(text.text, &conf);
	assert_int_equal(conf.class_count, CONF_CLASSES);
	buf_puts(&text, "class c57 { rank = 1 budget = 1m }\n");
	refused(text.text, "pgpu.conf:58: more than 64 classes");
	for (int i = 58; i < 70; i++)
		buf_printf(&text, "class c%d { rank = 1 budget = 1m }\n", i);
	refused(text.text, "pgpu.conf:65: more than 64 classes");
}

/* C147: libconfuse up to 3.2.2 never comes back from the first. */
static void broken_shapes_are_refused(void **state)
{
	(void)state;
	refused("=", "pgpu.conf:1: '=' without a key before it");
	refused("= 1", "pgpu.conf:1: '=' without a key before it");
	refused("\n\na = = b", "pgpu.conf:3: unknown key 'a'");
	refused("lanes = = b", "pgpu.conf:1: a value is missing after 'lanes ='");
	refused("lanes =", "pgpu.conf:1: a value is missing after 'lanes ='");
	refused("lanes = 2 =", "pgpu.conf:1: '=' without a key before it");
	refused("lanes = {2}", "pgpu.conf:1: a value is missing after 'lanes ='");
	refused("lanes 2", "pgpu.conf:1: '=' is missing after 'lanes'");
	refused("lanes\n", "pgpu.conf:1: '=' is missing after 'lanes'");
	refused("lanes += 2", "pgpu.conf:1: '=' is missing after 'lanes'");
	refused("lanes == 2", "pgpu.conf:1: a value is missing after 'lanes ='");
	refused("\"lanes\" = 2", "pgpu.conf:1: \"lanes\" stands where a key is expected");
	refused("{", "pgpu.conf:1: '{' without a section's name before it");
	refused("}", "pgpu.conf:1: '}' closes nothing");
	refused("\"", "pgpu.conf:1: the quote is not closed on its line");
	refused("\nlanes = \"2\n\"", "pgpu.conf:2: the quote is not closed on its line");
	refused("lanes = '2", "pgpu.conf:1: the quote is not closed on its line");
	refused("lanes = 2;", "pgpu.conf:1: unexpected ';'");
	refused("lanes = 2\n!", "pgpu.conf:2: unexpected '!'");
	refused("lanes = \xc3\xa4", "pgpu.conf:1: the value of 'lanes' needs quotes");
	refused("\xc3\xa4 = 1", "pgpu.conf:1: unexpected byte 0xc3");
	refused("lanes = 1\x01", "pgpu.conf:1: control character 0x01");
	refused("lanes = \"1\\x32\"", "pgpu.conf:1: a backslash means nothing in a value");
	refused("class", "pgpu.conf:1: a class needs a name");
	refused("class { }", "pgpu.conf:1: a class needs a name");
	refused("class = 3", "pgpu.conf:1: 'class' is a section");
	refused("class clip", "pgpu.conf:1: '{' is missing after class 'clip'");
	refused("\nclass clip {\n rank = 1\n", "pgpu.conf:2: class 'clip' is not closed with '}'");
	refused("class clip {\nclass test { }", "pgpu.conf:2: a class cannot stand inside a class");
	refused("class clip { } }", "pgpu.conf:1: '}' closes nothing");
	refused_bytes("lanes = 2\n\0", 11, "pgpu.conf:2: a NUL byte");
}

static void the_environment_does_not_reach_in(void **state)
{
	(void)state;
	setenv("PGPU_TEST_LANES", "5", 1);
	refused("lanes = ${PGPU_TEST_LANES}", "pgpu.conf:1: '${...}' is not filled in from the environment");
	refused("\nlanes = \"${PGPU_TEST_LANES}\"", "pgpu.conf:2: '${...}' is not filled in");
	refused("lanes = '${PGPU_TEST_LANES:-3}'", "pgpu.conf:1: '${...}' is not filled in");
	refused("lanes = $PGPU_TEST_LANES", "pgpu.conf:1: the value of 'lanes' needs quotes");
	unsetenv("PGPU_TEST_LANES");
}

/* C075 */
static void comments_are_skipped(void **state)
{
	(void)state;
	static const char *const comments[] = {
		"#",	  "#\t",  "#\r",   "#\\",  "# a = \"", "# ${HOME}", "# \x01\xff", "#####",	  "//",
		"//note", "////", "// /*", "/**/", "/***/",    "/*/ */",    "/* // */",	  "/* } ' \" */", "/*\n\n*/",
	};
	SCOPE_BUF struct buf text = BUF_EMPTY;
	struct conf conf;

	for (size_t i = 0; i < COUNT(comments); i++) {
		text.size = 0;
		buf_printf(&text, "%s\nlanes = 5 %s\n%s", comments[i], comments[i], comments[i]);
		load_ok(text.text, &conf);
		assert_int_equal(conf.lanes, 5);
	}
	load_ok("lanes/**/=//\n/* */5# x", &conf);
	assert_int_equal(conf.lanes, 5);
	load_ok("lanes=5//x\nclass/**/clip{rank=3}", &conf);
	assert_int_equal(row(&conf, "clip")->rank, 3);
	refused("run-class = \"a//b\"", "pgpu.conf:1: run-class: 'a//b' is not a class name");
	refused("\n/* open\nlanes = 2\n", "pgpu.conf:2: the comment is not closed");
	refused("/*/", "pgpu.conf:1: the comment is not closed");
	refused("/* *", "pgpu.conf:1: the comment is not closed");
}

static void long_comments_are_skipped(void **state)
{
	(void)state;
	enum { LONG = 100000 };
	static const char *const frames[][2] = { { "#", "\n" }, { "//", "\n" }, { "/*", "*/" } };
	SCOPE_FREE char *fill = malloc(LONG + 1);
	struct conf conf;

	assert_non_null(fill);
	memset(fill, 'x', LONG);
	fill[LONG] = '\0';
	for (size_t i = 0; i < COUNT(frames); i++) {
		SCOPE_BUF struct buf text = BUF_EMPTY;
		buf_printf(&text, "%s%s%slanes = 5\n%s%s%s", frames[i][0], fill, frames[i][1], frames[i][0], fill,
			   frames[i][1]);
		load_ok(text.text, &conf);
		assert_int_equal(conf.lanes, 5);
	}
}

static void only_a_plain_file_is_read(void **state)
{
	(void)state;
	struct conf conf;
	struct err err = ERR_NONE;

	assert_int_equal(conf_load_file("nothing", &conf, &err), -1);
	assert_string_equal(err.text, "nothing: cannot open the configuration: No such file or directory");
	assert_int_equal(err.code, EXIT_USAGE);
	assert_int_equal(mkfifo("fifo", 0600), 0);
	assert_int_equal(conf_load_file("fifo", &conf, &err), -1);
	assert_string_equal(err.text, "fifo: cannot use it: it is not a regular file");
	assert_int_equal(conf_load_file("/dev/zero", &conf, &err), -1);
	assert_int_equal(conf_load_file(".", &conf, &err), -1);
	assert_int_equal(err.code, EXIT_USAGE);
	assert_int_equal(conf_load_file("a\nb", &conf, &err), -1);
	assert_non_null(strstr(err.text, "a control character in the path"));
	put("target", "lanes = 7");
	assert_int_equal(symlink("target", "link"), 0);
	assert_int_equal(conf_load_file("link", &conf, &err), 0);
	assert_int_equal(conf.lanes, 7);
	put("large", "");
	assert_int_equal(truncate("large", (1 << 20) + 1), 0);
	assert_int_equal(conf_load_file("large", &conf, &err), -1);
	assert_string_equal(err.text, "large: cannot read file: it is larger than 1048576 bytes");
	assert_int_equal(err.code, EXIT_USAGE);
}

static void a_file_of_somebody_else_is_refused(void **state)
{
	(void)state;
	struct conf conf;
	struct err err = ERR_NONE;

	put(FILE_NAME, "lanes = 3");
	/* Only root can give a file away. */
	if (chown(FILE_NAME, 12345, (gid_t)-1) < 0)
		skip();
	assert_int_equal(conf_load_file(FILE_NAME, &conf, &err), -1);
	assert_string_equal(err.text, "pgpu.conf: cannot use it: it belongs to user 12345, not to root or user 0");
	assert_int_equal(err.code, EXIT_USAGE);
}

static void a_long_path_keeps_the_reason(void **state)
{
	(void)state;
	SCOPE_BUF struct buf path = BUF_EMPTY;
	struct conf conf;
	struct err err = ERR_NONE;

	for (int i = 0; i < 1000; i++)
		buf_puts(&path, "./");
	buf_puts(&path, FILE_NAME);
	put(FILE_NAME, "lane = 1");
	assert_int_equal(conf_load_file(path.text, &conf, &err), -1);
	assert_non_null(strstr(err.text, "/pgpu.conf:1: unknown key 'lane', did you mean 'lanes'?"));
	for (int i = 0; i < 2000; i++)
		buf_puts(&path, "/.");
	assert_int_equal(conf_load_file(path.text, &conf, &err), -1);
	assert_int_equal(err.code, EXIT_USAGE);
}

static void assert_path(const char *expected)
{
	char path[PATH_MAX];

	conf_path(path);
	assert_string_equal(path, expected);
}

static void places_are_asked_in_order(void **state)
{
	(void)state;
	char path[PATH_MAX];

	if (access("/etc/pgpu.conf", F_OK) == 0)
		skip();
	assert_path("built-in");
	assert_int_equal(
		mkdir(".config", 0700) | mkdir(".config/pgpu", 0700) | mkdir("x", 0700) | mkdir("x/pgpu", 0700), 0);
	assert_path("built-in");
	put(".config/pgpu/pgpu.conf", "lanes = 3");
	snprintf(path, sizeof path, "%s/.config/pgpu/pgpu.conf", folder);
	assert_path(path);
	setenv("XDG_CONFIG_HOME", "x", 1);
	assert_path(path);
	setenv("XDG_CONFIG_HOME", "", 1);
	assert_path(path);
	snprintf(path, sizeof path, "%s/x", folder);
	setenv("XDG_CONFIG_HOME", path, 1);
	assert_path("built-in");
	put("x/pgpu/pgpu.conf", "lanes = 4");
	snprintf(path, sizeof path, "%s/x/pgpu/pgpu.conf", folder);
	assert_path(path);
	setenv("PGPU_CONF", "nowhere.conf", 1);
	assert_path("nowhere.conf");
	setenv("PGPU_CONF", "", 1);
	assert_path(path);
}

static void what_is_there_but_broken_is_an_error(void **state)
{
	(void)state;
	struct conf conf;
	struct err err = ERR_NONE;

	setenv("PGPU_CONF", "nowhere.conf", 1);
	assert_int_equal(conf_load(&conf, &err), -1);
	assert_string_equal(err.text, "nowhere.conf: cannot open the configuration: No such file or directory");
	assert_int_equal(err.code, EXIT_USAGE);
	unsetenv("PGPU_CONF");
	assert_int_equal(mkdir(".config", 0700) | mkdir(".config/pgpu", 0700), 0);
	assert_int_equal(symlink("nothing", ".config/pgpu/pgpu.conf"), 0);
	assert_int_equal(conf_load(&conf, &err), -1);
	assert_non_null(strstr(err.text, "/.config/pgpu/pgpu.conf: cannot open"));
	put("nothing", "");
	unlink(".config/pgpu/pgpu.conf");
	put(".config/pgpu/pgpu.conf", "lane = 1");
	assert_int_equal(conf_load(&conf, &err), -1);
	assert_non_null(strstr(err.text, "/.config/pgpu/pgpu.conf:1: unknown key 'lane'"));
}

static void without_home_the_user_database_is_asked(void **state)
{
	(void)state;
	char path[PATH_MAX];

	unsetenv("HOME");
	conf_path(path);
	assert_true(path[0] == '/' || strcmp(path, "built-in") == 0);
	setenv("HOME", "relative", 1);
	conf_path(path);
	assert_true(path[0] == '/' || strcmp(path, "built-in") == 0);
}

static void a_class_is_found_or_named(void **state)
{
	(void)state;
	struct conf conf;
	const char *names[CONF_CLASSES + 1];
	struct err err = ERR_NONE;

	load_ok("class night { rank = 4 budget = 12h }", &conf);
	assert_ptr_equal(conf_class_need(&conf, "night", &err), conf_class_find(&conf, "night"));
	assert_null(conf_class_find(&conf, "day"));
	assert_null(conf_class_need(&conf, "nigt", &err));
	assert_string_equal(err.text, "unknown class 'nigt', did you mean 'night'?");
	assert_int_equal(err.code, EXIT_USAGE);
	conf_class_names(&conf, names);
	assert_string_equal(names[0], "interactive");
	assert_string_equal(names[7], "night");
	assert_null(names[8]);
}

static void the_copy_comes_back_whole(void **state)
{
	(void)state;
	struct conf conf, copy;
	struct err err = ERR_NONE;

	load_ok("lanes = 9 grace = 0 cells = off memory = 0.5K take-within = 0.25s\nclass night { rank = 4 budget = "
		"12h capabilities = { checkpoint_restore } no-new-privileges = true }\n"
		"class truth { turns-as = \"\" on-end = {} }\non-end = { notify-send, 'a \"b\"', \"\" }",
		&conf);
	assert_int_equal(conf_copy_write(folder_fd, &conf, &err), 0);
	if (conf_copy_read(folder_fd, &copy, &err) < 0)
		fail_msg("%s", err.text);
	assert_same(&conf, &copy);
	assert_string_equal(copy.source, FILE_NAME);
	assert_string_equal(copy.stamp, conf.stamp);
	assert_int_equal(copy.class_count, 8);
	runs_at_the_end(&copy, "night", "notify-send|a \"b\"||");
	runs_at_the_end(&copy, "truth", "");
}

static void refused_copy(const char *text, size_t size, int errnum)
{
	struct conf copy = { .lanes = -7 };
	struct err err = ERR_NONE;

	put_bytes("conf", text, size);
	assert_int_equal(conf_copy_read(folder_fd, &copy, &err), -1);
	assert_int_equal(err.errnum, errnum);
	assert_int_equal(err.code, EXIT_FAILED);
	assert_int_equal(copy.lanes, -7);
}

/* Any byte changed, and every cut: never a configuration. */
static void a_damaged_copy_is_an_error(void **state)
{
	(void)state;
	SCOPE_FREE char *text = NULL;
	size_t size;
	struct conf conf;
	struct err err = ERR_NONE;

	assert_int_equal(conf_load(&conf, NULL), 0);
	assert_int_equal(conf_copy_read(folder_fd, &conf, &err), -1);
	assert_int_equal(err.errnum, ENOENT);
	assert_int_equal(conf_load(&conf, NULL) | conf_copy_write(folder_fd, &conf, NULL), 0);
	assert_int_equal(file_read(folder_fd, "conf", 1 << 20, &text, &size, NULL), 0);
	for (size_t cut = 0; cut < size; cut += cut < 64 || cut + 64 > size ? 1 : 31)
		refused_copy(text, cut, EBADMSG);
	for (size_t i = sizeof "pgpu-conf 5"; i < size; i += 7) {
		text[i] ^= 1;
		refused_copy(text, size, EBADMSG);
		text[i] ^= 1;
	}
	text[size / 2] = '\0';
	refused_copy(text, size, EBADMSG);
	refused_copy("pgpu-conf 9\nwhatever\n", 21, EPROTO);
	refused_copy("pgpu-conf 2\nwhatever\n", 21, EBADMSG);
}

static void strange_copies_are_refused(void **state)
{
	(void)state;
	SCOPE_FREE char *large = calloc(1, 200000);
	struct conf copy;
	struct err err = ERR_NONE;

	assert_non_null(large);
	memset(large, 'x', 200000);
	refused_copy(large, 200000, EBADMSG);
	unlink("conf");
	assert_int_equal(mkfifo("conf", 0600), 0);
	assert_int_equal(conf_copy_read(folder_fd, &copy, &err), -1);
	unlink("conf");
	put("target", "pgpu-conf 2\n");
	assert_int_equal(symlink("target", "conf"), 0);
	assert_int_equal(conf_copy_read(folder_fd, &copy, &err), -1);
	assert_int_equal(err.errnum, ELOOP);
}

static void a_copy_is_fresh_until_the_file_changes(void **state)
{
	(void)state;
	const struct timespec times[2] = { { .tv_sec = 1000 }, { .tv_sec = 1000 } };
	struct conf conf;

	put(FILE_NAME, "lanes = 3");
	setenv("PGPU_CONF", FILE_NAME, 1);
	assert_int_equal(conf_load(&conf, NULL), 0);
	assert_true(conf_copy_fresh(&conf));
	put(FILE_NAME, "lanes = 33");
	assert_false(conf_copy_fresh(&conf));
	assert_int_equal(conf_load(&conf, NULL), 0);
	assert_int_equal(utimensat(AT_FDCWD, FILE_NAME, times, 0), 0);
	assert_false(conf_copy_fresh(&conf));
	assert_int_equal(conf_load(&conf, NULL), 0);
	put("new", "lanes = 34");
	assert_int_equal(rename("new", FILE_NAME), 0);
	assert_false(conf_copy_fresh(&conf));
	assert_int_equal(conf_load(&conf, NULL), 0);
	assert_true(conf_copy_fresh(&conf));
	unlink(FILE_NAME);
	assert_false(conf_copy_fresh(&conf));
}

static void a_copy_is_fresh_until_another_file_counts(void **state)
{
	(void)state;
	struct conf conf;

	assert_int_equal(mkdir(".config", 0700) | mkdir(".config/pgpu", 0700), 0);
	assert_int_equal(conf_load(&conf, NULL), 0);
	assert_true(conf_copy_fresh(&conf));
	put(".config/pgpu/pgpu.conf", "lanes = 3");
	assert_false(conf_copy_fresh(&conf));
	assert_int_equal(conf_load(&conf, NULL), 0);
	assert_true(conf_copy_fresh(&conf));
	put("other", "lanes = 3");
	setenv("PGPU_CONF", "other", 1);
	assert_false(conf_copy_fresh(&conf));
	unsetenv("PGPU_CONF");
	assert_true(conf_copy_fresh(&conf));
	unlink(".config/pgpu/pgpu.conf");
	assert_false(conf_copy_fresh(&conf));
}

/* A file's copy also stands on the built-in table under it. */
static void a_newer_builtin_table_makes_a_copy_stale(void **state)
{
	(void)state;
	struct conf conf;

	assert_int_equal(conf_load(&conf, NULL), 0);
	conf.stamp[strlen(conf.stamp) - 1] ^= 1;
	assert_false(conf_copy_fresh(&conf));
	put(FILE_NAME, "lanes = 3");
	setenv("PGPU_CONF", FILE_NAME, 1);
	assert_int_equal(conf_load(&conf, NULL), 0);
	conf.stamp[strlen(conf.stamp) - 1] ^= 1;
	assert_false(conf_copy_fresh(&conf));
}

/* Runs `pgpu conf ...`; what it printed on stdout and stderr goes to the files "out" and "errors". */
static int run_conf(const char *first, const char *second, char out[8192], char errors[2048])
{
	char *argv[] = { (char *)"conf", (char *)first, (char *)second, NULL };
	int saved[2] = { dup(STDOUT_FILENO), dup(STDERR_FILENO) };
	int files[2] = { creat("out", 0600), creat("errors", 0600) };

	fflush(stdout);
	dup2(files[0], STDOUT_FILENO);
	dup2(files[1], STDERR_FILENO);
	int code = cmd_conf(first ? second ? 3 : 2 : 1, argv);
	dup2(saved[0], STDOUT_FILENO);
	dup2(saved[1], STDERR_FILENO);
	for (int i = 0; i < 2; i++) {
		close(saved[i]);
		close(files[i]);
	}
	assert_true(file_read_small(AT_FDCWD, "out", out, 8192) >= 0);
	assert_true(file_read_small(AT_FDCWD, "errors", errors, 2048) >= 0);
	return code;
}

static void the_print_reads_back_as_the_same(void **state)
{
	(void)state;
	static const char *const files[] = {
		"",
		"on-end = { x, \"\", y }\nlanes = 3\n\nmemory = 0.001953125K grace = 0 take-within = 1.000000001s "
		"cells = off amd-priority = "
		"off\n"
		"class night { rank = 4 budget = 1.5s limit = 90061s memory = 1.5G turns-as = clip turns-as-after-wait "
		"= 1d capabilities = { sys_nice, 'chown' } no-new-privileges = true }\n"
		"class clip { capabilities = {} on-end = {} }\n"
		"class bench { on-end = { \"it's\", 'a \"b\"', '' } }\n"
		"class truth { turns-as = \"\" }\nclass search { turns-as-after-wait = 0 turns-as-after-run = 1s }\n"
		"submit-class = night",
		conf_builtin_text,
	};
	char out[8192], errors[2048];
	struct conf first, second;

	setenv("PGPU_CONF", FILE_NAME, 1);
	for (size_t i = 0; i < COUNT(files); i++) {
		load_ok(files[i], &first);
		assert_int_equal(run_conf(NULL, NULL, out, errors), EXIT_OK);
		assert_string_equal(errors, "");
		load_ok(out, &second);
		assert_same(&first, &second);
	}
}

static void the_print_says_where_values_come_from(void **state)
{
	(void)state;
	char out[8192], errors[2048];

	setenv("PGPU_CONF", FILE_NAME, 1);
	put(FILE_NAME, "\nlanes = 3\nclass clip {\n\tbudget = 1h }\n");
	assert_int_equal(run_conf(NULL, NULL, out, errors), EXIT_OK);
	assert_non_null(strstr(out, "\nlanes = 3                               # pgpu.conf:2\n"));
	assert_non_null(strstr(out, "\nmemory = \"24G\"                          # built-in\n"));
	assert_non_null(strstr(out, "class \"clip\" {\n\trank = 1                               # built-in\n"));
	assert_non_null(strstr(out, "\tbudget = \"1h\"                          # pgpu.conf:4\n"));
	put(FILE_NAME, "lanes = x");
	assert_int_equal(run_conf(NULL, NULL, out, errors), EXIT_USAGE);
	assert_string_equal(out, "");
	assert_string_equal(errors, "pgpu: pgpu.conf:1: lanes: 'x' is not a whole number\n");
}

static void a_file_can_be_checked(void **state)
{
	(void)state;
	char out[8192], errors[2048];

	put(FILE_NAME, "lanes = 3");
	assert_int_equal(run_conf("--check", FILE_NAME, out, errors), EXIT_OK);
	assert_string_equal(out, "pgpu.conf: ok\n");
	assert_string_equal(errors, "");
	assert_int_equal(run_conf("--check=pgpu.conf", NULL, out, errors), EXIT_OK);
	put(FILE_NAME, "=");
	assert_int_equal(run_conf("--check", FILE_NAME, out, errors), EXIT_USAGE);
	assert_string_equal(out, "");
	assert_string_equal(errors, "pgpu: pgpu.conf:1: '=' without a key before it\n");
}

static void usage_is_strict(void **state)
{
	(void)state;
	char out[8192], errors[2048];

	assert_int_equal(run_conf("--help", NULL, out, errors), EXIT_OK);
	assert_int_equal(strncmp(out, "usage: pgpu conf [--check FILE]\n", 32), 0);
	assert_int_equal(run_conf("--chek", FILE_NAME, out, errors), EXIT_USAGE);
	assert_string_equal(errors, "pgpu: conf: unknown option '--chek', did you mean '--check'?\n");
	assert_int_equal(run_conf(FILE_NAME, NULL, out, errors), EXIT_USAGE);
	assert_string_equal(errors, "pgpu: conf: 'pgpu.conf' is one argument too many\n");
	assert_int_equal(run_conf("--check", NULL, out, errors), EXIT_USAGE);
	assert_string_equal(errors, "pgpu: conf: option '--check' needs a value\n");
	assert_int_equal(run_conf("--check=", NULL, out, errors), EXIT_USAGE);
	assert_int_equal(run_conf("--check=a", "b", out, errors), EXIT_USAGE);
	assert_string_equal(out, "");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(the_builtin_table_is_the_contracts),
		TEST(the_shipped_file_and_an_empty_one_change_nothing),
		TEST(values_are_read),
		TEST(what_the_rules_go_by_is_read),
		TEST(a_builtin_row_is_amended_key_by_key),
		TEST(another_name_adds_a_class),
		TEST(capabilities_are_a_list),
		TEST(a_command_is_a_list),
		TEST(commands_are_refused_at_their_line),
		TEST(capabilities_have_the_names_of_libcap),
		TEST(capabilities_are_refused_at_their_line),
		TEST(unknown_words_are_named_with_the_nearest),
		TEST(repetition_is_refused_with_both_lines),
		TEST(values_are_refused_at_their_line),
		TEST(rows_must_make_sense),
		TEST(too_many_classes_are_refused),
		TEST(broken_shapes_are_refused),
		TEST(the_environment_does_not_reach_in),
		TEST(comments_are_skipped),
		TEST(long_comments_are_skipped),
		TEST(only_a_plain_file_is_read),
		TEST(a_file_of_somebody_else_is_refused),
		TEST(a_long_path_keeps_the_reason),
		TEST(places_are_asked_in_order),
		TEST(what_is_there_but_broken_is_an_error),
		TEST(without_home_the_user_database_is_asked),
		TEST(a_class_is_found_or_named),
		TEST(the_copy_comes_back_whole),
		TEST(a_damaged_copy_is_an_error),
		TEST(strange_copies_are_refused),
		TEST(a_copy_is_fresh_until_the_file_changes),
		TEST(a_copy_is_fresh_until_another_file_counts),
		TEST(a_newer_builtin_table_makes_a_copy_stale),
		TEST(the_print_reads_back_as_the_same),
		TEST(the_print_says_where_values_come_from),
		TEST(a_file_can_be_checked),
		TEST(usage_is_strict),
	};

	return cmocka_run_group_tests_name("conf", tests, NULL, NULL);
}
