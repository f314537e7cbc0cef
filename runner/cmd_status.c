/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `pgpu status`: the card and who uses it, the lanes, how many wait, and what the cells can do here. */
#include <stdlib.h>
#include <string.h>

#include "conf/base/buf.h"
#include "conf/base/clock.h"
#include "conf/base/file.h"
#include "conf/base/fmt.h"
#include "conf/base/json.h"
#include "conf/base/print.h"
#include "conf/base/say.h"
#include "conf/base/scope.h"
#include "conf/base/text.h"
#include "conf/jobid.h"
#include "runner/cardview.h"
#include "runner/cell/cell.h"
#include "runner/commands.h"
#include "runner/laneview.h"
#include "runner/options.h"
#include "runner/queue.h"
#include "runner/snapshot.h"

static const char usage[] =
	"usage: pgpu status [options]\n"
	"Shows the card and who uses it, the lanes, how many jobs wait, and what the cells can do here.\n"
	"\n"
	"      --json         one JSON object\n"
	"      --color WHEN   auto, always or never; auto is on a terminal alone\n"
	"      --help         print this\n";

struct status {
	struct cardview cards;
	struct snapshot snapshot;
	const struct cell_place *place;
	long bad;
	struct screen screen;
	const char *network; /* file system that the queue is on; NULL: none */
};

/* Each task of an array counts. */
static long count_waiting(const struct snapshot *snapshot)
{
	return (long)snapshot->waiting.count + snapshot->more_tasks;
}

/* Those that stand in line, and those whose `run` is stopped. */
static void each_frozen(const struct snapshot *snapshot, void (*put)(const struct entry *entry, struct buf *out),
			struct buf *out)
{
	for (int i = 0; i < snapshot->away_count; i++)
		put(&snapshot->away[i], out);
	for (int i = 0; i < snapshot->frozen_count; i++)
		put(&snapshot->frozen[i], out);
}

static void put_frozen_json(const struct entry *entry, struct buf *out)
{
	/* Behind another one. */
	if (out->size && out->text[out->size - 1] == '}')
		buf_puts(out, ",");
	buf_printf(out, "{\"job\":\"%s\"", JOBID(entry->id));
	json_text(out, "class", entry->class_name);
	json_text(out, "name", entry->name[0] ? entry->name : NULL);
	json_count(out, "memory_bytes", entry->held_bytes ? (int64_t)entry->held_bytes : -1);
	json_count(out, "vram_bytes", entry->looked_boot_ns ? entry->on_card_bytes : -1);
	buf_puts(out, "}");
}

static void put_paused_json(const struct conf *conf, struct buf *out)
{
	const char *comma = "";

	buf_puts(out, ",\"paused\":[");
	for (int i = 0; i < conf->class_count; i++) {
		if (!conf->classes[i].paused)
			continue;
		buf_puts(out, comma);
		buf_json(out, conf->classes[i].name);
		comma = ",";
	}
	buf_puts(out, "]");
}

