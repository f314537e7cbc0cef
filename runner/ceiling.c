/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A job's ceiling of memory: watched where the kernel does not keep it, and what became of it, by evidence. */
#include "conf/base/fmt.h"
#include "conf/base/text.h"
#include "conf/jobid.h"
#include "runner/cell/memory.h"
#include "runner/hold.h"

void hold_ceiling_begin(struct hold *hold)
{
	hold->enforced = hold->cell.fd >= 0 && hold->place->memory;
	hold->look_at_memory = hold->member->job.memory_bytes && (!hold->enforced || !cell_knows_peak(&hold->cell));
}

/*
 * Each step costs more than the one before, and is only taken when that one does not settle it: on a machine that uses
 * less than the ceiling as a whole, one small read a second is all.
 */
static void look(struct hold *hold)
{
	uint64_t ceiling = hold->member->job.memory_bytes;
	struct memory_use whole = { 0 }, share = { 0 };

	if (hold->killed || memory_machine() <= ceiling)
		return;
	hold_each(hold, memory_add_whole, &whole);
	if (whole.bytes <= ceiling)
		return;
	hold_each(hold, memory_add_share, &share);
	if (share.bytes <= ceiling)
		return;
	hold->peak_bytes = (int64_t)share.bytes;
	hold->shared_bytes = (int64_t)share.shared_bytes;
	hold_end_now(hold, STOP_CEILING);
}

void hold_ceiling_look(struct hold *hold)
{
	int64_t now;

	if (!hold->enforced)
		look(hold);
	else if ((now = cell_memory_now(&hold->cell)) > hold->peak_bytes)
		hold->peak_bytes = now;
}

uint64_t hold_memory(const struct hold *hold)
{
	struct memory_use whole = { 0 };
	int64_t now = hold->enforced ? cell_memory_now(&hold->cell) : -1;

	if (now >= 0)
		return (uint64_t)now;
	hold_each(hold, memory_add_whole, &whole);
	return whole.bytes;
}

static void tell(const struct hold *hold, struct verdict *verdict, int64_t shared, const char *note)
{
	const struct entry *job = &hold->member->job;
	char ceiling[TEXT_SIZE], peak[TEXT_SIZE], part[TEXT_SIZE], more[TEXT_SIZE + 64] = "";

	text_size_format(job->memory_bytes, ceiling);
	text_size_show((uint64_t)verdict->figures.peak_memory_bytes, peak);
	if (shared >= 1 << 20) {
		text_size_show((uint64_t)shared, part);
		fmt(more, sizeof more, ", %s of it in shared memory%s", part,
		    hold->enforced ? " that is still there" : "");
	}
	err_set(&verdict->why, EXIT_OK, "job %s was ended at its memory ceiling of %s (peak %s%s%s)", JOBID(job->id),
		ceiling, peak, more, note);
	verdict->outcome = OUTCOME_OOM;
	verdict->exit_code = EXIT_SIGNAL + 9;
}

/* A job that spent a tenth of its time at its ceiling may not have been too long, but its ceiling too low. */
static void tell_pressure(const struct hold *hold, struct verdict *verdict)
{
	char ceiling[TEXT_SIZE], waited[TEXT_DURATION];

	if (!hold->enforced || hold->pressed_ns < verdict->ran_ns / 10)
		return;
	text_size_format(hold->member->job.memory_bytes, ceiling);
	text_duration_format(hold->pressed_ns, waited);
	err_set(&verdict->why, EXIT_OK, "job %s waited %s for memory at its ceiling of %s", JOBID(hold->member->job.id),
		waited, ceiling);
}

void hold_ceiling_judge(struct hold *hold, struct verdict *verdict)
{
	struct cell_oom oom;
	int64_t *peak = &verdict->figures.peak_memory_bytes, ceiling = (int64_t)hold->member->job.memory_bytes;

	if (*peak < 0 && hold->peak_bytes > 0)
		*peak = hold->peak_bytes;
	if (verdict->outcome == OUTCOME_TIMEOUT)
		tell_pressure(hold, verdict);
	if (hold->stop == STOP_CEILING && verdict->outcome != OUTCOME_CANCELLED)
		tell(hold, verdict, hold->shared_bytes, "; watched, not enforced by the kernel");
	if (!hold->enforced || verdict->outcome == OUTCOME_CANCELLED || verdict->outcome == OUTCOME_TIMEOUT ||
	    verdict->outcome == OUTCOME_STALLED)
		return;
	cell_read_oom(&hold->cell, &oom);
	if (oom.here && oom.kills) {
		/* Before Linux 5.19 the last look was before the end; that the ceiling was reached is known. */
		if (*peak < 0 || (hold->look_at_memory && *peak < ceiling))
			*peak = ceiling;
		tell(hold, verdict, cell_shared_memory(&hold->cell), "");
	} else if (oom.kills) {
		err_set(&verdict->why, EXIT_OK,
			oom.below ? "job %s had a process killed at a memory ceiling of its own making"
				  : "job %s had a process killed as memory ran out around it, not at its ceiling",
			JOBID(hold->member->job.id));
	}
}
