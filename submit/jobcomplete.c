/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * From what a person wrote to what will run: every default filled in, every name of a folder made absolute, and what
 * can be known now to fail later refused now. What was asked for is refused where this machine cannot give it; what is
 * only a default is fitted to the machine.
 */
#include "job.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include "conf/base/account.h"
#include "conf/base/clock.h"
#include "conf/base/fmt.h"
#include "conf/base/scope.h"
#include "conf/base/text.h"
#include "jobplace.h"
#include "jobset.h"

/* Puts "FILE:LINE:COLUMN: KEY: " in front, the place only where the value came from the file. */
static int blame(const struct job *job, enum job_key key, struct err *err)
{
	err_wrap(err, "%s", jobset_key_name(key));
	return job->places[key].line ? jobplace_blame(job->file_name, job->places[key], err) : -1;
}

#define REFUSE(job, key, err, ...) (err_set(err, EXIT_USAGE, __VA_ARGS__), blame(job, key, err))

static int set_default(char **field, const char *text, struct err *err)
{
	if (*field)
		return 0;
	*field = strdup(text);
	return *field ? 0 : jobset_no_memory(err);
}

/* A command's file name; a file's was taken when it was read. */
static int complete_name(struct job *job, struct err *err)
{
	char name[JOB_NAME_MAX + 1];
	const char *command = job->body == JOB_BODY_ARGV && job->argv && job->argv[0] ? job->argv[0] : "job";
	const char *slash = strrchr(command, '/');

	text_show(slash && slash[1] ? slash + 1 : command, name, sizeof name);
	return set_default(&job->name, *name ? name : "job", err);
}

static int complete_class(struct job *job, const struct conf *conf, const char *fallback,
			  const struct conf_class **ret_class, struct err *err)
{
	if (set_default(&job->class_name, fallback, err) < 0)
		return -1;
	*ret_class = conf_class_need(conf, job->class_name, err);
	return *ret_class ? 0 : blame(job, JOB_KEY_CLASS, err);
}

/* The class's own limit belongs to the class's own budget: one that asks for more gets twice what it asks for. */
static void complete_times(struct job *job, const struct conf_class *class)
{
	int64_t class_limit_ns = class->limit_ns ? class->limit_ns : 2 * class->budget_ns;

	if (!job->budget_ns && !job->limit_ns) {
		job->budget_ns = class->budget_ns;
		job->limit_ns = class_limit_ns;
	} else if (!job->limit_ns) {
		job->limit_ns = 2 * job->budget_ns;
	} else if (!job->budget_ns) {
		job->budget_ns = job->limit_ns > 1 ? job->limit_ns / 2 : 1;
	}
}

static int complete_memory(struct job *job, const struct conf *conf, const struct conf_class *class, struct err *err)
{
	uint64_t ram = conf_ram(conf);

	if (!job->vram_bytes)
		job->vram_bytes = class->vram_bytes;
	if (!job->vram_max_bytes)
		job->vram_max_bytes = class->vram_max_bytes;
	char asked[TEXT_SIZE], there[TEXT_SIZE];

	if (!job->memory_bytes) {
		job->memory_default = !class->memory_bytes;
		job->memory_bytes = class->memory_bytes ? class->memory_bytes : conf->memory_bytes;
		if (job->memory_bytes > ram)
			job->memory_bytes = ram;
	}
	if (job->memory_bytes <= ram) {
		job->reserved_bytes = job->memory_default ? 0 : job->memory_bytes;
		return 0;
	}
	text_size_show(job->memory_bytes, asked);
	text_size_show(ram, there);
	return REFUSE(job, JOB_KEY_MEMORY, err, "%s is above ram, %s%s", asked, there,
		      conf->ram_bytes ? "" : " (90% of this machine's)");
}

/* `folder`/`name`, or `name` where it is absolute. */
static char *join(const char *folder, const char *name)
{

	if (*name == '/')
		return strdup(name);
	return fmt_new("%s/%s", strcmp(folder, "/") == 0 ? "" : folder, name);
}

/* Resolved now, so that a link that is turned elsewhere before the start does not move the job. */
static int complete_workdir(struct job *job, const char *submit_dir, struct err *err)
{
	SCOPE_FREE char *path = job->workdir ? join(submit_dir, job->workdir) : strdup(submit_dir);
	struct stat st;

	if (!path)
		return jobset_no_memory(err);
	/* getcwd(3) knows no links. */
	char *real = job->workdir ? realpath(path, NULL) : TAKE(path);
	if (!real)
		return REFUSE(job, JOB_KEY_WORKDIR, err, "cannot use folder '%.300s': %s", path ? path : submit_dir,
			      strerror(errno));
	free(job->workdir);
	job->workdir = real;
	if (stat(real, &st) < 0 || !S_ISDIR(st.st_mode))
		return REFUSE(job, JOB_KEY_WORKDIR, err, "'%.300s' is not a folder", real);
	if (access(real, X_OK) < 0)
		return REFUSE(job, JOB_KEY_WORKDIR, err, "cannot use folder '%.300s': %s", real, strerror(errno));
	return 0;
}

