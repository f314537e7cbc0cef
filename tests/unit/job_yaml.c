/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a header may say: keys, values, and all of YAML that is not read. */
#include "conf/base/clock.h"
#include "job_test.h"
#include "patience.h"

static void unknown_keys(void **state)
{
	(void)state;
	refuses_header("nam: a", "f.yaml:2:1: unknown key 'nam', did you mean 'name'?");
	refuses_header("name: a\nzzz: b", "f.yaml:3:1: unknown key 'zzz'");
	refuses_header("Name: a", "f.yaml:2:1: unknown key 'Name', did you mean 'name'?");
	refuses_header("tasks: 1-3", "f.yaml:2:1: unknown key 'tasks'");
	refuses_header("'': 1", "f.yaml:2:1: unknown key ''");
	refuses_header("? [a]\n: b", "f.yaml:2:3: a key must be a word");
}

static void repeated_keys_C051(void **state)
{
	(void)state;
	refuses_header("memory: 8G\nname: x\nmemory: 64G", "f.yaml:4:1: 'memory' is given twice, first on line 2");
	refuses_header("session: a\nas: b", "f.yaml:3:1: 'as' is given twice, first on line 2");
	refuses_header("env:\n  A: 1\n  B: 2\n  A: 3", "f.yaml:5:3: env: 'A' is given twice, first on line 3");
	refuses_header("env: {A: 1, \"\\x41\": 1}", "f.yaml:2:13: env: 'A' is given twice, first on line 2");
	refuses("#!/bin/sh\n#PGPU name: a\n\n#PGPU name: b\n", "f.yaml:4:7: 'name' is given twice, first on line 2");
	refuses_header("env:\nenv:", "f.yaml:3:1: 'env' is given twice, first on line 2");
}

static void wrong_types(void **state)
{
	(void)state;
	refuses_header("name: [a]", "f.yaml:2:7: name: must be a text, not a list");
	refuses_header("class: {a: b}", "f.yaml:2:8: class: must be a text, not a map");
	refuses_header("env: a", "f.yaml:2:6: env: must be a map of names and texts, not a text");
	refuses_header("env: [a]", "f.yaml:2:6: env: must be a map of names and texts, not a list");
	refuses_header("env: {A: [x]}", "f.yaml:2:10: env: a map holds texts, nothing nested");
	refuses_header("export: {A: x}", "f.yaml:2:9: export: must be 'all', 'none' or a list of names, not a map");
	refuses_header("requeue: yes", "f.yaml:2:10: requeue: 'yes' is not true or false");
	refuses("script: [a]\n", "f.yaml:1:9: script: must be a block of text, not a list");
	refuses("command: {a: b}\n", "f.yaml:1:10: command: must be a shell line or a list, not a map");
	refuses("command: [a, [b]]\n", "f.yaml:1:14: command: a list holds texts, nothing nested");
	refuses("command: a\narguments: b\n", "f.yaml:2:12: arguments: must be a list, not a text");
	refuses("command: a\non-end: { b: c }\n", "f.yaml:2:9: on-end: must be a shell line or a list, not a map");
	refuses("command: a\non-end: ['', b]\n", "f.yaml:2:10: on-end: its first word is empty");
	refuses("command: a\non-end: ' '\n", "f.yaml:2:9: on-end: nothing but blanks");
	refuses("command: a\non-end: ''\n", "f.yaml:2:9: on-end: a value is missing");
	refuses("command: a\non-end: [b, ~]\n",
		"f.yaml:2:13: on-end: a value is missing (quote it if '~' is meant as text)");
}

static void bare_numbers_C013(void **state)
{
	struct job job;

	(void)state;
	refuses_header("budget: 30", "f.yaml:2:9: budget: '30' is 30s or 30m; write one of them");
	refuses_header("budget:   1:30", "f.yaml:2:11: budget: '1:30' is 1h30m or 1m30s; write one of them");
	refuses_header("limit: 1h30", "f.yaml:2:8: limit: '1h30' is 1h30m or 1h30s; write one of them");
	refuses_header("budget: 15 m", "f.yaml:2:9: budget: '15 m' is not a duration; write 15m");
	refuses_header("budget: 0", "f.yaml:2:9: budget: '0' is no time at all");
	refuses_header("budget: 0s", "f.yaml:2:9: budget: '0s' is no time at all");
	refuses_header("budget: -5m", "f.yaml:2:9: budget: '-5m' is not a duration (90s, 15m, 1h30m, 2d, 1:30:00)");
	refuses_header("budget: .nan", "f.yaml:2:9: budget: '.nan' is not a duration (90s, 15m, 1h30m, 2d, 1:30:00)");
	parses_header("budget: 1.5h\nlimit: 2-12:00:00", &job);
	assert_true(job.budget_ns == 5400 * NS_PER_S && job.limit_ns == 216000 * NS_PER_S);
	job_free(&job);
}

