/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "snapshot.h"

#include <stdlib.h>
#include <string.h>

#include "conf/base/clock.h"
#include "conf/base/fmt.h"
#include "conf/base/scope.h"
#include "conf/base/text.h"
#include "runner/line/gate.h"
#include "runner/line/ticket.h"

struct view {
	struct line *line;
	struct snapshot *snapshot;
	bool failed;
};

static void count_frozen(struct snapshot *snapshot, const struct entry *entry)
{
	snapshot->load.frozen++;
	snapshot->load.frozen_bytes += entry->held_bytes ? entry->held_bytes : entry->reserved_bytes;
}

/* One more at the end of a list of entries. */
static int add_entry(struct entry **list, int *count, const struct entry *entry)
{
	struct entry *more = realloc(*list, (size_t)(*count + 1) * sizeof *more);

	if (!more)
		return -1;
	*list = more;
	more[(*count)++] = *entry;
	return 0;
}

static int add_ticket(const struct ticket_name *name, const char *file, void *context)
{
	struct view *view = context;
	struct entry entry;

	struct snapshot *snapshot = view->snapshot;
	if (!ticket_read(view->line, file, &entry))
		return 0;
	if (name->flag == TICKET_FROZEN || name->flag == TICKET_TURN)
		count_frozen(snapshot, &entry);
	if (name->flag == TICKET_FROZEN)
		return add_entry(&snapshot->frozen, &snapshot->frozen_count, &entry);
	if (name->flag == TICKET_TURN && add_entry(&snapshot->away, &snapshot->away_count, &entry) < 0)
		return -1;
	struct candidate *added = candidates_add(&snapshot->waiting);
	if (!added)
		return -1;
	candidate_of_ticket(name, file, added);
	candidate_of_entry(&entry, clock_boot_ns(), added);
	return 0;
}

static int add_pending(const struct spool_name *name, const char *file, void *context)
{
	struct view *view = context;
	struct candidate *added = candidates_add(&view->snapshot->waiting);

	if (!added)
		return -1;
	added->id = name->id;
	added->spooled = true;
	added->reserved_bytes = name->reserved_bytes;
	added->vram_bytes = name->vram_bytes;
	memcpy(added->card, name->card, sizeof added->card);
	added->held = added->barred = name->held;
	fmt(added->class_name, sizeof added->class_name, "%s", name->class_name);
	fmt(added->session, sizeof added->session, "%s", name->session);
	fmt(added->file, sizeof added->file, "%s", file);
	return 0;
}

static int read_lanes(struct line *line, struct snapshot *snapshot, struct err *err)
{
	if (seat_read_all(line, &snapshot->lanes, &snapshot->lane_count, err) < 0)
		return -1;
	for (int i = 0; i < snapshot->lane_count; i++) {
		const struct entry *entry = &snapshot->lanes[i].entry;
		if (entry->state == ENTRY_FREE)
			continue;
		snapshot->busy++;
		if (i < CONF_LANES)
			snapshot->load.taken |= UINT64_C(1) << i;
		snapshot->load.running++;
		snapshot->load.running_bytes += entry->reserved_bytes;
	}
	return 0;
}

static void rate(struct line *line, struct spool *spool, struct snapshot *snapshot, const struct served *served)
{
	for (size_t i = 0; i < snapshot->waiting.count; i++) {
		struct candidate *one = &snapshot->waiting.list[i];
		const struct conf_class *class = conf_class_find(&line->conf, one->class_name);
		int64_t written_ns;
		if (one->spooled && class && class->turns_as_after_wait_ns &&
		    spool_written(spool, SPOOL_PENDING, one->file, &written_ns) == 0)
			one->waited_ns = clock_wall_ns() - written_ns;
		elect_rate(&line->conf, one);
		one->session_served = served_of(served, one->session);
	}
}

static int add_begun(const struct ticket_name *name, const char *file, void *context)
{
	return name->flag == TICKET_TURN || name->flag == TICKET_FROZEN ? add_ticket(name, file, context) : 0;
}

int snapshot_take_begun(struct line *line, struct snapshot *ret_snapshot, struct err *err)
{
	struct view view = { .line = line, .snapshot = ret_snapshot };

	*ret_snapshot = (struct snapshot){ 0 };
	if (read_lanes(line, ret_snapshot, err) == 0 && ticket_each(line, add_begun, &view, err) == 0)
		return 0;
	snapshot_free(ret_snapshot);
	return -1;
}

/* Only where somebody waits for its memory. */
static void look_at_card(struct line *line, struct snapshot *snapshot)
{
	SCOPE_FREE struct card_sample *sample = NULL;
	bool wanted = false;

	for (size_t i = 0; i < snapshot->waiting.count; i++)
		wanted |= snapshot->waiting.list[i].vram_bytes && !snapshot->waiting.list[i].begun;
	sample = wanted && line->card.look ? malloc(sizeof *sample) : NULL;
	if (!sample)
		return;
	line->card.look(line->card.context, sample);
	gate_room(snapshot->lanes, snapshot->lane_count, sample, NULL, &snapshot->load.card);
	memcpy(snapshot->others, sample->others, sizeof snapshot->others);
	snapshot->load.rooms = calloc(LINE_CARDS, sizeof *snapshot->load.rooms);
	if (snapshot->load.rooms)
		snapshot->load.room_count =
			gate_rooms(snapshot->lanes, snapshot->lane_count, sample, NULL, snapshot->load.rooms);
}

