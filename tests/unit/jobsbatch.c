/* SPDX-License-Identifier: GPL-3.0-or-later */
/* #SBATCH lines: the words as sbatch cuts them, the figures as Slurm means them, and what is said about the rest. */
#include "job_test.h"

#include "submit/slurmenv.h"

#define S INT64_C(1000000000)

/* Reads "#!/bin/sh", the lines, and a command. */
static int read_lines(const char *lines, struct job *job, struct buf *notices, struct err *err)
{
	char *text;

	assert_true(asprintf(&text, "#!/bin/sh\n%s\ntrue\n", lines) > 0);
	*job = JOB_EMPTY;
	int result = job_parse("d/t.sbatch", text, strlen(text), job, notices, err);
	free(text);
	return result;
}

static void reads(const char *lines, struct job *job)
{
	struct err err = ERR_NONE;

	if (read_lines(lines, job, NULL, &err) < 0)
		fail_msg("refused: %s\n%s", err.text, lines);
}

static void refuses_lines(const char *lines, const char *wanted)
{
	struct job job;
	struct err err = ERR_NONE;

	if (read_lines(lines, &job, NULL, &err) == 0)
		fail_msg("accepted, but should be \"%s\":\n%s", wanted, lines);
	assert_string_equal(err.text, wanted);
	assert_int_equal(err.code, EXIT_USAGE);
}

static void says(const char *lines, const char *wanted)
{
	struct job job;
	struct err err = ERR_NONE;
	struct buf notices = BUF_EMPTY;

	if (read_lines(lines, &job, &notices, &err) < 0)
		fail_msg("refused: %s\n%s", err.text, lines);
	assert_string_equal(notices.text ? notices.text : "", wanted);
	buf_free(&notices);
	job_free(&job);
}

static void times_are_slurms(void **state)
{
	static const struct {
		const char *text;
		int64_t seconds;
	} table[] = {
		{ "90", 5400 },		  { "1:30", 90 },     { "1:30:00", 5400 },
		{ "0:30", 30 },		  { "2-12", 216000 }, { "2-12:30", 217800 },
		{ "2-12:30:15", 217815 }, { "0-1", 3600 },    { "100:00:00", 360000 },
	};
	char line[64];
	struct job job;

	(void)state;
	for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
		snprintf(line, sizeof line, "#SBATCH -t %s", table[i].text);
		reads(line, &job);
		assert_int_equal(job.limit_ns, table[i].seconds * S);
		job_free(&job);
	}
	refuses_lines(
		"#SBATCH -t 1h",
		"d/t.sbatch:2:12: limit: '1h' is no time of Slurm's: minutes, 1:30 (minutes and seconds), 1:30:00, "
		"2-12, 2-12:30 or 2-12:30:00");
	static const char *const wrong[] = { "1:2:3:4",		 "-5", "1-", "1-2-3", "1:2-3", ":5", "5:", "1.5",
					     "99999999999999999" };
	for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
		struct err err = ERR_NONE;
		snprintf(line, sizeof line, "#SBATCH --time=%s", wrong[i]);
		if (read_lines(line, &job, NULL, &err) == 0)
			fail_msg("accepted: %s", wrong[i]);
	}
}

static void no_time_is_the_class_s(void **state)
{
	static const char *const endless[] = { "0", "UNLIMITED", "infinite", "-1", "0:00" };
	char line[64];
	struct job job;

	(void)state;
	for (size_t i = 0; i < sizeof endless / sizeof endless[0]; i++) {
		snprintf(line, sizeof line, "#SBATCH --time=%s", endless[i]);
		reads(line, &job);
		assert_int_equal(job.limit_ns, 0);
		job_free(&job);
	}
	says("#SBATCH -t 0",
	     "d/t.sbatch:2: #SBATCH -t 0 is not read: no job is without a limit, and the class's holds\n");
}

static void sizes_are_slurms(void **state)
{
	static const struct {
		const char *text;
		uint64_t bytes;
	} table[] = {
		{ "4096", UINT64_C(4) << 30 },
		{ "512M", UINT64_C(512) << 20 },
		{ "24G", UINT64_C(24) << 30 },
		{ "24gb", UINT64_C(24) << 30 },
		{ "1T", UINT64_C(1) << 40 },
		{ "2048K", UINT64_C(2) << 20 },
		{ "0", 0 },
	};
	char line[64];
	struct job job;

	(void)state;
	for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
		snprintf(line, sizeof line, "#SBATCH --mem=%s", table[i].text);
		reads(line, &job);
		assert_true(job.memory_bytes == table[i].bytes);
		job_free(&job);
	}
	refuses_lines("#SBATCH --mem=lots",
		      "d/t.sbatch:2:9: memory: 'lots' is no size of Slurm's: 4096 (MiB), 512M or 24G");
	refuses_lines("#SBATCH --mem=1.5G",
		      "d/t.sbatch:2:9: memory: '1.5G' is no size of Slurm's: 4096 (MiB), 512M or 24G");
}

