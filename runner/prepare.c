/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * From a record to something that can be started. Nothing is executed from our own folders, which may be mounted
 * noexec: of a script the #! line is read here, as the kernel would (execve(2)), and its interpreter gets the script's
 * file.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "conf/base/file.h"
#include "conf/base/fmt.h"
#include "conf/base/scope.h"
#include "conf/base/words.h"
#include "conf/jobid.h"
#include "conf/paths.h"
#include "outfile.h"
#include "submit/slurmenv.h"
#include "worker.h"

static int no_start(struct err *err)
{
	err->code = EXIT_NO_START;
	return -1;
}

/* Looked at before the output is opened: a folder that was removed must not come back as the output's parent. */
static int check_workdir(const struct prepared *prepared, struct err *err)
{
	struct stat found;

	if (stat(prepared->job.workdir, &found) < 0)
		return err_sys(err, "cannot enter folder %s", prepared->job.workdir);
	return S_ISDIR(found.st_mode) ? 0
				      : err_set(err, EXIT_NO_START, "cannot enter folder %s: it is not a folder",
						prepared->job.workdir);
}

/* A restart goes on in the file of the first start. */
static int open_output(const struct job *job, const char *pattern, const struct entry *entry, struct err *err)
{
	char path[PATH_MAX];

	if (job_output_path(pattern, entry->id, entry->restarts, job->name, path, sizeof path, err) < 0)
		return -1;
	return outfile_open(path, job->truncate && entry->restarts == 0, err);
}

static int open_error(const struct job *job, int output, const struct entry *entry, struct err *err)
{
	if (job->error)
		return open_output(job, job->error, entry, err);
	int fd = fcntl(output, F_DUPFD_CLOEXEC, 3);

	return fd < 0 ? err_sys(err, "cannot open the output file for errors") : fd;
}

static int open_files(struct prepared *prepared, const struct entry *entry, struct err *err)
{
	const struct job *job = &prepared->job;

	prepared->files[0] = open("/dev/null", O_RDONLY | O_CLOEXEC);
	if (prepared->files[0] < 0)
		return err_sys(err, "cannot open /dev/null");
	mode_t mask = umask(prepared->facts.umask);
	prepared->files[1] = open_output(job, job->output, entry, err);
	if (prepared->files[1] >= 0)
		prepared->files[2] = open_error(job, prepared->files[1], entry, err);
	umask(mask);
	return prepared->files[2] < 0 ? -1 : 0;
}

/* NAME of "NAME=VALUE" is in the list already. */
static char **find(char **list, const char *assignment)
{
	size_t length = strcspn(assignment, "=") + 1;

	for (; *list; list++) {
		if (strncmp(*list, assignment, length) == 0)
			return list;
	}
	return NULL;
}

static void find_bounds(const struct array *array, int32_t *ret_least, int32_t *ret_most)
{
	*ret_least = INT32_MAX;
	*ret_most = 0;
	for (int i = 0; i < array->count; i++) {
		*ret_least = array->ranges[i].first < *ret_least ? array->ranges[i].first : *ret_least;
		*ret_most = array->ranges[i].last > *ret_most ? array->ranges[i].last : *ret_most;
	}
}

/* What a task of an array is told. */
static int name_task(struct prepared *prepared, uint64_t id, struct err *err)
{
	const struct array *array = &prepared->job.array;
	int32_t size = array_size(array), least, most;

	if (jobid_task(id) < 0)
		return 0;
	find_bounds(array, &least, &most);
	char **extra = prepared->extra + 3;
	extra[0] = fmt_new("PGPU_ARRAY_JOB_ID=%s", JOBID(jobid_array(id)));
	extra[1] = fmt_new("PGPU_ARRAY_TASK_ID=%d", (int)jobid_task(id));
	extra[2] = fmt_new("PGPU_ARRAY_TASK_COUNT=%d", (int)size);
	extra[3] = fmt_new("PGPU_ARRAY_TASK_MIN=%d", (int)least);
	extra[4] = fmt_new("PGPU_ARRAY_TASK_MAX=%d", (int)most);
	for (int i = 0; i < 5; i++) {
		if (!extra[i])
			return err_sys(err, "cannot prepare the environment");
	}
	return 0;
}

