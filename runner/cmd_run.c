/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * `pgpu run`: waits for a lane, runs one command in it, and exits with the command's code. The process stays beside its
 * command as wrapper: it holds the lane's lock, watches, and clears up.
 */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "conf/base/buf.h"
#include "conf/base/clock.h"
#include "conf/base/filelimit.h"
#include "conf/base/fmt.h"
#include "conf/base/say.h"
#include "conf/base/scope.h"
#include "conf/base/text.h"
#include "conf/jobid.h"
#include "runner/card.h"
#include "runner/commands.h"
#include "runner/desk.h"
#include "runner/line/lineup.h"
#include "runner/options.h"
#include "runner/queue.h"
#include "runner/supervise.h"
#include "runner/vram.h"
#include "runner/waiting.h"
#include "submit/history.h"
#include "submit/job.h"

static const char usage[] = "usage: pgpu run [options] -- CMD [ARG...]\n"
			    "Waits for a free lane, runs CMD in a cell of its own, and exits with CMD's code.\n"
			    "\n"
			    "  -p, --class CLASS     row of the class table (also --partition)\n"
			    "      --as SESSION      the name whose jobs take turns with others' (also --session)\n"
			    "  -J, --name NAME       shown in lists (also --job-name)\n"
			    "      --budget TIME     a line is said when it is over: 90s, 15m, 1h30m\n"
			    "  -t, --limit TIME      the hard end; twice the budget by default (also --time)\n"
			    "  -m, --memory SIZE     ceiling of the job's RAM: 512M, 24G (also --mem)\n"
			    "      --vram SIZE       waits until the card has so much memory free: 12G\n"
			    "      --vram-max SIZE   ceiling of each card's memory\n"
			    "      --card CARD       any, or the PCI address of one: 0000:03:00.0\n"
			    "      --no-wait         exit 75 when no lane is free now\n"
			    "      --max-wait TIME   exit 75 when no lane was free in time\n"
			    "  -q, --quiet           no lines of pgpu's own but errors\n"
			    "      --help            print this\n";

enum {
	OPT_HELP = 256,
	OPT_SESSION,
	OPT_BUDGET,
	OPT_NO_WAIT,
	OPT_MAX_WAIT,
	OPT_VRAM,
	OPT_VRAM_MAX,
	OPT_CARD,
	OPT_ALONE
};

static const struct option long_options[] = {
	{ "class", OPTION_VALUE, 'p' },
	{ "partition", OPTION_VALUE, 'p' },
	{ "as", OPTION_VALUE, OPT_SESSION },
	{ "session", OPTION_VALUE, OPT_SESSION },
	{ "name", OPTION_VALUE, 'J' },
	{ "job-name", OPTION_VALUE, 'J' },
	{ "budget", OPTION_VALUE, OPT_BUDGET },
	{ "limit", OPTION_VALUE, 't' },
	{ "time", OPTION_VALUE, 't' },
	{ "memory", OPTION_VALUE, 'm' },
	{ "mem", OPTION_VALUE, 'm' },
	{ "vram", OPTION_VALUE, OPT_VRAM },
	{ "card", OPTION_VALUE, OPT_CARD },
	{ "vram-max", OPTION_VALUE, OPT_VRAM_MAX },
	{ "no-wait", OPTION_FLAG, OPT_NO_WAIT },
	{ "max-wait", OPTION_VALUE, OPT_MAX_WAIT },
	{ "quiet", OPTION_FLAG, 'q' },
	{ "alone", OPTION_FLAG, OPT_ALONE },
	{ "exclusive", OPTION_FLAG, OPT_ALONE },
	{ "help", OPTION_FLAG, OPT_HELP },
	{ .name = "" },
};

struct request {
	struct job job;
	char **argv;	     /* the command, in our own arguments */
	int64_t max_wait_ns; /* -1: for ever */
	bool help;
};

static int read_option(struct request *request, int option, const char *value, struct err *err)
{
	switch (option) {
	case 'p': return job_set(&request->job, "class", value, err);
	case 'J': return job_set(&request->job, "name", value, err);
	case 't': return job_set(&request->job, "limit", value, err);
	case 'm': return job_set(&request->job, "memory", value, err);
	case OPT_SESSION: return job_set(&request->job, "session", value, err);
	case OPT_VRAM: return job_set(&request->job, "vram", value, err);
	case OPT_CARD: return job_set(&request->job, "card", value, err);
	case OPT_VRAM_MAX: return job_set(&request->job, "vram-max", value, err);
	case OPT_BUDGET: return job_set(&request->job, "budget", value, err);
	case OPT_NO_WAIT: request->max_wait_ns = 0; return 0;
	case OPT_MAX_WAIT:
		return text_duration_parse(value, true, &request->max_wait_ns, err) < 0 ? err_wrap(err, "--max-wait")
											: 0;
	case 'q': say_quiet(true); return 0;
	case OPT_ALONE: say("running alone is gone; this job shares a lane"); return 0;
	default: request->help = true; return 0;
	}
}

