/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * `pgpu submit`: reads and checks every job first, then makes them durable, then prints their ids, then sees that what
 * can start does. A submit that printed an id is on disk; one that failed left nothing.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "conf/base/buf.h"
#include "conf/base/clock.h"
#include "conf/base/file.h"
#include "conf/base/say.h"
#include "conf/base/scope.h"
#include "conf/jobid.h"
#include "runner/await.h"
#include "runner/card.h"
#include "runner/commands.h"
#include "runner/depend.h"
#include "runner/options.h"
#include "runner/queue.h"
#include "runner/vram.h"
#include "submit/dedupe.h"
#include "submit/job.h"
#include "submit/spool.h"
#include "submit/spooltasks.h"

static const char usage[] =
	"usage: pgpu submit [options] FILE...\n"
	"       pgpu submit [options] FILE -- ARG...\n"
	"       pgpu submit [options] -- CMD [ARG...]\n"
	"       pgpu submit [options] -\n"
	"Spools job files, or a command, or standard input; prints one job id a line.\n"
	"\n"
	"  -p, --class CLASS      row of the class table (also --partition)\n"
	"      --as SESSION       the name whose jobs take turns with others' (also --session)\n"
	"  -J, --name NAME        shown in lists, %x in paths (also --job-name)\n"
	"      --budget TIME      a line is said when it is over: 90s, 15m, 1h30m\n"
	"  -t, --limit TIME       the hard end; twice the budget by default (also --time)\n"
	"  -m, --memory SIZE      ceiling of the job's RAM: 512M, 24G (also --mem)\n"
	"      --vram SIZE        waits until the card has so much memory free: 12G\n"
	"      --card CARD        any, or the PCI address of one: 0000:03:00.0\n"
	"      --vram-max SIZE    ceiling of each card's memory\n"
	"      --retries N        starts again that often when it fails, later each time\n"
	"      --nice N           later than the others of its session and class; below 0: earlier\n"
	"  -o, --output PATH      %j id, %x name, %u user, %r restarts, %4j padded, %% percent\n"
	"  -e, --error PATH       by default the output's\n"
	"      --open-mode MODE   append, or truncate: its first start empties those files\n"
	"  -D, --workdir DIR      the folder it runs in (also --chdir)\n"
	"      --requeue          back in line when its worker or machine died; --no-requeue ends it\n"
	"  -a, --array LIST       one task for each number: 1-250, 0-99%4, 1,5,9-20:2\n"
	"  -d, --after LIST       afterok:ID, afterany:ID, afternotok:ID, singleton, ... (also --dependency)\n"
	"  -b, --begin TIME       not before: 22:00, tomorrow 02:30, 2026-12-01T02:30, now+1h\n"
	"  -H, --hold             does not start until it is released\n"
	"      --standing         a service: runs only while nobody else wants the card\n"
	"      --dedupe KEY       not if a job that waits or runs has this key: prints that one's id\n"
	"      --export LIST      all, none, or NAME,NAME=VALUE,... of the environment\n"
	"  -W, --wait             returns when all have ended, with the last one's exit code\n"
	"      --dry-run          checks, prints the header in full, spools nothing (also --test-only)\n"
	"      --json             prints one JSON array instead of ids\n"
	"  -q, --quiet            no lines of pgpu's own but errors\n"
	"      --help             print this\n";

enum { OPT_HELP = 256, OPT_DRY_RUN, OPT_JSON, OPT_KEY };

/* Every option that sets a header key, long name and short letter alike; `val` beyond OPT_KEY is its place in this
 * table. */