static int make_slurm(struct prepared *prepared, uint64_t id, int restarts, struct err *err)
{
	char host[HOST_NAME_MAX + 1] = "localhost";
	cpu_set_t cpus;
	struct slurmenv facts = {
		.id = id,
		.name = prepared->job.name,
		.class_name = prepared->job.class_name,
		.submit_dir = prepared->facts.submit_dir,
		.host = host,
		.restarts = restarts,
		.cpus = sched_getaffinity(0, sizeof cpus, &cpus) == 0 ? CPU_COUNT(&cpus) : 1,
		.memory_bytes = prepared->job.memory_bytes,
		.task_count = array_size(&prepared->job.array),
	};

	find_bounds(&prepared->job.array, &facts.task_min, &facts.task_max);

	if (gethostname(host, sizeof host - 1) == 0)
		host[strcspn(host, ".")] = '\0';
	prepared->slurm = slurmenv_new(&facts);
	return prepared->slurm ? 0 : err_sys(err, "cannot prepare the environment");
}

int prepare_environment(struct queue *queue, struct prepared *prepared, uint64_t id, int restarts, struct err *err)
{
	if (spool_load_environment(&queue->spool, prepared->facts.env_name, &prepared->environment,
				   &prepared->environment_block, err) < 0)
		return -1;
	if (prepared->job.slurm_env && make_slurm(prepared, id, restarts, err) < 0)
		return -1;
	size_t used = words_count(prepared->environment);
	size_t count = used + words_count(prepared->job.env) + words_count(prepared->slurm);

	prepared->list = malloc((count + 1) * sizeof *prepared->list);
	if (!prepared->list)
		return err_sys(err, "cannot prepare the environment");
	memcpy(prepared->list, prepared->environment, (used + 1) * sizeof *prepared->list);
	for (char **next = prepared->job.env; next && *next; next++) {
		char **old = find(prepared->list, *next);
		if (old) {
			*old = *next;
		} else {
			prepared->list[used++] = *next;
			prepared->list[used] = NULL;
		}
	}
	/* What the header itself sets stands. */
	for (char **next = prepared->slurm; next && *next; next++) {
		if (find(prepared->list, *next))
			continue;
		prepared->list[used++] = *next;
		prepared->list[used] = NULL;
	}
	const char *submit_dir = prepared->facts.submit_dir;

	prepared->extra[0] = fmt_new("PGPU_JOB_NAME=%s", prepared->job.name);
	prepared->extra[1] = fmt_new("PGPU_SUBMIT_DIR=%s", submit_dir ? submit_dir : "");
	prepared->extra[2] = fmt_new("PGPU_RESTART_COUNT=%d", restarts);
	if (!prepared->extra[0] || !prepared->extra[1] || !prepared->extra[2])
		return err_sys(err, "cannot prepare the environment");
	return name_task(prepared, id, err);
}

/* The script's bytes as a file that the interpreter can read; gone with the job. */
static int write_script(struct queue *queue, struct prepared *prepared, const struct entry *entry, struct err *err)
{
	fmt(prepared->script, sizeof prepared->script, "script-%s", JOBID(entry->id));
	return file_replace(queue->line.boot_fd, prepared->script, prepared->job.script, prepared->job.script_size,
			    FILE_VOLATILE, err);
}

/* "#! INTERPRETER [ONE ARGUMENT]"; the argument is the rest of the line, as the kernel takes it. */
static int read_interpreter(struct prepared *prepared, char **ret_argument, struct err *err)
{
	const char *script = prepared->job.script;

	*ret_argument = NULL;
	if (strncmp(script, "#!", 2) != 0) {
		prepared->interpreter = strdup("/bin/sh");
		return prepared->interpreter ? 0 : err_sys(err, "cannot read the script");
	}
	const char *start = script + 2 + strspn(script + 2, " \t");
	prepared->interpreter = strndup(start, strcspn(start, "\n"));
	if (!prepared->interpreter)
		return err_sys(err, "cannot read the script");
	char *end = prepared->interpreter + strlen(prepared->interpreter);
	while (end > prepared->interpreter && (end[-1] == ' ' || end[-1] == '\t'))
		*--end = '\0';
	char *blank = strpbrk(prepared->interpreter, " \t");
	if (blank) {
		*blank = '\0';
		*ret_argument = blank + 1 + strspn(blank + 1, " \t");
	}
	return prepared->interpreter[0]
		       ? 0
		       : err_set(err, EXIT_NO_START, "cannot start the script: its #! line names no interpreter");
}

