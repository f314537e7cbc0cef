/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "worker.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "conf/base/clock.h"
#include "conf/base/fmt.h"
#include "conf/base/rest.h"
#include "conf/base/say.h"
#include "conf/base/scope.h"
#include "conf/base/text.h"
#include "runner/cell/caps.h"
#include "runner/commands.h"
#include "runner/depend.h"
#include "runner/line/pause.h"
#include "runner/line/spawn.h"
#include "runner/line/standing.h"
#include "runner/onend.h"
#include "runner/retry.h"
#include "runner/service.h"
#include "runner/vramback.h"
#include "submit/prune.h"

enum { LONG_SLEEP_MS = 60000 };

struct worker {
	struct queue queue;
	struct member member;
	struct signals signals;
	int ready_fd;	  /* whoever started us waits for its end; -1 once we were settled */
	bool names_end;	  /* the job's record has an on-end command */
	struct onend end; /* id 0: no job of that kind has ended */
};

/* The line of the lane says more once the record was read. */
static void describe(struct entry *entry, const struct prepared *prepared)
{
	SCOPE_BUF struct buf command = BUF_EMPTY;
	const struct job *job = &prepared->job;

	job_command_line(job, &command);
	entry->arrived_wall_ns = prepared->facts.submitted_wall_ns;
	entry->waited_ns = clock_wall_ns() - prepared->facts.submitted_wall_ns;
	if (entry->waited_ns < 0)
		entry->waited_ns = 0;
	entry->budget_ns = job->budget_ns;
	entry->limit_ns = job->limit_ns;
	entry->memory_bytes = job->memory_bytes;
	entry->vram_max_bytes = job->vram_max_bytes;
	fmt(entry->name, sizeof entry->name, "%s", job->name);
	fmt(entry->command, sizeof entry->command, "%.*s", (int)sizeof entry->command - 1,
	    command.text ? command.text : "");
	fmt(entry->workdir, sizeof entry->workdir, "%.*s", (int)sizeof entry->workdir - 1, job->workdir);
}

/* Of a job that is over for good; its command is run once the lane is somebody else's. */
static void note_end(struct worker *worker, const struct spool_name *name)
{
	if (worker->names_end)
		worker->end = (struct onend){ name->id, name->outcome, name->code, name->restarts };
}

static void start_on_end(struct worker *worker)
{
	struct onends ends = { 0 };

	if (worker->end.id)
		onend_add(&ends, &worker->end);
	onend_start(&ends);
	worker->end.id = 0;
}

static bool names_end(const struct prepared *prepared)
{
	return prepared->job.on_end && prepared->job.on_end[0];
}

/* With the lock: of a class that is paused by its failures, what this end says. True: it is paused now. */
static bool count_end(struct worker *worker, const struct spool_name *name)
{
	struct line *line = &worker->queue.line;
	const struct conf_class *class = conf_class_find(&line->conf, name->class_name);
	int limit = class ? conf_pause_after(&line->conf, class) : 0;
	bool failed =
		name->outcome == OUTCOME_FAILED || name->outcome == OUTCOME_TIMEOUT || name->outcome == OUTCOME_STALLED;
	struct err ignored = ERR_NONE;

	if (!limit || (!failed && name->outcome != OUTCOME_COMPLETED))
		return false;
	return pause_note(line, name->class_name, name->id, failed ? outcome_names[name->outcome] : "", name->code,
			  limit, &ignored) == 1;
}

/* Back in line for another attempt, and not at once. */
static void set_retry(const struct conf *conf, struct spool_name *name)
{
	int64_t at_ns = clock_wall_ns() + retry_pause_ns(conf->retry_after_ns, name->tries);

	name->begin_s = (at_ns + NS_PER_S - 1) / NS_PER_S;
	name->outcome = OUTCOME_NONE;
	name->tries++;
}

/* A machine that cannot start it now, for want of processes say, is asked again later, and not at once. */
static void set_put_off(struct spool_name *name)
{
	enum { PUT_OFF_S = 30 };

	name->begin_s = clock_wall_ns() / NS_PER_S + PUT_OFF_S;
	name->outcome = OUTCOME_NONE;
}

/* What people read beside it until it ends: of an attempt, how that one did; of an earlier one nothing any more. */
static void note_reason(struct spool *spool, const struct spool_name *name, const struct verdict *verdict, bool retry)
{
	char reason[64];

	fmt(reason, sizeof reason, "failed, exit code %d", verdict->exit_code);
	if (verdict->why.text[0] || retry)
		spool_reason_write(spool, name->id, verdict->why.text[0] ? verdict->why.text : reason);
	else if (name->tries)
		spool_reason_forget(spool, name->id);
}