static const struct {
	char name[12];
	char letter;
	char key[10];
	char fixed[6]; /* the value of an option that takes none */
} keys[] = {
	{ "class", 'p', "class", "" },
	{ "partition", 0, "class", "" },
	{ "as", 0, "session", "" },
	{ "session", 0, "session", "" },
	{ "name", 'J', "name", "" },
	{ "job-name", 0, "name", "" },
	{ "budget", 0, "budget", "" },
	{ "limit", 't', "limit", "" },
	{ "time", 0, "limit", "" },
	{ "memory", 'm', "memory", "" },
	{ "mem", 0, "memory", "" },
	{ "vram", 0, "vram", "" },
	{ "vram-max", 0, "vram-max", "" },
	{ "card", 0, "card", "" },
	{ "output", 'o', "output", "" },
	{ "error", 'e', "error", "" },
	{ "open-mode", 0, "open-mode", "" },
	{ "workdir", 'D', "workdir", "" },
	{ "chdir", 0, "workdir", "" },
	{ "requeue", 0, "requeue", "true" },
	{ "no-requeue", 0, "requeue", "false" },
	{ "export", 0, "export", "" },
	{ "hold", 'H', "hold", "true" },
	{ "begin", 'b', "begin", "" },
	{ "after", 'd', "after", "" },
	{ "dependency", 0, "after", "" },
	{ "array", 'a', "array", "" },
	{ "standing", 0, "standing", "true" },
	{ "dedupe", 0, "dedupe", "" },
	{ "nice", 0, "nice", "" },
	{ "retries", 0, "retries", "" },
};
enum { KEYS = sizeof keys / sizeof keys[0], SETTINGS_MAX = 64 };

struct request {
	struct {
		const char *key, *value;
	} settings[SETTINGS_MAX];
	int setting_count;
	bool wait, dry_run, json, help;
	char **files; /* into argv */
	int file_count;
	char **arguments; /* of the script, or the command itself where there is no file; NULL-ended or NULL */
};

struct jobs {
	struct job *list;
	struct job_facts *facts;
	struct dedupe *keys; /* NULL: none of them has one */
	int count;
};

static void fill_options(struct option table[KEYS + 8])
{
	static const struct option more[] = {
		{ "wait", OPTION_FLAG, 'W' },
		{ "dry-run", OPTION_FLAG, OPT_DRY_RUN },
		{ "test-only", OPTION_FLAG, OPT_DRY_RUN },
		{ "json", OPTION_FLAG, OPT_JSON },
		{ "quiet", OPTION_FLAG, 'q' },
		{ "help", OPTION_FLAG, OPT_HELP },
		{ .name = "" },
	};

	for (int i = 0; i < KEYS; i++) {
		memcpy(table[i].name, keys[i].name, sizeof table[i].name);
		table[i].takes = keys[i].fixed[0] ? OPTION_FLAG : OPTION_VALUE;
		table[i].option = OPT_KEY + i;
	}
	memcpy(table + KEYS, more, sizeof more);
}

static int read_setting(struct request *request, int option, const char *value, struct err *err)
{
	for (int i = 0; i < KEYS; i++) {
		if (option != OPT_KEY + i && (keys[i].letter == 0 || option != keys[i].letter))
			continue;
		if (request->setting_count == SETTINGS_MAX)
			return err_set(err, EXIT_USAGE, "submit: too many options");
		request->settings[request->setting_count].key = keys[i].key;
		request->settings[request->setting_count++].value = keys[i].fixed[0] ? keys[i].fixed : value;
		return 0;
	}
	switch (option) {
	case 'W': request->wait = true; break;
	case 'q': say_quiet(true); break;
	case OPT_DRY_RUN: request->dry_run = true; break;
	case OPT_JSON: request->json = true; break;
	default: request->help = true;
	}
	return 0;
}