static int read_request(struct request *request, int argc, char **argv, struct err *err)
{
	struct options options = OPTIONS("run", argc, argv, "+p:J:t:m:q", long_options);
	const char *class_name = getenv("PGPU_CLASS");

	request->max_wait_ns = -1;
	request->job = JOB_EMPTY;
	for (int option; (option = options_next(&options, err)) != 0;) {
		if (option < 0 || read_option(request, option, options.value, err) < 0)
			return -1;
		if (request->help)
			return 0;
	}
	request->argv = argv + options.next;
	if (options.next >= argc)
		return err_set(err, EXIT_USAGE, "run: a command is missing (pgpu run [options] -- CMD [ARG...])");
	if (!request->argv[0][0])
		return err_set(err, EXIT_NO_START, "cannot start '': No such file or directory");
	if (!request->job.class_name && class_name && class_name[0] &&
	    job_set(&request->job, "class", class_name, err) < 0)
		return err_wrap(err, "PGPU_CLASS");
	return job_set_argv(&request->job, request->argv, err);
}

/* A `run` inside a job is its command: the lane is the job's. */
static int run_directly(const struct request *request)
{
	char **argv = request->argv;
	struct err err = ERR_NONE;

	if (request->job.class_name || request->job.session || request->job.budget_ns || request->job.limit_ns ||
	    request->job.memory_bytes || request->job.vram_bytes || request->job.vram_max_bytes ||
	    request->job.card[0] || request->max_wait_ns >= 0)
		say("inside a job: the options of run are not used");
	filelimit_give_back();
	execvp(argv[0], argv);
	err_sys(&err, "cannot start %s", argv[0]);
	say_err(&err);
	return EXIT_NO_START;
}

static void describe(struct entry *entry, const struct job *job)
{
	SCOPE_BUF struct buf command = BUF_EMPTY;

	job_command_line(job, &command);
	entry->kind = ENTRY_RUN;
	entry->arrived_wall_ns = clock_wall_ns();
	entry->budget_ns = job->budget_ns;
	entry->limit_ns = job->limit_ns;
	entry->memory_bytes = job->memory_bytes;
	entry->reserved_bytes = job->reserved_bytes;
	entry->vram_bytes = job->vram_bytes;
	memcpy(entry->card, job->card, sizeof entry->card);
	entry->vram_max_bytes = job->vram_max_bytes;
	fmt(entry->class_name, sizeof entry->class_name, "%s", job->class_name);
	fmt(entry->session, sizeof entry->session, "%s", job->session);
	fmt(entry->name, sizeof entry->name, "%s", job->name);
	fmt(entry->command, sizeof entry->command, "%.*s", (int)sizeof entry->command - 1,
	    command.text ? command.text : "");
	fmt(entry->workdir, sizeof entry->workdir, "%.*s", (int)sizeof entry->workdir - 1, job->workdir);
}

struct run {
	struct member member;
	struct signals signals;
	int64_t arrived_ns; /* awake */
	struct queue *queue;
};

static bool is_cancelled(void *context)
{
	struct run *run = context;

	return spool_ordered(&run->queue->spool, run->member.job.id) != ORDER_NONE;
}

static enum message hear(void *context, int fd, const char *text)
{
	struct run *run = context;

	return desk_told(&run->queue->spool, fd, text) ? MESSAGE_SETTLE : MESSAGE_DONE;
}

static void tell_waiting(void *context)
{
	struct run *run = context;

	/* There is time now; when the lane comes there is none. */
	cell_place_find(run->queue->line.conf.cells);
	waiting_tell(run->queue, run->member.job.id);
}

/* 0 with a lane, else the exit code; -1 for an error of pgpu's own. */
static int wait_for_lane(struct run *run, const struct request *request, struct err *err)
{
	struct lineup lineup = {
		.until_awake_ns = request->max_wait_ns < 0 ? -1 : run->arrived_ns + request->max_wait_ns,
		.cancelled = is_cancelled,
		.waiting = tell_waiting,
		.context = run,
	};
	int sig = 0;

	if (request->max_wait_ns == 0)
		lineup.until_awake_ns = 0;
	int end = lineup_wait(&run->member, &run->signals, &lineup, &sig, err);
	/* Its ticket is gone: no order comes any more. */
	if (end >= 0 && end != LINEUP_LANE)
		spool_order_done(&run->queue->spool, run->member.job.id);
	switch (end) {
	case LINEUP_LANE: return 0;
	case LINEUP_SIGNAL: return EXIT_SIGNAL + sig;
	case LINEUP_TIMEOUT: say("no lane was free in time"); return EXIT_NO_LANE;
	case LINEUP_CANCELLED:
		say("job %s was cancelled while it waited", JOBID(run->member.job.id));
		return EXIT_SIGNAL + SIGTERM;
	default: return -1;
	}
}

