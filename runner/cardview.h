/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The cards as `status` shows them: their load and memory, what each lane's job has of it, and who else does. One
 * sample of all processes, asked for what our jobs' processes are: those in a job's cell, or, without one, those that
 * descend from its supervisor or have its mark.
 */
#ifndef PGPU_RUNNER_CARDVIEW_H
#define PGPU_RUNNER_CARDVIEW_H

#include "conf/base/buf.h"
#include "runner/cell/contender.h"
#include "runner/cell/probe.h"
#include "runner/cell/probe_foreign.h"
#include "runner/snapshot.h"

struct cardview_lane {
	int64_t vram_bytes; /* -1: unknown, or it has no job */
	bool idle;	    /* its job is known to hold no card */
};

struct cardview {
	struct probe_sample sample;
	struct probe_foreign *foreign; /* heap */
	size_t foreign_count;
	struct contender_kfd kfd;	 /* who is registered with the KFD */
	bool ignored;			 /* PGPU_PROCFS and PGPU_SYSFS do not count (probe.h) */
	uint64_t frozen_vram;		 /* of all frozen jobs, as far as it is known */
	uint64_t frozen_of[PROBE_CARDS]; /* of those that have this one of the sample's cards */
	struct cardview_lane *lanes;	 /* heap, one for each lane of the snapshot */
};

/* -1: memory is out. `*ret_view` is to be freed in any case. */
int cardview_take(const struct snapshot *snapshot, struct cardview *ret_view, struct err *err);
void cardview_free(struct cardview *view);

/* The members of `status --json`: `"cards":[...]` and `"foreign":[...]`. */
void cardview_json_cards(const struct cardview *view, struct buf *out);
void cardview_json_foreign(const struct cardview *view, struct buf *out);
/* A line for each card, and for each foreign user. */
void cardview_text_cards(const struct cardview *view, struct buf *out);
void cardview_text_foreign(const struct cardview *view, struct buf *out);

#endif
