/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The spool's files and the history: names, records set aside, orders, environments, log lines. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "conf/base/clock.h"
#include "conf/base/file.h"
#include "conf/base/say.h"
#include "conf/base/scope.h"
#include "conf/jobid.h"
#include "submit/history.h"
#include "submit/prune.h"
#include "submit/spool.h"

#define DAY (86400 * NS_PER_S)

static char folder[64];

static int set_up(void **state)
{
	static struct spool spool;

	strcpy(folder, "/tmp/pgpu-unit.XXXXXX");
	if (!mkdtemp(folder))
		return -1;
	say_quiet(true);
	spool_open(&spool, folder_open(AT_FDCWD, folder, false, NULL));
	*state = &spool;
	return spool.queue_fd < 0;
}

static int tear_down(void **state)
{
	struct spool *spool = *state;
	pid_t pid;

	spool_close(spool);
	close(spool->queue_fd);
	pid = fork();
	if (pid == 0)
		execlp("rm", "rm", "-rf", folder, NULL);
	return waitpid(pid, NULL, 0) == pid ? 0 : -1;
}

static void names_say_the_state(void **state)
{
	struct spool_name name = { .id = jobid_of(12), .class_name = "render", .session = "film.v2", .restarts = 3 },
			  back;
	char file[256];
	(void)state;

	spool_name_format(&name, file);
	assert_string_equal(file, "12:render:film.v2:3");
	assert_int_equal(spool_name_parse(file, &back), 0);
	assert_memory_equal(&name, &back, sizeof name);
	name.reserved_bytes = UINT64_C(24) << 30;
	name.held = true;
	spool_name_format(&name, file);
	assert_string_equal(file, "12:render:film.v2:3:m24G:h");
	assert_int_equal(spool_name_parse(file, &back), 0);
	assert_memory_equal(&name, &back, sizeof name);
	name.outcome = OUTCOME_FAILED;
	name.code = 127;
	spool_name_format(&name, file);
	assert_string_equal(file, "12:render:film.v2:3:m24G:failed:127");
	assert_int_equal(spool_name_parse(file, &back), 0);
	assert_int_equal(back.code, 127);
}

static void a_standing_job_says_so_and_how_often_it_failed(void **state)
{
	struct spool_name name = { .id = jobid_of(12), .class_name = "render", .session = "me", .standing = true },
			  back;
	char file[256];
	(void)state;

	spool_name_format(&name, file);
	assert_string_equal(file, "12:render:me:0:s0");
	assert_int_equal(spool_name_parse(file, &back), 0);
	assert_memory_equal(&name, &back, sizeof name);
	name.reserved_bytes = name.vram_bytes = UINT64_C(12) << 30;
	name.failures = SPOOL_FAILURES_MAX;
	spool_name_format(&name, file);
	assert_string_equal(file, "12:render:me:0:m12G:v12G:s999");
	assert_int_equal(spool_name_parse(file, &back), 0);
	assert_memory_equal(&name, &back, sizeof name);
	name.held = true;
	spool_name_format(&name, file);
	assert_string_equal(file, "12:render:me:0:m12G:v12G:s999:h");
	assert_int_equal(spool_name_parse(file, &back), 0);
	assert_memory_equal(&name, &back, sizeof name);
	/* Once it has ended its name keeps that: it may be put back. */
	name.outcome = OUTCOME_COMPLETED;
	name.held = false;
	spool_name_format(&name, file);
	assert_string_equal(file, "12:render:me:0:m12G:v12G:s999:completed:0");
	assert_int_equal(spool_name_parse(file, &back), 0);
	assert_memory_equal(&name, &back, sizeof name);
}