/* The outcome stands in the record's name; it is durable with the sync that follows the next claim. */
static int record_end(struct worker *worker, struct verdict *verdict, int retries, struct err *err)
{
	struct line *line = &worker->queue.line;
	struct spool *spool = &worker->queue.spool;
	struct spool_name name;

	if (spool_name_parse(worker->queue.spooled.taken, &name) < 0)
		return err_set(err, EXIT_FAILED, "cannot record the end of a job: its name is damaged");
	bool retry = !verdict->unstarted && retry_wanted(verdict->outcome, name.tries, retries);
	note_reason(spool, &name, verdict, retry);
	if (line_lock(line, err) < 0)
		return -1;
	/* An order counts when its file was there before the outcome's. */
	bool ordered = spool_ordered(spool, name.id) != ORDER_NONE;
	bool back = ordered && spool_ordered_back(spool, name.id);
	if (ordered) {
		verdict->outcome = OUTCOME_CANCELLED;
		verdict->exit_code = EXIT_SIGNAL + SIGTERM;
	}
	name.outcome = back ? OUTCOME_NONE : verdict->outcome;
	name.code = verdict->exit_code;
	if (ordered && retry)
		spool_reason_forget(spool, name.id);
	retry &= !ordered;
	name.tries = back ? 0 : name.tries;
	if (retry)
		set_retry(&line->conf, &name);
	/* No fault of the job's, and no attempt: it is put off. */
	bool put_off = verdict->unstarted && !ordered && !retry;
	if (put_off)
		set_put_off(&name);
	retry |= put_off;
	verdict->unstarted = put_off;
	name.restarts += (back || (retry && !put_off)) && name.restarts < SPOOL_RESTARTS_MAX;
	/* First, for who sees the end and asks at once; should the move fail, this job counts no second time. */
	bool paused = count_end(worker, &name);
	int result = spool_move(spool, SPOOL_RUNNING, worker->queue.spooled.taken,
				back || retry ? SPOOL_PENDING : SPOOL_ENDED, &name, err);
	if (result == 0) {
		spool_order_done(spool, name.id);
		if (!back && !retry)
			note_end(worker, &name);
		/* Of a job that ended while it was frozen: until now it said whose it is. */
		ticket_remove(line, &worker->member.ticket);
	}
	line_unlock(line);
	struct err ignored = ERR_NONE;
	if (paused)
		pause_sync(line, &ignored);
	return result;
}

/* -1: it had begun, and the machine did not let us go on with it: as if we had died, it is another's to give back. */
static int run_prepared(struct worker *worker, struct task *task, struct verdict *verdict, struct err *err)
{
	if (supervise(&worker->member, task, verdict, err) == 0)
		return 0;
	if (!verdict->unstarted && err_may_pass(err))
		return -1;
	*verdict = (struct verdict){ .outcome = OUTCOME_FAILED,
				     .exit_code = EXIT_BROKEN,
				     .unstarted = verdict->unstarted,
				     .why = *err,
				     .figures = { -1, -1 },
				     .gpu_ns = -1 };
	return 0;
}

/*
 * A machine or a login that ends sends SIGTERM to everybody. A job that died of it without our doing has not failed if
 * we are to die next: its record then still says running, and it goes back in line.
 */
static void wait_for_shutdown(const struct verdict *verdict)
{
	enum { GAP_MS = 100 };

	if (verdict->signal == SIGTERM && verdict->outcome == OUTCOME_FAILED)
		poll(NULL, 0, GAP_MS);
}

