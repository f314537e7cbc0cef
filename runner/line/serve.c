/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Standing jobs, as a settle sees them: who is to run, who is to leave, what a dead worker left (standing.h). */
#include <stdlib.h>
#include <string.h>

#include "conf/base/clock.h"
#include "conf/base/file.h"
#include "conf/base/fmt.h"
#include "conf/base/scope.h"
#include "gate.h"
#include "serve.h"
#include "standing.h"
#include "view.h"

/* Between two looks of the standby at a card that is waited for. */
#define LOOK_AGAIN_NS (2 * NS_PER_S)
/* Who was told to make room and has not begun to: he may be stopped. */
#define LEAVE_PATIENCE_NS NS_PER_S

static bool has_seat(const struct member *member)
{
	return member->lane.fd >= 0 && member->lane.number == SEAT_STANDING;
}

static bool is_standby(const struct member *member)
{
	return member->role.fd >= 0 && member->role.number == SEAT_STANDBY && !member->leaving;
}

/* A job has a lane, is frozen, or stands in line and competes. */
static bool job_wants_card(const struct view *view)
{
	const struct member *member = view->member;

	for (int i = 0; i < view->lanes; i++) {
		const struct seat_view *seat = &view->seats[i];
		bool over = member->ended && member->lane.fd >= 0 && member->lane.number == seat->number &&
			    member->lane.gen == seat->entry.gen;
		/* A grant that nobody is left to take stays on file until the lane is given to somebody else. */
		bool granted_to_none =
			seat->entry.state == ENTRY_GRANTED && !seat->held && !view_grantee_alive(view, seat);
		if (seat->entry.state != ENTRY_FREE && !over && !granted_to_none)
			return true;
	}
	for (size_t i = 0; i < view->waiting.count; i++) {
		if (!view->waiting.list[i].barred)
			return true;
	}
	return view->load.frozen > 0;
}

static bool any_may_run(const struct view *view)
{
	if (conf_is_drained(&view->member->line->conf))
		return false;
	for (size_t i = 0; i < view->services.count; i++) {
		if (view->services.list[i].gate == WAITS_LANE)
			return true;
	}
	return false;
}

static const struct candidate *find_service(const struct view *view, uint64_t id)
{
	for (size_t i = 0; i < view->services.count; i++) {
		if (view->services.list[i].id == id)
			return &view->services.list[i];
	}
	return NULL;
}

/* Ours no more: nobody has it. */
static int free_own(struct view *view, struct err *err)
{
	view->member->ended = false;
	view->service->entry = (struct entry){ .gen = view->service->entry.gen };
	view->service->held = false;
	return seat_free(&view->member->lane, err);
}

/* The worker that was started for it takes it; the record stays where it is and says that it was started. */
static int take_own(struct view *view, const struct candidate *service, struct err *err)
{
	struct member *member = view->member;
	struct line *line = member->line;
	struct entry *job = &member->job;

	if (line->spool.describe(line->spool.context, service, job, err) < 0)
		return -1;
	job->state = ENTRY_RUNNING;
	job->started_wall_ns = clock_wall_ns();
	job->since_boot_ns = view->now;
	job->main = (struct procid){ 0 };
	job->cell[0] = '\0';
	job->held_bytes = 0;
	if (seat_update(&member->lane, job, err) < 0 || line->spool.serve(line->spool.context, service, err) < 0)
		return -1;
	view->service->entry = *job;
	member->ended = false;
	member->wants_lane = false;
	/* It is to watch us now. */
	view_note_wake(view, &view_standby(view)->entry);
	return 0;
}

/* We were started for a service, or have run one. */
static int look_at_own(struct view *view, struct err *err)
{
	struct member *member = view->member;
	const struct seat_view *seat = view->service;

	if (member->lane.gen != seat->entry.gen) {
		member->ended = false;
		seat_drop(&member->lane);
		return 0;
	}
	if (!member->ended)
		return 0;
	const struct candidate *service =
		seat->entry.state == ENTRY_GRANTED ? find_service(view, seat->entry.id) : NULL;
	if (!service || service->gate != WAITS_LANE || member->leaving || job_wants_card(view))
		return free_own(view, err);
	return take_own(view, service, err);
}

int serve_look(struct view *view, struct err *err)
{
	if (view->services.count == 0 && !has_seat(view->member))
		return 0;
	if (!(view->service = malloc(sizeof *view->service)))
		return err_sys(err, "cannot look at the standing job");
	if (seat_read(view->member->line, SEAT_STANDING, view->service, err) < 0)
		return -1;
	view->service->held = view->service->held && !view_is_gone(view->member, &view->service->entry.owner);
	if (has_seat(view->member) && look_at_own(view, err) < 0)
		return -1;
	view->kept = view->service->entry.state != ENTRY_FREE;
	return 0;
}

bool serve_watched(const struct view *view)
{
	return view->kept || any_may_run(view);
}

bool serve_needs_look(const struct view *view)
{
	const struct member *member = view->member;
	bool waits = any_may_run(view) && !view->kept && is_standby(member) && !job_wants_card(view);
	/* Only then the log is told who was there. */
	view->member->standing_waits = waits;
	return waits && !member->card_seen && member->line->card.look;
}

