/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a running job is held to: its budget, its limit, and that it makes progress. The rules themselves are pure
 * (cell/times.h, cell/stall.h); here they are fed and obeyed. */
#include <string.h>

#include "conf/base/clock.h"
#include "conf/base/fmt.h"
#include "conf/base/say.h"
#include "conf/base/text.h"
#include "conf/jobid.h"
#include "runner/cell/activity.h"
#include "runner/cell/stray.h"
#include "runner/hold.h"
#include "runner/line/ticket.h"

void hold_rules_begin(struct hold *hold)
{
	const struct conf *conf = &hold->member->line->conf;
	const struct entry *job = &hold->member->job;
	const struct conf_class *class = conf_class_find(conf, job->class_name);
	const char *signal = hold->task->budget_signal;

	hold->times = (struct times){ .budget_ns = job->budget_ns, .limit_ns = job->limit_ns };
	/* Checked where it was written; of a class that left the table none is left. */
	sigspec_parse(signal ? signal : class ? class->budget_signal : "", &hold->times.signal, NULL);
	hold->stall = STALL_NEW;
	hold->stall_after_ns = class && class->stall_after_ns ? class->stall_after_ns : conf->stall_after_ns;
	hold->rules_at_ns = 0;
}

/* The lists drop parts of a second; here they may be all there is. */
static void format_whole(int64_t ns, char text[TEXT_DURATION])
{
	size_t length;

	if (ns % NS_PER_S == 0) {
		text_duration_format(ns, text);
		return;
	}
	length = (size_t)fmt(text, TEXT_DURATION, "%lld.%03lld", (long long)(ns / NS_PER_S),
			     (long long)(ns % NS_PER_S / NS_PER_MS));
	while (text[length - 1] == '0')
		length--;
	fmt(text + length, TEXT_DURATION - length, "s");
}

static void send_signal(const struct hold *hold)
{
	if (!hold->times.signal.first_alone)
		hold_signal(hold, hold->times.signal.sig);
	else if (!hold->gone)
		kill(hold->first.pid, hold->times.signal.sig);
}

static void stop_at_limit(struct hold *hold)
{
	char text[TEXT_DURATION];
	struct cell_pressure pressure;

	format_whole(hold->times.limit_ns, text);
	say("job %s is stopped: past its limit of %s", JOBID(hold->member->job.id), text);
	cell_read_pressure(&hold->cell, &pressure);
	hold->pressed_ns = pressure.waited_ns;
	hold_begin_stop(hold, STOP_LIMIT);
}

/* Returns when the next is due, in run time. */
static int64_t look_at_times(struct hold *hold, int64_t ran_ns)
{
	char text[TEXT_DURATION];
	int64_t next_ns;
	int due = times_due(&hold->times, hold->times_done, ran_ns, &next_ns);

	hold->times_done |= due;
	if (due & DUE_SIGNAL)
		send_signal(hold);
	if (due & DUE_BUDGET) {
		format_whole(hold->times.budget_ns, text);
		say("job %s has passed its budget of %s", JOBID(hold->member->job.id), text);
	}
	if (due & DUE_LIMIT)
		stop_at_limit(hold);
	return next_ns;
}

/* Of the job's processes that left its cell, by their mark; those inside are met once more. */
static uint64_t look_outside(const struct hold *hold)
{
	struct stray marked = { .mark = hold->mark };
	struct work work = { 0 };

	stray_each(&marked, activity_add, &work);
	return work.count ? work.mark + (uint64_t)work.cpu_ns + 1 : 1;
}

/* Every process of the machine is looked at for those that left the cell: only once a stall is in sight, and from then
 * on, so that what is found is compared with the same. */
static void look_further(struct hold *hold, int64_t ran_ns, const struct work *work, struct activity *now)
{
	bool first = !hold->outside && ran_ns - hold->stall.progress_ns >= hold->stall_after_ns / 2;

	hold->outside |= first && hold->cell.fd >= 0;
	now->looked_further = true;
	now->io_mark = work->mark;
	hold_each(hold, activity_reads_terminal, &now->reads_terminal);
	if (hold->outside)
		now->outside_mark = look_outside(hold);
	hold_gpu_look(hold, hold->outside, now);
	if (first && now->gpu == GPU_KNOWN)
		now->gpu = GPU_NOT_LOOKED;
}

