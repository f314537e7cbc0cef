/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "queue.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "conf/base/fmt.h"
#include "conf/base/say.h"
#include "conf/jobid.h"
#include "runner/cell/place.h"
#include "runner/depend.h"
#include "runner/desk.h"
#include "runner/line/member.h"
#include "runner/line/settle.h"
#include "runner/line/wake.h"
#include "runner/rescue.h"
#include "runner/vram.h"

struct queue queue_only;

/* Whose queue this is must be no guess after sudo. */
static void tell_owner(void)
{
	const char *caller = getenv("SUDO_UID");

	if (caller && geteuid() == 0 && strcmp(caller, "0") != 0)
		say("this is the queue of user 0, not of user %.20s who called sudo", caller);
}

static int open_folders(struct queue *queue, struct err *err)
{
	line_init(&queue->line);
	queue->inside = false;
	spool_open(&queue->spool, -1);
	spooled_connect(&queue->spooled, &queue->line, &queue->spool);
	vram_connect(&queue->line);
	if (line_open(&queue->line, err) < 0)
		return -1;
	queue->spool.queue_fd = queue->line.queue_fd;
	return 0;
}

int queue_open_worker(struct queue *queue, struct err *err)
{
	if (open_folders(queue, err) < 0 || line_conf(&queue->line, true, err) < 0)
		return -1;
	return queue->line.conf_foreign ? err_pass(err, &queue->line.conf_err) : 0;
}

int queue_open(struct queue *queue, enum queue_conf policy, struct err *err)
{
	if (open_folders(queue, err) < 0)
		return -1;
	queue->spooled.tell = policy == QUEUE_TELLING;
	tell_owner();
	queue->inside = desk_find(&queue->line, &queue->supervisor);
	if (line_conf(&queue->line, !queue->inside, err) < 0)
		return -1;
	if (queue->line.conf_broken && policy == QUEUE_STRICT)
		return err_pass(err, &queue->line.conf_err);
	if (queue->line.conf_foreign) {
		say("%s; the queue is a newer pgpu's, and this one starts nothing", queue->line.conf_err.text);
		return 0;
	}
	if (queue->line.conf_broken)
		say("%s; the queue goes on with the last configuration that was right", queue->line.conf_err.text);
	if (queue->inside)
		return 0;
	/* Called by a service of systemd's, which ends with us: a worker that we start is not to end with it. */
	if (policy == QUEUE_TELLING)
		cell_place_find(queue->line.conf.cells);
	if (policy == QUEUE_STRICT && !queue->line.conf_new)
		return rescue_sweep(&queue->line, err);
	struct err why = ERR_NONE;
	if (rescue_pass(&queue->line, false, &why) == 0)
		return 0;
	/* On a full disk say: what reads and what cancels needs nothing of it. */
	if (policy != QUEUE_LENIENT)
		return err_pass(err, &why);
	say_err(&why);
	return 0;
}

void queue_close(struct queue *queue)
{
	spooled_close(&queue->spooled);
	spool_close(&queue->spool);
	line_close(&queue->line);
}

static int ask_ids(struct queue *queue, unsigned count, uint64_t *ret_first, struct err *err)
{
	char message[64], answer[WAKE_MESSAGE];
	const char *end;

	fmt(message, sizeof message, "id %u", count);
	if (desk_ask(&queue->supervisor, message, answer, err) < 0)
		return -1;
	*ret_first = strncmp(answer, "id ", 3) == 0 ? jobid_read(answer + 3, &end) : 0;
	if (*ret_first == 0)
		return err_set(err, EXIT_FAILED, "cannot take a job id: the supervisor said '%.60s'", answer);
	return 0;
}

int queue_take_ids(struct queue *queue, unsigned count, uint64_t *ret_first, struct err *err)
{
	struct line *line = &queue->line;

	if (queue->inside)
		return ask_ids(queue, count, ret_first, err);
	for (;;) {
		if (line_lock(line, err) < 0)
			return -1;
		int taken = line_take_ids(line, count, ret_first, err);
		line_unlock(line);
		if (taken <= 0)
			return taken;
		if (line_reserve(line, count, err) < 0)
			return -1;
	}
}

int queue_check_after(struct queue *queue, uint64_t id, struct err *err)
{
	char message[64], answer[WAKE_MESSAGE];

	if (!queue->inside)
		return depend_check(&queue->line, &queue->spool, id, err);
	fmt(message, sizeof message, "after %s", JOBID(id));
	return desk_ask(&queue->supervisor, message, answer, err);
}

int queue_settle(struct queue *queue, bool stir, struct err *err)
{
	struct member guest;
	char answer[WAKE_MESSAGE];

	if (queue->inside)
		return desk_ask(&queue->supervisor, "settle", answer, err);
	if (line_lock(&queue->line, err) < 0)
		return -1;
	bool calm = settle_calm(&queue->line);
	line_unlock(&queue->line);
	if (calm && !stir)
		return 0;
	/* A worker is born where we are: a place that outlives the login, if there is one. */
	cell_place_find(queue->line.conf.cells);
	const char *mortal = cell_place_mortal();
	if (mortal)
		say("%s", mortal);
	member_open(&guest, &queue->line, MEMBER_GUEST);
	int result = member_leave(&guest, err);
	member_close(&guest);
	return result;
}