static void sizes_C037(void **state)
{
	static const char *const good[] = { "32G", "32GiB", "1.5T", "512M" };
	static const char *const bad[] = { "32GB", "32 GiB", "0",   "-1", "99999999999G", "12X", "G",
					   "1e3M", "1024",   "24g", "0G" };

	(void)state;
	for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
		struct job job = JOB_EMPTY;
		assert_int_equal(job_set(&job, "memory", good[i], NULL), 0);
		assert_true(job.memory_bytes >= UINT64_C(512) << 20);
	}
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		struct job job = JOB_EMPTY;
		struct err err = ERR_NONE;
		assert_int_equal(job_set(&job, "memory", bad[i], &err), -1);
		assert_int_equal(err.code, EXIT_USAGE);
		assert_true(strncmp(err.text, "memory: '", 9) == 0);
		assert_true(job.memory_bytes == 0);
	}
	refuses_header("memory: 24", "f.yaml:2:9: memory: '24' is 24M or 24G; write one of them");
}

static void words_stay_text_C021(void **state)
{
	struct job job;

	(void)state;
	parses_header("name: no\nenv: {COUNTRY: NO, DEBUG: on, Y: y, no: off, N: \"null\", T: '~', E: ''}", &job);
	assert_string_equal(job.name, "no");
	same_words(job.env, (char *[]){ "COUNTRY=NO", "DEBUG=on", "Y=y", "no=off", "N=null", "T=~", "E=", NULL });
	job_free(&job);
	refuses_header("env:\n  E: null", "f.yaml:3:6: env: a value is missing (quote it if 'null' is meant as text)");
	refuses_header("env: {T: ~}", "f.yaml:2:10: env: a value is missing (quote it if '~' is meant as text)");
	refuses_header("env:\n  E:", "f.yaml:3:5: env: a value is missing");
}

static void numbers_stay_text_C065(void **state)
{
	struct job job;

	(void)state;
	parses_header("name: 1.30\nenv: {VER: 1.10, X: 1e10, H: 0x1F, D: 2026-01-02, V: .inf, O: 010, T: 1:30}", &job);
	assert_string_equal(job.name, "1.30");
	same_words(job.env,
		   (char *[]){ "VER=1.10", "X=1e10", "H=0x1F", "D=2026-01-02", "V=.inf", "O=010", "T=1:30", NULL });
	job_free(&job);
}

static void nothing_as_a_value_C099(void **state)
{
	struct job job;

	(void)state;
	refuses_header("name:", "f.yaml:2:6: name: a value is missing");
	refuses_header("name: ~", "f.yaml:2:7: name: a value is missing (quote it if '~' is meant as text)");
	refuses_header("class: Null", "f.yaml:2:8: class: a value is missing (quote it if 'Null' is meant as text)");
	refuses_header("memory: \"\"", "f.yaml:2:9: memory: a value is missing");
	refuses_header("export: []", "f.yaml:2:9: export: an empty list");
	refuses("command: []\n", "f.yaml:1:10: command: an empty list");
	refuses("command: [a, ~]\n", "f.yaml:1:14: command: a value is missing (quote it if '~' is meant as text)");
	refuses("script:\n", "f.yaml:1:8: script: a value is missing");
	parses_header("env:", &job);
	assert_null(job.env);
	job_free(&job);
	parses_header("env: ~", &job);
	assert_null(job.env);
	job_free(&job);
	parses_header("env: {}\nname: 'null'", &job);
	assert_null(job.env);
	assert_string_equal(job.name, "null");
	job_free(&job);
}

