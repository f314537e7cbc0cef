/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "laneview.h"

#include <string.h>

#include "conf/base/clock.h"
#include "conf/base/fmt.h"
#include "conf/base/json.h"
#include "conf/base/text.h"
#include "conf/jobid.h"
#include "runner/cell/cell.h"
#include "runner/cell/gpuwatch.h"
#include "runner/jobview.h"
#include "runner/table.h"

const char *laneview_card(const struct conf *conf, int number, const struct entry *entry)
{
	return entry->state != ENTRY_FREE && entry->card[0] ? entry->card : conf_lane_card(conf, number);
}

/* As its watcher saw it last, not long ago; a job that holds no card uses none. -1: unknown. */
static int gpu_percent(const struct entry *entry, const struct cardview_lane *use)
{
	int64_t ago_ns = clock_boot_ns() - entry->looked_boot_ns;

	if (entry->looked_boot_ns && ago_ns < GPUWATCH_FRESH_NS)
		return gpuwatch_percent(entry->gpu_permille);
	return use->idle ? 0 : -1;
}

void laneview_json(int number, const struct entry *entry, const char *card, const struct cardview_lane *use,
		   struct buf *out)
{
	SCOPE_VIEW struct jobview view;

	jobview_of_entry(entry, number, &view);
	if (entry->state == ENTRY_FREE || entry->id == 0) {
		buf_printf(out, "{\"lane\":%d,\"job\":null", number);
		json_text(out, "card", card[0] ? card : NULL);
		buf_puts(out, "}");
		return;
	}
	buf_printf(out, "{\"lane\":%d,\"job\":\"%s\"", number, JOBID(view.id));
	json_text(out, "card", card[0] ? card : NULL);
	json_text(out, "state", jobview_state(&view));
	json_text(out, "kind", view.spooled ? "spool" : "run");
	json_text(out, "class", view.class_name);
	json_text(out, "session", view.session);
	json_text(out, "name", view.name);
	json_count(out, "pid", view.pid ? view.pid : -1);
	json_seconds(out, "ran_s", view.ran_ns);
	progress_json(&view.progress, view.ran_ns, out);
	json_seconds(out, "budget_s", view.budget_ns);
	json_count(out, "memory_bytes", view.memory_bytes);
	json_count(out, "vram_bytes", use->vram_bytes);
	json_count(out, "vram_max_bytes", entry->vram_max_bytes ? (int64_t)entry->vram_max_bytes : -1);
	json_count(out, "gpu_percent", gpu_percent(entry, use));
	json_text(out, "reason", view.sentence[0] ? view.sentence : NULL);
	buf_puts(out, "}");
}

/* What its cell has of memory, where it has one that tells; the bytes on a terminal alone. */
struct memory {
	int64_t bytes;	   /* -1: unknown */
	char pressure[40]; /* ", memory pressure 93%" of a job that its ceiling holds up, else "" */
};

static void read_memory(const struct entry *entry, bool now, struct memory *ret_memory)
{
	enum { WORTH_A_WORD = 10 };
	struct cell_pressure pressure;
	struct cell cell;
	struct err ignored = ERR_NONE;

	*ret_memory = (struct memory){ .bytes = -1 };
	if (!entry->cell[0] || cell_open(entry->cell, &cell, &ignored) < 0)
		return;
	if (now)
		ret_memory->bytes = cell_memory_now(&cell);
	cell_read_pressure(&cell, &pressure);
	if (pressure.percent >= WORTH_A_WORD)
		fmt(ret_memory->pressure, sizeof ret_memory->pressure, ", memory pressure %d%%", pressure.percent);
	cell_close(&cell);
}

enum { USE_TEXT = 2 * TEXT_SIZE + 32 };
/* ", VRAM 2.0G of 4.0G, GPU 97%" of a job that is known to have some, else nothing. */
static void show_use(const struct entry *entry, const struct cardview_lane *use, char text[USE_TEXT])
{
	char size[TEXT_SIZE];
	int used = 0, percent = gpu_percent(entry, use);

	text[0] = '\0';
	if (use->vram_bytes > 0) {
		text_size_show((uint64_t)use->vram_bytes, size);
		used = fmt(text, USE_TEXT, ", VRAM %s", size);
	}
	if (use->vram_bytes > 0 && entry->vram_max_bytes) {
		text_size_show(entry->vram_max_bytes, size);
		used += fmt(text + used, USE_TEXT - (size_t)used, " of %s", size);
	}
	if (percent >= 0 && !use->idle)
		fmt(text + used, USE_TEXT - (size_t)used, ", GPU %d%%", percent);
}

