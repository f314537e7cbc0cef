/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cardview.h"

#include <stdlib.h>
#include <string.h>

#include "conf/base/fmt.h"
#include "conf/base/json.h"
#include "conf/base/scope.h"
#include "conf/base/text.h"
#include "runner/cell/caps.h"
#include "runner/cell/cell.h"
#include "runner/cell/pids.h"
#include "runner/cell/probe_use.h"
#include "runner/cell/stray.h"

static void add_job(const struct entry *entry, struct pids *pids)
{
	struct err ignored = ERR_NONE;
	struct cell cell;

	if (entry->id == 0)
		return;
	if (entry->cell[0]) {
		if (cell_open(entry->cell, &cell, &ignored) < 0)
			return;
		cell_each(&cell, pids_add, pids);
		cell_close(&cell);
		return;
	}
	struct stray stray = { .mark = entry->mark, .supervisor = procid_alive(&entry->owner) ? entry->owner.pid : 0 };
	if (stray.supervisor || stray.mark[0])
		stray_each(&stray, pids_add, pids);
}

static struct cardview_lane look_at_job(const struct probe_sample *sample, const struct probe_set *job)
{
	struct probe_use use;

	if (job->count == 0)
		return (struct cardview_lane){ .vram_bytes = -1 };
	probe_use_of(sample, job, &use);
	return (struct cardview_lane){ .vram_bytes = probe_use_vram(&use),
				       .idle = !use.holds && use.doubt == PROBE_KNOWN };
}

/* Nobody has anything of a card: our own processes need not be looked for. */
static bool nobody_holds(const struct probe_sample *sample)
{
	return sample->process_list.count == 0 && sample->shut == 0 && !sample->partial && !sample->abroad;
}

static void look_at_frozen(const struct entry *list, int count, struct cardview *view, struct pids *ours)
{
	for (int i = 0; i < count; i++) {
		struct pids pids = { 0 };
		add_job(&list[i], &pids);
		struct probe_set job = pids_set(&pids);
		int64_t bytes = look_at_job(&view->sample, &job).vram_bytes;
		view->frozen_vram += bytes > 0 ? (uint64_t)bytes : 0;
		uint64_t pci = pci_parse(list[i].card, strlen(list[i].card));
		const struct probe_card *card = pci == PCI_NONE ? NULL : probe_cards_find(&view->sample.cards, pci, "");
		if (card && bytes > 0)
			view->frozen_of[card - view->sample.cards.list] += (uint64_t)bytes;
		for (size_t k = 0; k < job.count; k++)
			pids_add(job.pids[k], ours);
		free(pids.list);
	}
}

/* All processes of ours, and what each lane's have. */
static int look_at_lanes(const struct snapshot *snapshot, struct cardview *view, struct pids *ours, struct err *err)
{
	view->lanes = calloc((size_t)snapshot->lane_count + 1, sizeof *view->lanes);
	if (!view->lanes)
		return err_sys(err, "cannot look at the cards");
	for (int i = 0; i < snapshot->lane_count && nobody_holds(&view->sample); i++) {
		view->lanes[i].idle = view->sample.cards.count && snapshot->lanes[i].entry.id;
		view->lanes[i].vram_bytes = view->lanes[i].idle ? 0 : -1;
	}
	if (nobody_holds(&view->sample))
		return 0;
	for (int i = 0; i < snapshot->lane_count; i++) {
		struct pids pids = { 0 };
		add_job(&snapshot->lanes[i].entry, &pids);
		struct probe_set job = pids_set(&pids);
		view->lanes[i] = look_at_job(&view->sample, &job);
		for (size_t k = 0; k < job.count; k++)
			pids_add(job.pids[k], ours);
		free(pids.list);
	}
	if (snapshot->service.entry.state != ENTRY_FREE)
		add_job(&snapshot->service.entry, ours);
	look_at_frozen(snapshot->frozen, snapshot->frozen_count, view, ours);
	look_at_frozen(snapshot->away, snapshot->away_count, view, ours);
	return 0;
}

static int take_sample(struct cardview *view, struct err *err)
{
	struct probe *probe = malloc(sizeof *probe);

	if (!probe)
		return err_sys(err, "cannot look at the cards");
	probe_open(probe);
	view->ignored = probe->ignored;
	caps_probe(true);
	int result = probe_sample(probe, NULL, &view->sample, err);
	contender_kfd_read(probe, &view->kfd);
	caps_probe(false);
	probe_close(probe);
	free(probe);
	return result;
}

