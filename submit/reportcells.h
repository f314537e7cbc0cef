/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a report says in words and figures, the same in each of its forms. */
#ifndef PGPU_SUBMIT_REPORTCELLS_H
#define PGPU_SUBMIT_REPORTCELLS_H

#include "conf/base/buf.h"
#include "conf/base/clock.h"
#include "conf/base/text.h"
#include "submit/reportlanes.h"

/* A job's line of the table; what is not known is "-". */
struct report_cells {
	const char *outcome;
	char waited[TEXT_DURATION], ran[TEXT_DURATION], frozen[TEXT_DURATION];
	char peak[2 * TEXT_SIZE]; /* "1.5G of 24G" */
	char gpu[8];		  /* "87%": how much of the time that it ran the card worked for it */
};
void report_cells(const struct report_job *job, struct report_cells *ret_cells);

/* Two lines: the span and the jobs by outcome, and how long the lanes were busy. */
void report_headline(const struct report *report, const struct report_sums *sums, struct buf *out);

/* The form's own way to show a text that may hold anything. */
typedef void report_show(struct buf *out, const char *text);
/* "NAME (CLASS, SESSION)" */
void report_put_job(const struct report_job *job, report_show *show, struct buf *out);
/* How it ended, and why as far as that is known: "failed, exit code 3: its reason". */
void report_put_why(const struct report_job *job, report_show *show, struct buf *out);
/* Calls `put` for its output, and for its error file where it has one. */
void report_put_tails(const struct report_job *job, void (*put)(const char *label, const char *path, struct buf *out),
		      struct buf *out);
/* Calls `put` for each job that failed; `title` stands before the first. */
void report_put_failures(const struct report *report, const char *title,
			 void (*put)(const struct report_job *job, struct buf *out), struct buf *out);

/* "2026-12-01 22:00:05", local time. */
void report_moment(int64_t wall_ns, char text[CLOCK_TEXT]);

#endif
