/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Defaults, the checks against the machine, options, output names, and what passes of an environment. */
#include <limits.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "conf/base/clock.h"
#include "conf/base/words.h"
#include "conf/jobid.h"
#include "job_test.h"

#define MINUTE (60 * NS_PER_S)

static struct conf CONF = {
	.memory_bytes = UINT64_C(1) << 30,
	.submit_class = "render",
	.class_count = 3,
	.classes = {
		{ .name = "render", .rank = 1, .budget_ns = 25 * MINUTE },
		{ .name = "night", .rank = 4, .budget_ns = 60 * MINUTE, .limit_ns = 90 * MINUTE,
		  .memory_bytes = 2 << 20 },
		{ .name = "huge", .rank = 4, .budget_ns = MINUTE, .memory_bytes = UINT64_C(1) << 60 },
	},
};

static char top[PATH_MAX];

/* Tests may lie on a path with links; what is compared is resolved. */
static int make_top(void **state)
{
	char name[] = "/tmp/pgpu-job-XXXXXX";

	(void)state;
	return mkdtemp(name) && realpath(name, top) ? 0 : -1;
}

static int remove_top(void **state)
{
	char command[PATH_MAX + 32];

	(void)state;
	snprintf(command, sizeof command, "rm -rf '%s'", top);
	return system(command);
}

static const char *at(const char *name)
{
	static char paths[4][PATH_MAX + 64];
	static unsigned turn;
	char *path = paths[turn++ % 4];

	snprintf(path, sizeof paths[0], "%s/%s", top, name);
	return path;
}

static void completes_in(const char *folder, const char *header, struct job *job)
{
	struct err err = ERR_NONE;

	parses_header(header, job);
	if (job_complete(job, &CONF, folder, &err) < 0)
		fail_msg("%s", err.text);
}

/* "@" in what is wanted stands for the test's folder. */
static void fails(const char *header, const char *wanted)
{
	struct job job;
	struct err err = ERR_NONE;
	struct buf text = BUF_EMPTY;

	for (const char *p = wanted; *p; p++)
		buf_add(&text, *p == '@' ? top : p, *p == '@' ? strlen(top) : 1);
	parses_header(header, &job);
	assert_int_equal(job_complete(&job, &CONF, top, &err), -1);
	assert_string_equal(err.text, text.text);
	assert_int_equal(err.code, EXIT_USAGE);
	job_free(&job);
	buf_free(&text);
}

static void defaults(void **state)
{
	struct job job;

	(void)state;
	completes_in(top, "", &job);
	assert_string_equal(job.name, "f");
	assert_string_equal(job.class_name, "render");
	assert_true(job.budget_ns == 25 * MINUTE && job.limit_ns == 50 * MINUTE);
	assert_true(job.memory_bytes == UINT64_C(1) << 30);
	assert_string_equal(job.workdir, top);
	assert_string_equal(job.output, at("pgpu-%j.out"));
	assert_null(job.error);
	assert_true(job.requeue && job.export == JOB_EXPORT_ALL);
	assert_true(strncmp(job.session, "pgpu_job_", 9) == 0);
	job_free(&job);
}