static void words_are_cut_as_sbatch_does(void **state)
{
	struct job job;

	(void)state;
	reads("#SBATCH --job-name=\"a b\" --time 5 # --hold\n#SBATCH\t-o 'x y.log'   -e it\\'s", &job);
	assert_string_equal(job.name, "a b");
	assert_int_equal(job.limit_ns, 300 * S);
	assert_false(job.hold);
	assert_string_equal(job.output, "x y.log");
	assert_string_equal(job.error, "it's");
	job_free(&job);
	reads("#SBATCH -J\"two\"words -t5 -HDrun #-p x\n##SBATCH -t 9\n# SBATCH -t 9\n\n  # "
	      "comment\n#SBATCH--no-requeue",
	      &job);
	assert_string_equal(job.name, "twowords");
	assert_int_equal(job.limit_ns, 300 * S);
	assert_true(job.hold && job.requeue_set && !job.requeue);
	assert_string_equal(job.workdir, "run");
	job_free(&job);
	reads("#SBATCH -J 'a#b' -t 5#6\r", &job);
	assert_string_equal(job.name, "a#b");
	assert_int_equal(job.limit_ns, 300 * S);
	job_free(&job);
	refuses_lines("#SBATCH -t 5 -J 'open", "d/t.sbatch:2:17: #SBATCH: a quote ' that does not end");
	refuses_lines("#SBATCH -t", "d/t.sbatch:2:9: #SBATCH: '--time' lacks its value");
	refuses_lines("#SBATCH -J \"\"", "d/t.sbatch:2:12: name: a value is missing");
}

static void lines_behind_the_first_command_are_comments(void **state)
{
	struct job job;

	(void)state;
	reads("true\n#SBATCH -t 5 --nothing 'open", &job);
	assert_int_equal(job.limit_ns, 0);
	assert_false(job.slurm_env);
	job_free(&job);
	parses("---\nname: a\n---\n#!/bin/sh\n#SBATCH -t x\ntrue\n", &job);
	assert_false(job.slurm_env);
	job_free(&job);
	reads("#SBATCH -t 5", &job);
	assert_true(job.slurm_env);
	job_free(&job);
	reads("#PGPU slurm-env: false\n#SBATCH -t 5", &job);
	assert_false(job.slurm_env);
	job_free(&job);
}

static void pgpu_wins_key_by_key(void **state)
{
	struct job job;

	(void)state;
	reads("#SBATCH -t x -J slurm -p nothing\n#PGPU limit: 2h\n#PGPU class: render\n#SBATCH -J later --mem=8G",
	      &job);
	assert_int_equal(job.limit_ns, 7200 * S);
	assert_string_equal(job.class_name, "render");
	assert_string_equal(job.name, "later");
	assert_true(job.memory_bytes == UINT64_C(8) << 30);
	job_free(&job);
}

static void signals_come_before_the_end(void **state)
{
	struct job job;

	(void)state;
	reads("#SBATCH --signal=B:USR1@120 -t 60", &job);
	assert_string_equal(job.budget_signal, "B:USR1@120s");
	assert_int_equal(job.budget_ns, 3600 * S);
	job_free(&job);
	reads("#SBATCH --signal=10", &job);
	assert_string_equal(job.budget_signal, "USR1@60s");
	assert_int_equal(job.budget_ns, 0);
	job_free(&job);
	reads("#SBATCH --signal=r:sigterm@5 -t 60\n#PGPU budget: 10m", &job);
	assert_string_equal(job.budget_signal, "SIGTERM@5s");
	assert_int_equal(job.budget_ns, 600 * S);
	job_free(&job);
	refuses_lines("#SBATCH --signal=USR3@5",
		      "d/t.sbatch:2:9: budget-signal: unknown signal 'USR3', did you mean 'USR1'?");
	refuses_lines("#SBATCH --signal=USR1@5m",
		      "d/t.sbatch:2:9: budget-signal: '5m' is no time of Slurm's: seconds, at most 65535");
}

static void one_card_is_what_a_job_has(void **state)
{
	static const char *const one[] = { "--gres=gpu:1",
					   "--gres=gpu",
					   "--gres=gpu:a100:1",
					   "--gres gpu:a100",
					   "--gres=gres/gpu:1",
					   "--gpus=1",
					   "-G1",
					   "-G a100:1",
					   "--gpus-per-node=1",
					   "--gpus=0",
					   "--gpus-per-task=a100:1" };
	static const char *const more[] = { "--gres=gpu:2", "--gres=gpu:a:1,gpu:b:1", "-G 2",
					    "--gpus-per-node=a100:4" };
	char line[80];
	struct job job;

	(void)state;
	for (size_t i = 0; i < sizeof one / sizeof one[0]; i++) {
		snprintf(line, sizeof line, "#SBATCH %s", one[i]);
		says(line, "");
	}
	for (size_t i = 0; i < sizeof more / sizeof more[0]; i++) {
		struct err err = ERR_NONE;
		snprintf(line, sizeof line, "#SBATCH %s", more[i]);
		if (read_lines(line, &job, NULL, &err) == 0)
			fail_msg("accepted: %s", more[i]);
		assert_non_null(strstr(err.text, "GPUs, and a job here has one card"));
	}
	refuses_lines("#SBATCH --gpus=many", "d/t.sbatch:2:9: 'many' is no number of GPUs");
	says("#SBATCH --gres=shard:2", "d/t.sbatch:2: #SBATCH --gres=shard:2 is not read\n");
}

