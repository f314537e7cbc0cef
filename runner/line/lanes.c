/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "conf/base/clock.h"
#include "conf/base/fmt.h"
#include "view.h"

/* A lane whose supervisor died while its job ran. */
static int adopt_dead(struct view *view, const struct seat_view *seat, struct err *err)
{
	view->busy++;
	return view_adopt_seat(view, seat, err);
}

static bool lane_mine(const struct view *view, const struct seat_view *seat)
{
	const struct member *member = view->member;

	return member->lane.fd >= 0 && member->lane.number == seat->number && member->lane.gen == seat->entry.gen;
}

/* One more that runs, or is about to. */
static void count_running(struct view *view, const struct candidate *winner)
{
	struct load *load = &view->load;

	/* What it held while it was frozen goes on counting until somebody looks again. */
	load->running++;
	load->running_bytes += winner->reserved_bytes;
	gate_take(load, winner);
	load->frozen -= winner->begun;
}

static int take_for_self(struct view *view, const struct seat_view *seat, struct candidate *winner, struct err *err)
{
	struct member *member = view->member;
	struct line *line = member->line;
	struct entry *job = &member->job;

	if (winner->spooled && line->spool.describe(line->spool.context, winner, job, err) < 0)
		return -1;
	job->state = ENTRY_RUNNING;
	job->started_wall_ns = clock_wall_ns();
	job->since_boot_ns = view->now;
	job->served = view->served.last + 1;
	/* Frozen, it stands in line for a lane of the card that its processes have. */
	if (*conf_lane_card(&line->conf, seat->number))
		memcpy(job->card, conf_lane_card(&line->conf, seat->number), sizeof job->card);
	/* A run's job goes on where it was after Ctrl-Z and fg: its process and its cell stay on file all the time. */
	if (winner->spooled) {
		job->main = (struct procid){ 0 };
		job->cell[0] = '\0';
	}
	if (lane_mine(view, seat) ? seat_update(&member->lane, job, err) < 0
				  : seat_take(line, seat, job, &member->lane, err) < 0)
		return -1;
	/* The lane names the job first: a record in running/ that no lane names would be looked for by nobody. */
	if (winner->spooled && line->spool.take(line->spool.context, winner, err) < 0)
		return -1;
	member->ended = false;
	member->wants_lane = false;
	ticket_remove(line, &member->ticket);
	winner->barred = true;
	if (winner->spooled) {
		view->spool_runs = true;
		view->pending.competing--;
	}
	view_note_wake(view, &view_standby(view)->entry);
	if (view_note_holder(view, job, seat->number, err) < 0)
		return -1;
	/* Claimed: an order that is remembered wrong is no reason to die with the job. */
	struct err ignored = ERR_NONE;
	served_touch(line, &view->served, job->session, &ignored);
	return 0;
}

/* The standby, where it is a worker that answers, else a new worker. */
static int give_to_worker(struct view *view, const struct seat_view *seat, struct err *err)
{
	const struct seat_view *standby = view_standby(view);
	bool ready = standby->held && standby->entry.state == ENTRY_RUNNING && standby->entry.worker &&
		     !view_is_me(view, &standby->entry.owner) && !view->standby_granted && !view->distrust &&
		     !procid_equal(&standby->entry.owner, &view->member->stopped);
	struct entry entry = { .owner = standby->entry.owner, .worker = true };

	if (!ready)
		return view_spawn(view, seat, 0, err);
	memcpy(entry.socket, standby->entry.socket, sizeof entry.socket);
	fmt(entry.card, sizeof entry.card, "%s", conf_lane_card(&view->member->line->conf, seat->number));
	if (seat_grant(view->member->line, seat, &entry, err) < 0)
		return -1;
	view->standby_granted = true;
	view_note_wake(view, &entry);
	view_note_again(view, view->now + view->member->line->conf.take_ns);
	view->plan->settled = false;
	return 1;
}

static bool may_take_spooled(const struct view *view, const struct seat_view *seat)
{
	const struct member *member = view->member;

	/* With a job that is frozen there is one already. */
	return member->kind == MEMBER_WORKER && !member->leaving && !member->wants_lane &&
	       (member->lane.fd < 0 || lane_mine(view, seat));
}

