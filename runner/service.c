/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "service.h"

#include <stdlib.h>

#include "conf/base/clock.h"
#include "conf/base/fmt.h"
#include "conf/base/say.h"
#include "conf/base/scope.h"
#include "runner/cell/caps.h"
#include "runner/cell/pids.h"
#include "runner/cell/stray.h"
#include "runner/hold.h"
#include "runner/line/seat.h"
#include "runner/vramback.h"
#include "submit/foreign.h"

#define LOOK_NS (2 * NS_PER_S)

static void note_contender(const struct member *member, const struct contender *contender)
{
	struct foreign_row row = { .seen_wall_ns = clock_wall_ns(),
				   .pid = contender->pid,
				   .start = contender->start,
				   .kfd = contender->kfd,
				   .vram_bytes = contender->vram_bytes,
				   .id = member->job.id };
	struct err why = ERR_NONE;

	fmt(row.comm, sizeof row.comm, "%s", contender->comm);
	if (foreign_append(member->line->queue_fd, &row, &why) < 0)
		say_err(&why);
}

static int sample(struct service *service, struct probe_sample *ret_sample, struct contender_kfd *ret_kfd,
		  struct err *err)
{
	caps_probe(true);
	int result = probe_sample(&service->probe, NULL, ret_sample, err);
	contender_kfd_read(&service->probe, ret_kfd);
	caps_probe(false);
	return result;
}

static int take_base(struct service *service, struct member *member, struct err *err)
{
	static const struct probe_set nobody;
	struct probe_sample now = { 0 };
	struct contender_kfd kfd;
	struct contender contender;
	int result = sample(service, &now, &kfd, err);

	if (result == 0)
		result = contender_base_take(&now, &service->base, err);
	if (result == 0 && contender_find(&now, &nobody, &kfd, NULL, 0, &contender)) {
		note_contender(member, &contender);
		result = 1;
	}
	contender_kfd_free(&kfd);
	probe_sample_free(&now);
	return result;
}

int service_open(struct member *member, struct service **ret_service, struct err *err)
{
	struct service *service = calloc(1, sizeof *service);

	*ret_service = NULL;
	if (!service)
		return err_sys(err, "cannot watch the card");
	probe_open(&service->probe);
	service->used_known = vramback_used(&service->used_bytes);
	/* For whoever has to clear up after us; 0 would be unknown. */
	member->job.held_bytes = !service->used_known ? 0 : service->used_bytes ? service->used_bytes : 1;
	int result = take_base(service, member, err);
	if (result == 0)
		*ret_service = service;
	else
		service_free(service);
	return result;
}

void service_free(struct service *service)
{
	if (!service)
		return;
	contender_base_free(&service->base);
	probe_close(&service->probe);
	free(service);
}

static bool is_looked_at(const struct hold *hold)
{
	return hold->task->service && !hold->gone && hold->stop == STOP_NONE;
}

int64_t hold_service_at(const struct hold *hold)
{
	if (!is_looked_at(hold))
		return INT64_MAX;
	return hold->member->yield ? clock_awake_ns() : hold->task->service->look_at_ns;
}

/* Its own processes, in its cell or escaped from it, are never contenders. */
static void list_own(const struct hold *hold, struct pids *pids)
{
	struct stray marked = { .mark = hold->mark };

	hold_each(hold, pids_add, pids);
	if (hold->cell.fd >= 0)
		stray_each(&marked, pids_add, pids);
}

static bool is_contended(struct hold *hold, struct contender *ret_contender)
{
	struct service *service = hold->task->service;
	struct probe_sample now = { 0 };
	struct contender_kfd kfd;
	struct pids own = { 0 };
	struct err ignored = ERR_NONE;
	bool found = false;

	/* In this order: a process that it starts in between is then seen as its own. */
	if (sample(service, &now, &kfd, &ignored) == 0) {
		list_own(hold, &own);
		struct probe_set set = pids_set(&own);
		found = contender_find(&now, &set, &kfd, &service->base, hold->member->line->conf.contender_vram_bytes,
				       ret_contender);
	}
	free(own.list);
	contender_kfd_free(&kfd);
	probe_sample_free(&now);
	return found;
}

void hold_service_look(struct hold *hold)
{
	struct contender contender;

	if (!is_looked_at(hold))
		return;
	if (hold->member->yield) {
		hold_begin_stop(hold, STOP_STANDING);
		return;
	}
	if (clock_awake_ns() < hold->task->service->look_at_ns)
		return;
	hold->task->service->look_at_ns = clock_awake_ns() + LOOK_NS;
	/* What is on file does not say who has the card: nobody could tell us to leave. */
	if (!seat_ours(&hold->member->lane)) {
		hold_begin_stop(hold, STOP_STANDING);
		return;
	}
	if (!is_contended(hold, &contender))
		return;
	note_contender(hold->member, &contender);
	hold_begin_stop(hold, STOP_STANDING);
}
