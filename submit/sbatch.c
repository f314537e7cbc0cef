/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sbatch.h"

#include <string.h>

#include "conf/base/clock.h"
#include "conf/base/scope.h"
#include "conf/base/sigspec.h"
#include "conf/jobid.h"
#include "jobset.h"

/* An option's value as one word of a #SBATCH line: in quotes where it has to be. */
static int put_option(struct buf *script, const char *option, const char *value, struct err *err)
{
	if (strpbrk(value, "\n\r"))
		return err_set(err, EXIT_USAGE, "%s has a line break, which an #SBATCH line cannot hold", option);
	buf_printf(script, "#SBATCH --%s=", option);
	if (!strpbrk(value, " \t\"'\\#") && value[0]) {
		buf_printf(script, "%s\n", value);
		return 0;
	}
	buf_puts(script, "\"");
	for (; *value; value++) {
		if (strchr("\"\\", *value))
			buf_puts(script, "\\");
		buf_add(script, value, 1);
	}
	buf_puts(script, "\"\n");
	return 0;
}

/* Slurm counts whole minutes, and rounds up by itself. */
static void put_time(struct buf *script, int64_t limit_ns)
{
	int64_t seconds = (limit_ns + NS_PER_S - 1) / NS_PER_S;

	if (limit_ns)
		buf_printf(script, "#SBATCH --time=%lld:%02d:%02d\n", (long long)(seconds / 3600),
			   (int)(seconds / 60 % 60), (int)(seconds % 60));
}

/* A moment of the local time, as Slurm reads it: without the offset. */
static void put_begin(struct buf *script, int64_t begin_wall_ns)
{
	char text[CLOCK_TEXT];

	clock_wall_format(begin_wall_ns, text);
	text[strcspn(text, "+Z")] = '\0';
	buf_printf(script, "#SBATCH --begin=%.19s\n", text);
}

/* Slurm's %j of a task is a number of its own; ours is the array's and the task's. */
static int put_pattern(struct buf *script, const char *option, const char *pattern, bool array, struct err *err)
{
	SCOPE_BUF struct buf value = BUF_EMPTY;

	for (const char *at = pattern; *at; at++) {
		if (*at != '%') {
			buf_add(&value, at, 1);
			continue;
		}
		size_t digits = strspn(at + 1, "0123456789");
		char letter = at[1 + digits];
		if (letter == 'r')
			return err_set(err, EXIT_USAGE, "%s: Slurm has no %%r, how often a job was restarted", option);
		if (letter == 'j' && array)
			buf_puts(&value, "%A_%a");
		else
			buf_add(&value, at, letter ? digits + 2 : 1);
		at += letter ? digits + 1 : 0;
	}
	buf_add(&value, "", 0);
	return put_option(script, option, value.text ? value.text : "", err);
}

/* sbatch cuts the list at commas, and reads quotes. */
static int put_assignments(struct buf *list, char *const *assignments, struct err *err)
{
	for (; assignments && *assignments; assignments++) {
		size_t name = strcspn(*assignments, "=");
		if (strpbrk(*assignments, ",\"'\n"))
			return err_set(err, EXIT_USAGE,
				       "env: the value of %.*s has a comma, a quote or a line break, which sbatch's "
				       "--export cannot hold",
				       (int)name, *assignments);
		buf_printf(list, "%s%s", list->size ? "," : "", *assignments);
	}
	return 0;
}

static int put_export(struct buf *script, const struct job *job, struct err *err)
{
	SCOPE_BUF struct buf list = BUF_EMPTY;

	if (job->export == JOB_EXPORT_ALL && !job->export_names && !job->env)
		return 0;
	if (job->export != JOB_EXPORT_LIST)
		buf_puts(&list, job->export == JOB_EXPORT_ALL ? "ALL" : "NONE");
	/* NONE stands alone there. */
	if (job->export == JOB_EXPORT_NONE && job->env)
		return err_set(err, EXIT_USAGE, "env: sbatch has no --export=NONE with variables beside it");
	if (put_assignments(&list, job->export_names, err) < 0 || put_assignments(&list, job->env, err) < 0)
		return -1;
	buf_add(&list, "", 0);
	return put_option(script, "export", list.text ? list.text : "NONE", err);
}

static int put_after(struct buf *script, const struct after_list *after, struct err *err)
{
	for (size_t i = 0; i < after->count; i++) {
		if (after->list[i].kind != AFTER_SINGLETON)
			return err_set(err, EXIT_USAGE,
				       "after: job %s is one of this queue, of which Slurm knows nothing",
				       JOBID(after->list[i].id));
		buf_puts(script, "#SBATCH --dependency=singleton\n");
	}
	return 0;
}

/*
 * So long before its end: the budget is over then, or that much earlier. Without B: Slurm signals the steps that srun
 * started and not the script, of which a job that comes from here has none.
 */
static int put_signal(struct buf *script, const struct job *full, struct buf *notices, struct err *err)
{
	enum { AHEAD_MAX = 65535 }; /* seconds, sbatch(1) */
	struct sigspec spec = { 0 };
	char name[24];

	if (full->budget_signal && sigspec_parse(full->budget_signal, &spec, err) < 0)
		return -1;
	if (spec.sig == 0 || !full->limit_ns)
		return 0;
	int64_t ahead_s = (full->limit_ns - full->budget_ns + spec.ahead_ns) / NS_PER_S;
	if (!spec.first_alone)
		buf_puts(notices, "budget-signal goes to the script alone, not to what it has started\n");
	if (ahead_s > AHEAD_MAX) {
		buf_puts(notices,
			 "budget-signal comes later than its time: Slurm has at most 65535 s before the end\n");
		ahead_s = AHEAD_MAX;
	}
	sigspec_name(spec.sig, name);
	buf_printf(script, "#SBATCH --signal=B:%s@%d\n", name, (int)ahead_s);
	return 0;
}