static void a_nice_job_says_so(void **state)
{
	struct spool_name name = { .id = jobid_of(12), .class_name = "render", .session = "me", .nice = -5 }, back;
	char file[256];
	(void)state;

	spool_name_format(&name, file);
	assert_string_equal(file, "12:render:me:0:n-5");
	assert_int_equal(spool_name_parse(file, &back), 0);
	assert_memory_equal(&name, &back, sizeof name);
	name.nice = JOB_NICE_MAX;
	name.vram_bytes = UINT64_C(12) << 30;
	name.held = true;
	spool_name_format(&name, file);
	assert_string_equal(file, "12:render:me:0:v12G:n2147483645:h");
	assert_int_equal(spool_name_parse(file, &back), 0);
	assert_memory_equal(&name, &back, sizeof name);
	name.edit = 7;
	spool_name_format(&name, file);
	assert_string_equal(file, "12:render:me:0:v12G:n2147483645:u7:h");
	assert_int_equal(spool_name_parse(file, &back), 0);
	assert_memory_equal(&name, &back, sizeof name);
	name.begin_s = 1764000000;
	name.after = true;
	name.tries = 2;
	spool_name_format(&name, file);
	assert_string_equal(file, "12:render:me:0:v12G:n2147483645:u7:b1764000000:a:r2:h");
	assert_int_equal(spool_name_parse(file, &back), 0);
	assert_memory_equal(&name, &back, sizeof name);
}

static void strange_names_are_no_jobs(void **state)
{
	static const char *const strange[] = { "",
					       "x",
					       "0:a:b:0",
					       "01:a:b:0",
					       "1:a:b",
					       "1:a:b:",
					       "1:a:b:-1",
					       "1:a:b:0:gone:1",
					       "1:a:b:0:failed",
					       "1:a:b:0:h:failed:1",
					       "1:a:b:0:hh",
					       "1:a:b:0:failed:1:x",
					       "1:a b:b:0",
					       "99999999999999999999:a:b:0",
					       "1:a:b:0x",
					       "1:a:b:0:s",
					       "1:a:b:0:s-1",
					       "1:a:b:0:s1000",
					       "1:a:b:0:s0:s0",
					       "1:a:b:0:n",
					       "1:a:b:0:n0",
					       "1:a:b:0:n--1",
					       "1:a:b:0:n2147483646",
					       "1:a:b:0:n1:v12G",
					       "1:a:b:0:u",
					       "1:a:b:0:u0",
					       "1:a:b:0:u2147483648",
					       "1:a:b:0:u1:n1",
					       "1:a:b:0:r0",
					       "1:a:b:0:r1001",
					       "1:a:b:0:r1:a",
					       "1:a:b:0:s0:v12G",
					       "1:a:b:0:h:s0" };
	struct spool_name name;
	(void)state;

	for (size_t i = 0; i < sizeof strange / sizeof strange[0]; i++)
		assert_int_equal(spool_name_parse(strange[i], &name), -1);
}

static struct job make_job(const char *name)
{
	struct job job = JOB_EMPTY;
	char *argv[] = { (char *)name, NULL };

	assert_int_equal(job_set(&job, "name", name, NULL), 0);
	assert_int_equal(job_set(&job, "class", "test", NULL), 0);
	assert_int_equal(job_set(&job, "session", "me", NULL), 0);
	assert_int_equal(job_set(&job, "workdir", "/tmp", NULL), 0);
	assert_int_equal(job_set(&job, "output", "/tmp/x-%j", NULL), 0);
	assert_int_equal(job_set_argv(&job, argv, NULL), 0);
	job.budget_ns = NS_PER_S;
	job.limit_ns = 2 * NS_PER_S;
	job.memory_bytes = 1 << 20;
	return job;
}

static void submit(struct spool *spool, uint64_t id)
{
	SCOPE_JOB struct job job = make_job("true");
	struct job_facts facts = {
		.id = jobid_of(id), .submitted_wall_ns = NS_PER_S, .submit_dir = "/tmp", .env_name = "none"
	};

	assert_int_equal(spool_submit(spool, &job, &facts, NULL), 0);
	assert_int_equal(spool_submit_sync(spool, NULL), 0);
}