static bool holds_git(const char *folder)
{
	SCOPE_FREE char *path = join(folder, ".git");

	return path && access(path, F_OK) == 0;
}

static int complete_session(struct job *job, struct err *err)
{
	SCOPE_FREE char *folder = strdup(job->workdir);
	char clean[JOB_SESSION_MAX + 1];

	if (!folder)
		return jobset_no_memory(err);
	while (!holds_git(folder)) {
		char *slash = strrchr(folder, '/');
		if (!slash || slash == folder) {
			memcpy(folder, job->workdir, strlen(job->workdir) + 1);
			break;
		}
		*slash = '\0';
	}
	text_session_clean(strrchr(folder, '/') + 1, clean, sizeof clean);
	return set_default(&job->session, clean, err);
}

/* A text as a pattern: a '%' in it must not begin anything. */
static void put_plain(struct buf *path, const char *text)
{
	for (; *text; text++)
		buf_add(path, *text == '%' ? "%%" : text, *text == '%' ? 2 : 1);
}

/* The name of the user, as it is to stand in a path; of one without a name its number. */
static void put_user(struct buf *path)
{
	char user[JOB_NAME_MAX + 1], shown[JOB_NAME_MAX + 1];

	if (!account_user(geteuid(), user, sizeof user))
		fmt(user, sizeof user, "%u", geteuid());
	const struct job_pattern values = { .name = "", .user = user };
	if (job_output_expand("%u", &values, shown, sizeof shown, NULL) == 0)
		put_plain(path, shown);
}

/* The pattern with %u filled in: whoever looks for the file later need not ask again who that was. */
static void put_pattern(struct buf *path, const char *pattern)
{
	for (const char *p = pattern; *p; p++) {
		const char *letter = p + 1 + (*p == '%' ? strspn(p + 1, "0123456789") : 0);
		if (*p == '%' && *letter == 'u') {
			put_user(path);
			p = letter;
		} else {
			size_t count = *p == '%' && p[1] ? 2 : 1;
			buf_add(path, p, count);
			p += count - 1;
		}
	}
}

/* The workdir before a relative pattern. */
static int make_absolute(char **pattern, const char *workdir, struct err *err)
{
	SCOPE_BUF struct buf path = BUF_EMPTY;

	if (**pattern != '/') {
		put_plain(&path, strcmp(workdir, "/") == 0 ? "" : workdir);
		buf_puts(&path, "/");
	}
	put_pattern(&path, *pattern);
	if (!buf_ok(&path))
		return jobset_no_memory(err);
	free(*pattern);
	*pattern = path.text;
	path = BUF_EMPTY;
	return 0;
}

/* The part of a pattern that is the same for every job; true when that is all of it. */
static bool fixed_part(const char *pattern, char *path, size_t size)
{
	size_t used = 0;

	for (const char *p = pattern; *p && used + 1 < size; p++) {
		if (*p == '%' && *++p != '%') {
			path[used] = '\0';
			return false;
		}
		path[used++] = *p;
	}
	path[used] = '\0';
	return true;
}

/* Folders that are missing are made when the job starts, so it is the nearest one there is that must let us write. */
/* Root may write to a folder of /proc or /sys, and still no file can be made in it. */
static int refuse_kernel_tree(const char *path, struct err *err)
{
	enum { PROC_MAGIC = 0x9fa0, SYSFS_MAGIC = 0x62656572 };
	struct statfs tree;

	if (statfs(path, &tree) < 0 || (tree.f_type != PROC_MAGIC && tree.f_type != SYSFS_MAGIC))
		return 0;
	return err_set(err, EXIT_USAGE, "folder '%.300s' cannot be written: it is the kernel's", path);
}

static int check_folder(char *path, struct err *err)
{
	struct stat st;
	char *slash;

	while ((slash = strrchr(path, '/'))) {
		slash[slash == path] = '\0';
		if (stat(path, &st) == 0 && !S_ISDIR(st.st_mode))
			return err_set(err, EXIT_USAGE, "'%.300s' is not a folder", path);
		if (access(path, W_OK | X_OK) == 0)
			return refuse_kernel_tree(path, err);
		if (errno != ENOENT && errno != ENOTDIR)
			return err_set(err, EXIT_USAGE, "folder '%.300s' cannot be written: %s", path, strerror(errno));
		if (slash == path)
			break;
	}
	return 0;
}

