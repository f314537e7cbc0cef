/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "table.h"

#include <limits.h>
#include <string.h>

#include "conf/base/scope.h"
#include "conf/base/text.h"

static int at_most(int figure, int most)
{
	return figure < most ? figure : most;
}

/* What a line takes, the gaps of the columns that are there with it. */
static int sum(const struct table_form *form, const int *cells)
{
	int all = 0;

	for (int i = 0; i < form->count; i++)
		all += cells[i] ? cells[i] + (all ? form->columns[i].gap : 0) : 0;
	return all;
}

void table_fit(const struct table_form *form, const int *widest, int cells, int *ret_cells)
{
	memcpy(ret_cells, widest, (size_t)form->count * sizeof *ret_cells);
	for (int i = 0; i < form->step_count; i++) {
		const struct table_step *step = &form->steps[i];
		int over = sum(form, ret_cells) - cells, room = ret_cells[step->column] - step->cells;
		if (over <= 0)
			break;
		if (room > 0)
			ret_cells[step->column] -= step->cells ? at_most(over, room) : room;
	}
	for (int i = form->step_count; i-- > 0;) {
		int column = form->steps[i].column, left = cells - sum(form, ret_cells);
		if (ret_cells[column] && left > 0)
			ret_cells[column] += at_most(left, widest[column] - ret_cells[column]);
	}
}

static void put_blanks(struct buf *out, int count)
{
	static const char blanks[] = "                                ";

	for (; count > 0; count -= (int)sizeof blanks - 1)
		buf_add(out, blanks, (size_t)at_most(count, (int)sizeof blanks - 1));
}

/* Bytes of `text`, at most so many, that need no look at. */
static int simple_bytes(const char *text, int most)
{
	int bytes = 0;

	while (bytes < most && text[bytes] >= ' ' && text[bytes] < 0x7f)
		bytes++;
	return bytes;
}

/* Adds the text as it is shown, cut on a character's border where it would be longer than `most` bytes. Returns how
 * long it is. */
static int put_shown(struct buf *out, const char *text, int most)
{
	int bytes = simple_bytes(text, most);

	buf_add(out, text, (size_t)bytes);
	for (text += bytes; *text;) {
		size_t order = text_order_length(text), length = order ? order : text_utf8_length(text);
		/* What is cut is measured as it was written. */
		if (bytes + (int)length > most)
			break;
		buf_add(out, order ? "?" : text, order ? 1 : length);
		bytes += order ? 1 : (int)length;
		text += length;
	}
	return bytes;
}

static void put_plain(struct table *table, const char *const texts[])
{
	struct buf *out = table->out;
	int over = 0;

	for (int i = 0; i < table->form->count; i++) {
		const struct table_column *column = &table->form->columns[i];
		put_blanks(out, i ? column->gap : 0);
		size_t at = out->size;
		int bytes = put_shown(out, texts[i], column->cut ? column->bytes : INT_MAX);
		int blanks = column->bytes - bytes - over;
		over = blanks < 0 ? -blanks : 0;
		if (i == table->form->count - 1)
			break;
		put_blanks(out, blanks);
		/* Those that end below each other have their blanks in front. */
		if (column->right && blanks > 0 && !out->failed) {
			memmove(out->text + at + blanks, out->text + at, (size_t)bytes);
			memset(out->text + at, ' ', (size_t)blanks);
		}
	}
	buf_puts(out, "\n");
}

/* Returns how many cells were filled. */
static int put_cut(struct table *table, const char *text, int cells)
{
	struct glyph glyph;
	bool all = screen_measure(text) <= cells;
	int filled = 0;

	while (*text) {
		text += screen_next(text, &glyph);
		if (filled + glyph.cells > cells - !all)
			break;
		buf_add(table->out, glyph.text, glyph.length);
		filled += glyph.cells;
	}
	if (all)
		return filled;
	buf_puts(table->out, table->screen->utf8 ? "\xe2\x80\xa6" : "~");
	return filled + 1;
}

static void put_fitted(struct table *table, const char *const texts[])
{
	int blanks = 0; /* owed: none is written at a line's end */

	for (int i = 0; i < table->form->count; i++) {
		const struct table_column *column = &table->form->columns[i];
		if (!table->cells[i])
			continue;
		blanks += i ? column->gap : 0;
		if (column->right)
			blanks += table->cells[i] - at_most(screen_measure(texts[i]), table->cells[i]);
		if (texts[i][0])
			put_blanks(table->out, blanks);
		blanks = texts[i][0] ? 0 : blanks;
		int filled = put_cut(table, texts[i], table->cells[i]);
		blanks += column->right ? 0 : table->cells[i] - filled;
	}
	buf_puts(table->out, "\n");
}

static void put_row(struct table *table, const char *const texts[])
{
	if (table->screen->terminal)
		put_fitted(table, texts);
	else
		put_plain(table, texts);
}

static void put_titles(struct table *table)
{
	const char *titles[TABLE_COLUMNS];

	for (int i = 0; i < table->form->count; i++)
		titles[i] = table->form->columns[i].title;
	put_row(table, titles);
}

static void fit(struct table *table)
{
	const char *at = table->sample.text;
	const char *texts[TABLE_COLUMNS];

	for (int i = 0; i < table->form->count; i++) {
		int title = screen_measure(table->form->columns[i].title);
		/* A column that nothing is in stays out. */
		if (table->widest[i] && table->widest[i] < title)
			table->widest[i] = title;
	}
	table_fit(table->form, table->widest, table->screen->cells, table->cells);
	table->fitted = true;
	put_titles(table);
	table->out->failed |= table->sample.failed;
	for (int row = 0; row < table->rows && !table->sample.failed; row++) {
		for (int i = 0; i < table->form->count; i++) {
			texts[i] = at;
			at += strlen(at) + 1;
		}
		put_row(table, texts);
	}
	buf_free(&table->sample);
}

static void keep(struct table *table, const char *const texts[])
{
	for (int i = 0; i < table->form->count; i++) {
		int cells = screen_measure(texts[i]);
		if (cells > table->widest[i])
			table->widest[i] = cells;
		buf_add(&table->sample, texts[i], strlen(texts[i]) + 1);
	}
}

void table_add(struct table *table, const char *const texts[])
{
	if (!table->screen->terminal || table->fitted) {
		if (table->rows++ == 0)
			put_titles(table);
		put_row(table, texts);
		return;
	}
	keep(table, texts);
	if (++table->rows == TABLE_SAMPLE)
		fit(table);
}

void table_end(struct table *table)
{
	if (table->screen->terminal && table->rows && !table->fitted)
		fit(table);
	buf_free(&table->sample);
}
