/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The process that runs the `on-end` commands of jobs that have ended (onend.h); not for people. It is the reaper of
 * what a command leaves behind: all of it is waited for, and ended with the command's time.
 */
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "conf/base/clock.h"
#include "conf/base/fmt.h"
#include "conf/base/say.h"
#include "conf/base/scope.h"
#include "conf/base/words.h"
#include "conf/jobid.h"
#include "runner/cell/caps.h"
#include "runner/cell/launch.h"
#include "runner/cell/stray.h"
#include "runner/commands.h"
#include "runner/onend.h"
#include "runner/worker.h"

enum { OWN = 16, GONE_MS = 2000 };

struct environment {
	char **list;
	size_t used;
	bool failed;
};

/* Takes over the text. */
static void add(struct environment *environment, char *assignment)
{
	if (assignment)
		environment->list[environment->used++] = assignment;
	environment->failed |= !assignment;
}

/* A header's `env` may have anything. */
static bool is_ours(const char *assignment)
{
	static const char *const names[] = { "PGPU_JOB_",      "PGPU_SUBMIT_DIR=", "PGPU_RESTART_COUNT=",
					     "PGPU_PROGRESS=", "PGPU_ARRAY_",	   "GPU_QUEUE" };

	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
		if (strncmp(assignment, names[i], strlen(names[i])) == 0)
			return true;
	}
	return false;
}

/* The job's own, as prepare.c makes it, and what tells of its end: a list for words_free(), or NULL. */
static char **build_environment(const struct prepared *prepared, const struct onend *end, struct err *err)
{
	const struct job *job = &prepared->job;
	struct environment all = { .list = words_new(words_count(prepared->list) + OWN) };
	/* The name of a standing job counts a start when it begins. */
	int restarts = job->standing && end->restarts ? end->restarts - 1 : end->restarts;
	char path[PATH_MAX];

	if (job_output_path(job->output, end->id, restarts, job->name, path, sizeof path, err) < 0) {
		words_free(all.list);
		return NULL;
	}
	for (char **next = prepared->list; all.list && *next; next++) {
		if (!is_ours(*next))
			add(&all, strdup(*next));
	}
	if (all.list) {
		add(&all, fmt_new("PGPU_JOB_ID=%s", JOBID(end->id)));
		add(&all, strdup(prepared->extra[0]));
		add(&all, strdup(prepared->extra[1]));
		/* Behind the restart count those of an array's task. */
		for (size_t i = 3; prepared->extra[i]; i++)
			add(&all, strdup(prepared->extra[i]));
		add(&all, fmt_new("PGPU_RESTART_COUNT=%d", restarts));
		add(&all, fmt_new("PGPU_JOB_OUTCOME=%s", outcome_names[end->outcome]));
		add(&all, fmt_new("PGPU_JOB_EXIT_CODE=%d", end->code));
		add(&all, fmt_new("PGPU_JOB_OUTPUT=%s", path));
		add(&all, fmt_new("PGPU_JOB_CLASS=%s", job->class_name));
		add(&all, fmt_new("PGPU_JOB_SESSION=%s", job->session));
	}
	if (all.list && !all.failed)
		return all.list;
	words_free(all.list);
	errno = ENOMEM;
	err_sys(err, "cannot prepare the environment");
	return NULL;
}

static int start(const struct prepared *prepared, char **environment, struct launched *ret_launched, struct err *err)
{
	struct launch launching = {
		.argv = prepared->job.on_end,
		.environment = environment,
		.workdir = prepared->job.workdir,
		.fds = { -1, -1, -1 },
		.only_three = true,
		.umask = prepared->facts.umask,
		.limits = prepared->facts.limits_known ? prepared->facts.limits : NULL,
		.own_group = true,
		.on_child = { .sa_handler = SIG_DFL },
		.cell_fd = -1,
	};

	sigemptyset(&launching.mask);
	return launch(&launching, ret_launched, err);
}

/* Reaps what has ended, `pid` among it; true when there is nobody left. */
static bool reap(pid_t pid, int *status)
{
	int other;

	for (;;) {
		pid_t ended = waitpid(-1, &other, WNOHANG);
		if (ended == pid)
			*status = other;
		if (ended <= 0)
			return ended < 0 && errno == ECHILD;
	}
}

