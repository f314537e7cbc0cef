/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The gate for the card's memory, as a settle sees it: what is free for whoever asks for some. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "conf/base/clock.h"
#include "conf/base/file.h"
#include "conf/base/fmt.h"
#include "conf/base/scope.h"
#include "conf/jobid.h"
#include "gate.h"
#include "view.h"

/* Between two looks of the standby while the first in line waits for the card's memory. */
#define LOOK_AGAIN_NS (2 * NS_PER_S)

static bool waits_for_vram(const struct candidate *one)
{
	return one->vram_bytes && !one->begun && !one->barred;
}

/* The lane is ours to give: our job has ended, we were born on it, or it was granted to us. */
static bool is_to_give(const struct view *view, const struct seat_view *seat)
{
	const struct member *member = view->member;

	if (seat->entry.state == ENTRY_GRANTED && view_is_me(view, &seat->entry.owner))
		return true;
	return member->ended && member->lane.fd >= 0 && member->lane.number == seat->number &&
	       member->lane.gen == seat->entry.gen;
}

/* A lane may be given away in this settle. */
static bool lane_moves(const struct view *view)
{
	for (int i = 0; i < view->lanes; i++) {
		const struct seat_view *seat = &view->seats[i];
		const struct conf_class *class = conf_class_find(&view->member->line->conf, seat->entry.class_name);
		if (is_to_give(view, seat) || (class && class->turns_forced) || !seat->held ||
		    seat->entry.state == ENTRY_FREE || seat->entry.state == ENTRY_GRANTED)
			return true;
	}
	return view->lanes < view->member->line->conf.lanes;
}

bool gate_needs_look(const struct view *view, bool offered)
{
	const struct member *member = view->member;

	if (member->card_seen || !member->line->card.look || (!offered && !lane_moves(view)))
		return false;
	for (size_t i = 0; i < view->waiting.count; i++) {
		if (waits_for_vram(&view->waiting.list[i]))
			return true;
	}
	return false;
}

static void take(struct card_room *card, uint64_t bytes)
{
	card->free_bytes -= bytes < card->free_bytes ? bytes : card->free_bytes;
}

/* Of the card of its lane, or the one it asks for, or that with the most free; which may be in both places. */
void gate_take(struct load *load, const struct candidate *winner)
{
	uint64_t bytes = winner->begun ? 0 : winner->vram_bytes;
	const char *card = load->lane_card && *load->lane_card ? load->lane_card : winner->card;

	if (!*card || !load->rooms || strcmp(load->card.card, card) == 0) {
		take(&load->card, bytes);
		card = load->card.card;
	}
	for (int i = 0; *card && load->rooms && i < load->room_count; i++) {
		if (strcmp(load->rooms[i].card, card) == 0)
			take(&load->rooms[i], bytes);
	}
}

/* What a lane's job asked for and does not hold yet is not free; what it holds is used already. */
static void count_lane(struct card_room *card, const struct seat_view *seat, const struct card_sample *sample)
{
	const struct entry *entry = &seat->entry;
	uint64_t held = 0;

	if (entry->state == ENTRY_FREE || (entry->card[0] && card->card[0] && strcmp(entry->card, card->card) != 0))
		return;
	if (seat->number < CONF_LANES && sample->lanes[seat->number].gen == entry->gen)
		held = sample->lanes[seat->number].held_bytes;
	/* Promised to a worker, for a job that is not on file yet. */
	if (entry->id == 0)
		card->free_bytes = 0;
	if (entry->vram_bytes > held)
		take(card, entry->vram_bytes - held);
	card->own_bytes += entry->vram_bytes > held ? entry->vram_bytes : held;
}

static void count_lanes(const struct seat_view *seats, int lanes, const struct card_sample *sample, const bool *moving,
			struct card_room *room)
{
	for (int i = 0; room->known && i < lanes; i++) {
		if (!moving || !moving[i])
			count_lane(room, &seats[i], sample);
	}
}

static uint64_t left(uint64_t total_bytes, uint64_t used_bytes)
{
	return total_bytes > used_bytes ? total_bytes - used_bytes : 0;
}