static void a_job_moves_by_renames(void **state)
{
	struct spool *spool = *state;
	struct spool_name name;
	enum spool_state where;
	char file[256];

	submit(spool, 7);
	assert_int_equal(spool_find(spool, jobid_of(7), &where, &name, file, NULL), 1);
	assert_int_equal(where, SPOOL_PENDING);
	assert_int_equal(spool_move(spool, SPOOL_PENDING, file, SPOOL_RUNNING, &name, NULL), 0);
	assert_int_equal(spool_withdraw(spool, jobid_of(7), NULL), 0);
	name.outcome = OUTCOME_COMPLETED;
	assert_int_equal(spool_move(spool, SPOOL_RUNNING, file, SPOOL_ENDED, &name, NULL), 0);
	assert_int_equal(spool_find(spool, jobid_of(7), &where, &name, file, NULL), 1);
	assert_int_equal(where, SPOOL_ENDED);
	assert_int_equal(name.outcome, OUTCOME_COMPLETED);
	assert_int_equal(spool_find(spool, jobid_of(8), &where, &name, file, NULL), 0);
}

static void of_two_who_take_a_job_one_gets_it(void **state)
{
	struct spool *spool = *state;
	struct spool_name name;
	struct err err = ERR_NONE;

	submit(spool, 7);
	assert_int_equal(spool_name_parse("7:test:me:0", &name), 0);
	assert_int_equal(spool_move(spool, SPOOL_PENDING, "7:test:me:0", SPOOL_RUNNING, &name, &err), 0);
	assert_int_equal(spool_move(spool, SPOOL_PENDING, "7:test:me:0", SPOOL_RUNNING, &name, &err), -1);
	assert_int_equal(err.errnum, ENOENT);
}

static void a_withdrawn_job_leaves_nothing(void **state)
{
	struct spool *spool = *state;
	enum spool_state where;
	struct spool_name name;
	char file[256];

	submit(spool, 7);
	assert_int_equal(spool_withdraw(spool, jobid_of(7), NULL), 1);
	assert_int_equal(spool_find(spool, jobid_of(7), &where, &name, file, NULL), 0);
}

static int count(const struct spool_name *name, const char *file, void *context)
{
	(void)name;
	(void)file;
	++*(int *)context;
	return 0;
}

/* C117: garbage, a folder, a FIFO, a loop of links, a file of mode 000 between two good jobs. */
static void C117_strange_entries_are_set_aside(void **state)
{
	struct spool *spool = *state;
	struct job job = JOB_EMPTY;
	struct job_facts facts = { 0 };
	int pending, seen = 0;

	submit(spool, 1);
	submit(spool, 9);
	pending = spool_folder(spool, SPOOL_PENDING_DIR, NULL);
	assert_int_equal(mkdirat(pending, "2:test:me:0", 0700), 0);
	assert_int_equal(mkfifoat(pending, "3:test:me:0", 0600), 0);
	assert_int_equal(symlinkat("4:test:me:0", pending, "4:test:me:0"), 0);
	assert_int_equal(mkdirat(pending, "strange", 0700), 0);
	assert_int_equal(file_replace(pending, "5:test:me:0", "garbage", 7, FILE_VOLATILE, NULL), 0);
	assert_int_equal(spool_each(spool, SPOOL_PENDING, count, &seen, NULL), 0);
	assert_int_equal(seen, 3);
	assert_int_equal(spool_count_bad(spool), 4);
	assert_int_equal(spool_read(spool, SPOOL_PENDING, "5:test:me:0", &job, &facts, NULL), -1);
	assert_int_equal(spool_count_bad(spool), 5);
	assert_int_equal(spool_read(spool, SPOOL_PENDING, "9:test:me:0", &job, &facts, NULL), 0);
	job_free(&job);
	job_facts_free(&facts);
}