static void put_json(const struct status *status, const struct conf *conf, struct buf *out)
{
	buf_puts(out, "{");
	cardview_json_cards(&status->cards, out);
	buf_puts(out, ",\"lanes\":[");
	for (int i = 0; i < status->snapshot.lane_count; i++) {
		const struct entry *entry = &status->snapshot.lanes[i].entry;
		buf_puts(out, i ? "," : "");
		laneview_json(i, entry, laneview_card(conf, i, entry), &status->cards.lanes[i], out);
	}
	char missing[CELL_MISSING];
	const char *reason = status->place->reason;
	bool drained = conf_is_drained(conf);

	cell_missing(status->place, NULL, missing);
	buf_puts(out, "],\"frozen\":[");
	each_frozen(&status->snapshot, put_frozen_json, out);
	buf_puts(out, "],\"standing\":[");
	for (size_t i = 0; i < status->snapshot.services.count; i++) {
		const struct candidate *one = &status->snapshot.services.list[i];
		char sentence[128];
		snapshot_standing(&status->snapshot, conf, i, sentence);
		buf_printf(out, "%s{\"job\":\"%s\",\"up\":%s", i ? "," : "", JOBID(one->id),
			   status->snapshot.scene.up_id == one->id ? "true" : "false");
		json_text(out, "why", sentence);
		buf_puts(out, "}");
	}
	buf_printf(out, "],\"waiting\":%ld,\"bad\":%ld,\"drained\":%s", count_waiting(&status->snapshot), status->bad,
		   drained ? "true" : "false");
	json_time(out, "drained_until",
		  drained && conf->drained_until_s != CONF_NEVER ? conf->drained_until_s * NS_PER_S : 0);
	put_paused_json(conf, out);
	json_text(out, "network", status->network);
	buf_puts(out, ",");
	cardview_json_foreign(&status->cards, out);
	buf_printf(out,
		   ",\"cells\":{\"available\":%s,\"memory\":%s,\"freezer\":%s,\"processes\":%s,\"vram\":%s,\"reason\":",
		   status->place->available ? "true" : "false", status->place->memory ? "true" : "false",
		   status->place->freezer ? "true" : "false", status->place->pids ? "true" : "false",
		   cell_place_has_dmem(status->place) ? "true" : "false");
	buf_json(out, reason[0] ? reason : missing[0] ? missing : NULL);
	buf_puts(out, "}}\n");
}

static void put_cells(const struct cell_place *place, struct buf *out)
{
	char missing[CELL_MISSING];

	cell_missing(place, NULL, missing);
	if (!place->available)
		buf_printf(out, "cells: none: %s: %s\n", missing, place->reason);
	else if (!place->memory)
		buf_printf(out, "cells: %skill; %s: %s\n", place->freezer ? "freezer and " : "", missing,
			   place->reason);
	else
		buf_printf(out, "cells: memory ceiling, %skill, in %s%s%s\n", place->freezer ? "freezer and " : "",
			   place->folder, missing[0] ? "; " : "", missing);
}

/* What it keeps of the card was seen when it ran last. */
static void put_frozen(const struct entry *entry, struct buf *out)
{
	char name[48], class_name[CONF_CLASS_NAME], held[TEXT_SIZE], on_card[TEXT_SIZE];

	text_show(entry->name[0] ? entry->name : "?", name, sizeof name);
	text_show(entry->class_name, class_name, sizeof class_name);
	buf_printf(out, "frozen: job %s %s (%s)", JOBID(entry->id), name, class_name);
	if (entry->held_bytes) {
		text_size_show(entry->held_bytes, held);
		buf_printf(out, ", keeps %s", held);
	}
	if (entry->looked_boot_ns && entry->on_card_bytes > 0) {
		text_size_show((uint64_t)entry->on_card_bytes, on_card);
		buf_printf(out, "%s %s of VRAM", entry->held_bytes ? " and" : ", keeps", on_card);
	}
	buf_puts(out, "\n");
}

/* Only where there is one at all. */
static void put_standing(const struct snapshot *snapshot, const struct conf *conf, struct buf *out)
{
	const struct entry *entry = &snapshot->service.entry;
	char sentence[128], name[48] = "";

	for (size_t i = 0; i < snapshot->services.count; i++) {
		snapshot_standing(snapshot, conf, i, sentence);
		if (entry->state != ENTRY_FREE && entry->id == snapshot->services.list[i].id)
			text_show(entry->name, name, sizeof name);
		buf_printf(out, "standing: job %s%s%s, %s\n", JOBID(snapshot->services.list[i].id), name[0] ? " " : "",
			   name, sentence);
		name[0] = '\0';
	}
}

static bool wants_vram_max(const struct status *status, const struct conf *conf)
{
	bool wants = false;

	for (int i = 0; i < conf->class_count; i++)
		wants |= conf->classes[i].vram_max_bytes != 0;
	for (int i = 0; i < status->snapshot.lane_count; i++)
		wants |= status->snapshot.lanes[i].entry.vram_max_bytes != 0;
	return wants;
}

