/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * log.tsv: the history of holds. One header line, then one line a hold, tab-separated, appended with one write(2) and
 * not synced. Fields are escaped \t \n \\ ; a figure that is not known is empty. A hold that ended by giving the lane
 * up has outcome `turn`.
 *
 * Beyond a size it is begun anew: log.tsv becomes log.tsv.1, and so on to log.tsv.4. Writers open by name and append,
 * so a row goes to the one or the other. Readers open the newest first, and know by its inode one that was renamed
 * meanwhile: they miss none and see none twice, whoever renames.
 */
#ifndef PGPU_SUBMIT_HISTORY_H
#define PGPU_SUBMIT_HISTORY_H

#include <stdint.h>

#include "conf/base/err.h"
#include "submit/spool.h"

struct history_row {
	int64_t ended_wall_ns;
	uint64_t id;
	bool spooled;
	char class_name[CONF_CLASS_NAME];
	char session[JOB_SESSION_MAX + 1];
	char name[JOB_NAME_MAX * 4 + 1];
	char command[4097];
	int64_t waited_ns; /* -1: unknown; so for the next four */
	int64_t ran_ns;
	int64_t frozen_ns;
	int64_t cpu_ns;
	int64_t gpu_ns;
	int64_t peak_memory_bytes;
	int exit_code; /* empty for `turn` */
	enum outcome outcome;
};

#define HISTORY_ROW                                                                                                    \
	((struct history_row){                                                                                         \
		.waited_ns = -1, .ran_ns = -1, .frozen_ns = -1, .cpu_ns = -1, .gpu_ns = -1, .peak_memory_bytes = -1 })

/* Undoes buf_field() in place. */
void history_unescape(char *text);

enum { HISTORY_OLD = 4 };

/* Begins the log anew where it is larger than `log_bytes` after that; 0: never. */
int history_append(int queue_fd, const struct history_row *row, uint64_t log_bytes, struct err *err);
/* Calls `visit` for each row in the order of writing, of older files first; damaged lines are passed over, and files
 * that are missing. */
int history_each(int queue_fd, int (*visit)(const struct history_row *row, void *context), void *context,
		 struct err *err);
/* The same of the rows in the last `bytes` of them all. */
int history_each_late(int queue_fd, long bytes, int (*visit)(const struct history_row *row, void *context),
		      void *context, struct err *err);
/* The last row of a job that is no `turn`. 1 found, 0 not. */
int history_find(int queue_fd, uint64_t id, struct history_row *ret_row, struct err *err);

/* A row is missing when its record has moved so long ago. */
#define HISTORY_FRESH_NS (2 * NS_PER_S)

/*
 * The log is not synced: after a power cut it may lack rows of jobs whose records say how they ended. Appends a row,
 * with what the record knows, for each ended record whose job has none. Where the oldest file was dropped, what ended
 * before the first row that is left is not missing. Returns how many, or -1; 0 also while another process does that.
 */
int history_repair(struct spool *spool, uint64_t log_bytes, struct err *err);

#endif