static void a_second_order_is_a_kill(void **state)
{
	struct spool *spool = *state;
	enum spool_order order;

	assert_int_equal(spool_ordered(spool, jobid_of(7)), ORDER_NONE);
	assert_int_equal(spool_order(spool, jobid_of(7), &order, NULL), 0);
	assert_int_equal(order, ORDER_CANCEL);
	assert_int_equal(spool_order(spool, jobid_of(7), &order, NULL), 0);
	assert_int_equal(order, ORDER_KILL);
	assert_int_equal(spool_ordered(spool, jobid_of(7)), ORDER_KILL);
	spool_order_done(spool, jobid_of(7));
	assert_int_equal(spool_ordered(spool, jobid_of(7)), ORDER_NONE);
}

static void an_order_to_requeue_is_one_until_it_is_cancelled(void **state)
{
	struct spool *spool = *state;
	enum spool_order order;

	for (int twice = 0; twice < 2; twice++) {
		assert_int_equal(spool_order_back(spool, jobid_of(7), NULL), 0);
		assert_int_equal(spool_ordered(spool, jobid_of(7)), ORDER_CANCEL);
		assert_true(spool_ordered_back(spool, jobid_of(7)));
	}
	/* What was to go back is not killed by the first cancel. */
	assert_int_equal(spool_order(spool, jobid_of(7), &order, NULL), 0);
	assert_int_equal(order, ORDER_CANCEL);
	assert_false(spool_ordered_back(spool, jobid_of(7)));
	assert_int_equal(spool_order_back(spool, jobid_of(7), NULL), -1);
	assert_int_equal(spool_order(spool, jobid_of(7), &order, NULL), 0);
	assert_int_equal(order, ORDER_KILL);
	spool_order_done(spool, jobid_of(7));
	assert_int_equal(spool_order_back(spool, jobid_of(8), NULL), 0);
	spool_order_done(spool, jobid_of(8));
	assert_int_equal(spool_ordered(spool, jobid_of(8)), ORDER_NONE);
	assert_false(spool_ordered_back(spool, jobid_of(8)));
}

/* C097: newlines, equals signs and fences in values; stored once, given back byte for byte. */
static void C097_an_environment_comes_back_byte_for_byte(void **state)
{
	struct spool *spool = *state;
	SCOPE_JOB struct job job = make_job("true");
	struct job_facts one = { 0 }, two = { 0 };
	char *environment[] = {
		"N=a\nb=c\n--- ", "BASH_FUNC_f%%=() {  echo hi\n}", "E=", "PGPU_JOB_ID=9", "GPU_QUEUE=1", NULL
	};
	char **list, *block;

	assert_int_equal(spool_store_environment(spool, &job, environment, &one, NULL), 0);
	assert_int_equal(spool_store_environment(spool, &job, environment, &two, NULL), 0);
	assert_string_equal(one.env_name, two.env_name);
	assert_int_equal(spool_load_environment(spool, one.env_name, &list, &block, NULL), 0);
	for (int i = 0; i < 3; i++)
		assert_string_equal(list[i], environment[i]);
	assert_null(list[3]);
	free(list);
	free(block);
	environment[2] = "E=x";
	assert_int_equal(spool_store_environment(spool, &job, environment, &two, NULL), 0);
	assert_string_not_equal(one.env_name, two.env_name);
}

static void an_environment_of_the_same_hash_gets_a_name_of_its_own(void **state)
{
	struct spool *spool = *state;
	SCOPE_JOB struct job job = make_job("true");
	struct job_facts facts = { 0 };
	char *environment[] = { "A=1", NULL }, name[64];

	assert_int_equal(spool_store_environment(spool, &job, environment, &facts, NULL), 0);
	memcpy(name, facts.env_name, sizeof name);
	/* Other content under that name is what a collision looks like. */
	assert_int_equal(file_replace(spool_folder(spool, SPOOL_ENV_DIR, NULL), name, "B=2", 4, FILE_VOLATILE, NULL),
			 0);
	assert_int_equal(spool_store_environment(spool, &job, environment, &facts, NULL), 0);
	assert_string_not_equal(facts.env_name, name);
}