static void one_document_one_mapping_C133(void **state)
{
	struct job job;

	(void)state;
	refuses("---\nname: a\n...\nname: b\n---\n#!/bin/sh\n", "f.yaml:4:1: more text after the end of the header");
	refuses("name: a\ncommand: x\n---\nname: b\n", "f.yaml:3:1: a second document; a job file has one header");
	refuses("--- {name: a}\n---\n#!/bin/sh\n", "f.yaml:2:1: a second document; a job file has one header");
	refuses("--- {name: a}\n", "f.yaml:1:1: no command: a 'command' or 'script' key, or a script after the header");
	refuses_header("- a", "f.yaml:2:1: a header is lines of 'key: value', not a list");
	refuses_header("[a]", "f.yaml:2:1: a header is lines of 'key: value', not a list");
	refuses_header("a", "f.yaml:2:1: a header is lines of 'key: value', not a text (a script begins with '#!')");
	refuses_header("~", "f.yaml:2:1: a header is lines of 'key: value', not a text (a script begins with '#!')");
	parses("---\nname: a\n...\n---\n#!/bin/sh\n", &job);
	job_free(&job);
	parses("---\n# nothing\n---\n#!/bin/sh\n", &job);
	job_free(&job);
}

static void aliases_and_tags(void **state)
{
	(void)state;
	refuses_header("name: &a x", "f.yaml:2:7: an anchor (&a); anchors and aliases are not read");
	refuses_header("env: &a {A: x}", "f.yaml:2:6: an anchor (&a); anchors and aliases are not read");
	refuses_header("name: *a", "f.yaml:2:7: an alias (*a); anchors and aliases are not read");
	refuses_header("*a : x", "f.yaml:2:1: an alias (*a); anchors and aliases are not read");
	refuses_header("<<: {name: a}", "f.yaml:2:1: a merge key (<<); merge keys are not read");
	refuses_header("env: {<<: x}", "f.yaml:2:7: a merge key (<<); merge keys are not read");
	refuses_header("name: !!str x", "f.yaml:2:7: a tag (tag:yaml.org,2002:str); only !!binary of a text is read");
	refuses_header("name: !x y", "f.yaml:2:7: a tag (!x); only !!binary of a text is read");
	refuses_header("name: ! y", "f.yaml:2:7: a tag (!); only !!binary of a text is read");
	refuses_header("env: ! {A: x}", "f.yaml:2:6: a tag (!); only !!binary of a text is read");
	refuses_header("env: !!binary {A: x}",
		       "f.yaml:2:6: a tag (tag:yaml.org,2002:binary); only !!binary of a text is read");
	refuses_header("name: !!binary x", "f.yaml:2:7: !!binary of something that is not base64");
	refuses_header("name: !!binary 'AGE='", "f.yaml:2:7: a NUL byte in a value");
	refuses_header("name: \"a\\0\"", "f.yaml:2:7: a NUL byte in a value");
}

static void binary(void **state)
{
	struct job job;

	(void)state;
	parses_header("env:\n  A: !!binary '/w=='\n  B: !!binary |\n    YWJj\n    ZA==\n  !!binary /g==: x", &job);
	same_words(job.env, (char *[]){ "A=\xFF", "B=abcd", "\xFE=x", NULL });
	job_free(&job);
}

static void hostile_yaml_C157(void **state)
{
	struct buf text = BUF_EMPTY;
	int64_t start = clock_awake_ns();

	(void)state;
	buf_puts(&text, "env: ");
	for (int i = 0; i < 100000; i++)
		buf_puts(&text, "[");
	refuses(text.text, "f.yaml:1:7: env: a list holds texts, nothing nested");
	buf_free(&text);
	buf_puts(&text, "---\n");
	for (int i = 0; i < 10000; i++)
		buf_puts(&text, "{a: ");
	buf_puts(&text, "\n---\n");
	refuses(text.text, "f.yaml:2:9: a: a map holds texts, nothing nested");
	buf_free(&text);
	buf_puts(&text, "command: ");
	for (int i = 0; i < 10000; i++)
		buf_puts(&text, "[\n");
	refuses(text.text, "f.yaml:2:1: command: a list holds texts, nothing nested");
	buf_free(&text);
	for (int i = 0; i < 100000; i++)
		buf_puts(&text, "? ");
	refuses(text.text, "f.yaml:1:3: a key must be a word");
	buf_free(&text);
	refuses_header("name: \xFF", "f.yaml:2:7: a byte that is not UTF-8 text");
	refuses_header("name: a\xC3", "f.yaml:2:8: a byte that is not UTF-8 text");
	refuses("name: \xE2", "f.yaml:1:7: a byte that is not UTF-8 text");
	refuses_header("name: a\x1b[0m", "f.yaml:2:8: a control character");
	refuses_header("name: a\xC2\x85",
		       "f.yaml:2:8: a line separator (U+0085, U+2028, U+2029); write \\N, \\L or \\P in double quotes");
	refuses_header("name: \xC2\x90", "f.yaml:2:7: control characters are not allowed");
	refuses_header("name: \"\\x1b\"", "f.yaml:2:7: name: a control character in the name");
	refuses("limit: \"1\\n\"", "f.yaml:1:8: limit: '1?' is not a duration (90s, 15m, 1h30m, 2d, 1:30:00)");
	refuses("%YAML 9.9\n---\nname: a\n", "f.yaml:1:1: found incompatible YAML document");
	refuses_header("name: \"a", "f.yaml:3:1: found unexpected end of stream while scanning a quoted scalar");
	refuses_header("name: a: b", "f.yaml:2:8: mapping values are not allowed in this context");
	refuses_header("\tname: a",
		       "f.yaml:2:1: found character that cannot start any token while scanning for the next token");
	assert_true(clock_awake_ns() - start < patience(1) * NS_PER_S);
}