/* " on 0000:03:00.0" of a lane that is bound to a card. */
static void show_card(const char *card, bool there, char text[64])
{
	fmt(text, 64, "%s%s%s", card[0] ? " on " : "", card, card[0] && !there ? " (not there)" : "");
}

/* What both ways of showing a lane with a job say. */
struct lane_texts {
	struct memory memory;
	char ran[TEXT_DURATION], budget[TEXT_DURATION], ceiling[TEXT_SIZE];
	char use[USE_TEXT], progress[PROGRESS_TEXT];
};

static void describe(const struct jobview *view, const struct entry *entry, const struct cardview_lane *use,
		     bool terminal, struct lane_texts *ret)
{
	*ret = (struct lane_texts){ .ran = "?", .budget = "?", .ceiling = "?" };
	if (view->ran_ns >= 0)
		text_duration_format(view->ran_ns, ret->ran);
	if (view->budget_ns > 0)
		text_duration_format(view->budget_ns, ret->budget);
	if (view->memory_bytes > 0)
		text_size_show((uint64_t)view->memory_bytes, ret->ceiling);
	read_memory(entry, terminal, &ret->memory);
	show_use(entry, use, ret->use);
	progress_show(&view->progress, view->ran_ns, ret->progress);
}

/* NULL: it has a job. */
static const char *without_job(const struct entry *entry)
{
	if (entry->state != ENTRY_FREE && entry->id != 0)
		return NULL;
	return entry->state == ENTRY_FREE ? "free" : "about to start a spooled job";
}

static void put_line(int number, const struct entry *entry, const char *on, const struct cardview_lane *use,
		     struct buf *out)
{
	SCOPE_VIEW struct jobview view;
	struct lane_texts texts;
	char class_name[sizeof view.class_name], session[sizeof view.session], name[48];

	jobview_of_entry(entry, number, &view);
	if (without_job(entry)) {
		buf_printf(out, "lane %d%s: %s\n", number, on, without_job(entry));
		return;
	}
	describe(&view, entry, use, false, &texts);
	text_show(view.name ? view.name : "?", name, sizeof name);
	text_show(view.class_name, class_name, sizeof class_name);
	text_show(view.session, session, sizeof session);
	buf_printf(out, "lane %d%s: job %s %s (%s, %s), %s for %s of %s, ceiling %s%s%s%s%s%s%s\n", number, on,
		   JOBID(view.id), name, class_name, session, jobview_state(&view), texts.ran, texts.budget,
		   texts.ceiling, texts.memory.pressure, texts.use, view.sentence[0] ? ", " : "", view.sentence,
		   texts.progress[0] ? "; " : "", texts.progress);
}

enum { LANE, CARD, JOB, LETTERS, CLASS, SESSION, NAME, RAN, RAN_BAR, MEMORY, MEMORY_BAR, MORE, COLUMNS };

static const struct table_column columns[COLUMNS] = {
	[LANE] = { "LANE", .right = true },
	[CARD] = { "CARD", .gap = 1 },
	[JOB] = { "JOB", .gap = 1, .right = true },
	[LETTERS] = { "ST", .gap = 1 },
	[CLASS] = { "CLASS", .gap = 1 },
	[SESSION] = { "SESSION", .gap = 1 },
	[NAME] = { "NAME", .gap = 1 },
	[RAN] = { "RAN", .gap = 1, .right = true },
	[RAN_BAR] = { "", .gap = 1 },
	[MEMORY] = { "MEMORY", .gap = 2, .right = true },
	[MEMORY_BAR] = { "", .gap = 1 },
	[MORE] = { "MORE", .gap = 2 },
};
static const struct table_step steps[] = {
	{ MORE, 32 },	{ NAME, 20 }, { SESSION, 10 }, { CLASS, 8 }, { MORE, 20 }, { MEMORY_BAR, 0 },
	{ RAN_BAR, 0 }, { NAME, 12 }, { SESSION, 0 },  { CLASS, 0 }, { CARD, 0 },  { MORE, 10 },
	{ MEMORY, 0 },	{ NAME, 8 },  { MORE, 0 },     { RAN, 0 },   { NAME, 0 },
};
static const struct table_form form = TABLE_FORM(columns, steps);

