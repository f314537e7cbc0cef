/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "settle.h"

#include <stdlib.h>
#include <string.h>

#include "conf/base/scope.h"
#include "view.h"

/* An arriving `run` that did not get a lane stands in line from now on. */
static int stand_in_line(struct view *view, struct err *err)
{
	struct member *member = view->member;

	if (member->kind != MEMBER_RUN || !member->wants_lane || member->ticket.fd >= 0 || member->leaving)
		return 0;
	if (ticket_make(member->line, &member->job, TICKET_PLAIN, &member->ticket, err) < 0)
		return -1;
	struct candidate *self = view_find_ticket(view, member->job.id);
	if (self)
		memcpy(self->file, member->ticket.file, sizeof self->file);
	return 0;
}

/* Passed over while it was stopped, and here again. */
static int come_back(struct member *member, struct err *err)
{
	struct ticket_name name;

	if (member->ticket.fd < 0 || member->leaving)
		return 0;
	ticket_refresh(member->line, &member->ticket);
	if (ticket_name_parse(member->ticket.file, &name) < 0)
		return 0;
	switch (name.flag) {
	case TICKET_PASSED: return ticket_flag(member->line, member->ticket.file, TICKET_PLAIN, err);
	case TICKET_FROZEN: return ticket_flag(member->line, member->ticket.file, TICKET_TURN, err);
	default: return 0;
	}
}

void plan_free(struct plan *plan)
{
	free(plan->wake);
	free(plan->holders);
	for (int i = 0; i < plan->spawns; i++)
		seat_drop(&plan->spawn[i]);
	for (int i = 0; i < plan->deads; i++) {
		seat_drop(&plan->dead[i].seat);
		scope_close(&plan->dead[i].ticket.fd);
	}
	free(plan->dead);
	*plan = (struct plan){ 0 };
}

static int take_id(struct member *member, struct err *err)
{
	if (!member->wants_id)
		return 0;
	int taken = line_take_ids(member->line, 1, &member->job.id, err);
	member->wants_id = taken != 0;
	return taken;
}

/*
 * Who leaves a line that nobody watches has nobody to hand on to: while anything waits, the standby's seat is not free.
 * So a plain `run` looks at that one seat, and at nothing else.
 */
static int leave_alone(struct member *member, struct err *err)
{
	struct seat_view standby;

	if (!member->leaving || member->kind != MEMBER_RUN || member->lane.fd < 0 || member->role.fd >= 0)
		return 0;
	if (seat_read(member->line, SEAT_STANDBY, &standby, err) < 0)
		return -1;
	if (standby.entry.state != ENTRY_FREE || standby.held)
		return 0;
	member->ended = false;
	return seat_free(&member->lane, err) < 0 ? -1 : 1;
}

static bool is_running(const struct seat_view *seat)
{
	return seat->held && seat->entry.state == ENTRY_RUNNING;
}

bool settle_calm(struct line *line)
{
	SCOPE_FREE struct seat_view *seats = NULL;
	struct err ignored = ERR_NONE;
	bool beside = false;
	int lanes;

	if (line_conf_again(line, &ignored) < 0 || seat_read_all(line, &seats, &lanes, &ignored) < 0)
		return false;
	const struct seat_view *standby = &seats[lanes];
	for (int lane = 0; lane < lanes; lane++) {
		const struct conf_class *class = conf_class_find(&line->conf, seats[lane].entry.class_name);
		if (!is_running(&seats[lane]) || (class && class->turns_forced))
			return false;
		beside |= !procid_equal(&seats[lane].entry.owner, &standby->entry.owner);
	}
	return is_running(standby) && beside;
}

int settle(struct member *member, struct plan *ret_plan, struct err *err)
{
	struct view view = { .member = member, .plan = ret_plan, .served = SERVED_NONE };
	int result = -1, taken;

	*ret_plan = (struct plan){ .settled = true };
	if ((taken = take_id(member, err)) != 0)
		return taken;
	if ((taken = leave_alone(member, err)) != 0)
		return taken < 0 ? -1 : 0;

	if (line_conf_again(member->line, err) == 0 && come_back(member, err) == 0 && view_look(&view, err) == 0 &&
	    serve_look(&view, err) == 0)
		result = serve_needs_look(&view) || (!view.kept && gate_needs_look(&view, false)) ? 2 : 0;
	if (result == 0) {
		gate_open(&view);
		if (lanes_fill(&view, err) < 0 || stand_in_line(&view, err) < 0 || serve_fill(&view, err) < 0 ||
		    roles_fill(&view, err) < 0)
			result = -1;
		serve_again(&view);
	}
	view_free(&view);
	if (result == 2)
		plan_free(ret_plan);
	return result;
}
