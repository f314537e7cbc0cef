/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which of our children are a job's where there is no cell. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "patience.h"
#include "runner/cell/stray.h"

/* This program once more, as `NAME WORD`, asleep; returns when it is that. */
static pid_t start(char *word)
{
	int ready[2];
	char byte;

	assert_int_equal(pipe(ready), 0);
	pid_t pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		char *argv[] = { "pgpu", word, NULL };
		dup2(ready[1], 1);
		execv("/proc/self/exe", argv);
		_exit(1);
	}
	close(ready[1]);
	assert_int_equal(read(ready[0], &byte, 1), 1);
	close(ready[0]);
	return pid;
}

static void end(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static void keep(pid_t pid, void *context)
{
	*(pid_t *)context = pid;
}

static void a_worker_that_became_ours_is_no_jobs(void **state)
{
	struct stray stray = { .supervisor = getpid() };
	pid_t found = 0;
	(void)state;

	pid_t worker = start("worker");
	assert_int_equal(stray_each(&stray, keep, &found), 0);
	pid_t job = start("workers");
	assert_int_equal(stray_each(&stray, keep, &found), 1);
	assert_int_equal(found, job);
	end(worker);
	end(job);
}

/* For ever from one program to the next, in a session of its own: nothing but the mark tells whose it is, and that is
 * not there in the middle of an exec. */
static void a_dead_child_counts_until_it_is_reaped(void **state)
{
	struct stray stray = { .supervisor = getpid() };
	siginfo_t info;
	(void)state;

	assert_true(stray_childless(&stray));
	pid_t worker = start("worker"), spared = start("worker-spared");
	assert_false(stray_childless(&stray));
	stray_spare(&stray, spared);
	assert_true(stray_childless(&stray));
	pid_t job = start("workers");
	assert_false(stray_childless(&stray));
	kill(job, SIGKILL);
	assert_int_equal(waitid(P_PID, (id_t)job, &info, WEXITED | WNOWAIT), 0);
	assert_false(stray_childless(&stray));
	waitpid(job, NULL, 0);
	assert_true(stray_childless(&stray));
	end(worker);
	end(spared);
}

static void run_on(char **argv)
{
	execv("/proc/self/exe", argv);
	_exit(1);
}

static void who_execs_for_ever_is_found(void **state)
{
	char mark[] = "STRAY_TEST=marked", *environment[] = { mark, NULL }, *argv[] = { "pgpu", "again", NULL };
	struct stray stray = { .mark = mark };
	(void)state;

	for (int round = 0; round < 100; round++) {
		pid_t pid = fork();
		assert_true(pid >= 0);
		if (pid == 0) {
			setsid();
			execve("/proc/self/exe", argv, environment);
			_exit(1);
		}
		/* Marked from here on, and between two programs again and again. */
		while (stray_each(&stray, keep, &(pid_t){ 0 }) == 0)
			;
		assert_true(stray_kill(&stray, 10000));
		int status, ended = waitpid(pid, &status, WNOHANG);
		if (ended != pid)
			end(pid);
		assert_int_equal(ended, pid);
	}
}

/* A machine that is out of descriptors shows nobody: that is no proof that nobody is there. */
static void who_cannot_be_looked_for_is_not_gone(void **state)
{
	struct stray stray = { .supervisor = getpid() };
	struct rlimit limit, none;
	pid_t found = 0;
	(void)state;

	pid_t job = start("workers");
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
	none = limit;
	/* With none at all, and with one alone: /proc itself can be opened then, and nothing in it. */
	for (rlim_t room = 0; room < 2; room++) {
		int next = dup(0);
		close(next);
		none.rlim_cur = (rlim_t)next + room;
		assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
		size_t count = stray_each(&stray, keep, &found);
		bool gone = stray_kill(&stray, 20);
		assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
		assert_int_equal(found, 0);
		assert_int_not_equal(count, 0);
		assert_false(gone);
	}
	assert_true(stray_kill(&stray, 10000));
	assert_int_equal(waitpid(job, NULL, 0), job);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_worker_that_became_ours_is_no_jobs),
		cmocka_unit_test(a_dead_child_counts_until_it_is_reaped),
		cmocka_unit_test(who_execs_for_ever_is_found),
		cmocka_unit_test(who_cannot_be_looked_for_is_not_gone),
	};

	if (argc > 1 && strcmp(argv[1], "again") == 0)
		run_on(argv);
	if (argc > 1 && strncmp(argv[1], "worker", 6) == 0) {
		if (write(1, "", 1) == 1)
			pause();
		return 1;
	}
	/* The words of a process that it runs are its own, and /proc/self/exe is it. */
	if (under_valgrind()) {
		puts("ok a worker that became ours is no job's # SKIP valgrind has words of its own");
		return 0;
	}
	return cmocka_run_group_tests_name("stray", tests, NULL, NULL);
}