static struct history_row make_row(uint64_t id)
{
	struct history_row row = HISTORY_ROW;

	row.ended_wall_ns = INT64_C(1800000000) * NS_PER_S;
	row.id = jobid_of(id);
	row.spooled = true;
	strcpy(row.class_name, "render");
	strcpy(row.session, "film");
	strcpy(row.name, "a\tb");
	strcpy(row.command, "sh -c 'x\ny\\z'");
	row.waited_ns = 1500 * NS_PER_MS;
	row.ran_ns = 0;
	row.exit_code = 3;
	row.outcome = OUTCOME_FAILED;
	return row;
}

static void a_log_line_reads_back(void **state)
{
	struct spool *spool = *state;
	struct history_row row = make_row(5), back;

	assert_int_equal(history_append(spool->queue_fd, &row, 0, NULL), 0);
	assert_int_equal(history_find(spool->queue_fd, jobid_of(5), &back, NULL), 1);
	assert_string_equal(back.name, row.name);
	assert_string_equal(back.command, row.command);
	assert_int_equal(back.waited_ns, row.waited_ns);
	assert_int_equal(back.cpu_ns, -1);
	assert_int_equal(back.peak_memory_bytes, -1);
	assert_int_equal(back.exit_code, 3);
	assert_int_equal(back.ended_wall_ns, row.ended_wall_ns);
	assert_int_equal(history_find(spool->queue_fd, jobid_of(6), &back, NULL), 0);
}

static void a_line_cut_short_spoils_only_itself(void **state)
{
	struct spool *spool = *state;
	struct history_row row = make_row(5), back;
	SCOPE_FD int fd = -1;

	assert_int_equal(history_append(spool->queue_fd, &row, 0, NULL), 0);
	fd = openat(spool->queue_fd, "log.tsv", O_WRONLY | O_APPEND);
	assert_int_equal(write_all(fd, "2027-01-15T08:00", 16), 0);
	row.id = jobid_of(6);
	assert_int_equal(history_append(spool->queue_fd, &row, 0, NULL), 0);
	assert_int_equal(history_find(spool->queue_fd, jobid_of(5), &back, NULL), 1);
	assert_int_equal(history_find(spool->queue_fd, jobid_of(6), &back, NULL), 1);
}

/* The log is read from its end in pieces: rows of all lengths, with a line in between that is longer than any row. */
static void each_row_of_a_long_log_is_found(void **state)
{
	struct spool *spool = *state;
	struct history_row row = make_row(1), back;
	enum { ROWS = 600 };

	for (int id = 1; id <= ROWS; id++) {
		row.id = jobid_of((uint64_t)id);
		row.exit_code = id % 100;
		memset(row.command, 'x', (size_t)id);
		row.command[id] = '\0';
		assert_int_equal(history_append(spool->queue_fd, &row, 0, NULL), 0);
		if (id == ROWS / 2) {
			SCOPE_FD int fd = openat(spool->queue_fd, "log.tsv", O_WRONLY | O_APPEND);
			SCOPE_FREE char *line = malloc(200000);
			memset(line, 'y', 200000);
			line[199999] = '\n';
			assert_int_equal(write_all(fd, line, 200000), 0);
		}
	}
	for (int id = 1; id <= ROWS; id++) {
		assert_int_equal(history_find(spool->queue_fd, jobid_of((uint64_t)id), &back, NULL), 1);
		assert_int_equal(back.exit_code, id % 100);
		assert_int_equal(strlen(back.command), id);
	}
	assert_int_equal(history_find(spool->queue_fd, jobid_of(ROWS + 1), &back, NULL), 0);
	/* A hold that ended with `turn` is none of a job's end. */
	row.id = jobid_of(7);
	row.outcome = OUTCOME_TURN;
	assert_int_equal(history_append(spool->queue_fd, &row, 0, NULL), 0);
	assert_int_equal(history_find(spool->queue_fd, jobid_of(7), &back, NULL), 1);
	assert_int_equal(back.exit_code, 7);
}

