/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A list in columns, drawn for a terminal so that no line of it is wrapped, and for a program in columns that stay.
 *
 *     struct table table = TABLE(&form, &screen, &out);
 *     table_add(&table, texts, NULL);     each row, form.count of them
 *     table_end(&table);
 *
 * For a program each column has its own width in bytes. What is longer takes the blanks of the column behind it, and
 * pushes that one away only where there are none left.
 *
 * For a terminal the widths are those of what is in the first rows. Where that is too wide the form's steps are taken
 * one by one until it fits: each makes a column as narrow as it says, no narrower than is needed, or takes it out. What
 * is left over goes back to the columns that are still there, those of the last steps first. A text that is cut ends in
 * an ellipsis.
 */
#ifndef PGPU_RUNNER_TABLE_H
#define PGPU_RUNNER_TABLE_H

#include "conf/base/buf.h"
#include "runner/screen.h"

enum { TABLE_COLUMNS = 12, TABLE_SAMPLE = 512 };

struct table_column {
	const char *title;
	int bytes;  /* for a program; 0: as long as it is; -1: not there */
	int gap;    /* blanks before it */
	bool right; /* its texts end below each other */
	bool cut;   /* for a program, too, it is no longer than `bytes` */
};

struct table_step {
	int column;
	int cells; /* 0: out it goes */
};

struct table_form {
	const struct table_column *columns;
	int count;
	const struct table_step *steps;
	int step_count;
};

#define TABLE_FORM(columns_, steps_)                                                                                   \
	{                                                                                                              \
		.columns = (columns_), .count = sizeof(columns_) / sizeof *(columns_), .steps = (steps_),              \
		.step_count = sizeof(steps_) / sizeof *(steps_)                                                        \
	}

struct table {
	const struct table_form *form;
	const struct screen *screen;
	struct buf *out;
	int rows;
	struct buf sample; /* the rows before the widths are known: paint, text and NUL of each cell */
	int cells[TABLE_COLUMNS], widest[TABLE_COLUMNS];
	bool fitted;
};

#define TABLE(form_, screen_, out_) ((struct table){ .form = (form_), .screen = (screen_), .out = (out_) })

/* The texts are shown, never obeyed. `paints` may be NULL: none. */
void table_add(struct table *table, const char *const texts[], const enum paint *paints);
/* Nothing is written of a table without rows. */
void table_end(struct table *table);

/* Pure: how wide each column of `widest` becomes where a line has `cells`. */
void table_fit(const struct table_form *form, const int *widest, int cells, int *ret_cells);

#endif
