/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "depend.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "conf/base/buf.h"
#include "conf/base/file.h"
#include "conf/base/fmt.h"
#include "conf/base/names.h"
#include "conf/base/scope.h"
#include "conf/idlist.h"
#include "conf/jobid.h"
#include "runner/onend.h"
#include "submit/history.h"
#include "submit/spooltasks.h"

/* Conditions with how far their jobs have got. */
struct outlook {
	struct after_list after;
	struct after_progress *progress;
	enum spool_state *implied; /* SPOOL_STATES: no */
	uint64_t id;		   /* of who waits */
	bool gone;		   /* it does so no longer */
	struct spool_name ended;   /* and where it cannot be met any more: its record's name */
};
#define SCOPE_OUTLOOK __attribute__((cleanup(free_outlook)))

static void free_outlook(struct outlook *outlook)
{
	after_free(&outlook->after);
	free(outlook->progress);
	free(outlook->implied);
}

/* An array stands for its tasks. */
static bool names(uint64_t wanted, uint64_t id)
{
	return wanted == id || (jobid_task(wanted) < 0 && jobid_array(id) == wanted);
}

static bool has_record(const struct after_progress *progress)
{
	return progress->pending || progress->running || progress->well || progress->badly;
}

/* Tasks for which the array's record speaks: they wait, or were cancelled with it. */
static void imply(struct outlook *outlook)
{
	for (size_t i = 0; i < outlook->after.count; i++) {
		struct after_progress *progress = &outlook->progress[i];
		if (has_record(progress))
			continue;
		progress->pending = outlook->implied[i] == SPOOL_PENDING;
		progress->badly = outlook->implied[i] == SPOOL_ENDED;
	}
}

struct counting {
	struct outlook *outlook;
	enum spool_state state;
};

static int count_one(const struct spool_name *name, const char *file, void *context)
{
	const struct counting *counting = context;
	struct outlook *outlook = counting->outlook;

	(void)file;
	for (size_t i = 0; i < outlook->after.count; i++) {
		struct after_progress *progress = &outlook->progress[i];
		uint64_t wanted = outlook->after.list[i].id;
		/* Counts for a task that has no record of its own, see imply(). */
		if (name->array && jobid_task(wanted) >= 0 && jobid_array(wanted) == name->id)
			outlook->implied[i] = counting->state == SPOOL_PENDING ? SPOOL_PENDING : SPOOL_ENDED;
		if (!names(wanted, name->id))
			continue;
		if (counting->state == SPOOL_PENDING)
			progress->pending++;
		else if (counting->state == SPOOL_RUNNING)
			progress->running++;
		else if (name->outcome == OUTCOME_COMPLETED)
			progress->well++;
		else
			progress->badly++;
	}
	return 0;
}

static int count_all(struct spool *spool, struct outlook *outlook, struct err *err)
{
	free(outlook->progress);
	free(outlook->implied);
	outlook->progress = calloc(outlook->after.count + 1, sizeof *outlook->progress);
	outlook->implied = calloc(outlook->after.count + 1, sizeof *outlook->implied);
	if (!outlook->progress || !outlook->implied)
		return err_sys(err, "cannot look at the jobs that job %s waits for", JOBID(outlook->id));
	for (size_t i = 0; i < outlook->after.count; i++)
		outlook->implied[i] = SPOOL_STATES;
	for (int state = 0; state < SPOOL_STATES; state++) {
		struct counting counting = { outlook, (enum spool_state)state };
		if (spool_each(spool, (enum spool_state)state, count_one, &counting, err) < 0)
			return -1;
	}
	imply(outlook);
	return 0;
}

/* One without a record is a `run` that has ended, or a job whose record was removed: the log knows how. */
static int ask_log(struct line *line, const struct outlook *outlook, size_t index, struct after_progress *progress,
		   struct err *err)
{
	SCOPE_FREE struct history_row *row = malloc(sizeof *row);