static int read_request(struct request *request, int argc, char **argv, struct err *err)
{
	struct option table[KEYS + 8];
	struct options options = OPTIONS("submit", argc, argv, "+p:J:t:m:o:e:D:a:b:d:HWq", table);

	fill_options(table);
	for (int option; (option = options_next(&options, err)) != 0;) {
		if (option < 0 || read_setting(request, option, options.value, err) < 0)
			return -1;
		if (request->help)
			return 0;
	}
	if (options.next > 1 && strcmp(argv[options.next - 1], "--") == 0) {
		request->arguments = argv + options.next;
		return *request->arguments ? 0 : err_set(err, EXIT_USAGE, "submit: a command is missing behind '--'");
	}
	request->files = argv + options.next;
	for (; options.next < argc && strcmp(argv[options.next], "--") != 0; options.next++) {
		if (argv[options.next][0] == '-' && argv[options.next][1])
			return err_set(err, EXIT_USAGE,
				       "submit: option '%.64s' stands behind a file; options come first",
				       argv[options.next]);
		request->file_count++;
	}
	if (request->file_count == 0)
		return err_set(err, EXIT_USAGE, "submit: a job file is missing (pgpu submit [options] FILE...)");
	if (options.next < argc)
		request->arguments = argv + options.next + 1;
	if (request->arguments && request->file_count > 1)
		return err_set(err, EXIT_USAGE, "submit: arguments behind '--' belong to one file, not to %d",
			       request->file_count);
	return 0;
}

static int apply(const struct request *request, struct job *job, struct err *err)
{
	const char *class_name = getenv("PGPU_CLASS");

	for (int i = 0; i < request->setting_count; i++) {
		if (job_set(job, request->settings[i].key, request->settings[i].value, err) < 0)
			return err_wrap(err, "submit");
	}
	if (!job->class_name && class_name && class_name[0] && job_set(job, "class", class_name, err) < 0)
		return err_wrap(err, "PGPU_CLASS");
	return request->arguments ? job_set_argv(job, request->arguments, err) : 0;
}

/* A line each. */
static void tell_notices(const struct buf *notices)
{
	for (const char *line = notices->text; line && *line;) {
		size_t length = strcspn(line, "\n");
		say("%.*s", (int)length, line);
		line += length + (line[length] == '\n');
	}
}

static int parse_file(const char *name, struct job *job, struct buf *notices, struct err *err)
{
	char *text = NULL;
	size_t size = 0;

	if (job_file_read(name, &text, &size, err) < 0)
		return -1;
	int result = job_parse(name, text, size, job, notices, err);
	free(text);
	return result;
}

static int read_job(const struct request *request, const char *name, const struct conf *conf, const char *folder,
		    struct job *job, struct err *err)
{
	SCOPE_BUF struct buf notices = BUF_EMPTY;

	*job = JOB_EMPTY;
	if (name && parse_file(name, job, &notices, err) < 0)
		return -1;
	if (apply(request, job, err) < 0 || job_complete(job, conf, folder, err) < 0 ||
	    card_check(conf, job->card, err) < 0 || vram_check(conf, job->card, job->vram_bytes, err) < 0)
		return -1;
	tell_notices(&notices);
	return 0;
}