static int build_argv(struct queue *queue, struct prepared *prepared, const struct entry *entry, struct err *err)
{
	const struct job *job = &prepared->job;
	size_t used = 0, count = words_count(job->argv);
	char *argument = NULL, state[PATH_MAX];

	prepared->argv = calloc(count + 6, sizeof *prepared->argv);
	if (!prepared->argv)
		return err_sys(err, "cannot prepare the command");
	if (job->body == JOB_BODY_SHELL) {
		prepared->argv[used++] = "/bin/sh";
		prepared->argv[used++] = "-c";
		prepared->argv[used++] = job->script;
		prepared->argv[used++] = "sh";
	} else if (job->body != JOB_BODY_ARGV) {
		const char *boot = procid_boot(err);
		if (!boot || read_interpreter(prepared, &argument, err) < 0 ||
		    write_script(queue, prepared, entry, err) < 0 || paths_state(state, err) < 0)
			return -1;
		prepared->script_path = fmt_new("%s/boot-%s/%s", state, boot, prepared->script);
		if (!prepared->script_path)
			return err_sys(err, "cannot prepare the command");
		prepared->argv[used++] = prepared->interpreter;
		if (argument && *argument)
			prepared->argv[used++] = argument;
		prepared->argv[used++] = prepared->script_path;
	}
	for (size_t i = 0; i < count; i++)
		prepared->argv[used++] = job->argv[i];
	return 0;
}

/* Its output is there already, and not empty; `*why` says so. */
static bool is_done(const struct prepared *prepared, const struct entry *entry, struct err *why)
{
	const struct job *job = &prepared->job;
	char path[PATH_MAX];
	struct stat found;

	if (!job->skip_existing ||
	    job_output_path(job->skip_existing, entry->id, entry->restarts, job->name, path, sizeof path, NULL) < 0 ||
	    stat(path, &found) < 0 || !S_ISREG(found.st_mode) || found.st_size == 0)
		return false;
	err_set(why, EXIT_OK, "left out: %.400s is there", path);
	return true;
}

int prepare_job(struct queue *queue, enum spool_state state, const char *file, const struct entry *entry,
		struct prepared *ret_prepared, struct task *task, struct err *err)
{
	struct prepared *prepared = ret_prepared;
	struct sigaction plain = { .sa_handler = SIG_DFL };
	struct stat found;

	*prepared = (struct prepared){ .job = JOB_EMPTY, .files = { -1, -1, -1 } };
	if (spool_read(&queue->spool, state, file, &prepared->job, &prepared->facts, err) < 0)
		return -1;
	if (is_done(prepared, entry, err))
		return 1;
	if (prepare_environment(queue, prepared, entry->id, entry->restarts, err) < 0 ||
	    build_argv(queue, prepared, entry, err) < 0 || check_workdir(prepared, err) < 0 ||
	    open_files(prepared, entry, err) < 0)
		return no_start(err);
	task->launch = (struct launch){
		.argv = prepared->argv,
		.workdir = prepared->job.workdir,
		.fds = { prepared->files[0], prepared->files[1], prepared->files[2] },
		.only_three = true,
		.umask = prepared->facts.umask,
		.limits = prepared->facts.limits_known ? prepared->facts.limits : NULL,
		.own_session = true,
		.on_child = plain,
	};
	for (int i = 0; i < 2; i++)
		task->output_from[i] = fstat(prepared->files[i + 1], &found) == 0 ? found.st_size : 0;
	sigemptyset(&task->launch.mask);
	task->environment = prepared->list;
	task->budget_signal = prepared->job.budget_signal ? prepared->job.budget_signal : "";
	task->extra = prepared->extra;
	task->min_run_ns = prepared->job.min_run_ns;
	task->needs_card = prepared->job.card[0] != '\0';
	return 0;
}

void prepare_free(struct queue *queue, struct prepared *prepared)
{
	if (prepared->script[0])
		unlinkat(queue->line.boot_fd, prepared->script, 0);
	for (int fd = 0; fd < 3; fd++)
		scope_close(&prepared->files[fd]);
	for (size_t i = 0; i < sizeof prepared->extra / sizeof prepared->extra[0]; i++)
		free(prepared->extra[i]);
	words_free(prepared->slurm);
	free(prepared->environment);
	free(prepared->environment_block);
	free(prepared->list);
	free(prepared->argv);
	free(prepared->interpreter);
	free(prepared->script_path);
	job_facts_free(&prepared->facts);
	job_free(&prepared->job);
}
