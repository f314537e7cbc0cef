/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cancel.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "conf/base/fmt.h"
#include "conf/base/say.h"
#include "conf/jobid.h"
#include "runner/arrayview.h"
#include "runner/depend.h"
#include "runner/line/seat.h"
#include "runner/line/ticket.h"
#include "runner/line/wake.h"
#include "submit/history.h"
#include "submit/spooltasks.h"

/* A supervisor answers within a moment, unless it is stopped: then it is continued. */
enum { TELL_MS = 10000 };

struct search {
	struct line *line;
	uint64_t id;
	struct entry entry;
	bool found;
	struct spool_name name; /* of a record that was pending: its name now */
};

static int match_ticket(const struct ticket_name *name, const char *file, void *context)
{
	struct search *search = context;

	if (name->id != search->id || !ticket_read(search->line, file, &search->entry))
		return 0;
	search->found = true;
	return 1;
}

/* Whoever supervises the job now: the owner of its lane, or of its ticket. */
static int find_owner(struct search *search, struct err *err)
{
	struct seat_view view;

	for (int lane = 0; lane < CONF_LANES; lane++) {
		if (seat_read(search->line, lane, &view, err) < 0)
			return -1;
		if (view.entry.gen == 0 && lane >= search->line->conf.lanes)
			break;
		if (view.held && view.entry.id == search->id && view.entry.state != ENTRY_FREE) {
			search->entry = view.entry;
			search->found = true;
			return 0;
		}
	}
	return ticket_each(search->line, match_ticket, search, err) < 0 ? -1 : 0;
}

/* A standing job has its record in pending/ while it runs, too: whose worker has it, or is about to. */
static int find_service(struct search *search, struct err *err)
{
	struct seat_view view;

	if (seat_read(search->line, SEAT_STANDING, &view, err) < 0)
		return -1;
	search->found = view.entry.id == search->id && view.entry.state != ENTRY_FREE;
	search->entry = view.entry;
	return 0;
}

static int cancel_locked(struct line *line, struct spool *spool, struct search *search, struct err *err)
{
	enum spool_state state;
	struct spool_name name = { 0 };
	enum spool_order order;
	char file[256];

	if (tasks_set_apart(spool, search->id, err) < 0)
		return -1;
	int found = spool_find(spool, search->id, &state, &name, file, err);
	if (found < 0 || find_owner(search, err) < 0)
		return -1;
	if (found == 1 && state == SPOOL_PENDING && name.standing && find_service(search, err) < 0)
		return -1;
	/* Its record tells, and not who still has its name on a lane: he is done with it. A standing job's does not. */
	bool standing = name.standing && search->found;
	if (found == 1 && state == SPOOL_PENDING && !standing) {
		name.after = false;
		name.outcome = OUTCOME_CANCELLED;
		name.code = EXIT_SIGNAL + 15;
		search->name = name;
		return spool_move(spool, SPOOL_PENDING, file, SPOOL_ENDED, &name, err) < 0 ? -1 : CANCELLED_PENDING;
	}
	if (found == 1 && state == SPOOL_ENDED)
		return CANCELLED_ENDED;
	/* A record in running/ without a holder is being cleared by a rescuer, who obeys the order. */
	if (search->found || found == 1)
		return spool_order(spool, search->id, &order, err) < 0 ? -1 : CANCELLED_ORDERED;
	return line_id_known(line, search->id) ? CANCELLED_ENDED : CANCELLED_UNKNOWN;
}

static bool is_full(int errnum)
{
	return errnum == ENOSPC || errnum == EDQUOT;
}

/* By word alone. */
static int tell(const struct search *search, struct err *err)
{
	char message[64], answer[WAKE_MESSAGE];
	const char *why = strerror(err->errnum);

	fmt(message, sizeof message, "end %s", JOBID(search->id));
	if (wake_ask(search->entry.socket, message, answer, TELL_MS) < 0 || strcmp(answer, "ok") != 0)
		return -1;
	say("the order to cancel job %s is not on disk: %s", JOBID(search->id), why);
	*err = ERR_NONE;
	return CANCELLED_ORDERED;
}

/* What was ordered is looked at now. */
static void wake_owner(const struct search *search)
{
	int fd = wake_look(&search->entry);

	if (fd >= 0)
		close(fd);
	/* A `run` that Ctrl-Z stopped goes on for as long as it takes to end. */
	if (procid_stopped(&search->entry.owner))
		procid_signal(&search->entry.owner, SIGCONT);
}

static int refuse_requeue(uint64_t id, const char *why, struct err *err)
{
	return err_set(err, EXIT_FAILED, "cannot requeue job %s: %s", JOBID(id), why);
}

/* 1: it is back in line, and that is to be synced; 0: its supervisor is to be told. */
static int requeue_locked(struct line *line, struct spool *spool, struct search *search, struct err *err)
{
	struct spool_name name;
	enum spool_state state;
	char file[256];
	int found = spool_find(spool, search->id, &state, &name, file, err);

	if (found < 0 || find_owner(search, err) < 0)
		return -1;
	if (found == 0 && search->found)
		return refuse_requeue(search->id, "it is a run, which has no record", err);
	if (found == 0)
		return refuse_requeue(search->id, line_id_known(line, search->id) ? "it has no record" : "no such id",
				      err);
	if (state == SPOOL_PENDING)
		return refuse_requeue(
			search->id,
			name.standing ? "it is a standing job, which comes back by itself" : "it waits already", err);
	if (state == SPOOL_RUNNING)
		return spool_order_back(spool, search->id, err);
	/* Of a standing job that is how often it was started. */
	name.restarts += !name.standing;
	name.outcome = OUTCOME_NONE;
	name.after = false;
	name.tries = 0;
	if (spool_move(spool, SPOOL_ENDED, file, SPOOL_PENDING, &name, err) < 0)
		return -1;
	spool_reason_forget(spool, search->id);
	return 1;
}