static int count_whole(const struct history_row *row, void *count)
{
	struct history_row wanted = make_row(5);

	assert_string_equal(row->command, wanted.command);
	assert_int_equal(row->ended_wall_ns, wanted.ended_wall_ns);
	++*(int *)count;
	return 0;
}

static void the_end_of_the_log_has_whole_rows_only(void **state)
{
	struct spool *spool = *state;
	struct history_row row = make_row(5);
	struct stat log;
	int before = 0;

	for (int i = 0; i < 3; i++)
		assert_int_equal(history_append(spool->queue_fd, &row, 0, NULL), 0);
	assert_int_equal(fstatat(spool->queue_fd, "log.tsv", &log, 0), 0);
	for (long bytes = 1; bytes < log.st_size + 10; bytes++) {
		int count = 0;
		assert_int_equal(history_each_late(spool->queue_fd, bytes, count_whole, &count, NULL), 0);
		assert_in_range(count, before, before + 1);
		before = count;
	}
	assert_int_equal(before, 3);
}

static void a_command_is_cut_at_4096_bytes(void **state)
{
	struct spool *spool = *state;
	struct history_row row = make_row(5), back;

	memset(row.command, '\t', sizeof row.command - 1);
	assert_int_equal(history_append(spool->queue_fd, &row, 0, NULL), 0);
	assert_int_equal(history_find(spool->queue_fd, jobid_of(5), &back, NULL), 1);
	assert_true(strlen(back.command) * 2 <= 4096);
	assert_true(strlen(back.command) > 2000);
}

static void the_log_is_never_written_through_a_link(void **state)
{
	struct spool *spool = *state;
	struct history_row row = make_row(5);

	assert_int_equal(symlinkat("/tmp/elsewhere", spool->queue_fd, "log.tsv"), 0);
	assert_int_equal(history_append(spool->queue_fd, &row, 0, NULL), -1);
	assert_int_not_equal(access("/tmp/elsewhere", F_OK), 0);
}

#define ON_A_SPOOL(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

static void end(struct spool *spool, uint64_t id, enum outcome outcome)
{
	struct spool_name name;
	char file[256];

	submit(spool, id);
	assert_int_equal(spool_find_in(spool, SPOOL_PENDING, jobid_of(id), &name, file, NULL), 1);
	name.outcome = outcome;
	assert_int_equal(spool_move(spool, SPOOL_PENDING, file, SPOOL_ENDED, &name, NULL), 0);
	spool_reason_write(spool, jobid_of(id), "why");
}

static bool is_kept(struct spool *spool, uint64_t id)
{
	struct spool_name name;
	enum spool_state state;
	char file[256], reason[8];
	int found = spool_find(spool, jobid_of(id), &state, &name, file, NULL);

	assert_true(found >= 0);
	spool_reason_read(spool, jobid_of(id), reason, sizeof reason);
	assert_int_equal(found, state == SPOOL_PENDING || reason[0]);
	return found;
}

static void ended_records_are_kept_for_a_time(void **state)
{
	struct spool *spool = *state;
	static struct conf conf;
	int64_t now = clock_wall_ns();

	conf.keep_ns = 30 * DAY;
	conf.keep_jobs = 0;
	end(spool, 1, OUTCOME_COMPLETED);
	end(spool, 2, OUTCOME_FAILED);
	submit(spool, 3);
	assert_int_equal(prune(spool, &conf, now + 29 * DAY, NULL), 0);
	assert_true(is_kept(spool, 1));
	conf.keep_ns = CONF_NEVER;
	assert_int_equal(prune(spool, &conf, now + 3000 * DAY, NULL), 0);
	conf.keep_ns = 30 * DAY;
	assert_int_equal(prune(spool, &conf, now + 31 * DAY, NULL), 2);
	assert_false(is_kept(spool, 1) || is_kept(spool, 2));
	assert_true(is_kept(spool, 3));
	/* Of ten the last four. */
	for (uint64_t id = 10; id < 20; id++)
		end(spool, id, OUTCOME_COMPLETED);
	conf.keep_jobs = 4;
	assert_int_equal(prune(spool, &conf, now, NULL), 6);
	assert_false(is_kept(spool, 15));
	assert_true(is_kept(spool, 16) && is_kept(spool, 19));
	assert_int_equal(prune(spool, &conf, now, NULL), 0);
}