static int check_output(const char *pattern, const char *name, struct err *err)
{
	char path[PATH_MAX];
	struct stat st;

	if (job_output_path(pattern, UINT64_MAX, INT_MAX, name, path, sizeof path, err) < 0)
		return -1;
	if (!fixed_part(pattern, path, sizeof path) || stat(path, &st) < 0)
		return check_folder(path, err);
	if (S_ISDIR(st.st_mode))
		return err_set(err, EXIT_USAGE, "'%.300s' is a folder", path);
	if (access(path, W_OK) < 0)
		return err_set(err, EXIT_USAGE, "'%.300s' cannot be written: %s", path, strerror(errno));
	return 0;
}

static int complete_output(struct job *job, char **pattern, enum job_key key, struct err *err)
{
	if (make_absolute(pattern, job->workdir, err) < 0)
		return -1;
	return check_output(*pattern, job->name, err) < 0 ? blame(job, key, err) : 0;
}

/* It runs for as long as nobody else wants the card: its class's times are not meant for it, and its own are a
 * mistake. */
static int check_standing(struct job *job, struct err *err)
{
	static const char why[] = "a standing job has none; it runs until the card is wanted";

	if (job->budget_ns)
		return REFUSE(job, JOB_KEY_BUDGET, err, "%s", why);
	if (job->begin_wall_ns)
		return REFUSE(job, JOB_KEY_BEGIN, err, "%s", why);
	if (job->after.count)
		return REFUSE(job, JOB_KEY_AFTER, err, "%s", why);
	if (job->array.count)
		return REFUSE(job, JOB_KEY_ARRAY, err, "%s", why);
	if (job->limit_ns)
		return REFUSE(job, JOB_KEY_LIMIT, err, "%s", why);
	if (job->retries)
		return REFUSE(job, JOB_KEY_RETRIES, err, "%s", why);
	if (job->min_run_ns > 0)
		return REFUSE(job, JOB_KEY_MIN_RUN_TIME, err, "%s", why);
	return job->budget_signal ? REFUSE(job, JOB_KEY_BUDGET_SIGNAL, err, "%s", why) : 0;
}

static int check_begin(struct job *job, struct err *err)
{
	if (job->begin_wall_ns && !job->begin_recorded && job->begin_wall_ns <= clock_wall_ns())
		return REFUSE(job, JOB_KEY_BEGIN, err, "this time is over");
	return 0;
}

/* Not looked at before the task is to start: the folder may be made by then. */
static int complete_array(struct job *job, struct err *err)
{
	if (job->order == ARRAY_SPARSE && job->array.count == 0)
		return REFUSE(job, JOB_KEY_ORDER, err, "only the tasks of an array have one");
	return job->skip_existing ? make_absolute(&job->skip_existing, job->workdir, err) : 0;
}

int job_complete(struct job *job, const struct conf *conf, const char *submit_dir, struct err *err)
{
	const struct conf_class *class;

	if (complete_name(job, err) < 0 || complete_class(job, conf, conf->submit_class, &class, err) < 0 ||
	    check_begin(job, err) < 0 || (job->standing && check_standing(job, err) < 0))
		return -1;
	if (!job->standing) {
		complete_times(job, class);
		if (!job->min_run_ns)
			job->min_run_ns = class->min_run_ns;
		if (class->budget_signal[0] && set_default(&job->budget_signal, class->budget_signal, err) < 0)
			return -1;
	}
	if (complete_memory(job, conf, class, err) < 0 || complete_workdir(job, submit_dir, err) < 0 ||
	    complete_session(job, err) < 0 || complete_array(job, err) < 0 ||
	    set_default(&job->output, job->array.count ? "pgpu-%A_%a.out" : "pgpu-%j.out", err) < 0 ||
	    complete_output(job, &job->output, JOB_KEY_OUTPUT, err) < 0)
		return -1;
	if (!job->on_end && conf_on_end(conf, job->class_name, &job->on_end) < 0)
		return jobset_no_memory(err);
	return job->error ? complete_output(job, &job->error, JOB_KEY_ERROR, err) : 0;
}

int job_complete_run(struct job *job, const struct conf *conf, const char *workdir, struct err *err)
{
	const struct conf_class *class;

	if (complete_name(job, err) < 0 || complete_class(job, conf, conf->run_class, &class, err) < 0 ||
	    set_default(&job->workdir, workdir, err) < 0)
		return -1;
	complete_times(job, class);
	return complete_memory(job, conf, class, err) < 0 ? -1 : complete_session(job, err);
}
