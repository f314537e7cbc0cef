/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "jobfilter.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "conf/base/fmt.h"
#include "conf/base/text.h"
#include "runner/line/ticket.h"

static const char state_words[][11] = { "pending",   "running", "frozen",  "completing", "completed", "failed",
					"cancelled", "timeout", "stalled", "oom",	 "gpu-oom",   "lost",
					"PD",	     "R",	"S",	   "CG",	 "CD",	      "F",
					"CA",	     "TO",	"ST",	   "OOM",	 "NF" };
enum { STATE_WORDS = sizeof state_words / sizeof state_words[0] };

bool jobfilter_is_set(const struct jobfilter *filter)
{
	return filter->session || filter->class_name || filter->name || filter->states;
}

static int check_state(const char *state, struct err *err)
{
	const char *list[STATE_WORDS + 1] = { NULL };
	char hint[64];

	for (int i = 0; i < STATE_WORDS; i++) {
		/* Slurm's users write PENDING. */
		if (strcasecmp(state, state_words[i]) == 0)
			return 0;
		list[i] = state_words[i];
	}
	text_hint(state, list, hint, sizeof hint);
	return err_set(err, EXIT_USAGE, "unknown state '%.40s'%s", state, hint);
}

int jobfilter_check_states(const struct jobfilter *filter, struct err *err)
{
	char word[48];

	for (const char *at = filter->states; at; at = *at ? at + 1 : NULL) {
		size_t length = strcspn(at, ",");
		fmt(word, sizeof word, "%.*s", length < sizeof word ? (int)length : (int)sizeof word - 1, at);
		if (check_state(word, err) < 0)
			return -1;
		at += length;
	}
	return 0;
}

int jobfilter_check_class(const struct jobfilter *filter, const struct conf *conf, struct err *err)
{
	return !filter->class_name || conf_class_need(conf, filter->class_name, err) ? 0 : -1;
}

static bool has_word(const char *list, const char *word)
{
	size_t length = strlen(word);

	for (const char *at = list; *at; at += at[strcspn(at, ",")] ? strcspn(at, ",") + 1 : strcspn(at, ",")) {
		if (strncasecmp(at, word, length) == 0 && (at[length] == ',' || at[length] == '\0'))
			return true;
	}
	return false;
}

bool jobfilter_fits(const struct jobfilter *filter, const struct jobview *view)
{
	return (!filter->session || strcmp(filter->session, view->session) == 0) &&
	       (!filter->class_name || strcmp(filter->class_name, view->class_name) == 0) &&
	       (!filter->name || (view->name && strcmp(filter->name, view->name) == 0)) &&
	       (!filter->states || has_word(filter->states, jobview_state(view)) ||
		has_word(filter->states, jobview_letters(view)));
}

bool jobfilter_may_fit(const struct jobfilter *filter, const struct candidate *waiting)
{
	struct jobview view = { .id = waiting->id, .state = VIEW_PENDING, .spooled = true };
	struct jobfilter known = *filter;

	known.name = NULL;
	fmt(view.class_name, sizeof view.class_name, "%s", waiting->class_name);
	fmt(view.session, sizeof view.session, "%s", waiting->session);
	return jobfilter_fits(&known, &view);
}

struct walk {
	struct queue *queue;
	const struct jobfilter *filter;
	int (*visit)(const struct jobview *view, void *context);
	void *context;
};

static int offer(struct walk *walk, const struct jobview *view)
{
	return view->id && jobfilter_fits(walk->filter, view) ? walk->visit(view, walk->context) : 0;
}

static int offer_entry(struct walk *walk, const struct entry *entry)
{
	SCOPE_VIEW struct jobview view = { 0 };

	jobview_of_entry(entry, -1, &view);
	return offer(walk, &view);
}

/* A record is read for its name alone; the rest stands in the name of its file. One that is gone has started. */
static int offer_waiting(struct walk *walk, const struct candidate *one)
{
	SCOPE_VIEW struct jobview view = { .id = one->id, .state = VIEW_PENDING, .spooled = true };
	struct spool_name name;
	struct entry entry;
	struct err ignored = ERR_NONE;

	if (!one->spooled)
		return ticket_read(&walk->queue->line, one->file, &entry) ? offer_entry(walk, &entry) : 0;
	fmt(view.class_name, sizeof view.class_name, "%s", one->class_name);
	fmt(view.session, sizeof view.session, "%s", one->session);
	if (!walk->filter->name || !jobfilter_may_fit(walk->filter, one))
		return jobfilter_may_fit(walk->filter, one) ? offer(walk, &view) : 0;
	jobview_free(&view);
	if (spool_name_parse(one->file, &name) < 0 ||
	    jobview_of_record(walk->queue, SPOOL_PENDING, &name, one->file, &view, &ignored) < 0)
		return 0;
	return offer(walk, &view);
}

static int offer_service(struct walk *walk, const struct candidate *one)
{
	SCOPE_VIEW struct jobview view = { 0 };
	struct err ignored = ERR_NONE;

	if (jobview_find(walk->queue, one->id, &view, &ignored) < 0 || view.state == VIEW_ENDED ||
	    view.state == VIEW_GONE || view.state == VIEW_UNKNOWN)
		return 0;
	return offer(walk, &view);
}

/* A worker that has the job and not its record yet has no name of it. */
static int offer_lane(struct walk *walk, const struct entry *entry)
{
	SCOPE_VIEW struct jobview view = { 0 };
	struct err ignored = ERR_NONE;

	if (entry->id == 0 || (entry->state != ENTRY_RUNNING && entry->state != ENTRY_COMPLETING))
		return 0;
	if (entry->kind != ENTRY_SPOOL || entry->name[0] || !walk->filter->name)
		return offer_entry(walk, entry);
	if (jobview_find(walk->queue, entry->id, &view, &ignored) < 0 || view.state == VIEW_ENDED ||
	    view.state == VIEW_GONE)
		return 0;
	return offer(walk, &view);
}

static int walk_all(struct walk *walk, const struct snapshot *snapshot)
{
	int result = 0;

	for (size_t i = 0; result == 0 && i < snapshot->waiting.count; i++)
		result = offer_waiting(walk, &snapshot->waiting.list[i]);
	for (size_t i = 0; result == 0 && i < snapshot->services.count; i++)
		result = offer_service(walk, &snapshot->services.list[i]);
	for (int i = 0; result == 0 && i < snapshot->frozen_count; i++)
		result = offer_entry(walk, &snapshot->frozen[i]);
	for (int i = 0; result == 0 && i < snapshot->lane_count; i++)
		result = offer_lane(walk, &snapshot->lanes[i].entry);
	return result;
}

int jobfilter_each_live(struct queue *queue, const struct jobfilter *filter,
			int (*visit)(const struct jobview *view, void *context), void *context, struct err *err)
{
	struct walk walk = { queue, filter, visit, context };
	struct snapshot snapshot;

	if (snapshot_take(&queue->line, &queue->spool, &snapshot, err) < 0)
		return -1;
	int result = walk_all(&walk, &snapshot);
	snapshot_free(&snapshot);
	return result;
}
