/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The three spellings of a job file, and what is refused about a file and its script. */
#include "job_test.h"

#define BOM "\xEF\xBB\xBF"

static void three_spellings_one_meaning(void **state)
{
	struct job front, comments, pure;

	(void)state;
	parses("---\nclass: render\nbudget: 8h\nmemory: 32G\nenv:\n  A: b\n---\n#!/bin/bash\nblender\n", &front);
	parses("#!/bin/bash\n#PGPU class: render\n#PGPU budget: 8h\n\n# why\n#PGPU memory: 32G\n#PGPU env:\n"
	       "#PGPU   A: b\nblender\n",
	       &comments);
	parses("class: render\nbudget: 8h\nmemory: 32G\nenv: {A: b}\ncommand: [blender, -b, scene.blend]\n", &pure);
	assert_string_equal(front.script, "#!/bin/bash\nblender\n");
	assert_int_equal(comments.body, JOB_BODY_TEXT);
	assert_true(strncmp(comments.script, "#!/bin/bash\n#PGPU class", 23) == 0);
	assert_int_equal(pure.body, JOB_BODY_ARGV);
	assert_string_equal(pure.argv[2], "scene.blend");
	assert_string_equal(pure.class_name, "render");
	assert_true(pure.budget_ns == INT64_C(8) * 3600 * 1000000000);
	assert_true(pure.memory_bytes == UINT64_C(32) << 30);
	/* Apart from the body they are equal. */
	free(comments.script);
	comments.script = strdup(front.script);
	comments.script_size = front.script_size;
	same_job(&front, &comments);
	assert_string_equal(pure.env[0], front.env[0]);
	job_free(&front);
	job_free(&comments);
	job_free(&pure);
}

static void places_are_those_of_the_file(void **state)
{
	(void)state;
	refuses("---\nname: a\nclas: b\n---\n#!/bin/sh\n", "f.yaml:3:1: unknown key 'clas', did you mean 'class'?");
	refuses("#!/bin/sh\n# x\n#PGPU name: a\n\n#PGPU clas: b\n",
		"f.yaml:5:7: unknown key 'clas', did you mean 'class'?");
	refuses("name: a\n# x\nclas: b\n", "f.yaml:3:1: unknown key 'clas', did you mean 'class'?");
	refuses("#!/bin/sh\n#PGPU budget: 30\n", "f.yaml:2:15: budget: '30' is 30s or 30m; write one of them");
	refuses("#!/bin/sh\n#PGPU env:\n# between\n#PGPU   a: [x]\n",
		"f.yaml:4:12: env: a map holds texts, nothing nested");
	refuses("#!/bin/sh\n#PGPU env: {\n",
		"f.yaml:2:7: did not find expected node content while parsing a flow node");
	refuses("name: \xC3\xBC\nclass: {\xC3\xBC: 1}\n", "f.yaml:2:8: class: must be a text, not a map");
	refuses("{name: \xC3\xBC, clas: b}\n", "f.yaml:1:11: unknown key 'clas', did you mean 'class'?");
}

static void fences_C049(void **state)
{
	struct job job;
	static const char body[] = "#!/bin/sh\ncat <<E\n---\nx: 1\n---\nE";

	(void)state;
	parses("---\nname: a\n--- \t\n#!/bin/sh\ncat <<E\n---\nx: 1\n---\nE", &job);
	assert_int_equal(job.script_size, strlen(body));
	assert_string_equal(job.script, body);
	job_free(&job);
	parses("--- \n---\n#!/bin/sh", &job);
	assert_string_equal(job.script, "#!/bin/sh");
	assert_string_equal(job.name, "f");
	job_free(&job);
	refuses("---\nname: a\n---",
		"f.yaml:3:1: no command: a 'command' or 'script' key, or a script after the header");
	refuses("---\nname: a\n---\n\n \n",
		"f.yaml:3:1: no command: a 'command' or 'script' key, or a script after the header");
	parses("---\nname: a\ncommand: x\n---\n\n", &job);
	job_free(&job);
	refuses("---\nname: a\n----\n#!/bin/sh\n",
		"f.yaml:4:1: could not find expected ':' while scanning a simple key");
	refuses("---x\nname: a\n---\n#!/bin/sh\n",
		"f.yaml:1:1: a header is lines of 'key: value', not a text (a script begins with '#!')");
	refuses("----\nname: a\n",
		"f.yaml:1:1: a header is lines of 'key: value', not a text (a script begins with '#!')");
}