static int requeue_one(struct line *line, struct spool *spool, uint64_t id, struct err *err)
{
	struct search search = { .line = line, .id = id };

	if (line_lock(line, err) < 0)
		return -1;
	int result = requeue_locked(line, spool, &search, err);
	line_unlock(line);
	if (result == 0 && search.found)
		wake_owner(&search);
	return result > 0 ? spool_submit_sync(spool, err) : result;
}

int cancel_record(struct line *line, struct spool *spool, uint64_t id, struct onends *ends, struct err *err)
{
	struct search search = { .line = line, .id = id };

	if (line_lock(line, err) < 0)
		return -1;
	int result = cancel_locked(line, spool, &search, err);
	line_unlock(line);
	if (result < 0 && search.found && is_full(err->errnum))
		return tell(&search, err);
	if (result == CANCELLED_PENDING) {
		int ended = spool_folder(spool, SPOOL_ENDED_DIR, err);
		if (ended < 0 || fsync(ended) < 0)
			return err_sys(err, "cannot sync the end of job %s", JOBID(id));
		onend_of(ends, spool, &search.name);
		if (depend_news(line, spool, id, err) < 0)
			return -1;
	}
	if (result == CANCELLED_ORDERED && search.found)
		wake_owner(&search);
	return result;
}

/*
 * Of an array: its own record first; from then on none of its tasks starts, and all that have are seen. What becomes of
 * all is what is to be waited for, if anything is.
 */
static int cancel_array(struct line *line, struct spool *spool, uint64_t id, struct onends *ends, struct err *err)
{
	SCOPE_ARRAYVIEW struct arrayview array = { 0 };
	int result = cancel_record(line, spool, id, ends, err);

	if (result < 0 || arrayview_take(spool, id, &array, err) < 0)
		return -1;
	for (size_t i = 0; i < array.live; i++) {
		int one = cancel_record(line, spool, array.ids.list[i], ends, err);
		if (one < 0)
			return -1;
		if (one == CANCELLED_ORDERED || (one == CANCELLED_PENDING && result != CANCELLED_ORDERED))
			result = one;
	}
	return result;
}

static int look_for_array(struct spool *spool, uint64_t id, struct arrayview *ret_array, struct err *err)
{
	*ret_array = (struct arrayview){ 0 };
	return jobid_task(id) < 0 ? arrayview_take(spool, id, ret_array, err) : 0;
}

int cancel_job(struct line *line, struct spool *spool, uint64_t id, struct onends *ends, struct err *err)
{
	SCOPE_ARRAYVIEW struct arrayview array;

	if (look_for_array(spool, id, &array, err) < 0)
		return -1;
	return array.is_array ? cancel_array(line, spool, id, ends, err) : cancel_record(line, spool, id, ends, err);
}

/* Of an array: those that run or have ended, and an error where there is none. */
int requeue_job(struct line *line, struct spool *spool, uint64_t id, struct err *err)
{
	SCOPE_ARRAYVIEW struct arrayview array;
	int done = 0;

	if (look_for_array(spool, id, &array, err) < 0)
		return -1;
	if (!array.is_array)
		return requeue_one(line, spool, id, err);
	for (size_t i = 0; i < array.ids.count; i++) {
		struct err why = ERR_NONE;
		if (requeue_one(line, spool, array.ids.list[i], &why) == 0)
			done++;
		else if (why.errnum)
			return err_pass(err, &why);
	}
	return done ? 0 : refuse_requeue(id, "all of its tasks wait already", err);
}

static int signal_one(struct line *line, uint64_t id, int sig, struct err *err)
{
	struct search search = { .line = line, .id = id };
	char message[64], answer[WAKE_MESSAGE];

	if (find_owner(&search, err) < 0 || (!search.found && find_service(&search, err) < 0))
		return -1;
	if (!search.found || !search.entry.main.pid)
		return err_set(err, EXIT_FAILED, "cannot signal job %s: it does not run", JOBID(id));
	fmt(message, sizeof message, "signal %d %s", sig, JOBID(id));
	if (wake_ask(search.entry.socket, message, answer, TELL_MS) < 0)
		return err_sys(err, "cannot signal job %s", JOBID(id));
	if (strcmp(answer, "ok") != 0)
		return err_set(err, EXIT_FAILED, "cannot signal job %s: %s", JOBID(id),
			       strncmp(answer, "error ", 6) == 0 ? answer + 6 : answer);
	return 0;
}

/* Of an array: each of its tasks that runs, and an error where none does. */
int signal_job(struct line *line, struct spool *spool, uint64_t id, int sig, struct err *err)
{
	SCOPE_ARRAYVIEW struct arrayview array;
	int done = 0;

	if (look_for_array(spool, id, &array, err) < 0)
		return -1;
	if (!array.is_array)
		return signal_one(line, id, sig, err);
	for (size_t i = 0; i < array.live; i++) {
		struct err ignored = ERR_NONE;
		done += signal_one(line, array.ids.list[i], sig, &ignored) == 0;
	}
	return done ? 0 : err_set(err, EXIT_FAILED, "cannot signal job %s: none of its tasks runs", JOBID(id));
}
