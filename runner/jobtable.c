/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "jobtable.h"

#include "conf/base/scope.h"
#include "conf/base/text.h"

enum { JOB, LETTERS, CLASS, SESSION, NAME, TIME, USED, STARTS, ENDS, WHY, COLUMNS };

/* What is cut first is worth least: a sentence tells most with its first words, and a job is known by its id. */
static const struct table_column columns[COLUMNS] = {
	[JOB] = { "JOB", .bytes = 6, .right = true },
	[LETTERS] = { "ST", .bytes = 2, .gap = 1 },
	[CLASS] = { "CLASS", .bytes = 12, .gap = 1 },
	[SESSION] = { "SESSION", .bytes = 12, .gap = 1, .cut = true },
	[NAME] = { "NAME", .bytes = 20, .gap = 1, .cut = true },
	[TIME] = { "TIME", .bytes = 9, .gap = 1, .right = true },
	[USED] = { "BUDGET", .bytes = -1, .gap = 1 },
	[STARTS] = { "STARTS", .bytes = -1, .gap = 1, .right = true },
	[ENDS] = { "ENDS", .bytes = -1, .gap = 1, .right = true },
	[WHY] = { "WHY", .gap = 2 },
};
static const struct table_step steps[] = {
	{ WHY, 48 },  { NAME, 24 }, { SESSION, 12 }, { JOB, 16 }, { WHY, 40 },	{ USED, 0 },
	{ NAME, 16 }, { CLASS, 8 }, { SESSION, 7 },  { WHY, 28 }, { NAME, 10 }, { SESSION, 0 },
	{ JOB, 10 },  { CLASS, 0 }, { ENDS, 0 },     { WHY, 16 }, { TIME, 0 },	{ STARTS, 0 },
	{ WHY, 8 },   { NAME, 6 },  { WHY, 0 },	     { NAME, 0 },
};
const struct table_form jobtable_form = TABLE_FORM(columns, steps);

static void put_where(const struct jobview *view, struct buf *out)
{
	if (view->standing)
		buf_printf(out, "standing, %s", view->sentence);
	else
		buf_printf(out, "on lane %d%s%s", view->lane, view->sentence[0] ? ", " : "", view->sentence);
}

static void put_why(const struct jobview *view, struct buf *out)
{
	char progress[PROGRESS_TEXT], outlook[JOBVIEW_OUTLOOK];

	if (view->state == VIEW_RUNNING || view->state == VIEW_COMPLETING)
		put_where(view, out);
	else if (view->state == VIEW_ENDED)
		buf_printf(out, "%s, exit code %d%s%s", jobview_state(view), view->exit_code,
			   view->sentence[0] ? ": " : "", view->sentence);
	else
		buf_puts(out, view->sentence);
	progress_show(&view->progress, view->ran_ns, progress);
	jobview_outlook(view, outlook);
	buf_printf(out, "%s%s%s%s", progress[0] ? "; " : "", progress, outlook[0] ? "; " : "", outlook);
}

/* What its letters say. */
static enum paint paint_of(const struct jobview *view)
{
	if (view->state == VIEW_ENDED)
		return view->outcome == OUTCOME_COMPLETED ? PAINT_GOOD : PAINT_BAD;
	return view->state == VIEW_RUNNING ? PAINT_GOOD : view->state == VIEW_FROZEN ? PAINT_CARE : PAINT_NONE;
}

/* "~12m" */
static void show_about(int64_t ns, char text[TEXT_DURATION + 1])
{
	text[0] = '\0';
	if (ns < 0)
		return;
	text[0] = '~';
	text_duration_format(ns, text + 1);
}

void jobtable_add(struct table *table, const struct jobview *view)
{
	char starts[TEXT_DURATION + 1] = "", ends[TEXT_DURATION + 1] = "";
	char used[SCREEN_BAR + 1] = "", id[96], time[TEXT_DURATION] = "-";
	SCOPE_BUF struct buf why = BUF_EMPTY;
	int64_t shown_ns = view->state == VIEW_PENDING ? view->waited_ns : view->ran_ns;

	if (shown_ns >= 0)
		text_duration_format(shown_ns, time);
	if (table->screen->terminal) {
		if (view->state == VIEW_RUNNING || view->state == VIEW_FROZEN)
			screen_bar(view->ran_ns, view->budget_ns, used);
		show_about(view->outlook.starts_in_ns, starts);
		show_about(view->outlook.ends_in_ns, ends);
	}
	jobview_id(view, id);
	put_why(view, &why);
	table->out->failed |= why.failed;
	const char *const texts[COLUMNS] = {
		[JOB] = id,
		[LETTERS] = jobview_letters(view),
		[CLASS] = view->class_name,
		[SESSION] = view->session,
		[NAME] = view->name ? view->name : "?",
		[TIME] = time,
		[USED] = used,
		[STARTS] = starts,
		[ENDS] = ends,
		[WHY] = why.text ? why.text : "",
	};
	table_add(table, texts,
		  (const enum paint[COLUMNS]){
			  [LETTERS] = paint_of(view),
			  [USED] = view->ran_ns > view->budget_ns ? PAINT_CARE : PAINT_NONE,
		  });
}