int snapshot_take(struct line *line, struct spool *spool, struct snapshot *ret_snapshot, struct err *err)
{
	struct view view = { .line = line, .snapshot = ret_snapshot };
	struct served served = SERVED_NONE;

	*ret_snapshot = (struct snapshot){ 0 };
	served_read(line, &served);
	if (read_lanes(line, ret_snapshot, err) < 0 || ticket_each(line, add_ticket, &view, err) < 0 ||
	    spool_each(spool, SPOOL_PENDING, add_pending, &view, err) < 0) {
		served_free(&served);
		snapshot_free(ret_snapshot);
		return -1;
	}
	rate(line, spool, ret_snapshot, &served);
	look_at_card(line, ret_snapshot);
	ret_snapshot->last_served = served.last;
	served_free(&served);
	if (elect_sequence(&ret_snapshot->waiting, ret_snapshot->last_served) < 0) {
		snapshot_free(ret_snapshot);
		return err_sys(err, "cannot order the line");
	}
	return 0;
}

void snapshot_free(struct snapshot *snapshot)
{
	free(snapshot->lanes);
	free(snapshot->frozen);
	free(snapshot->away);
	free(snapshot->load.rooms);
	candidates_free(&snapshot->waiting);
	*snapshot = (struct snapshot){ 0 };
}

/* A lane would be free, and still it may not start: see elect_has_room(). */
static void tell_memory(const struct load *load, const struct conf *conf, char sentence[128])
{
	char used[TEXT_SIZE], ram[TEXT_SIZE];

	if (load->running + load->frozen >= conf_resident(conf)) {
		fmt(sentence, 128, "%d running and %d frozen, resident is %d", load->running, load->frozen,
		    conf_resident(conf));
		return;
	}
	text_size_show(load->running_bytes + load->frozen_bytes, used);
	text_size_show(conf_ram(conf), ram);
	fmt(sentence, 128, "running and frozen jobs may need %s, ram is %s", used, ram);
}

/* The one with the most free of those that it could get now. */
static const struct card_room *best_room(const struct load *load, const struct conf *conf, const struct candidate *one)
{
	struct load there = *load;
	const struct card_room *best = conf->bound_count ? NULL : elect_room(load, one);

	for (int lane = 0; lane < conf->bound_count; lane++) {
		there.lane_card = conf->bound[lane].card;
		const struct card_room *room = elect_fits(conf, &there, one) ? elect_room(&there, one) : NULL;
		if (room && !(load->taken >> lane & 1) && (!best || room->free_bytes > best->free_bytes))
			best = room;
	}
	return best ? best : &load->card;
}

static void tell_vram(const struct snapshot *snapshot, const struct conf *conf, const struct candidate *one,
		      char sentence[128])
{
	char needed[TEXT_SIZE], left[TEXT_SIZE];
	const struct card_room *room = best_room(&snapshot->load, conf, one);
	bool named = (conf->bound_count || one->card[0]) && room->card[0];

	text_size_show(one->vram_bytes, needed);
	text_size_show(room->free_bytes, left);
	fmt(sentence, 128, "needs %s of VRAM, %s free%s%s%s%s", needed, left, named ? " on card " : "",
	    named ? room->card : "", snapshot->others[0] ? "; " : "", snapshot->others);
}

static void tell_card(const struct conf *conf, const struct candidate *one, char sentence[128])
{
	fmt(sentence, 128, "%s%s card %s", one->begun ? "frozen; " : "",
	    conf_binds(conf, one->card) ? "waits for a lane on" : "no lane is bound to", one->card);
}

const char *snapshot_reason(const struct snapshot *snapshot, const struct conf *conf, size_t index, char sentence[128])
{
	const struct candidate *one = &snapshot->waiting.list[index];
	enum waits_for why = elect_why(conf, &snapshot->load, snapshot->busy, &snapshot->waiting, index);

	if (why == WAITS_HELD)
		fmt(sentence, 128, "pgpu release %llu lets it go", (unsigned long long)one->id);
	else if (why == WAITS_STOPPED)
		fmt(sentence, 128, "its process is stopped or did not take its lane in time");
	else if (why == WAITS_MEMORY)
		tell_memory(&snapshot->load, conf, sentence);
	else if (why == WAITS_VRAM)
		tell_vram(snapshot, conf, one, sentence);
	else if (why == WAITS_CARD)
		tell_card(conf, one, sentence);
	else
		fmt(sentence, 128, "%s%d of %d lanes busy, %zu ahead", one->begun ? "frozen; " : "", snapshot->busy,
		    conf->lanes, index);
	return waits_for_names[why];
}
