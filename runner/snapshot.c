/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "snapshot.h"

#include <stdlib.h>
#include <string.h>

#include "conf/base/clock.h"
#include "conf/base/fmt.h"
#include "conf/base/scope.h"
#include "conf/base/text.h"
#include "conf/jobid.h"
#include "runner/line/gate.h"
#include "runner/line/serve.h"
#include "runner/line/ticket.h"
#include "submit/spooltasks.h"

struct view {
	struct line *line;
	struct spool *spool;
	struct snapshot *snapshot;
	struct eligible eligible;
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

/* How many wait, and whether as many run as may. */
static enum waits_for look_at_tasks(struct view *view, const struct spool_name *name, enum waits_for gate)
{
	SCOPE_TASKS struct tasks tasks = TASKS_NONE;
	struct err ignored = ERR_NONE;

	if (tasks_open(view->spool, name->id, &tasks, &ignored) == 0 && tasks_waiting(&tasks) > 0)
		view->snapshot->more_tasks += tasks_waiting(&tasks) - 1;
	if (gate == WAITS_LANE && name->cap && tasks_running(view->spool, name->id, &ignored) >= name->cap)
		return WAITS_ARRAY;
	return gate;
}

static int add_pending(const struct spool_name *name, const char *file, void *context)
{
	struct view *view = context;
	struct snapshot *snapshot = view->snapshot;
	struct candidate *added = candidates_add(name->standing ? &snapshot->services : &snapshot->waiting);

	if (!added)
		return -1;
	added->id = name->id;
	added->begin_s = name->begin_s;
	added->spooled = true;
	added->standing = name->standing;
	added->failures = name->standing ? name->failures : name->tries;
	added->reserved_bytes = name->reserved_bytes;
	added->vram_bytes = name->vram_bytes;
	added->nice = name->nice;
	memcpy(added->card, name->card, sizeof added->card);
	enum waits_for gate = eligible_judge(&view->eligible, name);
	if (name->array)
		gate = look_at_tasks(view, name, gate);
	if (gate != WAITS_LANE)
		elect_bar(added, gate);
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
	return seat_read(line, SEAT_STANDING, &snapshot->service, err);
}

static void rate(struct line *line, struct spool *spool, struct snapshot *snapshot, const struct served *served)
{
	int64_t now_wall_ns = clock_wall_ns(), change_ns = 0;

	for (size_t i = 0; i < snapshot->waiting.count; i++) {
		struct candidate *one = &snapshot->waiting.list[i];
		const struct conf_class *class = conf_class_find(&line->conf, one->class_name);
		int64_t written_ns;
		if (one->spooled && class && class->turns_as_after_wait_ns &&
		    spool_written(spool, SPOOL_PENDING, one->file, &written_ns) == 0)
			one->waited_ns = clock_wall_ns() - written_ns;
		elect_rate(&line->conf, one);
		elect_bar_by_time(&line->conf, one, now_wall_ns, &change_ns);
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

/* A grant that nobody is left to take stays on file until the lane is given to somebody else. */
static bool is_taken(const struct seat_view *lane)
{
	return lane->entry.state != ENTRY_FREE &&
	       (lane->entry.state != ENTRY_GRANTED || lane->held || procid_alive(&lane->entry.owner));
}

static bool job_wants_card(const struct snapshot *snapshot)
{
	if (snapshot->load.frozen)
		return true;
	for (int i = 0; i < snapshot->lane_count; i++) {
		if (is_taken(&snapshot->lanes[i]))
			return true;
	}
	for (size_t i = 0; i < snapshot->waiting.count; i++) {
		if (!snapshot->waiting.list[i].barred)
			return true;
	}
	return false;
}

/* What the settle of whoever watches goes by. */
static void set_scene(struct line *line, struct snapshot *snapshot)
{
	const struct entry *entry = &snapshot->service.entry;
	uint64_t hands;

	snapshot->scene = (struct standing_scene){ .job = job_wants_card(snapshot),
						   .up_id = entry->state == ENTRY_FREE ? 0 : entry->id,
						   .now_ns = clock_boot_ns(),
						   .free_since_ns = serve_since(line, &hands),
						   .after_ns = line->conf.standing_after_ns };
	/* Nobody has noted it yet. */
	if (snapshot->scene.free_since_ns == 0)
		snapshot->scene.free_since_ns = snapshot->scene.now_ns;
}

static void add_card(const struct card_sample *sample, struct snapshot *snapshot)
{
	struct standing_scene *scene = &snapshot->scene;
	char name[48];

	scene->seen = true;
	scene->foreign = sample->contended;
	scene->vram = snapshot->load;
	if (!sample->contended)
		return;
	text_show(sample->contender.comm[0] ? sample->contender.comm : "?", name, sizeof name);
	fmt(snapshot->contender, sizeof snapshot->contender, "%d %s", sample->contender.pid, name);
}

/* Only where somebody waits for its memory, or a standing job for a free one. */
static void look_at_card(struct line *line, struct snapshot *snapshot)
{
	SCOPE_FREE struct card_sample *sample = NULL;
	const struct standing_scene *scene = &snapshot->scene;
	bool wanted = snapshot->services.count > 0 && !scene->job && !scene->up_id;

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
	add_card(sample, snapshot);
}

static void read_pauses(struct line *line, struct snapshot *snapshot)
{
	bool any = false;

	for (int i = 0; i < line->conf.class_count; i++)
		any |= line->conf.classes[i].paused;
	snapshot->pauses = any ? malloc(sizeof *snapshot->pauses) : NULL;
	if (snapshot->pauses)
		pause_read(line, snapshot->pauses);
}

static int compare_ids(const void *left, const void *right)
{
	uint64_t a = ((const struct candidate *)left)->id, b = ((const struct candidate *)right)->id;

	return a < b ? -1 : a > b;
}

int snapshot_take(struct line *line, struct spool *spool, struct snapshot *ret_snapshot, struct err *err)
{
	struct view view = { .line = line, .snapshot = ret_snapshot };
	struct served served = SERVED_NONE;

	*ret_snapshot = (struct snapshot){ 0 };
	view.spool = spool;
	view.eligible = eligible_now(&line->conf);
	served_read(line, &served);
	if (read_lanes(line, ret_snapshot, err) < 0 || ticket_each(line, add_ticket, &view, err) < 0 ||
	    spool_each(spool, SPOOL_PENDING, add_pending, &view, err) < 0) {
		served_free(&served);
		snapshot_free(ret_snapshot);
		return -1;
	}
	rate(line, spool, ret_snapshot, &served);
	read_pauses(line, ret_snapshot);
	if (ret_snapshot->services.count) {
		qsort(ret_snapshot->services.list, ret_snapshot->services.count, sizeof(struct candidate), compare_ids);
		set_scene(line, ret_snapshot);
	}
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
	free(snapshot->pauses);
	candidates_free(&snapshot->waiting);
	candidates_free(&snapshot->services);
	*snapshot = (struct snapshot){ 0 };
}

void snapshot_tell_drained(const struct conf *conf, char sentence[128])
{
	char until[CLOCK_TEXT] = "";

	if (conf->drained_until_s != CONF_NEVER)
		clock_wall_format(conf->drained_until_s * NS_PER_S, until);
	fmt(sentence, 128, "the queue is drained%s%s; pgpu undrain lets jobs start", until[0] ? " until " : "", until);
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

/* "job 7 has the card", "job 7 waits for it" */
static void tell_job(const struct snapshot *snapshot, char sentence[128])
{
	for (int i = 0; i < snapshot->lane_count; i++) {
		const struct entry *entry = &snapshot->lanes[i].entry;
		if (!is_taken(&snapshot->lanes[i]))
			continue;
		if (entry->id)
			fmt(sentence, 128, "down: job %s has the card", JOBID(entry->id));
		else
			fmt(sentence, 128, "down: a job is about to have the card");
		return;
	}
	for (size_t i = 0; i < snapshot->waiting.count; i++) {
		if (snapshot->waiting.list[i].barred)
			continue;
		fmt(sentence, 128, "down: job %s waits for the card", JOBID(snapshot->waiting.list[i].id));
		return;
	}
	fmt(sentence, 128, "down: a frozen job holds the card's memory");
}

static void tell_soon(const struct candidate *service, int64_t left_ns, char sentence[128])
{
	char left[TEXT_DURATION];

	text_duration_format((left_ns + NS_PER_S - 1) / NS_PER_S * NS_PER_S, left);
	if (service->failures)
		fmt(sentence, 128, "down: failed %d time%s in a row, again in %s", service->failures,
		    service->failures == 1 ? "" : "s", left);
	else
		fmt(sentence, 128, "down: the card has to be free for %s more", left);
}

static void tell_begin(const struct candidate *one, char sentence[128])
{
	char when[CLOCK_TEXT];

	clock_wall_format(one->begin_s * NS_PER_S, when);
	if (one->gate == WAITS_RETRY)
		fmt(sentence, 128, "attempt %d not before %s", one->failures + 1, when);
	else
		fmt(sentence, 128, "not before %s", when);
}

static void tell_hours(const struct conf *conf, const struct candidate *one, char sentence[128])
{
	const struct conf_class *class = conf_class_find(conf, one->class_name);
	char when[CLOCK_TEXT];
	int64_t change_ns;

	/* Open by now. */
	if (!class || hours_open(class->hours, clock_wall_ns(), &change_ns)) {
		fmt(sentence, 128, "about to start");
		return;
	}
	clock_wall_format(change_ns, when);
	fmt(sentence, 128, "%soutside the hours of class %s, %s; until %s", one->begun ? "frozen; " : "", class->name,
	    class->hours, when);
}

const char *snapshot_standing(const struct snapshot *snapshot, const struct conf *conf, size_t index,
			      char sentence[128])
{
	const struct candidate *one = &snapshot->services.list[index];
	char needed[TEXT_SIZE], left[TEXT_SIZE];
	int64_t at_ns;

	enum standing why = standing_judge(&snapshot->scene, one, &at_ns);
	switch (why) {
	case STANDING_UP:
		fmt(sentence, 128,
		    snapshot->service.entry.state == ENTRY_RUNNING   ? "up: nobody else wants the card"
		    : snapshot->service.entry.state == ENTRY_GRANTED ? "about to start: nobody else wants the card"
								     : "makes room, until the card's memory is back");
		break;
	case STANDING_HELD:
		if (one->gate == WAITS_HOURS)
			tell_hours(conf, one, sentence);
		else
			fmt(sentence, 128, "down: held until it is released");
		break;
	case STANDING_JOB: tell_job(snapshot, sentence); break;
	case STANDING_OTHER:
		fmt(sentence, 128, "down: standing job %s has the card", JOBID(snapshot->scene.up_id));
		break;
	case STANDING_FOREIGN: fmt(sentence, 128, "down: process %s wants the card", snapshot->contender); break;
	case STANDING_VRAM:
		text_size_show(one->vram_bytes, needed);
		text_size_show(elect_room(&snapshot->scene.vram, one)->free_bytes, left);
		fmt(sentence, 128, "down: needs %s of VRAM, %s free%s%s%s%s", needed, left,
		    one->card[0] ? " on card " : "", one->card, snapshot->others[0] ? "; " : "", snapshot->others);
		break;
	case STANDING_AFTER:
	case STANDING_FAILED: tell_soon(one, at_ns - snapshot->scene.now_ns, sentence); break;
	default: fmt(sentence, 128, "down: about to be started");
	}
	return why == STANDING_HELD ? "held" : "standing";
}

static void tell_paused(const struct snapshot *snapshot, const char *class_name, char sentence[128])
{
	const struct pause *one = snapshot->pauses ? pause_find(snapshot->pauses, class_name) : NULL;

	if (one)
		pause_tell(one, sentence);
	else
		fmt(sentence, 128, "its class is paused; pgpu release --class %s", class_name);
}

/* Its name says how many. */
static void tell_array(const struct candidate *one, char sentence[128])
{
	struct spool_name name;

	if (spool_name_parse(one->file, &name) == 0 && name.cap)
		fmt(sentence, 128, "as many of its tasks run as may at once, %ld", (long)name.cap);
	else
		fmt(sentence, 128, "as many of its tasks run as may at once");
}

const char *snapshot_reason(const struct snapshot *snapshot, const struct conf *conf, size_t index, char sentence[128])
{
	const struct candidate *one = &snapshot->waiting.list[index];
	enum waits_for why = elect_why(conf, &snapshot->load, snapshot->busy, &snapshot->waiting, index);

	if (why == WAITS_HELD)
		fmt(sentence, 128, "pgpu release %s lets it go", JOBID(one->id));
	else if (why == WAITS_AFTER)
		fmt(sentence, 128, "waits for other jobs");
	else if (why == WAITS_ARRAY)
		tell_array(one, sentence);
	else if (why == WAITS_BEGIN || why == WAITS_RETRY)
		tell_begin(one, sentence);
	else if (why == WAITS_HOURS)
		tell_hours(conf, one, sentence);
	else if (why == WAITS_PAUSED)
		tell_paused(snapshot, one->class_name, sentence);
	else if (why == WAITS_DRAINED)
		snapshot_tell_drained(conf, sentence);
	else if (why == WAITS_STOPPED)
		fmt(sentence, 128, "its process is stopped or did not take its lane in time");
	else if (why == WAITS_MEMORY)
		tell_memory(&snapshot->load, conf, sentence);
	else if (why == WAITS_VRAM)
		tell_vram(snapshot, conf, one, sentence);
	else if (why == WAITS_CARD)
		tell_card(conf, one, sentence);
	else if (snapshot->service.entry.state != ENTRY_FREE && snapshot->busy == 0)
		fmt(sentence, 128, "standing job %s makes room, %zu ahead", JOBID(snapshot->service.entry.id), index);
	else
		fmt(sentence, 128, "%s%d of %d lanes busy, %zu ahead", one->begun ? "frozen; " : "", snapshot->busy,
		    conf->lanes, index);
	return waits_for_names[why];
}