/* Not inlined: the row is to lie where the job's start has left the stack touched, and not before. */
__attribute__((noinline)) static int log_hold(struct run *run, const struct verdict *verdict, struct err *err)
{
	struct history_row row;

	verdict_row(&run->member, verdict, &row);
	return history_append(run->queue->line.queue_fd, &row, run->queue->line.conf.log_bytes, err);
}

static int run_on_lane(struct run *run, const struct request *request, struct err *err)
{
	struct task task = {
		.launch = { .argv = request->job.argv,
			    .fds = { -1, -1, -1 },
			    .umask = (mode_t)-1,
			    .mask = run->signals.caller_mask,
			    .on_child = run->signals.caller_child },
		.environment = environ,
		.interactive = true,
		.needs_card = request->job.card[0] != '\0',
		.spool = &run->queue->spool,
		.signals = &run->signals,
	};
	struct verdict verdict;
	struct err ignored = ERR_NONE;

	run->member.job.waited_ns = clock_awake_ns() - run->arrived_ns;
	int failed = supervise(&run->member, &task, &verdict, err);
	if (failed == 0)
		reclaim_wait(&run->member, &run->signals, &verdict.reclaim);
	/* The lane goes on before anything is said or written. */
	int left = member_leave(&run->member, &ignored);
	spool_order_done(&run->queue->spool, run->member.job.id);
	if (failed < 0)
		return -1;
	/* The command has run, and its code is what its caller wants to know. */
	if (left < 0)
		say_err(&ignored);
	if (verdict.why.text[0] && verdict.why.code == EXIT_OK)
		say("%s", verdict.why.text);
	else if (verdict.why.text[0])
		say_err(&verdict.why);
	else if (verdict.outcome == OUTCOME_CANCELLED)
		say("job %s was cancelled", JOBID(run->member.job.id));
	if (log_hold(run, &verdict, &ignored) < 0)
		say_err(&ignored);
	return verdict.exit_code;
}

/* Not inlined: its buffer is to be off the stack again when the job starts. */
__attribute__((noinline)) static int complete(struct job *job, const struct conf *conf, struct err *err)
{
	char folder[PATH_MAX];

	if (!getcwd(folder, sizeof folder))
		fmt(folder, sizeof folder, "/");
	if (job_complete_run(job, conf, folder, err) < 0 || card_check(conf, job->card, err) < 0)
		return -1;
	return vram_check(conf, job->card, job->vram_bytes, err);
}

/* The command's exit code, or -1. */
static int run_in_queue(struct request *request, struct run *run, struct err *err)
{
	if (complete(&request->job, &run->queue->line.conf, err) < 0)
		return -1;
	run->arrived_ns = clock_awake_ns();
	member_open(&run->member, &run->queue->line, MEMBER_RUN);
	describe(&run->member.job, &request->job);
	run->member.wants_id = true;
	run->member.on_message = hear;
	run->member.message_context = run;
	run->queue->line.stops_blocked = true;
	int code = signals_open(&run->signals, SIGNALS_RUN, err) < 0 ? -1 : wait_for_lane(run, request, err);
	if (code == 0)
		code = run_on_lane(run, request, err);
	member_close(&run->member);
	return code;
}

int cmd_run(int argc, char **argv)
{
	struct request request = { 0 };
	struct err err = ERR_NONE;
	static struct run only, *run = &only;
	int code;

	run->queue = &queue_only;
	if (read_request(&request, argc, argv, &err) < 0)
		return say_err(&err);
	if (request.help)
		return print_usage(usage);
	code = queue_open(run->queue, QUEUE_STRICT, &err);
	if (code == 0 && run->queue->inside) {
		return run_directly(&request);
	}
	if (code == 0)
		code = run_in_queue(&request, run, &err);
	/* Before the command began: what is wrong with the request is 2, what is wrong with pgpu 125. */
	if (code < 0)
		code = say_err(&err) == EXIT_USAGE ? EXIT_USAGE : EXIT_BROKEN;
	job_free(&request.job);
	return code;
}