/* A standing job has one record all the time, in pending/: it ends there or stays. 0 also where it is gone. */
static int record_service(struct worker *worker, struct verdict *verdict, struct err *err)
{
	struct line *line = &worker->queue.line;
	struct spool *spool = &worker->queue.spool;
	struct spool_name name;
	char file[256];

	if (line_lock(line, err) < 0)
		return -1;
	int found = spool_find_in(spool, SPOOL_PENDING, worker->member.job.id, &name, file, err);
	if (found == 1) {
		enum spool_state to = SPOOL_PENDING;
		if (spool_ordered(spool, name.id) != ORDER_NONE) {
			verdict->outcome = OUTCOME_CANCELLED;
			verdict->exit_code = EXIT_SIGNAL + SIGTERM;
		}
		/* By itself, and all is well: its work is done. */
		if (verdict->outcome == OUTCOME_CANCELLED || verdict->outcome == OUTCOME_COMPLETED) {
			to = SPOOL_ENDED;
			name.outcome = verdict->outcome;
			name.code = verdict->exit_code;
			name.failures = 0;
		} else {
			bool sent = verdict->outcome == OUTCOME_TURN;
			name.failures = standing_failures(name.failures, sent ? STANDING_SENT_AWAY : STANDING_ENDED_BAD,
							  verdict->ran_ns);
		}
		found = spool_move(spool, SPOOL_PENDING, file, to, &name, err) < 0 ? -1 : 0;
		if (found == 0 && to == SPOOL_ENDED) {
			spool_order_done(spool, name.id);
			note_end(worker, &name);
		}
	}
	line_unlock(line);
	return found < 0 ? -1 : 0;
}

static void log_hold(struct worker *worker, struct verdict *verdict)
{
	SCOPE_FREE struct history_row *row = malloc(sizeof *row);
	struct err ignored = ERR_NONE;

	if (!row)
		return;
	verdict_row(&worker->member, verdict, row);
	history_append(worker->queue.line.queue_fd, row, worker->queue.line.conf.log_bytes, &ignored);
}

/* To those that wait for our job to begin or to end; it is not to fail for them. With `settle` they start now. What
 * failed is tried once more: nobody else looks at them before the next rescue. */
static void tell_news(struct worker *worker, bool settle)
{
	struct err err = ERR_NONE;
	int news = -1;

	for (int tries = 0; news < 0 && tries < 2; tries++)
		news = depend_news(&worker->queue.line, &worker->queue.spool, worker->member.job.id, &err);
	if (news > 0 && settle)
		news = member_settle(&worker->member, &err);
	if (news < 0)
		say_err(&err);
}

/* As long as somebody is to use the card next, its memory is to be back first. */
static void wait_for_vram(struct worker *worker)
{
	struct entry *job = &worker->member.job;
	struct err ignored = ERR_NONE;

	job->state = ENTRY_COMPLETING;
	seat_update(&worker->member.lane, job, &ignored);
	if (job->held_bytes)
		vramback_wait(NULL, job->held_bytes);
	job->held_bytes = 0;
}

/* The seat is given back by the settle that follows. */
static int run_service(struct worker *worker, struct err *err)
{
	struct member *member = &worker->member;
	struct spool *spool = &worker->queue.spool;
	struct task task = { .spool = spool, .signals = &worker->signals };
	struct verdict verdict = {
		.outcome = OUTCOME_FAILED, .exit_code = EXIT_NO_START, .figures = { -1, -1 }, .gpu_ns = -1
	};
	struct prepared prepared;
	char file[256];

	memcpy(file, worker->queue.spooled.taken, sizeof file);
	/* Durable, then started: its name says how often it was. */
	if (spool_submit_sync(spool, err) < 0)
		return -1;
	int opened = service_open(member, &task.service, err);
	if (opened < 0)
		return -1;
	/* Somebody was faster: it has not begun. */
	if (opened == 1) {
		member->ended = true;
		return 0;
	}
	int prepared_so =
		prepare_job(&worker->queue, SPOOL_PENDING, file, &member->job, &prepared, &task, &verdict.why);
	if (prepared.job.name)
		describe(&member->job, &prepared);
	bool lost = prepared_so == 0 && run_prepared(worker, &task, &verdict, err) < 0;
	worker->names_end = names_end(&prepared);
	prepare_free(&worker->queue, &prepared);
	service_free(task.service);
	if (lost)
		return -1;
	wait_for_shutdown(&verdict);
	if (record_service(worker, &verdict, err) < 0)
		return -1;
	log_hold(worker, &verdict);
	if (verdict.why.text[0])
		spool_reason_write(spool, member->job.id, verdict.why.text);
	if (verdict.outcome == OUTCOME_CANCELLED || verdict.outcome == OUTCOME_COMPLETED) {
		struct err ignored = ERR_NONE;
		int ended = spool_folder(spool, SPOOL_ENDED_DIR, &ignored);
		if (ended >= 0)
			fsync(ended);
		tell_news(worker, false);
	}
	/* Its own end, or nobody's: a card that nobody waits for gives its memory back unwatched. */
	if (member->lane.fd >= 0)
		wait_for_vram(worker);
	member->ended = true;
	return 0;
}