static void dos_line_ends_C003(void **state)
{
	(void)state;
	refuses("---\r\nname: a\r\nclass: test\r\nbudget: 1m\r\n---\r\n#!/bin/bash\r\necho hi\r\n",
		"f.yaml:1:4: DOS line ends (CRLF); save the file with Unix line ends");
	refuses("#!/bin/bash\r\necho\r\n", "f.yaml:1:12: DOS line ends (CRLF); save the file with Unix line ends");
	refuses("name: a\r\ncommand: x\r\n", "f.yaml:1:8: DOS line ends (CRLF); save the file with Unix line ends");
	refuses("---\nname: a\r\n---\n#!/bin/sh\n",
		"f.yaml:2:8: DOS line ends (CRLF); save the file with Unix line ends");
	refuses("---\nname: a\n---\n#!/bin/sh\r\nx\r\n", "f.yaml:4:10: DOS line ends (CRLF) after '#!'");
	refuses("#!/bin/sh\n#PGPU name: a\r\n", "f.yaml:2:14: DOS line ends (CRLF); save the file with Unix line ends");
	refuses("---\nname: a\n---\r\n#!/bin/sh\r\n",
		"f.yaml:3:4: DOS line ends (CRLF); save the file with Unix line ends");
	refuses("script: \"#!/bin/sh\\r\\nx\"\n", "f.yaml:1:9: script: its '#!' line has a DOS line end (CRLF)");
}

static void the_script_keeps_its_bytes(void **state)
{
	struct job job;

	(void)state;
	parses("---\nname: a\n---\n#!/bin/sh\nprintf 'a\r\n'\n\xFF\xFE\tx  \n\n", &job);
	assert_string_equal(job.script, "#!/bin/sh\nprintf 'a\r\n'\n\xFF\xFE\tx  \n\n");
	job_free(&job);
}

static void byte_order_marks_C081(void **state)
{
	struct job job;

	(void)state;
	parses(BOM "---\nname: a\n---\n#!/bin/sh\n", &job);
	assert_string_equal(job.name, "a");
	job_free(&job);
	parses(BOM "#!/bin/sh\n#PGPU name: a\n", &job);
	assert_string_equal(job.script, "#!/bin/sh\n#PGPU name: a\n");
	job_free(&job);
	parses(BOM "name: a\ncommand: x\n", &job);
	job_free(&job);
	refuses(BOM "nme: a\n", "f.yaml:1:1: unknown key 'nme', did you mean 'name'?");
	refuses("---\nname: a\n---\n" BOM "#!/bin/sh\n", "f.yaml:4:1: a byte-order mark (BOM) before '#!'");
	refuses_bytes("\xFF\xFEn\0a\0", 6, "f.yaml:1:1: UTF-16 text; save the file as UTF-8");
	refuses_bytes("\xFE\xFF\0n\0a", 6, "f.yaml:1:1: UTF-16 text; save the file as UTF-8");
	refuses_bytes("-\0-\0-\0\n\0", 8, "f.yaml:1:1: UTF-16 text; save the file as UTF-8");
	refuses_bytes("\0-\0-\0-\0\n", 8, "f.yaml:1:1: UTF-16 text; save the file as UTF-8");
}

static void interpreter_line_comes_first_C101(void **state)
{
	(void)state;
	refuses("---\nname: a\n---\n\n#!/bin/bash\n",
		"f.yaml:5:1: blanks or empty lines before '#!'; it must follow the header at once");
	refuses("---\nname: a\n---\n  #!/bin/bash\n",
		"f.yaml:4:3: blanks or empty lines before '#!'; it must follow the header at once");
	refuses("---\nname: a\n---\necho hi\n", "f.yaml:4:1: a script after the header must begin with '#!'");
	refuses("---\nname: a\n---\n# !/bin/sh\n", "f.yaml:4:1: a script after the header must begin with '#!'");
	refuses("echo hi\n", "f.yaml:1:1: a header is lines of 'key: value', not a text (a script begins with '#!')");
}