	if (!row)
		return err_sys(err, "cannot look at the jobs that job %s waits for", JOBID(outlook->id));
	int found = history_find(line->queue_fd, outlook->after.list[index].id, row, err);
	if (found < 0)
		return -1;
	progress->well = found && row->outcome == OUTCOME_COMPLETED;
	progress->badly = !progress->well;
	return 0;
}

static enum after_verdict judge(const struct outlook *outlook, size_t *ret_first)
{
	enum after_verdict verdict = AFTER_MET;

	for (size_t i = 0; i < outlook->after.count; i++) {
		switch (after_judge(outlook->after.list[i].kind, &outlook->progress[i])) {
		case AFTER_NEVER: *ret_first = i; return AFTER_NEVER;
		case AFTER_WAITS: verdict = AFTER_WAITS; break;
		default: break;
		}
	}
	return verdict;
}

struct namesakes {
	struct spool *spool;
	enum spool_state state;
	const struct spool_name *self;
	const char *job_name;
	struct after_list *after;
};

/* An earlier one of the session that has the same name, while it waits or runs. */
static int add_namesake(const struct spool_name *name, const char *file, void *context)
{
	const struct namesakes *namesakes = context;
	SCOPE_JOB struct job job = JOB_EMPTY;
	struct job_facts facts = { 0 };
	struct err ignored = ERR_NONE;

	if (name->id >= namesakes->self->id || strcmp(name->session, namesakes->self->session) != 0 ||
	    spool_read(namesakes->spool, namesakes->state, file, &job, &facts, &ignored) < 0)
		return 0;
	job_facts_free(&facts);
	char text[64];
	fmt(text, sizeof text, "afterany:%s", JOBID(name->id));
	/* More than a list can hold are looked at in the next round. */
	if (strcmp(job.name, namesakes->job_name) == 0)
		after_parse(text, namesakes->after, &ignored);
	return 0;
}

/* The header's conditions, with a task's number for aftercorr and the jobs' ids for `singleton`. */
static int read_outlook(struct spool *spool, const struct spool_name *name, const char *file, struct outlook *outlook,
			struct err *err)
{
	SCOPE_JOB struct job job = JOB_EMPTY;
	struct job_facts facts = { 0 };
	bool single = false;

	if (spool_read(spool, SPOOL_PENDING, file, &job, &facts, err) < 0)
		return -1;
	job_facts_free(&facts);
	outlook->id = name->id;
	outlook->after = job.after;
	job.after = (struct after_list){ 0 };
	for (size_t i = outlook->after.count; i-- > 0;) {
		struct after *one = &outlook->after.list[i];
		if (one->kind == AFTER_CORR && jobid_task(one->id) < 0 && jobid_task(name->id) >= 0)
			one->id = jobid_with_task(one->id, jobid_task(name->id));
		if (one->kind != AFTER_SINGLETON)
			continue;
		single = true;
		*one = outlook->after.list[--outlook->after.count];
	}
	struct namesakes namesakes = { spool, SPOOL_PENDING, name, job.name, &outlook->after };
	for (; single && namesakes.state <= SPOOL_RUNNING; namesakes.state++) {
		if (spool_each(spool, namesakes.state, add_namesake, &namesakes, err) < 0)
			return -1;
	}
	return 0;
}

/* after/NUMBER; -1 where nobody waits for it, unless it is to be made. */
static int open_news(struct spool *spool, uint64_t id, bool make, struct err *err)
{
	int folder = spool_folder(spool, SPOOL_AFTER_DIR, err);

	return folder < 0 ? -1 : folder_open(folder, JOBID(jobid_array(id)), make, err);
}