/* The outcome is on file, and durable: whoever kills us meanwhile loses nothing. */
static void wait_for_card(struct worker *worker, const struct verdict *verdict)
{
	struct err ignored = ERR_NONE;

	spool_sync(&worker->queue.spool, &ignored);
	reclaim_wait(&worker->member, &worker->signals, &verdict->reclaim);
	worker->member.ended = true;
}

/* Who was stopped before it wrote its row, or had to wait for the card, may find that a rescue has written it. */
static bool is_written(int queue_fd, const struct history_row *row, int64_t recorded_ns)
{
	struct history_row last;
	struct err ignored = ERR_NONE;

	return clock_boot_ns() - recorded_ns > HISTORY_FRESH_NS / 2 &&
	       history_find(queue_fd, row->id, &last, &ignored) == 1 && last.outcome == row->outcome &&
	       last.exit_code == row->exit_code && last.ended_wall_ns + NS_PER_S > row->ended_wall_ns;
}

/* It was not started: what prepare_job() says is its outcome. */
static void judge_unstarted(struct verdict *verdict, int prepared, const struct err *why)
{
	verdict->outcome = prepared > 0 ? OUTCOME_COMPLETED : OUTCOME_FAILED;
	verdict->exit_code = prepared > 0 ? EXIT_OK : EXIT_NO_START;
	/* A newer pgpu's record: the next worker may be of that one. */
	verdict->unstarted = prepared < 0 && (why->errnum == EPROTO || err_may_pass(why));
	verdict->why = *why;
}

static int run_one(struct worker *worker, struct err *err)
{
	struct member *member = &worker->member;
	struct task task = { .spool = &worker->queue.spool, .signals = &worker->signals };
	struct prepared prepared;
	struct verdict verdict = { .why.text = "", .figures = { -1, -1 }, .gpu_ns = -1 };
	char file[256];

	memcpy(file, worker->queue.spooled.taken, sizeof file);
	/* Durable, then started: after a power cut this job is known to have begun. */
	if (spool_sync(&worker->queue.spool, err) < 0)
		return -1;
	tell_news(worker, true);
	err->code = EXIT_FAILED;
	int result = prepare_job(&worker->queue, SPOOL_RUNNING, file, &member->job, &prepared, &task, err);
	/* A record that could not be read and not be set aside either is still ours to end. */
	int64_t moved_ns;
	bool damaged = result < 0 && err->code != EXIT_NO_START &&
		       spool_moved(&worker->queue.spool, SPOOL_RUNNING, file, &moved_ns) < 0;
	bool lost = false;
	if (result == 0) {
		describe(&member->job, &prepared);
		lost = run_prepared(worker, &task, &verdict, err) < 0;
	} else {
		judge_unstarted(&verdict, result, err);
		if (prepared.job.name)
			describe(&member->job, &prepared);
	}
	worker->names_end = names_end(&prepared);
	int retries = prepared.job.retries;
	prepare_free(&worker->queue, &prepared);
	if (lost)
		return -1;
	wait_for_shutdown(&verdict);
	bool settles = verdict.reclaim.count || verdict.reclaim.holder_count;
	member->ended = !settles || damaged;
	/* It is set aside already, and gone for those that wait for it; the lane is free for the next. */
	if (damaged) {
		spool_order_done(&worker->queue.spool, member->job.id);
		tell_news(worker, false);
		return 0;
	}
	SCOPE_FREE struct history_row *row = malloc(sizeof *row);
	if (!row)
		return err_sys(err, "cannot write log.tsv");
	if (record_end(worker, &verdict, retries, err) < 0)
		return -1;
	int64_t recorded_ns = clock_boot_ns();
	tell_news(worker, false);
	verdict_row(member, &verdict, row);
	if (settles)
		wait_for_card(worker, &verdict);
	if (member_settle(member, err) < 0)
		return -1;
	/* The next job may be ours already: neither a full disk nor a log that cannot be written is to lose it. The
	 * next claim syncs the same folder, and the rescue writes the row again from the record. */
	struct err ignored = ERR_NONE;
	spool_sync(&worker->queue.spool, &ignored);
	int queue_fd = worker->queue.line.queue_fd;
	if (!verdict.unstarted && !is_written(queue_fd, row, recorded_ns))
		history_append(queue_fd, row, worker->queue.line.conf.log_bytes, &ignored);
	return 0;
}

/* 1: the files have news. */
static int heed_signals(struct worker *worker)
{
	int again = 0;

	for (int sig; (sig = signals_next(&worker->signals));) {
		if (sig == SIGCHLD) {
			while (waitpid(-1, NULL, WNOHANG) > 0)
				;
		} else {
			again = 1;
		}
	}
	return again;
}