static void note_limits(struct job_facts *facts)
{
	struct rlimit limit;

	facts->limits_known = true;
	for (int i = 0; i < JOB_LIMITS; i++)
		facts->limits[i] =
			getrlimit(i, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY ? limit.rlim_cur : UINT64_MAX;
}

static int read_jobs(const struct request *request, const struct conf *conf, struct jobs *jobs, struct err *err)
{
	char folder[PATH_MAX];
	int count = request->file_count ? request->file_count : 1;

	if (!getcwd(folder, sizeof folder))
		return err_sys(err, "cannot find the working folder");
	jobs->list = calloc((size_t)count, sizeof *jobs->list);
	jobs->facts = calloc((size_t)count, sizeof *jobs->facts);
	if (!jobs->list || !jobs->facts)
		return err_sys(err, "cannot spool job");
	for (; jobs->count < count; jobs->count++) {
		struct job_facts *facts = &jobs->facts[jobs->count];
		if (read_job(request, request->file_count ? request->files[jobs->count] : NULL, conf, folder,
			     &jobs->list[jobs->count], err) < 0) {
			job_free(&jobs->list[jobs->count]);
			return -1;
		}
		facts->submitted_wall_ns = clock_wall_ns();
		facts->umask = umask(0);
		umask(facts->umask);
		note_limits(facts);
		facts->submit_dir = strdup(folder);
		if (!facts->submit_dir)
			return err_sys(err, "cannot spool job");
	}
	return 0;
}

static void end_keys(struct jobs *jobs)
{
	for (int i = 0; jobs->keys && i < jobs->count; i++)
		dedupe_end(&jobs->keys[i]);
}

static void free_jobs(struct jobs *jobs)
{
	for (int i = 0; i < jobs->count; i++) {
		job_free(&jobs->list[i]);
		job_facts_free(&jobs->facts[i]);
	}
	end_keys(jobs);
	free(jobs->keys);
	free(jobs->list);
	free(jobs->facts);
}

static int print_headers(const struct jobs *jobs)
{
	SCOPE_BUF struct buf out = BUF_EMPTY;

	for (int i = 0; i < jobs->count; i++)
		job_format(&jobs->list[i], &jobs->facts[i], &out);
	return print_buf(&out);
}

/* Another job has its key, of this call or one before: it is not spooled. */
static bool is_known(const struct jobs *jobs, int i)
{
	return jobs->keys && jobs->keys[i].holder;
}

/* The job with the first key behind `last`, and of several with that key the first; -1: none is left. */
static int next_key(const struct jobs *jobs, const char *last)
{
	int next = -1;

	for (int i = 0; i < jobs->count; i++) {
		const char *key = jobs->list[i].dedupe;
		if (key && (!last || strcmp(key, last) > 0) && (next < 0 || strcmp(key, jobs->list[next].dedupe) < 0))
			next = i;
	}
	return next;
}

static int claim_keys(struct queue *queue, struct jobs *jobs, struct err *err)
{
	int i = next_key(jobs, NULL);

	if (i < 0)
		return 0;
	jobs->keys = malloc((size_t)jobs->count * sizeof *jobs->keys);
	if (!jobs->keys)
		return err_sys(err, "cannot spool job");
	for (int j = 0; j < jobs->count; j++)
		jobs->keys[j] = DEDUPE_NONE;
	for (; i >= 0; i = next_key(jobs, jobs->list[i].dedupe)) {
		if (dedupe_claim(&queue->spool, jobs->list[i].dedupe, &jobs->keys[i], err) < 0)
			return -1;
	}
	return 0;
}

/* The job of this call that has the key of job `i`, or `i` itself. */
static int first_of_key(const struct jobs *jobs, int i)
{
	int first = 0;

	if (!jobs->list[i].dedupe)
		return i;
	while (!jobs->list[first].dedupe || strcmp(jobs->list[first].dedupe, jobs->list[i].dedupe) != 0)
		first++;
	return first;
}

/* Gives job `i` its id: the next one, or that of the job which has its key. */
static void give_id(struct jobs *jobs, int i, uint64_t *number)
{
	int first = jobs->keys ? first_of_key(jobs, i) : i;

	if (first < i)
		jobs->keys[i].holder = jobs->facts[first].id;
	jobs->facts[i].id = is_known(jobs, i) ? jobs->keys[i].holder : jobid_of((*number)++);
}

static int make_tasks(struct queue *queue, const struct job *job, uint64_t id, struct err *err)
{
	return job->array.count ? tasks_make(&queue->spool, id, &job->array, job->order, err) : 0;
}

static int spool_one(struct queue *queue, struct jobs *jobs, int i, struct err *err)
{
	const struct job *job = &jobs->list[i];
	struct job_facts *facts = &jobs->facts[i];

	if (is_known(jobs, i)) {
		say("job %s has the key '%s' already", JOBID(facts->id), job->dedupe);
		return 0;
	}
	if (job->dedupe && dedupe_write(&queue->spool, &jobs->keys[i], facts->id, err) < 0)
		return -1;
	if (spool_store_environment(&queue->spool, job, environ, facts, err) < 0 ||
	    depend_note(&queue->spool, job, facts->id, err) < 0 || make_tasks(queue, job, facts->id, err) < 0)
		return -1;
	return spool_submit(&queue->spool, job, facts, err);
}

static int count_new(const struct jobs *jobs)
{
	int count = 0;

	for (int i = 0; i < jobs->count; i++)
		count += !is_known(jobs, i) && (!jobs->keys || first_of_key(jobs, i) == i);
	return count;
}

/* Takes the first `count` out again; those that started meanwhile are named, since their ids were never printed. */
static void withdraw(struct queue *queue, const struct jobs *jobs, int count)
{
	struct err ignored = ERR_NONE;

	if (!queue->inside && line_lock(&queue->line, &ignored) < 0)
		return;
	for (int i = 0; i < count; i++) {
		if (is_known(jobs, i))
			continue;
		if (spool_withdraw(&queue->spool, jobs->facts[i].id, &ignored) != 1)
			say("job %s had already started", JOBID(jobs->facts[i].id));
	}
	if (!queue->inside)
		line_unlock(&queue->line);
	spool_submit_sync(&queue->spool, &ignored);
}

static int spool_jobs(struct queue *queue, struct jobs *jobs, struct err *err)
{
	uint64_t first = 0;
	int count;

	if (claim_keys(queue, jobs, err) < 0)
		return -1;
	count = count_new(jobs);
	if (count && queue_take_ids(queue, (unsigned)count, &first, err) < 0)
		return err_wrap(err, "cannot spool job");
	uint64_t number = jobid_number(first);
	for (int i = 0; i < jobs->count; i++) {
		give_id(jobs, i, &number);
		if (spool_one(queue, jobs, i, err) < 0) {
			withdraw(queue, jobs, i);
			return -1;
		}
	}
	if (count && spool_submit_sync(&queue->spool, err) < 0) {
		withdraw(queue, jobs, jobs->count);
		return -1;
	}
	end_keys(jobs);
	return 0;
}

static int announce(struct queue *queue, const struct jobs *jobs, bool json)
{
	SCOPE_BUF struct buf out = BUF_EMPTY;

	for (int i = 0; i < jobs->count; i++) {
		uint64_t id = jobs->facts[i].id;
		if (!json) {
			buf_printf(&out, "%s\n", JOBID(id));
			continue;
		}
		buf_printf(&out, "%s{\"id\":\"%s\",\"name\":", i ? "," : "[", JOBID(id));
		buf_json(&out, jobs->list[i].name);
		buf_puts(&out, i + 1 == jobs->count ? "}]\n" : "}");
	}
	if (buf_print(&out) == 0)
		return EXIT_OK;
	struct err err = ERR_NONE;
	err_sys(&err, "cannot write the job id; the job is taken out again");
	withdraw(queue, jobs, jobs->count);
	return say_err(&err);
}

static int wait_for(struct queue *queue, const struct jobs *jobs, struct err *err)
{
	SCOPE_IDLIST struct idlist ids = { 0 };
	SCOPE_VIEW struct jobview view = { 0 };
	int result = 0;

	for (int i = 0; result == 0 && i < jobs->count; i++)
		result = idlist_add(&ids, jobs->facts[i].id);
	if (result < 0)
		err_sys(err, "cannot wait for the jobs");
	return result < 0 || await_all(queue, &ids, -1, &view, err) < 0 ? say_err(err) : view.exit_code;
}

static bool waits_task_by_task(const struct job *job)
{
	for (size_t i = 0; i < job->after.count; i++) {
		if (job->array.count && job->after.list[i].kind == AFTER_CORR)
			return true;
	}
	return false;
}

/* Each task waits for another one, so each has a record of its own, and each looks at all. */
enum { CORR_TASKS = 1000 };
static int part_tasks(struct queue *queue, const struct job *job, uint64_t id, struct err *err)
{
	int32_t size = array_size(&job->array);
	int result = line_lock(&queue->line, err);

	if (result < 0)
		return -1;
	for (int32_t i = 0; result >= 0 && i < size; i++)
		result = tasks_set_apart(&queue->spool, jobid_with_task(id, array_task(&job->array, i)), err);
	line_unlock(&queue->line);
	if (result < 0 || spool_submit_sync(&queue->spool, err) < 0)
		return -1;
	for (int32_t i = 0; result >= 0 && i < size; i++)
		result = queue_check_after(queue, jobid_with_task(id, array_task(&job->array, i)), err);
	return result < 0 ? -1 : 0;
}

/* What they wait for may have ended before their records were there. */
static int look_at_news(struct queue *queue, const struct jobs *jobs, struct err *err)
{
	for (int i = 0; i < jobs->count; i++) {
		const struct job *job = &jobs->list[i];
		if (waits_task_by_task(job) && part_tasks(queue, job, jobs->facts[i].id, err) < 0)
			return -1;
		if (job->after.count && queue_check_after(queue, jobs->facts[i].id, err) < 0)
			return -1;
	}
	return 0;
}

/* Whoever watches is to know for what moment. */
static bool have_time(const struct conf *conf, const struct jobs *jobs)
{
	for (int i = 0; i < jobs->count; i++) {
		const struct conf_class *class = conf_class_find(conf, jobs->list[i].class_name);
		if (jobs->list[i].begin_wall_ns || (class && class->hours[0]))
			return true;
	}
	return false;
}

static int submit(struct queue *queue, const struct request *request, struct jobs *jobs, struct err *err)
{
	if (request->wait && queue->inside)
		return err_set(err, EXIT_USAGE, "submit: --wait inside a job would wait for ever for its own lane");
	if (read_jobs(request, &queue->line.conf, jobs, err) < 0)
		return -1;
	if (request->dry_run)
		return print_headers(jobs);
	for (int i = 0; i < jobs->count; i++) {
		if (queue->inside && waits_task_by_task(&jobs->list[i]))
			return err_set(err, EXIT_USAGE,
				       "after: an array with aftercorr is not submitted from inside a job");
		if (waits_task_by_task(&jobs->list[i]) && array_size(&jobs->list[i].array) > CORR_TASKS)
			return err_set(err, EXIT_USAGE, "after: aftercorr is for arrays of at most %d tasks",
				       CORR_TASKS);
		if (depend_refuse(&queue->line, &queue->spool, &jobs->list[i].after, err) < 0)
			return -1;
	}
	if (spool_jobs(queue, jobs, err) < 0)
		return -1;
	int code = announce(queue, jobs, request->json);
	/* Durable and told: that nobody can be started for it now is worth a line, no more. */
	struct err why = ERR_NONE;
	if (look_at_news(queue, jobs, &why) < 0 || queue_settle(queue, have_time(&queue->line.conf, jobs), &why) < 0)
		say_err(&why);
	return code == EXIT_OK && request->wait ? wait_for(queue, jobs, err) : code;
}

int cmd_submit(int argc, char **argv)
{
	struct request request = { 0 };
	struct jobs jobs = { 0 };
	struct err err = ERR_NONE;
	struct queue *const queue = &queue_only;

	if (read_request(&request, argc, argv, &err) < 0)
		return say_err(&err);
	if (request.help)
		return print_usage(usage);
	/* An id that cannot be told is an error of ours to mend, not a reason to die. */
	(void)signal(SIGPIPE, SIG_IGN);
	int code = queue_open(queue, QUEUE_STRICT, &err);
	if (code == 0)
		code = submit(queue, &request, &jobs, &err);
	if (code < 0)
		code = say_err(&err);
	free_jobs(&jobs);
	return code;
}
