/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the line asks of the spool: who waits there, taking a job, and what becomes of the job of a supervisor that
 * died. The line itself knows no records (line.h, struct line_spool); the spool knows no lanes.
 */
#ifndef PGPU_RUNNER_SPOOLED_H
#define PGPU_RUNNER_SPOOLED_H

#include "conf/idlist.h"
#include "runner/line/line.h"
#include "submit/history.h"
#include "submit/pendings.h"
#include "submit/spool.h"

enum { SPOOLED_ROWS = CONF_LANES + 16 };

struct spooled {
	struct line *line;
	struct spool *spool;
	int row_count;
	struct names_empty no_pending;
	int long_looks;		   /* the last listings that were of many records */
	struct pendings *pendings; /* NULL: the folder is read at each look */
	bool tell;		   /* say a line for each thing that is mended */
	int mended;
	char taken[256];			/* the file in running/ of the job that `take` took last */
	struct idlist news;			/* jobs that have ended, for who waits for them: told by `sync` */
	struct history_row *rows[SPOOLED_ROWS]; /* lines for the log, written by `sync` */
	struct spool_name *ends; /* records that were ended for good: `sync` starts what they name for that */
	size_t end_count, end_room;
};

/* Connects the two. Nothing is opened. */
void spooled_connect(struct spooled *spooled, struct line *line, struct spool *spool);
void spooled_close(struct spooled *spooled);

#endif