/* After a lane was promised to "whatever spooled job comes first": the next one of that session comes later. */
static void promise_spooled(struct view *view, struct candidate *winner)
{
	winner->session_served = ++view->served.last;
	view->spool_runs = true;
	if (--view->pending.competing > 0)
		return;
	for (size_t i = 0; i < view->waiting.count; i++)
		view->waiting.list[i].barred |= view->waiting.list[i].spooled;
}

/* Elects for one free lane. 1: somebody has it or is to have it. */
static int fill_lane(struct view *view, const struct seat_view *seat, struct err *err)
{
	struct member *member = view->member;
	struct candidate *winner;

	view->load.lane_card = conf_lane_card(&member->line->conf, seat->number);
	/* What did not fit another lane may fit this one. */
	for (size_t i = 0; *view->load.lane_card && i < view->waiting.count; i++)
		view->waiting.list[i].no_room = false;
	while ((winner = elect_for(&member->line->conf, &view->load, &view->waiting))) {
		bool self = winner->id == member->job.id && !winner->spooled && member->wants_lane &&
			    !member->leaving && (member->lane.fd < 0 || lane_mine(view, seat));
		if (self || (winner->spooled && may_take_spooled(view, seat)))
			return take_for_self(view, seat, winner, err) < 0 ? -1 : (count_running(view, winner), 1);
		int given = winner->spooled ? give_to_worker(view, seat, err) : view_grant(view, seat, winner, err);
		if (given > 0)
			count_running(view, winner);
		if (given > 0 && winner->spooled)
			promise_spooled(view, winner);
		if (given != 0)
			return given;
		if (winner->spooled)
			return 0;
	}
	/* One lane is kept for a patient job, not two. */
	for (size_t i = 0; i < view->waiting.count; i++) {
		const struct candidate *one = &view->waiting.list[i];
		if (one->id == view->load.card.patient_id && elect_fits(&member->line->conf, &view->load, one))
			view->load.card.patient_id = 0;
	}
	/* Nobody is to have it, and who was to is gone, or was passed over. */
	bool grant = seat->entry.state == ENTRY_GRANTED && !seat->held;
	return grant ? seat_take_back(member->line, seat, err) : 0;
}

/* What a lane is: 1 free to give, 0 busy, -1 error. */
static int judge_lane(struct view *view, const struct seat_view *seat, struct err *err)
{
	const struct entry *entry = &seat->entry;
	struct member *member = view->member;

	if (entry->state == ENTRY_FREE || (lane_mine(view, seat) && member->ended))
		return 1;
	if (entry->state == ENTRY_GRANTED && !seat->held && view_is_me(view, &entry->owner) && !member->leaving)
		return 1;
	if (entry->state == ENTRY_GRANTED) {
		int busy = view_still_granted(view, seat, err);
		if (busy <= 0)
			return busy < 0 ? -1 : 1;
		struct candidate *ticket = view_find_ticket(view, entry->id);
		if (ticket)
			ticket->barred = true;
		else if (entry->owner.pid)
			view->standby_granted = true;
		view->spool_runs |= entry->worker;
	} else if (!seat->held && entry_rests(entry, view->now)) {
		view->spool_runs |= entry->kind == ENTRY_SPOOL;
		view_note_again(view, entry->again_boot_ns);
		view->busy++;
		return 0;
	} else if (!seat->held) {
		return adopt_dead(view, seat, err);
	} else {
		view->spool_runs |= entry->kind == ENTRY_SPOOL;
	}
	view->load.running++;
	view->load.running_bytes += entry->reserved_bytes;
	view->busy++;
	return view_note_holder(view, entry, seat->number, err);
}

/* The forced jobs of the lanes of one card, `lane_card`, or of all where lanes are bound to none. */
static void force_one(struct view *view, struct load *load, const char *lane_card)
{
	struct plan *plan = view->plan;
	const struct conf *conf = &view->member->line->conf;
	struct holder holders[CONF_LANES];
	const struct entry *entries[CONF_LANES];
	int count = 0;

	load->lane_card = lane_card;
	/* Another card's lane is not freed for the same job. */
	for (size_t i = 0; i < view->waiting.count; i++)
		view->waiting.list[i].no_room = view->waiting.list[i].forced;
	struct candidate *best = elect_for(conf, load, &view->waiting);
	for (int i = 0; best && i < plan->holder_count; i++) {
		const struct entry *entry = &plan->holders[i].entry;
		if (plan->holders[i].number < 0 || entry->state != ENTRY_RUNNING || count == CONF_LANES ||
		    strcmp(conf_lane_card(conf, plan->holders[i].number), lane_card) != 0)
			continue;
		struct candidate job = { .ran_ns = entry->ran_ns + view->now - entry->since_boot_ns,
					 .waited_ns = entry->waited_ns,
					 .turned = entry->turned };
		memcpy(job.class_name, entry->class_name, sizeof job.class_name);
		elect_rate(conf, &job);
		holders[count] =
			(struct holder){ conf_class_find(conf, job.class_name), job.rank, entry->since_boot_ns };
		entries[count++] = entry;
	}
	int forced = best ? elect_forced(holders, count, best) : -1;
	if (forced < 0)
		return;
	plan->yield |= view_is_me(view, &entries[forced]->owner);
	view_note_wake(view, entries[forced]);
	best->forced = true;
}