static void nul_bytes(void **state)
{
	(void)state;
	refuses_bytes("---\nname: a\0b\n---\n#!/bin/sh\n", 28, "f.yaml:2:8: a NUL byte; a job file is text");
	refuses_bytes("#!/bin/sh\nx\0\n", 13, "f.yaml:2:2: a NUL byte; a job file is text");
}

static void comment_header(void **state)
{
	struct job job;

	(void)state;
	parses("#!/bin/sh\n#PGPU\n#PGPU env:\n#PGPU   A: |\n#PGPU     x\n#PGPU       y\n  # indented\n#PGPUx: 1\n"
	       "# PGPU z: 1\n"
	       "#PGPU name: n\ntrue\n#PGPUx\n # #PGPU a\n",
	       &job);
	assert_string_equal(job.name, "n");
	assert_string_equal(job.env[0], "A=x\n  y\n");
	job_free(&job);
	refuses("#!/bin/sh\n#PGPU name: n\ntrue\n\n#PGPU class: test\n",
		"f.yaml:5:1: a #PGPU line after the first command; move it up, or close the header with '#PGPU end'");
	refuses("#!/bin/sh\ntrue\n#PGPU end\n",
		"f.yaml:3:1: a #PGPU line after the first command; move it up, or close the header with '#PGPU end'");
	refuses("#!/bin/sh\n---\nname: x\n---\ntrue\n",
		"f.yaml:2:1: '---' after '#!': begin the file with '---', or write the header as #PGPU lines");
	refuses("#!/bin/sh\n#PGPU name: x\n#PGPU ---\n#PGPU name: y\n",
		"f.yaml:3:7: a second document; a job file has one header");
	refuses("#!/bin/sh\n#PGPU name: x\n#PGPU command: y\n",
		"f.yaml:3:16: two commands: 'command', and the script that begins on line 1");
}

static void comment_header_can_be_closed(void **state)
{
	struct job job;

	(void)state;
	parses("#!/bin/sh\n#PGPU name: n\n#PGPU end  \n#PGPU clas: no\n---\ntrue\n#PGPU x: 1\n", &job);
	assert_string_equal(job.name, "n");
	job_free(&job);
	parses("#!/bin/sh\n#PGPU end", &job);
	job_free(&job);
}

static void other_comments_are_comments(void **state)
{
	struct job job;

	(void)state;
	parses("---\nname: a\n---\n#!/bin/sh\n#PGPU clas: x\n#SBATCH -t 5\ntrue\n#PGPU y\n", &job);
	job_free(&job);
}

static void one_command(void **state)
{
	struct job job;

	(void)state;
	refuses("name: a\n", "f.yaml:1:1: no command: a 'command' or 'script' key, or a script after the header");
	refuses("", "f.yaml:1:1: no command: a 'command' or 'script' key, or a script after the header");
	refuses("# nothing\n", "f.yaml:1:1: no command: a 'command' or 'script' key, or a script after the header");
	refuses("command: a\nscript: b\n",
		"f.yaml:2:1: two commands, the first on line 1: 'command' and 'script' exclude each other");
	refuses("---\ncommand: a\n---\n#!/bin/sh\n",
		"f.yaml:2:10: two commands: 'command', and the script that begins on line 4");
	refuses("command: ['']\n", "f.yaml:1:11: command: its first word is empty");
	refuses("command: ' '\n", "f.yaml:1:10: command: nothing but blanks");
	refuses("script: \"\\n\"\n", "f.yaml:1:9: script: nothing but blanks");
	refuses("arguments: [a]\n",
		"f.yaml:1:1: no command: a 'command' or 'script' key, or a script after the header");
	refuses("arguments: [a]\ncommand: [b]\n",
		"f.yaml:1:12: arguments: only for a script or a shell line; write them into 'command'");
	refuses("command: [b]\narguments: [a]\n",
		"f.yaml:2:12: arguments: only for a script or a shell line; write them into 'command'");
	parses("arguments: [a, '']\ncommand: b $1\n", &job);
	assert_int_equal(job.body, JOB_BODY_SHELL);
	assert_string_equal(job.script, "b $1");
	assert_string_equal(job.argv[1], "");
	job_free(&job);
	parses("script: |\n  echo a\n\n  echo b\n", &job);
	assert_int_equal(job.body, JOB_BODY_SCRIPT);
	assert_string_equal(job.script, "echo a\n\necho b\n");
	job_free(&job);
}