static void patterns_are_translated(void **state)
{
	struct job job;

	(void)state;
	reads("#SBATCH -o logs/%x-%j.%t.log -e %J_%A_%a%%", &job);
	assert_string_equal(job.output, "logs/%x-%j.0.log");
	assert_string_equal(job.error, "%j_%A_%a%%");
	job_free(&job);
	says("#SBATCH -o %4j.%3a.log", "d/t.sbatch: read from #SBATCH: output %4j.%3a.log\n");
	says("#SBATCH -o %4t.log", "d/t.sbatch: read from #SBATCH: output 0.log\nd/t.sbatch:2: #SBATCH -o %4t.log is "
				   "read without its leading "
				   "zeros\n");
	refuses_lines("#SBATCH -o %q.log", "d/t.sbatch:2:12: output: unknown '%q' (%j %A %a %x %u %r, %% for a %)");
	refuses_lines("#SBATCH --open-mode=x", "d/t.sbatch:2:9: open-mode: 'x' is neither append nor truncate");
}

static void exports(void **state)
{
	struct job job;

	(void)state;
	reads("#SBATCH --export=ALL,A=1", &job);
	assert_int_equal(job.export, JOB_EXPORT_ALL);
	assert_string_equal(job.export_names[0], "A=1");
	job_free(&job);
	reads("#SBATCH --export NIL", &job);
	assert_int_equal(job.export, JOB_EXPORT_NONE);
	job_free(&job);
	reads("#SBATCH --export=PATH,B='x y'", &job);
	assert_int_equal(job.export, JOB_EXPORT_LIST);
	assert_string_equal(job.export_names[1], "B=x y");
	job_free(&job);
}

static void what_is_not_read_is_told(void **state)
{
	(void)state;
	says("#SBATCH -N 1 --ntasks=4 --exclusive\n#SBATCH --mail-user me@there -t 90 -QJ n --open-mode=truncate odd",
	     "d/t.sbatch: read from #SBATCH: name n, limit 1h30m, open-mode truncate\n"
	     "d/t.sbatch:2: #SBATCH -N 1 is not read\n"
	     "d/t.sbatch:2: #SBATCH --ntasks=4 is not read\n"
	     "d/t.sbatch:2: #SBATCH --exclusive is not read\n"
	     "d/t.sbatch:3: #SBATCH --mail-user me@there is not read\n"
	     "d/t.sbatch:3: #SBATCH -Q is not read\n"
	     "d/t.sbatch:3: #SBATCH odd is not read: it is no option\n");
	says("#SBATCH --open-mode=append --reservation -t 5",
	     "d/t.sbatch: read from #SBATCH: limit 5m, open-mode append\n"
	     "d/t.sbatch:2: #SBATCH --reservation is not "
	     "read\n");
	says("#SBATCH -t 5\n#SBATCH hetjob\n#SBATCH -t 9", "d/t.sbatch: read from #SBATCH: limit 5m\nd/t.sbatch:3: "
							   "#SBATCH hetjob and the lines behind it are not read: "
							   "a job has one part\n");
	says("#SBATCH", "");
	says("#SBATCH -c\x1b[2J", "d/t.sbatch:2: #SBATCH -c?[2J is not read\n");
}

static void slurm_s_names_never_pass(void **state)
{
	static const char *const ours[] = { "SLURM_JOB_ID=1", "SLURM_JOBID=1", "SLURM_ARRAY_TASK_ID=1",
					    "SLURMD_NODENAME=x", "SLURM_PROCID=0" };
	static const char *const others[] = { "SLURM_CONF=/etc/x", "SLURMY=1", "SLURM_JOB_IDS=1", "SLURM" };
	struct job job = JOB_EMPTY;

	(void)state;
	for (size_t i = 0; i < sizeof ours / sizeof ours[0]; i++)
		assert_true(slurmenv_is_ours(ours[i]) && !job_env_passes(&job, ours[i]));
	for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
		assert_true(!slurmenv_is_ours(others[i]) && job_env_passes(&job, others[i]));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(times_are_slurms),
		cmocka_unit_test(no_time_is_the_class_s),
		cmocka_unit_test(sizes_are_slurms),
		cmocka_unit_test(words_are_cut_as_sbatch_does),
		cmocka_unit_test(lines_behind_the_first_command_are_comments),
		cmocka_unit_test(pgpu_wins_key_by_key),
		cmocka_unit_test(signals_come_before_the_end),
		cmocka_unit_test(one_card_is_what_a_job_has),
		cmocka_unit_test(patterns_are_translated),
		cmocka_unit_test(exports),
		cmocka_unit_test(what_is_not_read_is_told),
		cmocka_unit_test(slurm_s_names_never_pass),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