static bool is_first_of_its_card(const struct conf *conf, int lane)
{
	for (int i = 0; i < lane; i++) {
		if (strcmp(conf->bound[i].card, conf->bound[lane].card) == 0)
			return false;
	}
	return true;
}

/*
 * Who comes first and has no lane may have one for the asking: whose job is to be frozen for it looks for himself
 * (member->yield), and is woken to do so.
 */
static void force_turn(struct view *view)
{
	const struct conf *conf = &view->member->line->conf;
	struct load load = view->load;

	/* What the job would hold when it is frozen its supervisor measures, before he freezes it. */
	load.running_bytes = 0;
	/* Any lane may become free by it. */
	load.taken = 0;
	if (conf->bound_count == 0)
		force_one(view, &load, "");
	for (int lane = 0; lane < conf->bound_count; lane++) {
		if (is_first_of_its_card(conf, lane))
			force_one(view, &load, conf->bound[lane].card);
	}
}

/* Of a lane beyond those that are bound nobody knows the card: it is not given while others are. */
static bool may_give(const struct conf *conf, int lane)
{
	return conf->bound_count == 0 || lane < conf->bound_count;
}

/* Whether the hours of our own running job's class are over, where that freezes it. */
static void note_hours(struct view *view)
{
	struct member *member = view->member;
	const struct conf_class *class = conf_class_find(&member->line->conf, member->job.class_name);
	struct plan *plan = view->plan;

	if (member->lane.fd < 0 || member->lane.number < 0 || member->ended || !class || !class->hours[0] ||
	    !class->freezes_outside)
		return;
	plan->closed = !hours_open(class->hours, clock_wall_ns(), &plan->closes_wall_ns);
}

/* A lane whose grantee is dead, or was passed over, and that nobody else wants: it is nobody's, and is to say so. */
static int forget_grant(struct view *view, const struct seat_view *seat, struct err *err)
{
	struct entry entry = { .state = ENTRY_FREE };
	struct seat free = SEAT_NONE;

	if (seat->entry.state != ENTRY_GRANTED || seat->held)
		return 0;
	if (seat_take(view->member->line, seat, &entry, &free, err) < 0)
		return -1;
	return seat_free(&free, err);
}

int lanes_fill(struct view *view, struct err *err)
{
	bool available[CONF_LANES] = { false };
	struct member *member = view->member;

	for (int lane = 0; lane < view->lanes; lane++) {
		int judged = judge_lane(view, &view->seats[lane], err);
		if (judged < 0)
			return -1;
		available[lane] = judged;
		if (!judged && lane < CONF_LANES)
			view->load.taken |= UINT64_C(1) << lane;
	}
	gate_note_patience(view);
	/* One's own first: who offers his lane and is elected keeps it, and does not get another beside it. */
	for (int own = 1; own >= 0; own--) {
		for (int lane = 0; lane < view->lanes; lane++) {
			if (view->kept || !available[lane] || !may_give(&member->line->conf, lane) ||
			    lane_mine(view, &view->seats[lane]) != own || view->busy >= member->line->conf.lanes)
				continue;
			available[lane] = false;
			int given = fill_lane(view, &view->seats[lane], err);
			if (given < 0)
				return -1;
			view->busy += given;
			if (given)
				view->load.taken |= UINT64_C(1) << lane;
			else if (forget_grant(view, &view->seats[lane], err) < 0)
				return -1;
		}
	}
	if (!view->kept)
		force_turn(view);
	note_hours(view);
	/* Ours, over, and for nobody. */
	if (member->lane.fd >= 0 && member->lane.number >= 0 && member->ended) {
		member->ended = false;
		return seat_free(&member->lane, err);
	}
	return 0;
}