static char *repeat(const char *start, const char *piece, size_t times, const char *end)
{
	struct buf text = BUF_EMPTY;

	buf_puts(&text, start);
	for (size_t i = 0; i < times; i++)
		buf_puts(&text, piece);
	buf_puts(&text, end);
	assert_true(buf_ok(&text));
	return text.text;
}

static void limits(void **state)
{
	struct job job;
	char *text = repeat("---\n", "# 34567\n", (JOB_HEADER_MAX >> 3) + 1, "---\n#!/bin/sh\n");

	(void)state;
	refuses(text, "f.yaml:8195:1: the header is larger than 64 KiB");
	free(text);
	text = repeat("name: a\nscript: |\n", "  # a line of a long script\n", 10000, "class: x\n");
	parses(text, &job);
	assert_string_equal(job.class_name, "x");
	job_free(&job);
	free(text);
	text = repeat("command: ", "x", JOB_ENV_STRING_MAX, "\n");
	refuses(text, "f.yaml:1:10: command: a text longer than 128 KiB, which no program can be given");
	free(text);
	text = repeat("command: [a, ", "x", JOB_ENV_STRING_MAX, "]\n");
	refuses(text, "f.yaml:1:14: command: a text longer than 128 KiB, which no program can be given");
	free(text);
	text = repeat("command: x\nenv: {A: ", "y", JOB_ENV_STRING_MAX, "}\n");
	refuses(text, "f.yaml:2:131082: the header is larger than 64 KiB");
	free(text);
	text = repeat("command: x\nname: ", "n", 256, "\n");
	refuses(text, "f.yaml:2:7: name: longer than 255 bytes");
	free(text);
	text = repeat("---\n---\n#!", "123456789012345\n", (JOB_SCRIPT_MAX >> 4) + 1, "");
	refuses(text, "f.yaml:3:1: the script is larger than 64 MiB");
	free(text);
}

static void names_come_from_the_file(void **state)
{
	static const char *const names[][2] = {
		{ "a/b.tar.yaml", "b.tar" }, { "-", "stdin" },	   { ".job", ".job" }, { "x", "x" },
		{ "./d.d/x", "x" },	     { "a\nb.sh", "a?b" }, { "\xFF.sh", "?" }, { "a.", "a" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
		struct job job;
		assert_int_equal(job_parse(names[i][0], "#!/bin/sh", 9, &job, NULL, NULL), 0);
		assert_string_equal(job.name, names[i][1]);
		job_free(&job);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(three_spellings_one_meaning),
		cmocka_unit_test(places_are_those_of_the_file),
		cmocka_unit_test(fences_C049),
		cmocka_unit_test(dos_line_ends_C003),
		cmocka_unit_test(the_script_keeps_its_bytes),
		cmocka_unit_test(byte_order_marks_C081),
		cmocka_unit_test(interpreter_line_comes_first_C101),
		cmocka_unit_test(nul_bytes),
		cmocka_unit_test(comment_header),
		cmocka_unit_test(comment_header_can_be_closed),
		cmocka_unit_test(other_comments_are_comments),
		cmocka_unit_test(one_command),
		cmocka_unit_test(limits),
		cmocka_unit_test(names_come_from_the_file),
	};

	return cmocka_run_group_tests_name("job files", tests, NULL, NULL);
}