void gate_room(const struct seat_view *seats, int lanes, const struct card_sample *sample, const bool *moving,
	       struct card_room *ret_room)
{
	struct card_room room = { .known = sample->known };

	if (room.known) {
		memcpy(room.card, sample->card, sizeof room.card);
		room.free_bytes = left(sample->total_bytes, sample->used_bytes);
		room.frozen_bytes = sample->frozen_bytes;
	}
	count_lanes(seats, lanes, sample, moving, &room);
	*ret_room = room;
}

int gate_rooms(const struct seat_view *seats, int lanes, const struct card_sample *sample, const bool *moving,
	       struct card_room rooms[LINE_CARDS])
{
	for (int i = 0; i < sample->card_count; i++) {
		rooms[i] = (struct card_room){ .known = sample->cards[i].known,
					       .free_bytes =
						       left(sample->cards[i].total_bytes, sample->cards[i].used_bytes),
					       .frozen_bytes = sample->cards[i].frozen_bytes };
		memcpy(rooms[i].card, sample->cards[i].card, sizeof rooms[i].card);
		count_lanes(seats, lanes, sample, moving, &rooms[i]);
	}
	return sample->card_count;
}

/* Only where it matters which: without memory for it the one with the most free counts for all. */
static void open_rooms(struct view *view, const bool *moving)
{
	const struct member *member = view->member;
	bool matters = member->line->conf.bound_count > 0;

	for (size_t i = 0; i < view->waiting.count && !matters; i++)
		matters = view->waiting.list[i].card[0] != '\0';
	struct card_room *rooms = matters ? calloc(LINE_CARDS, sizeof *rooms) : NULL;
	if (!rooms)
		return;
	free(view->load.rooms);
	view->load.rooms = rooms;
	view->load.room_count = gate_rooms(view->seats, view->lanes, member->card, moving, rooms);
}

void gate_open(struct view *view)
{
	const struct member *member = view->member;
	struct card_room *room = &view->load.card;
	bool moving[CONF_LANES] = { false };

	if (!member->line->card.look)
		return;
	/* Not looked at: nobody is to be let in, and nobody can be. */
	if (!member->card_seen)
		*room = (struct card_room){ .known = true };
	for (int i = 0; i < view->lanes && i < CONF_LANES; i++)
		moving[i] = is_to_give(view, &view->seats[i]);
	if (!member->card_seen || !member->card)
		return;
	gate_room(view->seats, view->lanes, member->card, moving, room);
	open_rooms(view, moving);
}

/* Since when the job `id` is the first that waits for it: on file, since each settle is another process's. */
static int64_t waits_since(const struct view *view, uint64_t id)
{
	int boot_fd = view->member->line->boot_fd;
	struct err ignored = ERR_NONE;
	const char *end = "";
	char text[64];

	if (file_read_small(boot_fd, "vram", text, sizeof text) > 0 && jobid_read(text, &end) == id && *end == ' ')
		return fmt_read_signed(end + 1, NULL);
	int length = fmt(text, sizeof text, "%s %lld\n", JOBID(id), (long long)view->now);
	file_replace(boot_fd, "vram", text, (size_t)length, FILE_VOLATILE, &ignored);
	return view->now;
}

void gate_note_patience(struct view *view)
{
	const struct conf *conf = &view->member->line->conf;
	const struct candidate *first = elect_first(&view->waiting, false);
	struct card_room *card = &view->load.card;

	/* While no lane could be given the card was not looked at: that wait is one for a lane. */
	if (!view->member->card_seen || !first || !waits_for_vram(first) ||
	    elect_waits_for_card(conf, &view->load, first) || elect_has_vram_anywhere(conf, &view->load, first))
		return;
	int64_t since = waits_since(view, first->id);
	if (view->now - since >= conf->vram_patience_ns)
		card->patient_id = first->id;
	if (view->member->role.fd >= 0)
		view_note_again(view, view->now + LOOK_AGAIN_NS);
}
