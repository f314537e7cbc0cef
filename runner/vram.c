/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "vram.h"

#include <stdlib.h>
#include <string.h>

#include "conf/base/clock.h"
#include "conf/base/fmt.h"
#include "conf/base/scope.h"
#include "conf/base/text.h"
#include "runner/cardview.h"
#include "runner/cell/contender.h"
#include "runner/vramback.h"
#include "submit/foreign.h"

struct size {
	uint64_t total_bytes, used_bytes;
	bool known;
};

static struct size size_of(const struct probe_card *card)
{
	struct size size = { .known = card->vram_total_bytes > 0 && card->vram_used_bytes >= 0 };

	if (!size.known)
		return size;
	size.total_bytes = (uint64_t)card->vram_total_bytes;
	size.used_bytes = (uint64_t)card->vram_used_bytes;
	if (card->apu && card->gtt_total_bytes > 0 && card->gtt_used_bytes >= 0) {
		size.total_bytes += (uint64_t)card->gtt_total_bytes;
		size.used_bytes += (uint64_t)card->gtt_used_bytes;
	}
	return size;
}

static uint64_t left(struct size size)
{
	return size.total_bytes - size.used_bytes;
}

/* Each card, and of those that tell the one with the most free. */
static void note_cards(const struct cardview *view, struct card_sample *sample)
{
	struct size best = { .known = false };

	for (int i = 0; i < view->sample.cards.count; i++) {
		const struct probe_card *card = &view->sample.cards.list[i];
		struct size next = size_of(card);
		if (next.known && (!best.known || left(next) > left(best))) {
			best = next;
			pci_format(card->pci, sample->card);
		}
		if (card->pci == PROBE_NO_PCI || sample->card_count == LINE_CARDS)
			continue;
		pci_format(card->pci, sample->cards[sample->card_count].card);
		sample->cards[sample->card_count].known = next.known;
		sample->cards[sample->card_count].total_bytes = next.total_bytes;
		sample->cards[sample->card_count].used_bytes = next.used_bytes;
		sample->cards[sample->card_count++].frozen_bytes = view->frozen_of[i];
	}
	sample->known = best.known;
	sample->total_bytes = best.total_bytes;
	sample->used_bytes = best.used_bytes;
}

static uint64_t known(int64_t bytes)
{
	return bytes > 0 ? (uint64_t)bytes : 0;
}

/* The one or two who hold most: the list has them first. */
static void tell_others(const struct cardview *view, char text[128])
{
	char bytes[TEXT_SIZE], name[32];
	int used = 0;

	text[0] = '\0';
	for (size_t i = 0; i < view->foreign_count && i < 2; i++) {
		const struct probe_foreign *one = &view->foreign[i];
		if (one->vram_bytes <= 0)
			continue;
		text_size_show((uint64_t)one->vram_bytes, bytes);
		text_show(one->named ? one->comm : "?", name, sizeof name);
		used += fmt(text + used, 128 - (size_t)used, "%s%s by %d %s", used ? ", " : "", bytes, one->pid, name);
	}
}

/* No standing job runs where this counts: whoever is registered is foreign, or is of a job that has a lane. */
static void tell_contender(const struct cardview *view, struct card_sample *sample)
{
	static const struct probe_set nobody;
	struct contender contender;

	sample->contended = contender_find(&view->sample, &nobody, &view->kfd, NULL, 0, &contender);
	if (!sample->contended)
		return;
	sample->contender.pid = contender.pid;
	sample->contender.start = contender.start;
	fmt(sample->contender.comm, sizeof sample->contender.comm, "%s", contender.comm);
	sample->contender.vram_bytes = contender.vram_bytes;
}

/* Once for each in a row: it may stay for hours. */
static void noticed(void *context, const struct card_sample *sample)
{
	static pid_t last_pid;
	static uint64_t last_start;
	struct line *line = context;
	struct foreign_row row = { .seen_wall_ns = clock_wall_ns(),
				   .pid = sample->contender.pid,
				   .start = sample->contender.start,
				   .kfd = true,
				   .vram_bytes = sample->contender.vram_bytes };
	struct err ignored = ERR_NONE;

	if (row.pid == last_pid && row.start == last_start)
		return;
	last_pid = row.pid;
	last_start = row.start;
	fmt(row.comm, sizeof row.comm, "%s", sample->contender.comm);
	foreign_append(line->queue_fd, &row, &ignored);
}

static void look(void *context, struct card_sample *ret_sample)
{
	struct line *line = context;
	struct snapshot snapshot;
	struct cardview view;
	struct err ignored = ERR_NONE;

	*ret_sample = (struct card_sample){ .known = false };
	if (snapshot_take_begun(line, &snapshot, &ignored) < 0)
		return;
	if (cardview_take(&snapshot, &view, &ignored) == 0) {
		note_cards(&view, ret_sample);
		ret_sample->frozen_bytes = view.frozen_vram;
		tell_others(&view, ret_sample->others);
		tell_contender(&view, ret_sample);
		for (int i = 0; i < snapshot.lane_count && i < CONF_LANES; i++) {
			ret_sample->lanes[i].gen = snapshot.lanes[i].entry.gen;
			ret_sample->lanes[i].held_bytes = known(view.lanes[i].vram_bytes);
		}
	}
	cardview_free(&view);
	snapshot_free(&snapshot);
}

void vram_connect(struct line *line)
{
	line->card = (struct line_card){ look, noticed, vramback_wait, line };
}

static bool may_get(const struct conf *conf, const char *card, const struct probe_card *one)
{
	char address[PCI_TEXT];

	pci_format(one->pci, address);
	return card[0] ? strcmp(card, address) == 0 : conf->bound_count == 0 || conf_binds(conf, address);
}

int vram_check(const struct conf *conf, const char *card, uint64_t asked_bytes, struct err *err)
{
	SCOPE_FREE struct probe *probe = asked_bytes ? malloc(sizeof *probe) : NULL;
	struct probe_cards cards;
	uint64_t most = 0;
	char asked[TEXT_SIZE], there[TEXT_SIZE];

	if (!probe)
		return 0;
	probe_open(probe);
	probe_cards_read(probe->sys, &cards);
	probe_close(probe);
	for (int i = 0; i < cards.count; i++) {
		struct size size = size_of(&cards.list[i]);
		if (!may_get(conf, card, &cards.list[i]))
			continue;
		if (!size.known)
			return 0;
		most = size.total_bytes > most ? size.total_bytes : most;
	}
	if (most == 0 || asked_bytes <= most)
		return 0;
	text_size_show(asked_bytes, asked);
	text_size_show(most, there);
	return err_set(err, EXIT_USAGE, "vram: %s is more than the card has, %s", asked, there);
}