/* Until nothing of the command lives, and no longer than its time; false when that was over. */
static bool wait_for_end(pid_t pid, int *status)
{
	int64_t until = clock_awake_ns() + ONEND_LIMIT_S * NS_PER_S;
	struct stray left = { .supervisor = getpid() };
	sigset_t child;

	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	while (!reap(pid, status)) {
		int64_t left_ns = until - clock_awake_ns();
		if (left_ns <= 0) {
			kill(-pid, SIGKILL);
			stray_kill(&left, GONE_MS);
			reap(pid, status);
			return false;
		}
		const struct timespec timeout = { left_ns / NS_PER_S, left_ns % NS_PER_S };
		sigtimedwait(&child, NULL, &timeout);
	}
	return true;
}

/* "" where all is well. */
static void judge(bool in_time, int status, char why[128])
{
	why[0] = '\0';
	if (!in_time)
		fmt(why, 128, "on-end: ended after %d s, its time", ONEND_LIMIT_S);
	else if (WIFSIGNALED(status))
		fmt(why, 128, "on-end: ended by signal %d", WTERMSIG(status));
	else if (WEXITSTATUS(status))
		fmt(why, 128, "on-end: exit code %d", WEXITSTATUS(status));
}

/* Behind the reason that the job itself ended with; of one that was put back in line meanwhile there is none. */
static void tell(struct spool *spool, const struct onend *end, const char *why)
{
	struct spool_name name;
	struct err ignored = ERR_NONE;
	char file[256], known[512], both[1024];

	if (spool_find_in(spool, SPOOL_ENDED, end->id, &name, file, &ignored) != 1 || name.restarts != end->restarts)
		return;
	spool_reason_read(spool, end->id, known, sizeof known);
	fmt(both, sizeof both, "%s%s%s", known, known[0] ? "; " : "", why);
	spool_reason_write(spool, end->id, both);
}

static int run_prepared(struct queue *queue, struct prepared *prepared, const struct onend *end, struct err *err)
{
	struct launched first;
	char why[128];
	int status = 0;

	if (!prepared->job.on_end || !prepared->job.on_end[0])
		return 0;
	if (prepare_environment(queue, prepared, end->id, end->restarts, err) < 0)
		return -1;
	char **environment = build_environment(prepared, end, err);
	int begun = environment ? start(prepared, environment, &first, err) : -1;
	words_free(environment);
	if (begun < 0)
		return -1;
	close(first.pidfd);
	bool in_time = wait_for_end(first.pid, &status);
	judge(in_time, status, why);
	return why[0] ? err_set(err, EXIT_FAILED, "%s", why) : 0;
}

static void run(struct queue *queue, const struct onend *end)
{
	struct prepared prepared = { .job = JOB_EMPTY, .files = { -1, -1, -1 } };
	struct spool_name name;
	enum spool_state state;
	struct err err = ERR_NONE;
	char file[256];

	/* Wherever it is by now: what is run is in its record, whose text never changes. */
	if (spool_find(&queue->spool, end->id, &state, &name, file, &err) == 1 &&
	    spool_read(&queue->spool, state, file, &prepared.job, &prepared.facts, &err) == 0 &&
	    run_prepared(queue, &prepared, end, &err) < 0) {
		if (strncmp(err.text, "on-end: ", 8) != 0)
			err_wrap(&err, "on-end");
		tell(&queue->spool, end, err.text);
	}
	prepare_free(queue, &prepared);
}

/* SIGCHLD is waited for by itself. */
static int stand_apart(struct err *err)
{
	sigset_t child;

	umask(077);
	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	sigprocmask(SIG_BLOCK, &child, NULL);
	prctl(PR_SET_NAME, "pgpu");
	if (chdir("/") < 0 || prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) < 0)
		return err_sys(err, "cannot run what a job names for its end");
	return caps_forget_caller(err);
}

int cmd_onend(int argc, char **argv)
{
	struct queue *const queue = &queue_only;
	struct err err = ERR_NONE;
	struct onend end;
	bool bad = argc < 2;

	for (int i = 1; i < argc; i++)
		bad |= onend_parse(argv[i], &end) < 0;
	if (bad) {
		err_set(&err, EXIT_USAGE, "on-end: this command is pgpu's own");
		return say_err(&err);
	}
	if (stand_apart(&err) < 0 || queue_open_worker(queue, &err) < 0)
		return say_err(&err);
	for (int i = 1; i < argc; i++) {
		if (onend_parse(argv[i], &end) == 0)
			run(queue, &end);
	}
	queue_close(queue);
	return EXIT_OK;
}