static void budget_and_limit(void **state)
{
	static const struct {
		const char *header;
		int64_t budget_s, limit_s;
	} cases[] = {
		{ "class: night", 3600, 5400 },
		{ "class: night\nbudget: 2h", 7200, 14400 },
		{ "limit: 10m", 300, 600 },
		{ "budget: 10m", 600, 1200 },
		{ "budget: 10m\nlimit: 11m", 600, 660 },
		{ "class: night\nlimit: 20m", 600, 1200 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct job job;
		completes_in(top, cases[i].header, &job);
		assert_true(job.budget_ns == cases[i].budget_s * NS_PER_S);
		assert_true(job.limit_ns == cases[i].limit_s * NS_PER_S);
		job_free(&job);
	}
}

static void a_standing_job_has_no_times(void **state)
{
	struct job job;
	(void)state;

	completes_in(top, "standing: true\n", &job);
	assert_true(job.standing);
	assert_int_equal(job.budget_ns, 0);
	assert_int_equal(job.limit_ns, 0);
	job_free(&job);
	completes_in(top, "standing: false\n", &job);
	assert_int_equal(job.budget_ns, 25 * MINUTE);
	job_free(&job);
	fails("standing: true\nbudget: 1h\n",
	      "f.yaml:3:9: budget: a standing job has none; it runs until the card is wanted");
	fails("limit: 1h\nstanding: true\n",
	      "f.yaml:2:8: limit: a standing job has none; it runs until the card is wanted");
	fails("standing: true\nbudget-signal: USR1@60s\n",
	      "f.yaml:3:16: budget-signal: a standing job has none; it runs until the card is wanted");
}

static void classes(void **state)
{
	struct job job;

	(void)state;
	fails("name: x\nclass: rendr", "f.yaml:3:8: class: unknown class 'rendr', did you mean 'render'?");
	completes_in(top, "class: night", &job);
	assert_true(job.memory_bytes == 2 << 20);
	job_free(&job);
}

/* Its words with a '|' behind each; "-" where it has none, not even an empty list. */
static void runs_at_the_end(const char *header, const char *wanted)
{
	struct job job;
	char found[256] = "";

	completes_in(top, header, &job);
	for (char **word = job.on_end; word && *word; word++)
		strcat(strcat(found, *word), "|");
	assert_string_equal(job.on_end ? found : "-", wanted);
	job_free(&job);
}

static void what_is_run_at_the_end(void **state)
{
	static const char general[] = "on-end \x1fnote\x1f"
				      "a b\non-end night\non-end huge\x1fmail\n";

	(void)state;
	runs_at_the_end("name: a", "-");
	runs_at_the_end("on-end: exit 3", "/bin/sh|-c|exit 3|");
	memcpy(CONF.on_end, general, sizeof general - 1);
	CONF.on_end_size = sizeof general - 1;
	runs_at_the_end("name: a", "note|a b|");
	runs_at_the_end("class: night", "-");
	runs_at_the_end("class: night\non-end: [x, '']", "x||");
	runs_at_the_end("on-end: []", "");
	CONF.on_end_size = 0;
}

static void ceilings(void **state)
{
	struct job job;
	struct err err = ERR_NONE;

	(void)state;
	completes_in(top, "class: huge", &job);
	assert_true(job.memory_bytes > 0 && job.memory_bytes < UINT64_C(1) << 60);
	assert_true(job.memory_bytes % 4096 == 0); /* else a record could not say it */
	job_free(&job);
	parses_header("memory: 900000G", &job);
	assert_int_equal(job_complete(&job, &CONF, top, &err), -1);
	assert_true(strncmp(err.text, "f.yaml:2:9: memory: 879T is above ram, ", 39) == 0);
	job_free(&job);
}

static void an_option_has_no_place(void **state)
{
	struct job job;
	struct err err = ERR_NONE;

	(void)state;
	parses_header("class: night", &job);
	assert_int_equal(job_set(&job, "class", "nigt", &err), 0);
	assert_int_equal(job_complete(&job, &CONF, top, &err), -1);
	assert_string_equal(err.text, "class: unknown class 'nigt', did you mean 'night'?");
	job_free(&job);
}

static void folders(void **state)
{
	struct job job;

	(void)state;
	assert_int_equal(mkdir(at("50%j off"), 0755), 0);
	assert_int_equal(mkdir(at("50%j off/sub"), 0755), 0);
	assert_int_equal(symlink("50%j off", at("link")), 0);
	fclose(fopen(at("file"), "w"));
	completes_in(top, "workdir: link/sub/..\noutput: x/%j.out\nerror: '%%.err'", &job);
	assert_string_equal(job.workdir, at("50%j off"));
	assert_string_equal(job.output, at("50%%j off/x/%j.out"));
	assert_string_equal(job.error, at("50%%j off/%%.err"));
	assert_string_equal(job.session, "50_j_off");
	struct job before = job;
	char *workdir = strdup(job.workdir), *output = strdup(job.output);
	assert_int_equal(job_complete(&job, &CONF, "/", NULL), 0);
	assert_string_equal(job.workdir, workdir);
	assert_string_equal(job.output, output);
	assert_true(job.budget_ns == before.budget_ns && job.limit_ns == before.limit_ns);
	free(workdir);
	free(output);
	job_free(&job);
	fails("workdir: nowhere", "f.yaml:2:10: workdir: cannot use folder '@/nowhere': No such file or directory");
	fails("workdir: file", "f.yaml:2:10: workdir: '@/file' is not a folder");
	fails("workdir: ~/x", "f.yaml:2:10: workdir: cannot use folder '@/~/x': No such file or directory");
}

static void output_folders_C009(void **state)
{
	struct job job;

	(void)state;
	completes_in(top, "output: logs/run1/%j.out", &job);
	job_free(&job);
	completes_in(top, "output: /dev/null\nerror: '%x/%j'", &job);
	job_free(&job);
	fclose(fopen(at("plain"), "w"));
	fails("output: plain/run1/%j.out", "f.yaml:2:9: output: '@/plain' is not a folder");
	fails("error: plain/x", "f.yaml:2:8: error: '@/plain' is not a folder");
	assert_int_equal(mkdir(at("dir"), 0755), 0);
	fails("output: dir", "f.yaml:2:9: output: '@/dir' is a folder");
	if (geteuid() == 0)
		return; /* to root every folder is one it can write */
	assert_int_equal(mkdir(at("shut"), 0555), 0);
	fails("output: shut/a/%j.out", "f.yaml:2:9: output: folder '@/shut' cannot be written: Permission denied");
}

static void names_are_taken_as_they_are_C085(void **state)
{
	struct job job;
	char path[PATH_MAX];

	(void)state;
	assert_int_equal(mkdir(at("my run's"), 0755), 0);
	completes_in(at("my run's"), "output: 'a b \\$x.out'", &job);
	assert_int_equal(job_output_path(job.output, jobid_of(1), 0, job.name, path, sizeof path, NULL), 0);
	assert_string_equal(path, at("my run's/a b \\$x.out"));
	assert_string_equal(job.session, "my_run_s");
	job_free(&job);
}

static void the_session_is_the_repository(void **state)
{
	struct job job;

	(void)state;
	assert_int_equal(mkdir(at("my-repo"), 0755), 0);
	assert_int_equal(mkdir(at("my-repo/a"), 0755), 0);
	assert_int_equal(mkdir(at("my-repo/a/b"), 0755), 0);
	fclose(fopen(at("my-repo/.git"), "w"));
	completes_in(at("my-repo/a/b"), "", &job);
	assert_string_equal(job.session, "my_repo");
	job_free(&job);
	completes_in(at("my-repo/a/b"), "as: me & you", &job);
	assert_string_equal(job.session, "me___you");
	job_free(&job);
	completes_in("/", "output: /dev/null", &job);
	assert_string_equal(job.session, "_");
	job_free(&job);
}

static void commands_from_the_command_line(void **state)
{
	struct job job = JOB_EMPTY;
	struct err err = ERR_NONE;
	struct buf line = BUF_EMPTY;

	(void)state;
	assert_int_equal(job_set_argv(&job, (char *[]){ "./bin/render.sh", "a b", "", NULL }, NULL), 0);
	assert_int_equal(job.body, JOB_BODY_ARGV);
	assert_int_equal(job_complete(&job, &CONF, top, NULL), 0);
	assert_string_equal(job.name, "render.sh");
	job_command_line(&job, &line);
	assert_string_equal(line.text, "./bin/render.sh 'a b' ''");
	assert_int_equal(job_set_argv(&job, (char *[]){ "x", NULL }, &err), -1);
	assert_string_equal(err.text, "arguments are for a script, and this job's command is a list already");
	job_free(&job);
	buf_free(&line);
	assert_int_equal(job_set_argv(&job, (char *[]){ NULL }, &err), -1);
	assert_string_equal(err.text, "no command");
}

static void command_lines(void **state)
{
	static const char *const cases[][2] = {
		{ "command: a | b", "a | b 'x y'" },
		{ "name: n m\nscript: a", "'n m' 'x y'" },
		{ "command: [a, 'b c']", "a 'b c'" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct job job;
		struct buf line = BUF_EMPTY;
		parses(cases[i][0], &job);
		if (job.body != JOB_BODY_ARGV)
			assert_int_equal(job_set_argv(&job, (char *[]){ "x y", NULL }, NULL), 0);
		job_command_line(&job, &line);
		assert_string_equal(line.text, cases[i][1]);
		job_free(&job);
		buf_free(&line);
	}
}

static void options(void **state)
{
	struct job job = JOB_EMPTY;
	struct err err = ERR_NONE;
	static const char *const bad[][3] = {
		{ "nam", "x", "unknown key 'nam', did you mean 'name'?" },
		{ "name", "", "name: a value is missing" },
		{ "name", "a\tb", "name: a control character in the name" },
		{ "name", "a\xC2\x9B", "name: a control character in the name" },
		{ "env", "A=1", "env: cannot be set from a text" },
		{ "budget", "90", "budget: '90' is 90s or 90m; write one of them" },
		{ "requeue", "no", "requeue: 'no' is not true or false" },
		{ "export", "", "export: a value is missing" },
		{ "open-mode", "w", "open-mode: 'w' is neither append nor truncate" },
		{ "open-mode", "truncat",
		  "open-mode: 'truncat' is neither append nor truncate, did you mean 'truncate'?" },
		{ "output", "%k", "output: unknown '%k' (%j %A %a %x %u %r, %% for a %)" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		assert_int_equal(job_set(&job, bad[i][0], bad[i][1], &err), -1);
		assert_string_equal(err.text, bad[i][2]);
		assert_int_equal(err.code, EXIT_USAGE);
	}
	assert_int_equal(job_set(&job, "requeue", "false", NULL), 0);
	assert_true(!job.requeue && job.requeue_set);
	assert_int_equal(job_set(&job, "open-mode", "truncate", NULL), 0);
	assert_true(job.truncate);
	assert_int_equal(job_set(&job, "open-mode", "append", NULL), 0);
	assert_false(job.truncate);
	assert_int_equal(job_set(&job, "name", "a", NULL), 0);
	assert_int_equal(job_set(&job, "name", "b", NULL), 0);
	assert_string_equal(job.name, "b");
	assert_int_equal(job_set(&job, "export", "A", NULL), 0);
	assert_int_equal(job_set(&job, "export", "ALL", NULL), 0);
	assert_true(job.export == JOB_EXPORT_ALL && !job.export_names);
	job_free(&job);
}

static void output_names(void **state)
{
	char path[64], small[4];
	struct err err = ERR_NONE;

	(void)state;
	assert_int_equal(job_output_path("/%x/%j_%A_%a_%r_%%", jobid_of(12), 3, "../a/.b", path, sizeof path, NULL), 0);
	assert_string_equal(path, "/_._a_.b/12_12__3_%");
	assert_int_equal(job_output_path("/ab", jobid_of(1), 0, "", small, sizeof small, NULL), 0);
	assert_string_equal(small, "/ab");
	assert_int_equal(job_output_path("/abc", jobid_of(1), 0, "", small, sizeof small, &err), -1);
	assert_string_equal(err.text, "the path is longer than 3 bytes");
	assert_int_equal(job_output_path("/%x", jobid_of(1), 0, "abcdefgh", small, sizeof small, &err), -1);
	assert_int_equal(job_output_path("/%4j", jobid_of(1), 0, "", small, sizeof small, &err), -1);
	assert_int_equal(job_output_path("/%q", jobid_of(1), 0, "", path, sizeof path, &err), -1);
	assert_string_equal(err.text, "unknown '%q' (%j %A %a %x %u %r, %% for a %)");
	assert_int_equal(job_output_path("/%", jobid_of(1), 0, "", path, sizeof path, &err), -1);
	assert_string_equal(err.text, "unknown '%' (%j %A %a %x %u %r, %% for a %)");
	assert_int_equal(job_output_path("/%12q", jobid_of(1), 0, "", path, sizeof path, &err), -1);
	assert_string_equal(err.text, "unknown '%12q' (%j %A %a %x %u %r, %% for a %)");
}

static void expands(const char *pattern, const struct job_pattern *values, const char *wanted)
{
	char path[256];
	struct err err = ERR_NONE;

	if (job_output_expand(pattern, values, path, sizeof path, &err) < 0)
		fail_msg("%s: %s", pattern, err.text);
	assert_string_equal(path, wanted);
}

static void refuses_pattern(const char *pattern)
{
	const struct job_pattern values = { .name = "", .user = "" };
	char path[256];

	assert_int_equal(job_output_expand(pattern, &values, path, sizeof path, NULL), -1);
}

static void output_patterns_of_an_array(void **state)
{
	const struct job_pattern task = {
		.id = jobid_with_task(jobid_of(12), 3), .restarts = 1, .name = "dusk", .user = "ada"
	};
	struct job_pattern alone = task;

	(void)state;
	alone.id = jobid_of(15);
	expands("%A_%a", &task, "12_3");
	expands("%j %r %x %u", &task, "12_3 1 dusk ada");
	expands("%j %A", &alone, "15 15");
	expands("%4a", &task, "0003");
	expands("f%04a-%4A-%1j-%3j-%3r", &task, "f0003-0012-12_3-012_3-001");
	expands("%0a", &task, "3");
	expands("%10j", &alone, "0000000015");
	expands("%11j", &alone, "0000000015");
	expands("%99999999999999999999j", &alone, "0000000015");
	expands("%4x%9u", &task, "duskada");
	expands("%%4j%%", &task, "%4j%");
	expands("[%a][%4a]", &alone, "[][]");
	alone.id = UINT64_MAX - 1;
	alone.user = "../x";
	expands("%10j %u", &alone, "1099511627775_16777213 _._x");
	refuses_pattern("%4%");
	refuses_pattern("%4");
	refuses_pattern("%4 j");
	refuses_pattern("%-4j");
}

static void the_user_is_filled_in_at_the_submit(void **state)
{
	struct job job;
	const struct passwd *user = getpwuid(geteuid());
	char wanted[4096], name[256];

	(void)state;
	if (user)
		snprintf(name, sizeof name, "%s", user->pw_name);
	else
		snprintf(name, sizeof name, "%u", geteuid());
	assert_int_equal(mkdir(at("100%u"), 0755), 0);
	completes_in(at("100%u"), "output: '%u/%4u-%%u-%j.out'\nerror: /tmp/%u.err", &job);
	snprintf(wanted, sizeof wanted, "%s/%s/%s-%%%%u-%%j.out", at("100%%u"), name, name);
	assert_string_equal(job.output, wanted);
	snprintf(wanted, sizeof wanted, "/tmp/%s.err", name);
	assert_string_equal(job.error, wanted);
	job_free(&job);
}

static void environments(void **state)
{
	static const char *const never[] = { "PGPU_JOB_ID=1",	     "PGPU_ARRAY_TASK_ID=1", "PGPU_SUBMIT_DIR=/",
					     "PGPU_RESTART_COUNT=0", "GPU_QUEUE=1",	     "GPU_QUEUE_TURN=x" };
	struct job job = JOB_EMPTY;

	(void)state;
	for (size_t i = 0; i < sizeof never / sizeof never[0]; i++)
		assert_false(job_env_passes(&job, never[i]));
	assert_true(job_env_passes(&job, "PGPU_CONF=x") && job_env_passes(&job, "A=b=c") && job_env_passes(&job, "E="));
	assert_int_equal(job_set(&job, "export", "A,BC=1,GPU_QUEUE", NULL), 0);
	assert_true(job_env_passes(&job, "A=x"));
	assert_false(job_env_passes(&job, "AB=x") || job_env_passes(&job, "B=x") || job_env_passes(&job, "BC=x"));
	assert_false(job_env_passes(&job, "GPU_QUEUE=1"));
	assert_int_equal(job_set(&job, "export", "all,BC=1", NULL), 0);
	assert_true(job_env_passes(&job, "A=x") && !job_env_passes(&job, "BC=x"));
	assert_int_equal(job_set(&job, "export", "none", NULL), 0);
	assert_false(job_env_passes(&job, "A=x"));
	job_free(&job);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(defaults),
		cmocka_unit_test(budget_and_limit),
		cmocka_unit_test(a_standing_job_has_no_times),
		cmocka_unit_test(classes),
		cmocka_unit_test(what_is_run_at_the_end),
		cmocka_unit_test(ceilings),
		cmocka_unit_test(an_option_has_no_place),
		cmocka_unit_test(folders),
		cmocka_unit_test(output_folders_C009),
		cmocka_unit_test(names_are_taken_as_they_are_C085),
		cmocka_unit_test(the_session_is_the_repository),
		cmocka_unit_test(commands_from_the_command_line),
		cmocka_unit_test(command_lines),
		cmocka_unit_test(options),
		cmocka_unit_test(output_names),
		cmocka_unit_test(output_patterns_of_an_array),
		cmocka_unit_test(the_user_is_filled_in_at_the_submit),
		cmocka_unit_test(environments),
	};

	return cmocka_run_group_tests_name("completed jobs", tests, make_top, remove_top);
}
