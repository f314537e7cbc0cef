/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A record gives back what it was made of, byte for byte, and is itself a job file. */
#include <limits.h>

#include "conf/base/words.h"
#include "conf/jobid.h"
#include "job_test.h"
#include "patience.h"

static const struct job_facts FACTS = {
	.id = UINT64_C(12) << JOBID_TASK_BITS,
	.limits_known = true,
	.limits = { UINT64_MAX, 0, 8388608, [15] = UINT64_MAX - 1 },
	.submitted_wall_ns = INT64_C(1764529800123456789),
	.umask = 0027,
	.env_name = "0123abcd",
	.submit_dir = "/tmp/a\nb \\ \xC3\xBC \xFF\n---\n# pgpu id 99\n",
};

static void round_trip(const struct job *job)
{
	SCOPE_BUF struct buf record = BUF_EMPTY;
	struct job again = JOB_EMPTY, plain = JOB_EMPTY;
	struct job_facts facts;
	struct err err = ERR_NONE;

	job_format(job, &FACTS, &record);
	assert_true(buf_ok(&record));
	if (job_record_parse(record.text, record.size, &again, &facts, &err) < 0)
		fail_msg("%s\n%s", err.text, record.text);
	same_job(job, &again);
	assert_null(again.file_name);
	assert_true(facts.id == FACTS.id && facts.submitted_wall_ns == FACTS.submitted_wall_ns);
	assert_int_equal(facts.umask, FACTS.umask);
	assert_true(facts.limits_known);
	assert_memory_equal(facts.limits, FACTS.limits, sizeof facts.limits);
	assert_string_equal(facts.env_name, FACTS.env_name);
	assert_string_equal(facts.submit_dir, FACTS.submit_dir);
	parses_bytes(record.text, record.size, &plain);
	same_job(job, &plain);
	job_free(&plain);
	job_free(&again);
	job_facts_free(&facts);
}

static void every_body(void **state)
{
	static const char *const texts[] = {
		"---\nname: a\nclass: test\noutput: a%j\nerror: b\nworkdir: /x\nlimit: 3s\n---\n#!/bin/sh\n---\n"
		"# pgpu id 5\n",
		"---\nname: a\n---\n#!/bin/sh\n\xFF\xFE\r\n\tx",
		"#!/bin/sh\n#PGPU name: a\n#PGPU export: none\n#PGPU min-run-time: 0s\n#PGPU requeue: false\nx\n",
		"name: a\nscript: |\n  echo \"a\\b\"\n   \xC3\xBC\n",
		"name: a\nscript: !!binary IyEvYmluL3NoCv8K\narguments: [\"\", \"a\\nb\"]\n",
		"name: a\ncommand: echo '---' # \"x\" \\n\nexport: [all, \"A=\\n\\x1b\\x85\"]\n",
		"name: a\ncommand: [a, '', '~', 'null', '---', \"\\e[0m\\L\\P\\N\\uFEFF\\uFFFE\\U0001F600\"]\n"
		"export: [A, B=c]\n",
		"name: 'yes'\ncommand: x\nnice: -12\nmin-run-time: 90s\nmemory: 1.001953125K\nbudget: "
		"0.000000001s\nas: a b\n",
	};

	(void)state;
	for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
		struct job job;
		parses(texts[i], &job);
		round_trip(&job);
		job_free(&job);
	}
}

static uint64_t seed = 88172645463325252u;

/* xorshift64: the same numbers on every run. */
static unsigned next_random(unsigned below)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (unsigned)(seed >> 33) % below;
}

/* Pieces on which quoting breaks, and plain bytes of every value. */
static char *random_text(size_t least, size_t most, const char *without)
{
	static const char *const pieces[] = { "\n---\n",
					      "\n...\n",
					      "\"",
					      "\\",
					      "'",
					      ": ",
					      " #",
					      "%",
					      "\t",
					      "\r\n",
					      "\xC2\x85",
					      "\xE2\x80\xA8",
					      "\xEF\xBB\xBF",
					      "\xF0\x9F\x98\x80",
					      "\xC3\xBC",
					      "&a",
					      "*a",
					      "!!x",
					      "- ",
					      "? ",
					      "| ",
					      "{",
					      "[",
					      ",",
					      "<<",
					      "~",
					      "null",
					      "\x7f",
					      "\xED\xA0\x80" };
	size_t size = least + next_random((unsigned)(most - least));
	char *text = calloc(size + 16, 1);

	assert_non_null(text);
	bool bytes = next_random(3) == 0;
	for (size_t used = 0; used < size; used = strlen(text)) {
		char byte[2] = { (char)(1 + next_random(bytes ? 255 : 126)), '\0' };
		const char *piece = next_random(3) ? byte : pieces[next_random(sizeof pieces / sizeof pieces[0])];
		strcat(text, strpbrk(piece, without) ? "x" : piece);
	}
	return text;
}

static char **random_words(size_t count, bool assignments)
{
	char **words = words_new(count);

	assert_non_null(words);
	for (size_t i = 0; i < count && assignments; i++) {
		char *name = random_text(1, next_random(8) ? 12 : 2000, "="), *value = random_text(0, 40, "\1");
		assert_true(asprintf(&words[i], "%s%zu=%s", name, i, value) > 0);
		free(name);
		free(value);
	}
	for (size_t i = 0; i < count && !assignments; i++)
		words[i] = random_text(1, 40, "\1");
	return words;
}

