/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <errno.h>
#include <string.h>
#include <sys/file.h>

#include "conf/base/buf.h"
#include "conf/base/clock.h"
#include "conf/base/file.h"
#include "conf/base/fmt.h"
#include "conf/idlist.h"
#include "history.h"

struct missing {
	struct spool *spool;
	struct idlist logged;	/* a row each that is some end's */
	struct idlist lost;	/* the same of those that say lost */
	int64_t oldest_wall_ns; /* the first row's; 0: no row yet */
	bool dropped;		/* there were older ones */
	uint64_t log_bytes;
	int count;
	struct err *err;
};

/* A row `turn`, and `lost` as a rule, is that of an earlier hold; the record's own end needs one of its own. */
static int add_row(const struct history_row *row, void *context)
{
	struct missing *missing = context;

	if (missing->oldest_wall_ns == 0)
		missing->oldest_wall_ns = row->ended_wall_ns;
	if (!row->spooled || row->outcome == OUTCOME_TURN)
		return 0;
	return idlist_add(row->outcome == OUTCOME_LOST ? &missing->lost : &missing->logged, row->id);
}

struct wanted {
	const struct spool_name *name;
	bool found;
};

static int is_its_end(const struct history_row *row, void *context)
{
	struct wanted *wanted = context;

	wanted->found |= row->spooled && row->id == wanted->name->id && row->outcome == wanted->name->outcome &&
			 row->exit_code == wanted->name->code;
	return 0;
}

/* One that went back in line has rows of earlier ends, by hand as well: one of them is to say how it ended at last. */
static bool has_row(struct missing *missing, const struct spool_name *name)
{
	struct wanted wanted = { .name = name };
	struct err ignored = ERR_NONE;

	if (name->outcome == OUTCOME_LOST)
		return idlist_count(&missing->lost, name->id) > 0;
	if (idlist_count(&missing->logged, name->id) <= (size_t)name->tries)
		return false;
	return name->restarts <= name->tries ||
	       history_each(missing->spool->queue_fd, is_its_end, &wanted, &ignored) < 0 || wanted.found;
}

static int check_record(const struct spool_name *name, const char *file, void *context)
{
	struct missing *missing = context;
	SCOPE_JOB struct job job = JOB_EMPTY;
	SCOPE_BUF struct buf command = BUF_EMPTY;
	struct job_facts facts = { 0 };
	struct history_row row = HISTORY_ROW;
	struct err ignored = ERR_NONE;

	/* One that was cancelled before it began never held a lane; an attempt that was retried has its own row. */
	if (name->outcome == OUTCOME_CANCELLED || has_row(missing, name))
		return 0;
	if (spool_moved(missing->spool, SPOOL_ENDED, file, &row.ended_wall_ns) < 0 ||
	    clock_wall_ns() - row.ended_wall_ns < HISTORY_FRESH_NS ||
	    (missing->dropped && row.ended_wall_ns < missing->oldest_wall_ns) ||
	    spool_read(missing->spool, SPOOL_ENDED, file, &job, &facts, &ignored) < 0)
		return 0;
	job_command_line(&job, &command);
	row.id = name->id;
	row.spooled = true;
	row.outcome = name->outcome;
	row.exit_code = name->code;
	fmt(row.class_name, sizeof row.class_name, "%s", name->class_name);
	fmt(row.session, sizeof row.session, "%s", name->session);
	fmt(row.name, sizeof row.name, "%s", job.name);
	fmt(row.command, sizeof row.command, "%.*s", (int)sizeof row.command - 1, command.text ? command.text : "");
	job_facts_free(&facts);
	missing->count++;
	return history_append(missing->spool->queue_fd, &row, missing->log_bytes, missing->err);
}

int history_repair(struct spool *spool, uint64_t log_bytes, struct err *err)
{
	struct missing missing = { .spool = spool, .log_bytes = log_bytes, .err = err };
	char oldest[32];
	int ended = spool_folder(spool, SPOOL_ENDED_DIR, err);

	if (ended < 0)
		return -1;
	/* Two at once would write each row twice: the other one does it. Where there are no locks, nobody knows. */
	if (flock(ended, LOCK_EX | LOCK_NB) < 0 && errno == EWOULDBLOCK)
		return 0;
	fmt(oldest, sizeof oldest, "log.tsv.%d", HISTORY_OLD);
	missing.dropped = file_exists(spool->queue_fd, oldest);
	int result = history_each(spool->queue_fd, add_row, &missing, err);

	if (result == 0) {
		idlist_sort(&missing.logged);
		idlist_sort(&missing.lost);
		result = spool_each(spool, SPOOL_ENDED, check_record, &missing, err);
	}
	idlist_free(&missing.logged);
	idlist_free(&missing.lost);
	flock(ended, LOCK_UN);
	return result < 0 ? -1 : missing.count;
}