static void look_at_job(struct hold *hold, int64_t ran_ns, struct activity *ret_now)
{
	struct cell_pressure pressure;
	struct cell_figures figures;
	struct work work = { 0 };

	*ret_now = (struct activity){ .cpu_ns = -1 };
	cell_read_pressure(&hold->cell, &pressure);
	ret_now->pressure_percent = pressure.percent;
	cell_read_figures(&hold->cell, &figures);
	ret_now->cpu_ns = figures.cpu_ns;
	if (stall_cpu_moves(&hold->stall, ret_now->cpu_ns, ret_now->pressure_percent, ran_ns))
		return;
	hold_each(hold, activity_add, &work);
	if (hold->cell.fd < 0)
		ret_now->cpu_ns = work.cpu_ns;
	look_further(hold, ran_ns, &work, ret_now);
}

static const char *describe_card(enum gpu_use gpu)
{
	return gpu == GPU_NOT_HELD ? "no hold on a card" : "no use of the card";
}

static int keep_frozen(const struct ticket_name *name, const char *file, void *context)
{
	uint64_t *id = context;
	(void)file;

	if ((name->flag == TICKET_TURN || name->flag == TICKET_FROZEN) && (*id == 0 || name->id < *id))
		*id = name->id;
	return 0;
}

/* A frozen job keeps its file locks: one of them may be what the stalled one waits for. */
static void describe_frozen(const struct hold *hold, char text[64])
{
	uint64_t id = 0;
	struct err ignored = ERR_NONE;

	ticket_each(hold->member->line, keep_frozen, &id, &ignored);
	text[0] = '\0';
	if (id)
		fmt(text, 64, "; job %s is frozen and keeps its locks", JOBID(id));
}

static void stop_stalled(struct hold *hold, const struct activity *now)
{
	struct err *why = &hold->stalled;
	char after[TEXT_DURATION], used[TEXT_DURATION], frozen[64];
	char idle[80] = "nothing read or written";

	format_whole(hold->stall_after_ns, after);
	format_whole((now->cpu_ns - hold->stall.progress_cpu_ns) / NS_PER_MS * NS_PER_MS, used);
	if (now->pressure_percent >= STALL_PRESSURE_PERCENT)
		fmt(idle, sizeof idle, "waiting for memory at its ceiling for %d%% of its time", now->pressure_percent);
	describe_frozen(hold, frozen);
	err_set(why, EXIT_OK, "job %s is stopped: no progress for %s (%s, %s of CPU, %s%s)",
		JOBID(hold->member->job.id), after, describe_card(now->gpu), used, idle, frozen);
	say("%s", why->text);
	hold_begin_stop(hold, STOP_STALLED);
}

static int64_t look_for_stall(struct hold *hold, int64_t ran_ns)
{
	struct activity now;

	if (hold->stall_after_ns == CONF_NEVER)
		return INT64_MAX;
	if (ran_ns < stall_next_ns(&hold->stall, hold->stall_after_ns))
		return stall_next_ns(&hold->stall, hold->stall_after_ns);
	look_at_job(hold, ran_ns, &now);
	if (stall_look(&hold->stall, &now, ran_ns, hold->stall_after_ns))
		stop_stalled(hold, &now);
	return stall_next_ns(&hold->stall, hold->stall_after_ns);
}

void hold_rules_look(struct hold *hold)
{
	hold->seen_ns = clock_awake_ns();
	int64_t ran_ns = hold->seen_ns - hold->began_ns - hold->away_ns, next_ns = INT64_MAX, stall_ns;

	hold->rules_at_ns = INT64_MAX;
	if (hold->gone || hold->stop != STOP_NONE)
		return;
	next_ns = look_at_times(hold, ran_ns);
	stall_ns = hold->stop == STOP_NONE ? look_for_stall(hold, ran_ns) : INT64_MAX;
	if (stall_ns < next_ns)
		next_ns = stall_ns;
	if (hold->stop == STOP_NONE && next_ns != INT64_MAX)
		hold->rules_at_ns = hold->began_ns + hold->away_ns + next_ns;
}