static void many_variables_are_read_in_time(void **state)
{
	struct buf text = BUF_EMPTY;
	struct job job;
	int64_t start = clock_awake_ns();

	(void)state;
	buf_puts(&text, "command: x\nenv: {");
	for (int i = 0; i < 6000; i++)
		buf_printf(&text, "a%d: '',", i);
	buf_puts(&text, "}\n");
	assert_true(text.size < JOB_HEADER_MAX);
	parses(text.text, &job);
	assert_string_equal(job.env[5999], "a5999=");
	job_free(&job);
	buf_free(&text);
	assert_true(clock_awake_ns() - start < patience(1) * NS_PER_S);
}

static void variables(void **state)
{
	(void)state;
	refuses_header("env: {'': x}", "f.yaml:2:7: env: an empty name");
	refuses_header("env: {'A=B': x}", "f.yaml:2:7: env: 'A=B' is not a name: it holds a '='");
}

static void export_lists(void **state)
{
	struct job job;

	(void)state;
	parses_header("export: none", &job);
	assert_int_equal(job.export, JOB_EXPORT_NONE);
	job_free(&job);
	parses_header("export: A,B=c d", &job);
	assert_int_equal(job.export, JOB_EXPORT_LIST);
	same_words(job.export_names, (char *[]){ "A", "B=c d", NULL });
	job_free(&job);
	parses_header("export: [A, 'B=c,d']", &job);
	same_words(job.export_names, (char *[]){ "A", "B=c,d", NULL });
	job_free(&job);
	parses_header("export: all,A,B=c", &job);
	assert_int_equal(job.export, JOB_EXPORT_ALL);
	same_words(job.export_names, (char *[]){ "B=c", NULL });
	job_free(&job);
	refuses_header("export: none,A", "f.yaml:2:9: export: 'none' stands alone");
	refuses_header("export: A,,B", "f.yaml:2:9: export: an empty name");
	refuses_header("export: [=x]", "f.yaml:2:9: export: an empty name");
}

static void outputs(void **state)
{
	struct job job;

	(void)state;
	refuses_header("output: a%q", "f.yaml:2:9: output: unknown '%q' (%j %A %a %x %u %r, %% for a %)");
	refuses_header("error: a%", "f.yaml:2:8: error: unknown '%' (%j %A %a %x %u %r, %% for a %)");
	refuses_header("output: logs/", "f.yaml:2:9: output: 'logs/' names a folder, not a file");
	parses_header("output: 'a b \\$x.out'", &job);
	assert_string_equal(job.output, "a b \\$x.out");
	job_free(&job);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(unknown_keys),
		cmocka_unit_test(repeated_keys_C051),
		cmocka_unit_test(wrong_types),
		cmocka_unit_test(bare_numbers_C013),
		cmocka_unit_test(sizes_C037),
		cmocka_unit_test(words_stay_text_C021),
		cmocka_unit_test(numbers_stay_text_C065),
		cmocka_unit_test(nothing_as_a_value_C099),
		cmocka_unit_test(one_document_one_mapping_C133),
		cmocka_unit_test(aliases_and_tags),
		cmocka_unit_test(binary),
		cmocka_unit_test(hostile_yaml_C157),
		cmocka_unit_test(many_variables_are_read_in_time),
		cmocka_unit_test(variables),
		cmocka_unit_test(export_lists),
		cmocka_unit_test(outputs),
	};

	return cmocka_run_group_tests_name("headers of job files", tests, NULL, NULL);
}
