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

static bool begin_paint(struct table *table, const enum paint *paints, int column)
{
	if (!table->screen->colour || !paints || paints[column] == PAINT_NONE)
		return false;
	buf_puts(table->out, screen_paints[paints[column]]);
	return true;
}

static void end_paint(struct table *table, bool painted)
{
	if (painted)
		buf_puts(table->out, screen_paints[PAINT_NONE]);
}

static void put_plain(struct table *table, const char *const texts[], const enum paint *paints)
{
	struct buf *out = table->out;
	int over = 0;

	for (int i = 0; i < table->form->count; i++) {
		const struct table_column *column = &table->form->columns[i];
		if (column->bytes < 0)
			continue;
		put_blanks(out, i ? column->gap : 0);
		size_t at = out->size;
		bool painted = begin_paint(table, paints, i);
		int bytes = put_shown(out, texts[i], column->cut ? column->bytes : INT_MAX);
		end_paint(table, painted);
		int blanks = column->bytes - bytes - over;
		over = blanks < 0 ? -blanks : 0;
		if (i == table->form->count - 1)
			break;
		size_t length = out->size - at;
		put_blanks(out, blanks);
		/* Those that end below each other have their blanks in front. */
		if (column->right && blanks > 0 && !out->failed) {
			memmove(out->text + at + blanks, out->text + at, length);
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

static void put_fitted(struct table *table, const char *const texts[], const enum paint *paints)
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
		bool painted = texts[i][0] && begin_paint(table, paints, i);
		int filled = put_cut(table, texts[i], table->cells[i]);
		end_paint(table, painted);
		blanks += column->right ? 0 : table->cells[i] - filled;
	}
	buf_puts(table->out, "\n");
}

static void put_row(struct table *table, const char *const texts[], const enum paint *paints)
{
	if (table->screen->terminal)
		put_fitted(table, texts, paints);
	else
		put_plain(table, texts, paints);
}

static void put_titles(struct table *table)
{
	const char *titles[TABLE_COLUMNS];
	enum paint paints[TABLE_COLUMNS];

	for (int i = 0; i < table->form->count; i++) {
		titles[i] = table->form->columns[i].title;
		paints[i] = PAINT_HEAD;
	}
	put_row(table, titles, paints);
}

static void fit(struct table *table)
{
	const char *at = table->sample.text;
	const char *texts[TABLE_COLUMNS];
	enum paint paints[TABLE_COLUMNS];

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
			paints[i] = (enum paint) * at;
			texts[i] = at + 1;
			at += strlen(texts[i]) + 2;
		}
		put_row(table, texts, paints);
	}
	buf_free(&table->sample);
}

static void keep(struct table *table, const char *const texts[], const enum paint *paints)
{
	for (int i = 0; i < table->form->count; i++) {
		char paint = paints ? (char)paints[i] : PAINT_NONE;
		int cells = screen_measure(texts[i]);
		if (cells > table->widest[i])
			table->widest[i] = cells;
		buf_add(&table->sample, &paint, 1);
		buf_add(&table->sample, texts[i], strlen(texts[i]) + 1);
	}
}

void table_add(struct table *table, const char *const texts[], const enum paint *paints)
{
	if (!table->screen->terminal || table->fitted) {
		if (table->rows++ == 0)
			put_titles(table);
		put_row(table, texts, paints);
		return;
	}
	keep(table, texts, paints);
	if (++table->rows == TABLE_SAMPLE)
		fit(table);
}

void table_end(struct table *table)
{
	if (table->screen->terminal && table->rows && !table->fitted)
		fit(table);
	buf_free(&table->sample);
}
