/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "waiting.h"

#include <stdlib.h>
#include <string.h>

#include "conf/base/clock.h"
#include "conf/base/fmt.h"
#include "conf/base/say.h"
#include "conf/base/scope.h"
#include "conf/base/text.h"
#include "conf/jobid.h"
#include "runner/estimate.h"
#include "runner/line/ticket.h"
#include "runner/snapshot.h"
#include "submit/history.h"

enum { NAMED = 4, NAME_SHOWN = 24, HISTORY_READ = 256 << 10, FORECAST_READ = 64 << 10 };

/* " (10 render, 11 bench)" */
static void name_running(const struct snapshot *snapshot, char *text, size_t size)
{
	char name[NAME_SHOWN + 1];
	int named = 0, used = 0;

	for (int i = 0; i < snapshot->lane_count; i++) {
		const struct entry *entry = &snapshot->lanes[i].entry;
		/* Granted to a worker, it has no job yet. */
		if (entry->state == ENTRY_FREE || entry->id == 0 || named++ >= NAMED)
			continue;
		text_show(entry->name, name, sizeof name);
		used += fmt(text + used, size - (size_t)used, "%s%s%s%s", used ? ", " : " (", JOBID(entry->id),
			    name[0] ? " " : "", name);
	}
	if (named > NAMED)
		used += fmt(text + used, size - (size_t)used, " and %d more", named - NAMED);
	fmt(text + used, size - (size_t)used, used ? ")" : "");
}

static void add_running(struct estimate *estimate, const struct entry *entry, int64_t now_boot_ns)
{
	struct estimate_job job = { .runs = true, .ran_ns = entry->ran_ns };

	if (entry->state == ENTRY_RUNNING)
		job.ran_ns += now_boot_ns - entry->since_boot_ns;
	memcpy(job.class_name, entry->class_name, sizeof job.class_name);
	memcpy(job.session, entry->session, sizeof job.session);
	memcpy(job.name, entry->name, sizeof job.name);
	estimate_add(estimate, &job);
}

static void add_ahead(struct estimate *estimate, struct queue *queue, const struct candidate *one)
{
	struct estimate_job job = { .ran_ns = one->ran_ns };
	SCOPE_JOB struct job record = JOB_EMPTY;
	struct job_facts facts = { 0 };
	struct entry entry;
	struct err ignored = ERR_NONE;

	memcpy(job.class_name, one->class_name, sizeof job.class_name);
	memcpy(job.session, one->session, sizeof job.session);
	if (!one->spooled && ticket_read(&queue->line, one->file, &entry))
		memcpy(job.name, entry.name, sizeof job.name);
	else if (one->spooled && spool_read(&queue->spool, SPOOL_PENDING, one->file, &record, &facts, &ignored) == 0)
		fmt(job.name, sizeof job.name, "%s", record.name);
	job_facts_free(&facts);
	estimate_add(estimate, &job);
}

static int learn(const struct history_row *row, void *estimate)
{
	estimate_learn(estimate, row);
	return 0;
}

/*
 * How long the one behind `ahead` others of snapshot->waiting waits for a lane, about, from how long jobs like those
 * took before (estimate.h); -1: unknown.
 */
static int64_t waiting_left(struct queue *queue, const struct snapshot *snapshot, int ahead)
{
	SCOPE_FREE struct estimate *estimate = ahead > ESTIMATE_AHEAD ? NULL : calloc(1, sizeof *estimate);
	int64_t now = clock_boot_ns();
	struct err ignored = ERR_NONE;

	for (int i = 0; estimate && i < snapshot->lane_count; i++) {
		if (snapshot->lanes[i].entry.state != ENTRY_FREE)
			add_running(estimate, &snapshot->lanes[i].entry, now);
	}
	for (int i = 0; estimate && i < ahead; i++)
		add_ahead(estimate, queue, &snapshot->waiting.list[i]);
	if (!estimate || history_each_late(queue->line.queue_fd, HISTORY_READ, learn, estimate, &ignored) < 0)
		return -1;
	int64_t left_ns = estimate_wait(estimate, queue->line.conf.lanes);
	return left_ns < 0 ? -1 : estimate_round(left_ns);
}

static int learn_all(const struct history_row *row, void *forecast)
{
	return forecast_learn(forecast, row);
}

void waiting_forecast(struct queue *queue, struct forecast *ret_forecast)
{
	struct err ignored = ERR_NONE;

	*ret_forecast = (struct forecast){ 0 };
	forecast_begin(ret_forecast, queue->line.conf.lanes);
	/* Lists are asked for again and again: the last few hundred rows have to do, or those before an error. */
	history_each_late(queue->line.queue_fd, FORECAST_READ, learn_all, ret_forecast, &ignored);
}

/* ", about 12m left", or "". */
static void tell_left(struct queue *queue, const struct snapshot *snapshot, int ahead, char *text, size_t size)
{
	int64_t left_ns = waiting_left(queue, snapshot, ahead);
	char left[TEXT_DURATION];

	text[0] = '\0';
	if (left_ns < 0)
		return;
	text_duration_format(left_ns, left);
	fmt(text, size, ", about %s left", left);
}

void waiting_tell(struct queue *queue, uint64_t id)
{
	char running[NAMED * (NAME_SHOWN + 24) + 32], left[TEXT_DURATION + 16];
	struct snapshot snapshot;
	struct err ignored = ERR_NONE;
	int ahead = 0;

	if (say_is_quiet() || snapshot_take(&queue->line, &queue->spool, &snapshot, &ignored) < 0)
		return;
	while (ahead < (int)snapshot.waiting.count && snapshot.waiting.list[ahead].id != id)
		ahead++;
	if (snapshot.service.entry.id && snapshot.service.entry.state != ENTRY_FREE) {
		say("waiting for the card as job %s: standing job %s makes room, %d ahead", JOBID(id),
		    JOBID(snapshot.service.entry.id), ahead);
		snapshot_free(&snapshot);
		return;
	}
	name_running(&snapshot, running, sizeof running);
	tell_left(queue, &snapshot, ahead, left, sizeof left);
	if (conf_is_drained(&queue->line.conf)) {
		char drained[128];
		snapshot_tell_drained(&queue->line.conf, drained);
		say("waiting for a lane as job %s: %s", JOBID(id), drained);
	} else {
		say("waiting for a lane as job %s: %d of %d busy%s, %d ahead%s", JOBID(id), snapshot.busy,
		    queue->line.conf.lanes, running, ahead, left);
	}
	snapshot_free(&snapshot);
}