static const char NOT_IN_A_NAME[] = "\1\2\3\4\5\6\a\b\t\n\v\f\r\x0e\x0f\x10\x11\x12\x13\x14\x15\x16\x17\x18\x19\x1a\x1b"
				    "\x1c\x1d\x1e\x1f\x7f\x80\x81\x82\x83\x84\x85\x86\x87\x88\x89\x8a\x8b\x8c\x8d\x8e"
				    "\x8f\x90\x91\x92\x93\x94\x95\x96\x97\x98\x99\x9a\x9b\x9c\x9d\x9e\x9f";

static void nasty_bytes_C097(void **state)
{
	(void)state;
	for (int i = 0; i < rounds(2000); i++) {
		struct job job = JOB_EMPTY;
		job.name = random_text(1, 60, NOT_IN_A_NAME);
		job.class_name = random_text(1, 20, "\1");
		job.session = strdup("a.b_C9");
		job.standing = next_random(2);
		job.workdir = random_text(1, 60, "\1");
		job.output = random_text(1, 60, "%/");
		job.truncate = next_random(2);
		job.error = next_random(2) ? random_text(1, 60, "%/") : NULL;
		job.env = random_words(1 + next_random(6), true);
		job.export = next_random(2) ? JOB_EXPORT_ALL : JOB_EXPORT_LIST;
		job.export_names = random_words(1 + next_random(3), true);
		job.on_end = next_random(2) ? random_words(next_random(5), false) : NULL;
		job.body = 1 + next_random(4);
		job.argv = job.body == JOB_BODY_ARGV || next_random(2) ? random_words(1 + next_random(5), false) : NULL;
		job.budget_ns = 1 + next_random(INT_MAX);
		job.limit_ns = 1 + (int64_t)next_random(INT_MAX) * next_random(100000);
		job.memory_bytes = 2 * (1 + (uint64_t)next_random(INT_MAX));
		if (job.body != JOB_BODY_ARGV) {
			char *rest = random_text(0, 200, "\1");
			assert_true(asprintf(&job.script, "#!/bin/sh\n%s", rest) > 0);
			job.script_size = strlen(job.script);
			free(rest);
		}
		round_trip(&job);
		job_free(&job);
	}
}

static void refuses_record(const char *text, const char *wanted)
{
	struct job job = JOB_EMPTY;
	struct job_facts facts = { 0 };
	struct err err = ERR_NONE;

	assert_int_equal(job_record_parse(text, strlen(text), &job, &facts, &err), -1);
	assert_string_equal(err.text, wanted);
	assert_int_equal(err.code, EXIT_FAILED);
}

#define HEAD "---\n# pgpu version 1\n# pgpu id 7\n# pgpu submitted 2026-12-01T02:30:00+01:00 +5ns\n# pgpu umask 0022\n"

static void damaged_records(void **state)
{
	struct job job = JOB_EMPTY;
	struct job_facts facts;
	static const char good[] = HEAD "# pgpu env e\n# pgpu submit-dir /\n---\n#!/bin/sh\n";

	(void)state;
	refuses_record("", "cannot read record: it does not begin with '---'");
	refuses_record("---\nname: a\n---\n#!/bin/sh\n", "cannot read record: '# pgpu version' is missing or damaged");
	refuses_record("---\n# pgpu version 2\n# pgpu shiny x\n",
		       "cannot read record: its version 2 is newer than this pgpu");
	refuses_record("---\n# pgpu version 1\n# pgpu id x\n", "cannot read record: '# pgpu id' is missing or damaged");
	refuses_record("---\n# pgpu version 1\n# pgpu id 7\n# pgpu submitted now\n",
		       "cannot read record: '# pgpu submitted' is missing or damaged");
	refuses_record("---\n# pgpu version 1\n# pgpu id 7\n# pgpu submitted 9999-01-01T00:00:00+00:00 +5ns\n",
		       "cannot read record: '# pgpu submitted' is missing or damaged");
	refuses_record(HEAD "# pgpu submit-dir /\n", "cannot read record: '# pgpu env' is missing or damaged");
	refuses_record(HEAD "# pgpu env e\n# pgpu submit-dir /\\q\n---\n",
		       "cannot read record: '# pgpu submit-dir' is missing or damaged");
	refuses_record(HEAD "# pgpu env e\n# pgpu submit-dir /",
		       "cannot read record: '# pgpu submit-dir' is missing or damaged");
	refuses_record(HEAD "# pgpu env e\n# pgpu submit-dir /\n---\n",
		       "cannot read record: no command: a 'command' or 'script' key, or a script after the header");
	for (size_t size = 0; size + 10 < sizeof good; size++) {
		char *cut = strndup(good, size);
		assert_int_equal(job_record_parse(cut, size, &job, &facts, NULL), -1);
		free(cut);
	}
	assert_int_equal(job_record_parse(good, sizeof good - 1, &job, &facts, NULL), 0);
	assert_true(facts.submitted_wall_ns == INT64_C(1796088600000000005));
	job_free(&job);
	job_facts_free(&facts);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_body),
		cmocka_unit_test(nasty_bytes_C097),
		cmocka_unit_test(damaged_records),
	};

	return cmocka_run_group_tests_name("records", tests, NULL, NULL);
}