static void put_text(const struct status *status, const struct conf *conf, struct buf *out)
{
	cardview_text_cards(&status->cards, out);
	cardview_text_foreign(&status->cards, out);
	laneview_text(&status->snapshot, conf, &status->cards, &status->screen, out);
	if (status->snapshot.lane_count > conf->lanes)
		buf_printf(out, "lanes: %d in force, the others end with their jobs\n", conf->lanes);
	each_frozen(&status->snapshot, put_frozen, out);
	put_standing(&status->snapshot, conf, out);
	size_t held = 0;
	for (size_t i = 0; i < status->snapshot.waiting.count; i++)
		held += status->snapshot.waiting.list[i].gate == WAITS_HELD;
	if (conf_is_drained(conf)) {
		char sentence[128];
		snapshot_tell_drained(conf, sentence);
		buf_printf(out, "%s\n", sentence);
	}
	for (int i = 0; status->snapshot.pauses && i < status->snapshot.pauses->count; i++) {
		const struct pause *one = &status->snapshot.pauses->list[i];
		char sentence[128];
		pause_tell(one, sentence);
		if (one->paused && conf_class_find(conf, one->class_name))
			buf_printf(out, "class %s: %s\n", one->class_name, sentence);
	}
	buf_printf(out, "waiting: %ld", count_waiting(&status->snapshot));
	if (held)
		buf_printf(out, ", %zu of them held", held);
	buf_puts(out, "\n");
	if (status->bad)
		buf_printf(out, "set aside: %ld damaged or strange in the queue's folder bad/\n", status->bad);
	if (status->network)
		buf_printf(out, "queue: on a network file system (%s), on which its locks are not to be relied on\n",
			   status->network);
	put_cells(status->place, out);
	if (wants_vram_max(status, conf) && !cell_place_has_dmem(status->place))
		buf_puts(out, "vram-max: watched, not enforced by the kernel: no dmem controller for cells\n");
}

struct request {
	enum screen_colour colour;
	bool json, help;
};

static int show(struct queue *queue, struct status *status, const struct request *request, struct err *err)
{
	SCOPE_BUF struct buf out = BUF_EMPTY;

	if (queue_open(queue, QUEUE_LENIENT, err) < 0 ||
	    snapshot_take(&queue->line, &queue->spool, &status->snapshot, err) < 0)
		return -1;
	status->place = cell_place_look(queue->line.conf.cells);
	status->bad = spool_count_bad(&queue->spool);
	status->network = folder_network(queue->line.queue_fd);
	if (cardview_take(&status->snapshot, &status->cards, err) < 0)
		return -1;
	if (status->cards.ignored)
		say("PGPU_PROCFS and PGPU_SYSFS are ignored: the file of pgpu has capabilities");
	if (!request->json)
		screen_look(request->colour, &status->screen);
	if (request->json)
		put_json(status, &queue->line.conf, &out);
	else
		put_text(status, &queue->line.conf, &out);
	cardview_free(&status->cards);
	snapshot_free(&status->snapshot);
	return print_buf(&out);
}

static int read_request(int argc, char **argv, struct request *request, struct err *err)
{
	static const struct option long_options[] = { { "json", OPTION_FLAG, 'j' },
						      { "color", OPTION_VALUE, 'c' },
						      { "help", OPTION_FLAG, 'h' },
						      { .name = "" } };
	struct options options = OPTIONS("status", argc, argv, "", long_options);
	int result = 0;

	for (int option; result == 0 && (option = options_next(&options, err)) != 0;) {
		switch (option) {
		case 'j': request->json = true; break;
		case 'c': result = screen_colour_parse(options.value, "status", &request->colour, err); break;
		case 'h': request->help = true; return 0;
		default: return -1;
		}
	}
	return result < 0 ? -1 : options_end(&options, err);
}

int cmd_status(int argc, char **argv)
{
	struct err err = ERR_NONE;
	struct queue *const queue = &queue_only;
	SCOPE_FREE struct status *status = malloc(sizeof *status);
	struct request request = { 0 };

	if (read_request(argc, argv, &request, &err) < 0)
		return say_err(&err);
	if (request.help)
		return print_usage(usage);
	if (!status) {
		err_sys(&err, "cannot show the status");
		return say_err(&err);
	}
	int code = show(queue, status, &request, &err);
	return code < 0 ? say_err(&err) : code;
}