static int note_one(struct spool *spool, uint64_t of, uint64_t who, struct err *err)
{
	enum { TRIES = 100 };

	/* The folder may go in between: its last one has just been met. */
	for (int tries = 0; tries < TRIES; tries++) {
		struct err why = ERR_NONE;
		SCOPE_FD int folder = open_news(spool, of, true, &why);
		if (folder < 0 && why.errnum == ENOENT)
			continue;
		if (folder < 0)
			return err_pass(err, &why);
		SCOPE_FD int fd =
			openat(folder, JOBID(who), O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
		if (fd >= 0)
			return 0;
		if (errno != ENOENT)
			break;
	}
	return err_sys(err, "cannot note that job %s waits for job %s", JOBID(who), JOBID(of));
}

static int note_all(struct spool *spool, const struct outlook *outlook, struct err *err)
{
	for (size_t i = 0; i < outlook->after.count; i++) {
		if (note_one(spool, outlook->after.list[i].id, outlook->id, err) < 0)
			return -1;
	}
	return 0;
}

int depend_note(struct spool *spool, const struct job *job, uint64_t id, struct err *err)
{
	for (size_t i = 0; i < job->after.count; i++) {
		const struct after *one = &job->after.list[i];
		if (one->kind != AFTER_SINGLETON && note_one(spool, one->id, id, err) < 0)
			return -1;
	}
	return 0;
}

/* 1: its end is known from the log alone. */
static int in_log(struct line *line, uint64_t id, struct err *err)
{
	SCOPE_FREE struct history_row *row = malloc(sizeof *row);

	return row ? history_find(line->queue_fd, id, row, err) : err_sys(err, "cannot look at job %s", JOBID(id));
}

/* That the array waits which it names says nothing of a task that it has not. */
static bool is_no_task(struct spool *spool, uint64_t id)
{
	SCOPE_TASKS struct tasks tasks = TASKS_NONE;
	struct err ignored = ERR_NONE;

	return jobid_task(id) >= 0 && tasks_open(spool, id, &tasks, &ignored) == 0 &&
	       array_position(&tasks.array, jobid_task(id)) < 0;
}

int depend_refuse(struct line *line, struct spool *spool, const struct after_list *after, struct err *err)
{
	struct outlook outlook = { .after = *after }; /* the list is the caller's */
	int result = after->count ? count_all(spool, &outlook, err) : 0;

	for (size_t i = 0; result == 0 && i < after->count; i++) {
		uint64_t id = after->list[i].id;
		if (after->list[i].kind != AFTER_SINGLETON && is_no_task(spool, id)) {
			result = err_set(err, EXIT_USAGE, "after: array %s has no task %d", JOBID(jobid_array(id)),
					 (int)jobid_task(id));
			continue;
		}
		if (after->list[i].kind == AFTER_SINGLETON || has_record(&outlook.progress[i]))
			continue;
		int logged = line_id_known(line, id) ? in_log(line, id, err) : 0;
		if (logged < 0)
			result = -1;
		else if (!logged)
			result = err_set(err, EXIT_USAGE, "after: job %s %s", JOBID(id),
					 line_id_known(line, id)
						 ? "has no record: it is gone, or a run that has not ended"
						 : "was never given out");
	}
	free(outlook.progress);
	free(outlook.implied);
	return result;
}

static void forget(struct spool *spool, const struct outlook *outlook)
{
	struct err ignored = ERR_NONE;

	for (size_t i = 0; i < outlook->after.count; i++) {
		SCOPE_FD int folder = open_news(spool, outlook->after.list[i].id, false, &ignored);
		if (folder < 0)
			continue;
		unlinkat(folder, JOBID(outlook->id), 0);
		/* Stays while others wait for the same. */
		unlinkat(spool->folders[SPOOL_AFTER_DIR], JOBID(jobid_array(outlook->after.list[i].id)), AT_REMOVEDIR);
	}
}

/* With the lock: whether it still waits, and what is to become of it. */
static int settle_one(struct spool *spool, struct outlook *outlook, enum after_verdict *ret_verdict, size_t *ret_first,
		      struct err *err)
{
	struct spool_name name;
	char file[256];
	int found = spool_find_in(spool, SPOOL_PENDING, outlook->id, &name, file, err);

	*ret_verdict = AFTER_WAITS;
	outlook->gone = found == 0 || (found > 0 && !name.after);
	if (found < 0 || outlook->gone)
		return found < 0 ? -1 : 0;
	*ret_verdict = judge(outlook, ret_first);
	if (*ret_verdict == AFTER_MET)
		return spool_after_met(spool, &name, file, err);
	if (*ret_verdict == AFTER_WAITS)
		return 0;
	name.after = false;
	name.outcome = OUTCOME_CANCELLED;
	name.code = EXIT_BROKEN;
	outlook->ended = name;
	return spool_move(spool, SPOOL_PENDING, file, SPOOL_ENDED, &name, err);
}

static void tell_why(struct spool *spool, const struct outlook *outlook, size_t first)
{
	SCOPE_BUF struct buf why = BUF_EMPTY;

	buf_puts(&why, "it waited for ");
	after_put(&outlook->after, first, &why);
	buf_puts(&why, ", which can no longer be");
	if (buf_ok(&why))
		spool_reason_write(spool, outlook->id, why.text);
}

/* With the lock. 1: some have no record, and the log was not asked yet how they ended. */
static int decide_locked(struct spool *spool, struct outlook *outlook, const struct after_progress *known,
			 enum after_verdict *ret_verdict, size_t *ret_first, struct err *err)
{
	if (count_all(spool, outlook, err) < 0)
		return -1;
	for (size_t i = 0; i < outlook->after.count; i++) {
		if (has_record(&outlook->progress[i]))
			continue;
		if (!known)
			return 1;
		outlook->progress[i] = known[i];
	}
	return settle_one(spool, outlook, ret_verdict, ret_first, err);
}

static int ask_for_all(struct line *line, const struct outlook *outlook, struct after_progress *known, struct err *err)
{
	for (size_t i = 0; i < outlook->after.count; i++) {
		if (!has_record(&outlook->progress[i]) && ask_log(line, outlook, i, &known[i], err) < 0)
			return -1;
	}
	return 0;
}

/* The log is read without the lock, and only for jobs that have no record any more. */
static int decide(struct line *line, struct spool *spool, struct outlook *outlook, enum after_verdict *ret_verdict,
		  struct err *err)
{
	SCOPE_FREE struct after_progress *known = NULL;
	size_t first = 0;

	for (;;) {
		if (line_lock(line, err) < 0)
			return -1;
		int result = decide_locked(spool, outlook, known, ret_verdict, &first, err);
		line_unlock(line);
		if (result == 0 && *ret_verdict == AFTER_NEVER)
			tell_why(spool, outlook, first);
		if (result <= 0)
			return result;
		known = calloc(outlook->after.count + 1, sizeof *known);
		if (!known)
			return err_sys(err, "cannot look at the jobs that job %s waits for", JOBID(outlook->id));
		if (ask_for_all(line, outlook, known, err) < 0)
			return -1;
	}
}

/* Those that are to be looked at, and what has come of it; it grows while it is worked off. */
struct round {
	struct idlist ids;
	bool met, ended;
	struct onends ends;
};

struct sought {
	uint64_t id;
	bool there, waits;
};

static int seek(const struct spool_name *name, const char *file, void *context)
{
	struct sought *sought = context;

	(void)file;
	sought->there |= names(sought->id, name->id);
	sought->waits |= sought->id == name->id && name->after;
	return 0;
}

/* It was cancelled, say, or updated, or of an array only tasks are left, which wait by themselves. One that has no
 * record may be about to be submitted. */
static bool waits_no_longer(struct spool *spool, uint64_t who)
{
	struct sought sought = { .id = who };
	struct err ignored = ERR_NONE;

	for (int state = 0; !sought.there && state < SPOOL_STATES; state++) {
		if (spool_each(spool, (enum spool_state)state, seek, &sought, &ignored) < 0)
			return false;
	}
	return sought.there && !sought.waits;
}

/* Who waits for that one. */
static int add_waiting(struct round *round, struct spool *spool, uint64_t id, struct err *err)
{
	struct err why = ERR_NONE;
	SCOPE_NAMES struct names names = NAMES_NONE;
	SCOPE_FD int folder = open_news(spool, id, false, &why);
	const char *end;

	if (folder < 0)
		return why.errnum == ENOENT ? 0 : err_pass(err, &why);
	if (names_open(&names, folder) < 0)
		return err_sys(err, "cannot read who waits for job %s", JOBID(id));
	for (const struct dirent64 *found; (found = names_next(&names));) {
		uint64_t who = jobid_read(found->d_name, &end);
		if (!who || *end != '\0')
			continue;
		if (waits_no_longer(spool, who))
			unlinkat(folder, found->d_name, 0);
		else if (idlist_add(&round->ids, who) < 0)
			return err_sys(err, "cannot read who waits for job %s", JOBID(id));
	}
	if (names_failed(&names))
		return err_sys(err, "cannot read who waits for job %s", JOBID(id));
	/* Stays while one does. */
	unlinkat(spool->folders[SPOOL_AFTER_DIR], JOBID(jobid_array(id)), AT_REMOVEDIR);
	return 0;
}

static int check_one(struct line *line, struct spool *spool, uint64_t id, struct round *round, struct err *err)
{
	SCOPE_OUTLOOK struct outlook outlook = { .after = { 0 } };
	enum after_verdict verdict = AFTER_WAITS;
	struct spool_name name;
	char file[256];
	int found = spool_find_in(spool, SPOOL_PENDING, id, &name, file, err);

	if (found <= 0 || !name.after)
		return found < 0 ? -1 : 0;
	/* Namesakes were not known when it was noted. */
	if (read_outlook(spool, &name, file, &outlook, err) < 0 || note_all(spool, &outlook, err) < 0 ||
	    decide(line, spool, &outlook, &verdict, err) < 0)
		return -1;
	if (verdict == AFTER_WAITS && !outlook.gone)
		return 0;
	forget(spool, &outlook);
	round->met |= verdict == AFTER_MET;
	round->ended |= verdict == AFTER_NEVER;
	if (verdict != AFTER_NEVER)
		return 0;
	onend_of(&round->ends, spool, &outlook.ended);
	return add_waiting(round, spool, id, err);
}

static int sync_round(struct spool *spool, const struct round *round, struct err *err)
{
	int ended = round->ended ? spool_folder(spool, SPOOL_ENDED_DIR, err) : -1;

	if (round->ended && (ended < 0 || fsync(ended) < 0))
		return err_sys(err, "cannot sync the ends of jobs");
	return round->met ? spool_submit_sync(spool, err) : 0;
}

/* One that cannot be looked at is in nobody's way: the first such error is told when all the others were. */
static int work_off(struct line *line, struct spool *spool, struct round *round, int result, struct err *err)
{
	for (size_t i = 0; i < round->ids.count; i++) {
		struct err why = ERR_NONE;
		if (check_one(line, spool, round->ids.list[i], round, &why) == 0)
			continue;
		if (result == 0)
			err_pass(err, &why);
		result = -1;
	}
	idlist_free(&round->ids);
	struct err why = ERR_NONE;
	if (sync_round(spool, round, &why) < 0) {
		if (result == 0)
			err_pass(err, &why);
		result = -1;
	}
	onend_start(&round->ends);
	return result < 0 ? -1 : round->met || round->ended;
}

int depend_check(struct line *line, struct spool *spool, uint64_t id, struct err *err)
{
	struct round round = { 0 };

	if (idlist_add(&round.ids, id) < 0)
		return err_sys(err, "cannot look at the jobs that job %s waits for", JOBID(id));
	return work_off(line, spool, &round, 0, err);
}

int depend_news(struct line *line, struct spool *spool, uint64_t id, struct err *err)
{
	struct round round = { 0 };

	return work_off(line, spool, &round, add_waiting(&round, spool, id, err), err);
}

static int collect_waiting(const struct spool_name *name, const char *file, void *context)
{
	struct round *round = context;

	(void)file;
	return name->after ? idlist_add(&round->ids, name->id) : 0;
}

int depend_sweep(struct line *line, struct spool *spool, struct err *err)
{
	struct round round = { 0 };

	return work_off(line, spool, &round, spool_each(spool, SPOOL_PENDING, collect_waiting, &round, err), err);
}