/* The standby's sleep. */
static int watch_line(struct worker *worker, struct err *err)
{
	struct pollfd polls[MEMBER_POLL + 1];
	int timeout_ms;
	int count = member_poll_fill(&worker->member, polls, &timeout_ms);

	polls[count] = (struct pollfd){ .fd = worker->signals.fd, .events = POLLIN };
	if (timeout_ms < 0 || timeout_ms > LONG_SLEEP_MS)
		rest_memory();
	if (rest_poll(polls, count + 1, timeout_ms) < 0 && errno != EINTR)
		return err_sys(err, "cannot watch the line");
	int again = polls[count].revents ? heed_signals(worker) : 0;
	again |= member_poll_done(&worker->member, polls, count);
	return again ? member_settle(&worker->member, err) : 0;
}

static void tell_ready(struct worker *worker)
{
	if (worker->ready_fd < 0 || !worker->member.settled)
		return;
	close(worker->ready_fd);
	worker->ready_fd = -1;
}

static int work(struct worker *worker, struct err *err)
{
	struct member *member = &worker->member;

	if (member_settle(member, err) < 0)
		return -1;
	for (;;) {
		tell_ready(worker);
		bool job = member->lane.fd >= 0 && !member->ended;
		if (!job && member->role.fd < 0)
			return member_leave(member, err);
		bool service = job && member->lane.number == SEAT_STANDING;
		int result = service ? run_service(worker, err) : job ? run_one(worker, err) : watch_line(worker, err);
		/* A record that was set aside left the lane to be given away. */
		if (result == 0 && member->ended)
			result = member_settle(member, err);
		start_on_end(worker);
		if (result < 0)
			return -1;
	}
}

/* Model: WB. */
static int adopt_seat(struct member *member, const char *number_text, const char *gen_text, struct err *err)
{
	int64_t number, gen;

	if (text_number_parse(number_text, SEAT_STANDING, CONF_LANES, &number, err) < 0 ||
	    text_number_parse(gen_text, 1, INT64_MAX, &gen, err) < 0)
		return -1;
	struct seat seat = { .fd = WORKER_SEAT_FD, .number = (int)number, .gen = (uint64_t)gen };
	if (fcntl(WORKER_SEAT_FD, F_SETFD, FD_CLOEXEC) < 0 || fcntl(WORKER_READY_FD, F_SETFD, FD_CLOEXEC) < 0)
		return err_sys(err, "cannot take over a seat");
	if (number >= 0 || number == SEAT_STANDING) {
		member->lane = seat;
		member->ended = true;
	} else {
		member->role = seat;
	}
	return 0;
}

/* Our name in ps(1) is not that of /proc/self/exe, and the two signals that posix_spawn(3) keeps ignored are a job's to
 * use. */
static void look_plain(void)
{
	unsigned long plain[8] = { 0 }; /* the kernel's struct sigaction: SIG_DFL, no flags, empty mask */

	prctl(PR_SET_NAME, "pgpu");
	for (int sig = 32; sig < SIGRTMIN; sig++)
		syscall(SYS_rt_sigaction, sig, plain, NULL, 8);
}

int cmd_worker(int argc, char **argv)
{
	struct err err = ERR_NONE;
	SCOPE_FREE struct worker *worker = malloc(sizeof *worker);

	if (argc != 3) {
		err_set(&err, EXIT_USAGE, "worker: this command is pgpu's own");
		return say_err(&err);
	}
	umask(077);
	if (!worker || chdir("/") < 0)
		return EXIT_FAILED;
	look_plain();
	worker->ready_fd = WORKER_READY_FD;
	worker->end.id = 0;
	int result = caps_forget_caller(&err) < 0 ? -1 : queue_open_worker(&worker->queue, &err);
	if (result == 0) {
		member_open(&worker->member, &worker->queue.line, MEMBER_WORKER);
		result = adopt_seat(&worker->member, argv[1], argv[2], &err);
		if (result == 0)
			result = signals_open(&worker->signals, SIGNALS_WORKER, &err);
		worker->queue.line.stops_blocked = result == 0;
		if (result == 0)
			result = work(worker, &err);
		member_close(&worker->member);
	}
	if (result < 0)
		say_err(&err);
	else
		prune_daily(&worker->queue.spool, &worker->queue.line.conf);
	queue_close(&worker->queue);
	return result < 0 ? EXIT_FAILED : EXIT_OK;
}