static uint64_t hands(const struct view *view)
{
	uint64_t gens[CONF_LANES + 1];
	int count = 0;

	for (int i = 0; i < view->lanes && i < CONF_LANES; i++)
		gens[count++] = view->seats[i].entry.gen;
	gens[count++] = view->service->entry.gen;
	return standing_hands(gens, count);
}

int64_t serve_since(struct line *line, uint64_t *ret_hands)
{
	const char *end = "";
	char text[64];

	*ret_hands = 0;
	if (file_read_small(line->boot_fd, "standing", text, sizeof text) <= 0)
		return 0;
	int64_t since = fmt_read_signed(text, &end);
	if (*end == ' ')
		*ret_hands = fmt_read(end + 1, NULL);
	return since;
}

/* Since when nobody wants the card: on file, since the next standby is to know it too. */
static int64_t free_since(const struct view *view, bool wanted)
{
	struct line *line = view->member->line;
	uint64_t before, now = hands(view);
	int64_t since = serve_since(line, &before), found = since;
	struct err ignored = ERR_NONE;
	char text[64];

	if (wanted)
		found = 0;
	else if (since == 0 || before != now)
		found = view->now;
	if (found == since && (found == 0 || before == now))
		return found;
	int length = fmt(text, sizeof text, "%lld %llu\n", (long long)found, (unsigned long long)now);
	file_replace(line->boot_fd, "standing", text, (size_t)length, FILE_VOLATILE, &ignored);
	return found;
}

/* The standby's part: a service is started, or waited for. */
static int start_one(struct view *view, struct err *err)
{
	struct member *member = view->member;
	const struct card_sample *card = member->card_seen ? member->card : NULL;
	struct standing_scene scene = { .job = job_wants_card(view),
					.seen = card || !member->line->card.look,
					.now_ns = view->now,
					.after_ns = member->line->conf.standing_after_ns };
	struct card_room rooms[LINE_CARDS];
	int64_t at_ns;

	if (card) {
		scene.foreign = card->contended;
		gate_room(NULL, 0, card, NULL, &scene.vram.card);
		scene.vram.rooms = rooms;
		scene.vram.room_count = gate_rooms(NULL, 0, card, NULL, rooms);
	}
	scene.free_since_ns = free_since(view, scene.job || scene.foreign);
	const struct candidate *service = standing_pick(&scene, &view->services, &at_ns);
	/* Without credit to start a worker it is no matter of the others that wait for a line that is settled. */
	if (service && member->spawn_credit > view->plan->spawns && view->plan->spawns < PLAN_SPAWNS)
		return view_spawn(view, view->service, service->id, err) < 0 ? -1 : 0;
	if (service)
		at_ns = view->now + LEAVE_PATIENCE_NS;
	/* Whoever wants it as a job wakes us; of all others nobody tells. */
	if (scene.job)
		return 0;
	int64_t again_ns = view->now + LOOK_AGAIN_NS;
	view_note_again(view, at_ns && at_ns < again_ns ? at_ns : again_ns);
	return 0;
}

/* It has the card: is it to leave? */
static int look_at_other(struct view *view, struct err *err)
{
	const struct entry *entry = &view->service->entry;
	struct plan *plan = view->plan;

	view->spool_runs = true;
	if (entry->state == ENTRY_GRANTED) {
		/* A worker is being started for it. */
		plan->settled = false;
		view_note_again(view, view->now + LEAVE_PATIENCE_NS);
		if (plan->nudges < PLAN_SPAWNS && view->now >= entry->since_boot_ns + LEAVE_PATIENCE_NS)
			plan->nudge[plan->nudges++] = entry->main;
		return 0;
	}
	if (view_note_holder(view, entry, SEAT_STANDING, err) < 0)
		return -1;
	const struct candidate *service = find_service(view, entry->id);
	if (!job_wants_card(view) && !(service && service->gate != WAITS_LANE))
		return 0;
	if (view_is_me(view, &entry->owner)) {
		plan->yield = entry->state == ENTRY_RUNNING;
		return 0;
	}
	/* What it is to see is on file: a ticket, or a record in pending/. */
	if (entry->state == ENTRY_RUNNING)
		view_note_wake(view, entry);
	/* Who watches looks whether it does: it may be stopped. */
	if (view->member->role.fd < 0) {
		view_note_wake(view, &view_standby(view)->entry);
		return 0;
	}
	view_note_again(view, view->now + LEAVE_PATIENCE_NS);
	if (plan->nudges < PLAN_SPAWNS)
		plan->nudge[plan->nudges++] = entry->owner;
	return 0;
}

int serve_fill(struct view *view, struct err *err)
{
	const struct seat_view *seat = view->service;

	if (!seat)
		return 0;
	if (seat->entry.state == ENTRY_FREE)
		return is_standby(view->member) && any_may_run(view) ? start_one(view, err) : 0;
	if (seat->held)
		return look_at_other(view, err);
	if (entry_rests(&seat->entry, view->now)) {
		view->spool_runs = true;
		view_note_again(view, seat->entry.again_boot_ns);
		return 0;
	}
	return view_adopt_seat(view, seat, err);
}

void serve_again(struct view *view)
{
	if (serve_needs_look(view))
		view_note_again(view, view->now);
}
