/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A standing job while it has the card: the worker that runs it is its watcher, and the only process that samples the
 * card then, once in two seconds (contender.h). Why it stops:
 *
 *     a job wants the card     member->yield after a settle (runner/line/serve.c)
 *     a contender is there     the sample; it is written to foreign.tsv (submit/foreign.h)
 *     an order, or its end     as for any job
 *
 * The first two are a stop like any other: SIGTERM, grace, kill. The seat is given back when nothing of the service
 * lives and the card's memory is back to what it was before (vramback.h), and only then a lane is given away.
 */
#ifndef PGPU_RUNNER_SERVICE_H
#define PGPU_RUNNER_SERVICE_H

#include "runner/cell/contender.h"
#include "runner/cell/probe.h"
#include "runner/supervise.h"

struct hold;

struct service {
	struct probe probe;
	struct contender_base base;
	uint64_t used_bytes; /* of the card, before it started */
	bool used_known;
	int64_t look_at_ns; /* awake */
};

/*
 * Before the job starts: what others hold. 1: a contender is there already, and it is noted; the job is not to start.
 * `*ret_service` is heap, for service_free(), and NULL after any other end than 0.
 */
int service_open(struct member *member, struct service **ret_service, struct err *err);
void service_free(struct service *service);

/* Of the supervisor's loop: when to look next, awake, INT64_MAX: not; and the look, which may begin to stop the job. */
int64_t hold_service_at(const struct hold *hold);
void hold_service_look(struct hold *hold);

#endif