int cardview_take(const struct snapshot *snapshot, struct cardview *ret_view, struct err *err)
{
	struct pids ours = { 0 };

	*ret_view = (struct cardview){ 0 };
	if (take_sample(ret_view, err) < 0)
		return -1;
	int result = look_at_lanes(snapshot, ret_view, &ours, err);
	if (result == 0) {
		struct probe_set set = pids_set(&ours);
		result = probe_foreign_list(&ret_view->sample, &set, &ret_view->foreign, &ret_view->foreign_count, err);
	}
	free(ours.list);
	return result;
}

void cardview_free(struct cardview *view)
{
	probe_sample_free(&view->sample);
	contender_kfd_free(&view->kfd);
	free(view->foreign);
	free(view->lanes);
	*view = (struct cardview){ 0 };
}

void cardview_json_cards(const struct cardview *view, struct buf *out)
{
	buf_puts(out, "\"cards\":[");
	for (int i = 0; i < view->sample.cards.count; i++) {
		const struct probe_card *card = &view->sample.cards.list[i];
		char pci[PROBE_PCI];
		probe_pci_format(card->pci, pci);
		buf_puts(out, i ? ",{\"name\":" : "{\"name\":");
		buf_json(out, card->name);
		json_text(out, "driver", card->driver);
		json_text(out, "pci", pci[0] ? pci : NULL);
		json_count(out, "busy_percent", card->busy_percent);
		json_count(out, "vram_total_bytes", card->vram_total_bytes);
		json_count(out, "vram_used_bytes", card->vram_used_bytes);
		json_count(out, "gtt_total_bytes", card->gtt_total_bytes);
		json_count(out, "gtt_used_bytes", card->gtt_used_bytes);
		buf_printf(out, ",\"asleep\":%s}", card->asleep ? "true" : "false");
	}
	buf_puts(out, "]");
}

void cardview_json_foreign(const struct cardview *view, struct buf *out)
{
	buf_puts(out, "\"foreign\":[");
	for (size_t i = 0; i < view->foreign_count; i++) {
		const struct probe_foreign *foreign = &view->foreign[i];
		char pci[PROBE_PCI];
		probe_pci_format(foreign->pci, pci);
		buf_printf(out, "%s{\"pid\":%d", i ? "," : "", foreign->pid);
		json_text(out, "comm", foreign->named ? foreign->comm : NULL);
		json_text(out, "card", pci[0] ? pci : NULL);
		json_count(out, "vram_bytes", foreign->vram_bytes);
		json_text(out, "via", foreign->via);
		buf_puts(out, "}");
	}
	buf_printf(out, "],\"foreign_unreadable\":%zu", view->sample.shut);
}

static void show_bytes(int64_t bytes, char text[TEXT_SIZE])
{
	if (bytes < 0)
		fmt(text, TEXT_SIZE, "?");
	else
		text_size_show((uint64_t)bytes, text);
}

static void put_card(const struct probe_card *card, struct buf *out)
{
	char used[TEXT_SIZE], total[TEXT_SIZE], busy[16] = "?", pci[PROBE_PCI];

	if (card->busy_percent >= 0)
		fmt(busy, sizeof busy, "%d", card->busy_percent);
	show_bytes(card->vram_used_bytes, used);
	show_bytes(card->vram_total_bytes, total);
	probe_pci_format(card->pci, pci);
	buf_printf(out, "card %s %s (%s): %s%% busy%s, VRAM %s of %s used", pci[0] ? pci : card->name, card->driver,
		   card->name, busy, card->asleep ? ", asleep" : "", used, total);
	if (card->apu) {
		show_bytes(card->gtt_used_bytes, used);
		show_bytes(card->gtt_total_bytes, total);
		buf_printf(out, ", and %s of %s of the machine's memory", used, total);
	}
	buf_puts(out, "\n");
}

void cardview_text_cards(const struct cardview *view, struct buf *out)
{
	for (int i = 0; i < view->sample.cards.count; i++)
		put_card(&view->sample.cards.list[i], out);
	if (view->sample.cards.count == 0)
		buf_puts(out, "card: none found\n");
}

void cardview_text_foreign(const struct cardview *view, struct buf *out)
{
	for (size_t i = 0; i < view->foreign_count; i++) {
		const struct probe_foreign *foreign = &view->foreign[i];
		char name[sizeof foreign->comm], bytes[TEXT_SIZE], pci[PROBE_PCI];
		text_show(foreign->named ? foreign->comm : "?", name, sizeof name);
		show_bytes(foreign->vram_bytes, bytes);
		probe_pci_format(foreign->pci, pci);
		buf_printf(out, "foreign: %d %s uses %s of card %s (%s)\n", foreign->pid, name, bytes,
			   pci[0] ? pci : "?", foreign->via);
	}
	if (view->sample.shut && view->sample.cards.count)
		buf_printf(out, "foreign: %zu process%s cannot be looked into\n", view->sample.shut,
			   view->sample.shut == 1 ? "" : "es");
}
