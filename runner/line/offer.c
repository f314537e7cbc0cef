/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a turn asks of the line: is there anybody to step aside for? */
#include <string.h>

#include "conf/base/scope.h"
#include "view.h"

bool member_is_waited_for(struct member *member)
{
	struct line *line = member->line;

	return ticket_any(line) || line->spool.any(line->spool.context);
}

static bool moves(const struct view *view, int lane)
{
	enum entry_state state = view->seats[lane].entry.state;

	return state == ENTRY_FREE || state == ENTRY_GRANTED;
}

static const char *own_card(const struct view *view)
{
	return conf_lane_card(&view->member->line->conf, view->member->lane.number);
}

/* One of our own card, where lanes are bound to some. */
static bool lane_moves(const struct view *view)
{
	const struct conf *conf = &view->member->line->conf;

	for (int i = 0; i < view->lanes && i < conf->lanes; i++) {
		if (moves(view, i) && strcmp(conf_lane_card(conf, i), own_card(view)) == 0)
			return true;
	}
	return false;
}

/* Who may have another card's lane that is free or changes hands is served without us. */
static void leave_others(struct view *view)
{
	const struct conf *conf = &view->member->line->conf;
	struct load load = view->load;

	for (int i = 0; i < view->lanes && i < conf->bound_count; i++) {
		load.lane_card = conf->bound[i].card;
		for (size_t k = 0; moves(view, i) && k < view->waiting.count; k++)
			view->waiting.list[k].no_room |= elect_fits(conf, &load, &view->waiting.list[k]);
	}
	for (int i = 0; i < view->lanes && i < CONF_LANES; i++)
		view->load.taken |= (uint64_t)!moves(view, i) << i;
	view->load.lane_card = own_card(view);
	/* Ours is the one that is offered. */
	if (view->member->lane.number >= 0 && view->member->lane.number < CONF_LANES)
		view->load.taken &= ~(UINT64_C(1) << view->member->lane.number);
}

/* As if our job were frozen already. */
static void add_own_load(struct view *view)
{
	const struct entry *job = &view->member->job;

	for (int i = 0; i < view->lanes; i++) {
		const struct entry *entry = &view->seats[i].entry;
		if (entry->state == ENTRY_FREE || view_is_me(view, &entry->owner))
			continue;
		view->load.running++;
		view->load.running_bytes += entry->reserved_bytes;
	}
	view->load.frozen++;
	view->load.frozen_bytes += job->held_bytes ? job->held_bytes : job->reserved_bytes;
}

static bool comes_first(struct view *view, int64_t ran_ns)
{
	const struct conf *conf = &view->member->line->conf;
	const struct entry *job = &view->member->job;
	struct candidate own = { .id = job->id,
				 .job_served = job->served,
				 .session_served = served_of(&view->served, job->session),
				 .waited_ns = job->waited_ns,
				 .ran_ns = ran_ns,
				 .turned = job->turned };

	memcpy(own.class_name, job->class_name, sizeof own.class_name);
	elect_rate(conf, &own);
	add_own_load(view);
	gate_open(view);
	leave_others(view);
	const struct candidate *best = elect_for(conf, &view->load, &view->waiting);
	return best && elect_compare(best, &own) < 0;
}

/* One look at the line: 2 when the card is to be looked at first. */
static int look(struct member *member, int64_t ran_ns, struct err *err)
{
	struct plan plan = { 0 };
	struct view view = { .member = member, .plan = &plan, .served = SERVED_NONE };
	int result = -1;

	if (line_lock(member->line, err) < 0)
		return -1;
	if (line_conf_again(member->line, err) == 0 && view_look(&view, err) == 0) {
		bool moves = lane_moves(&view);
		result = moves ? 0 : gate_needs_look(&view, true) ? 2 : comes_first(&view, ran_ns);
	}
	view_free(&view);
	plan_free(&plan);
	line_unlock(member->line);
	return result;
}

int member_outranked(struct member *member, int64_t ran_ns, struct err *err)
{
	member->card_seen = false;
	int result = look(member, ran_ns, err);

	if (result != 2)
		return result;
	member_look_at_card(member);
	return look(member, ran_ns, err);
}