static int put_files(struct buf *script, const struct job *written, struct err *err)
{
	bool array = written->array.count > 0;
	const char *usual = array ? "pgpu-%A_%a.out" : "pgpu-%j.out";

	if (written->workdir && put_option(script, "chdir", written->workdir, err) < 0)
		return -1;
	if (put_pattern(script, "output", written->output ? written->output : usual, array, err) < 0 ||
	    (written->error && put_pattern(script, "error", written->error, array, err) < 0))
		return -1;
	buf_printf(script, "#SBATCH --open-mode=%s\n", written->truncate ? "truncate" : "append");
	return 0;
}

static int put_names(struct buf *script, const struct job *full, const struct sbatch_names *names, struct err *err)
{
	if (put_option(script, "job-name", full->name, err) < 0 ||
	    (names->partition && put_option(script, "partition", names->partition, err) < 0) ||
	    (names->qos && put_option(script, "qos", names->qos, err) < 0) ||
	    (names->gres && put_option(script, "gres", names->gres, err) < 0))
		return -1;
	return 0;
}

static int put_options(struct buf *script, const struct job *written, const struct job *full,
		       const struct sbatch_names *names, struct buf *notices, struct err *err)
{
	if (put_names(script, full, names, err) < 0)
		return -1;
	put_time(script, full->limit_ns);
	/* A ceiling that nobody named is a guard of this machine's. */
	if (!full->memory_default)
		buf_printf(script, "#SBATCH --mem=%lluM\n", (unsigned long long)((full->memory_bytes + 1048575) >> 20));
	if (full->nice)
		buf_printf(script, "#SBATCH --nice=%d\n", full->nice);
	buf_puts(script, full->requeue ? "#SBATCH --requeue\n" : "#SBATCH --no-requeue\n");
	buf_puts(script, full->hold ? "#SBATCH --hold\n" : "");
	if (full->array.count) {
		buf_puts(script, "#SBATCH --array=");
		array_put(&full->array, script);
		buf_puts(script, "\n");
	}
	if (full->begin_wall_ns)
		put_begin(script, full->begin_wall_ns);
	if (put_signal(script, full, notices, err) < 0 || put_after(script, &full->after, err) < 0 ||
	    put_files(script, written, err) < 0)
		return -1;
	return put_export(script, written, err);
}

static void note_missing(const struct job *job, struct buf *notices)
{
	const struct {
		bool there;
		const char *key, *instead;
	} missing[] = {
		{ job->vram_bytes, "vram", "ask for a card that has it, by --gres" },
		{ job->card[0], "card", "Slurm gives one by --gres" },
		{ job->vram_max_bytes, "vram-max", "nobody enforces it there" },
		{ job->retries, "retries", "it fails once" },
		{ job->min_run_ns, "min-run-time", "it counts for nothing there" },
		{ job->dedupe, "dedupe", "--dependency=singleton is the nearest" },
		{ job->on_end, "on-end", "--mail-type is the nearest" },
		{ job->skip_existing, "skip-existing", "each task is to look by itself" },
		{ job->order == ARRAY_SPARSE, "order", "tasks start as they are numbered" },
	};

	for (size_t i = 0; i < sizeof missing / sizeof missing[0]; i++) {
		if (missing[i].there)
			buf_printf(notices, "%s is left out: %s\n", missing[i].key, missing[i].instead);
	}
}

static void put_body(struct buf *script, const struct job *job, const struct buf *options)
{
	const char *text = job->script ? job->script : "";
	size_t first = 0;

	if (job->body != JOB_BODY_SHELL && job->body != JOB_BODY_ARGV && strncmp(text, "#!", 2) == 0) {
		const char *end = memchr(text, '\n', job->script_size);
		first = end ? (size_t)(end - text) + 1 : job->script_size;
		buf_add(script, text, first);
		buf_puts(script, end ? "" : "\n");
	} else {
		buf_puts(script, "#!/bin/sh\n");
	}
	buf_add(script, options->text, options->size);
	if (job->body == JOB_BODY_ARGV) {
		buf_puts(script, "exec ");
		buf_shell_line(script, job->argv);
		buf_puts(script, "\n");
		return;
	}
	buf_add(script, text + first, job->script_size - first);
	if (job->body == JOB_BODY_SHELL)
		buf_puts(script, "\n");
}

int sbatch_write(const struct job *written, const struct job *full, const struct sbatch_names *names,
		 struct buf *script, struct buf *notices, struct err *err)
{
	SCOPE_BUF struct buf options = BUF_EMPTY;

	if (full->standing)
		return err_set(err, EXIT_USAGE,
			       "standing: Slurm has no job that steps aside while others want the card");
	if (put_options(&options, written, full, names, notices, err) < 0)
		return -1;
	put_body(script, full, &options);
	note_missing(full, notices);
	if (buf_ok(&options) && buf_ok(script) && buf_ok(notices))
		return 0;
	return err_sys(err, "cannot write the script");
}