/* Parts that each begin with ", ", the first one's left out. */
static void put_more(const struct jobview *view, const struct lane_texts *texts, struct buf *out)
{
	SCOPE_BUF struct buf more = BUF_EMPTY;

	buf_printf(&more, "%s%s%s%s%s%s", texts->memory.pressure, texts->use, view->sentence[0] ? ", " : "",
		   view->sentence, texts->progress[0] ? ", " : "", texts->progress);
	out->failed |= more.failed;
	buf_puts(out, more.size > 2 ? more.text + 2 : "");
}

/* Of its ceiling nine tenths. */
static bool is_nearly(int64_t bytes, int64_t ceiling_bytes)
{
	return ceiling_bytes > 0 && bytes >= ceiling_bytes / 10 * 9;
}

static void add_row(struct table *table, int number, const struct entry *entry, const char *card,
		    const struct cardview_lane *use)
{
	SCOPE_VIEW struct jobview view;
	SCOPE_BUF struct buf more = BUF_EMPTY;
	struct lane_texts texts = { 0 };
	char ran_bar[SCREEN_BAR + 1] = "", memory_bar[SCREEN_BAR + 1] = "";
	char lane[16], ran[2 * TEXT_DURATION + 8] = "", memory[2 * TEXT_SIZE + 8] = "", bytes[TEXT_SIZE] = "?";
	const char *why = without_job(entry);

	jobview_of_entry(entry, number, &view);
	const struct jobid_text job = jobid_text(view.id);
	fmt(lane, sizeof lane, "%d", number);
	if (!why) {
		describe(&view, entry, use, true, &texts);
		put_more(&view, &texts, &more);
		fmt(ran, sizeof ran, "%s of %s", texts.ran, texts.budget);
		if (texts.memory.bytes >= 0)
			text_size_show((uint64_t)texts.memory.bytes, bytes);
		fmt(memory, sizeof memory, "%s of %s", bytes, texts.ceiling);
		screen_bar(view.ran_ns, view.budget_ns, ran_bar);
		screen_bar(texts.memory.bytes, view.memory_bytes, memory_bar);
	}
	table->out->failed |= more.failed;
	const char *const cells[COLUMNS] = {
		[LANE] = lane,
		[CARD] = card,
		[JOB] = why ? "" : job.text,
		[LETTERS] = why ? "" : jobview_letters(&view),
		[CLASS] = why ? "" : view.class_name,
		[SESSION] = why ? "" : view.session,
		[NAME] = why	     ? ""
			 : view.name ? view.name
				     : "?",
		[RAN] = ran,
		[RAN_BAR] = ran_bar,
		[MEMORY] = memory,
		[MEMORY_BAR] = memory_bar,
		[MORE] = why	     ? why
			 : more.text ? more.text
				     : "",
	};
	table_add(table, cells,
		  (const enum paint[COLUMNS]){
			  [LETTERS] = view.state == VIEW_RUNNING ? PAINT_GOOD : PAINT_NONE,
			  [RAN_BAR] = view.ran_ns > view.budget_ns ? PAINT_CARE : PAINT_NONE,
			  [MEMORY_BAR] = is_nearly(texts.memory.bytes, view.memory_bytes) ? PAINT_CARE : PAINT_NONE,
		  });
}

void laneview_text(const struct snapshot *snapshot, const struct conf *conf, const struct cardview *cards,
		   const struct screen *screen, struct buf *out)
{
	struct table table = TABLE(&form, screen, out);

	for (int i = 0; i < snapshot->lane_count; i++) {
		const struct entry *entry = &snapshot->lanes[i].entry;
		const char *card = laneview_card(conf, i, entry);
		uint64_t pci = pci_parse(card, strlen(card));
		char on[64];
		show_card(card, pci != PCI_NONE && probe_cards_find(&cards->sample.cards, pci, ""), on);
		if (screen->terminal)
			add_row(&table, i, entry, on[0] ? on + 4 : "", &cards->lanes[i]);
		else
			put_line(i, entry, on, &cards->lanes[i], out);
	}
	table_end(&table);
}