static bool has_environment(struct spool *spool, const char *name)
{
	return file_exists(spool_folder(spool, SPOOL_ENV_DIR, NULL), name);
}

static void make_old(struct spool *spool, const char *name)
{
	const struct timespec times[2] = { { .tv_sec = 1000 }, { .tv_sec = 1000 } };

	assert_int_equal(utimensat(spool_folder(spool, SPOOL_ENV_DIR, NULL), name, times, 0), 0);
}

static void environments_go_when_nobody_names_them(void **state)
{
	struct spool *spool = *state;
	SCOPE_JOB struct job job = make_job("true");
	struct job_facts used = { .id = jobid_of(7), .submit_dir = NULL }, unused = { 0 }, again = { 0 };
	char *one[] = { "A=1", NULL }, *two[] = { "A=2", NULL };
	static struct conf conf;

	conf.keep_ns = 30 * DAY;
	assert_int_equal(spool_store_environment(spool, &job, one, &used, NULL), 0);
	assert_int_equal(spool_store_environment(spool, &job, two, &unused, NULL), 0);
	assert_int_equal(spool_submit(spool, &job, &used, NULL), 0);
	/* Stored today: its submit may be about to write the record. */
	assert_int_equal(prune(spool, &conf, clock_wall_ns(), NULL), 0);
	assert_true(has_environment(spool, unused.env_name));
	make_old(spool, used.env_name);
	make_old(spool, unused.env_name);
	/* Found by another submit, it is of today again. */
	assert_int_equal(spool_store_environment(spool, &job, two, &again, NULL), 0);
	assert_string_equal(again.env_name, unused.env_name);
	assert_int_equal(prune(spool, &conf, clock_wall_ns(), NULL), 0);
	assert_true(has_environment(spool, unused.env_name));
	make_old(spool, unused.env_name);
	assert_int_equal(prune(spool, &conf, clock_wall_ns(), NULL), 0);
	assert_false(has_environment(spool, unused.env_name));
	assert_true(has_environment(spool, used.env_name));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_say_the_state),
		cmocka_unit_test(a_standing_job_says_so_and_how_often_it_failed),
		cmocka_unit_test(a_nice_job_says_so),
		cmocka_unit_test(strange_names_are_no_jobs),
		ON_A_SPOOL(a_job_moves_by_renames),
		ON_A_SPOOL(of_two_who_take_a_job_one_gets_it),
		ON_A_SPOOL(a_withdrawn_job_leaves_nothing),
		ON_A_SPOOL(C117_strange_entries_are_set_aside),
		ON_A_SPOOL(a_second_order_is_a_kill),
		ON_A_SPOOL(ended_records_are_kept_for_a_time),
		ON_A_SPOOL(environments_go_when_nobody_names_them),
		ON_A_SPOOL(an_order_to_requeue_is_one_until_it_is_cancelled),
		ON_A_SPOOL(C097_an_environment_comes_back_byte_for_byte),
		ON_A_SPOOL(an_environment_of_the_same_hash_gets_a_name_of_its_own),
		ON_A_SPOOL(a_log_line_reads_back),
		ON_A_SPOOL(a_line_cut_short_spoils_only_itself),
		ON_A_SPOOL(each_row_of_a_long_log_is_found),
		ON_A_SPOOL(the_end_of_the_log_has_whole_rows_only),
		ON_A_SPOOL(a_command_is_cut_at_4096_bytes),
		ON_A_SPOOL(the_log_is_never_written_through_a_link),
	};

	return cmocka_run_group_tests_name("spool", tests, NULL, NULL);
}
