/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "desk.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "conf/base/fmt.h"
#include "conf/base/text.h"
#include "conf/jobid.h"
#include "runner/cancel.h"
#include "runner/cell/cell.h"
#include "runner/depend.h"
#include "runner/held.h"
#include "runner/line/seat.h"
#include "runner/line/ticket.h"
#include "runner/line/wake.h"

enum { ANSWER_MS = 10000, IDS_MAX = 100000 };

static void answer(int fd, const char *text)
{
	/* Whoever asked may be gone. */
	if (send(fd, text, strlen(text), MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
		return;
}

static void answer_error(int fd, const struct err *err)
{
	char text[WAKE_MESSAGE];

	fmt(text, sizeof text, "error %.240s", err->text);
	answer(fd, text);
}

static void give_ids(struct line *line, int fd, const char *count_text)
{
	struct err err = ERR_NONE;
	char text[64];
	int64_t count;
	uint64_t first;
	int taken = text_number_parse(count_text, 1, IDS_MAX, &count, &err);

	while (taken >= 0) {
		if (line_reserve(line, (unsigned)count, &err) < 0 || line_lock(line, &err) < 0) {
			taken = -1;
			break;
		}
		taken = line_take_ids(line, (unsigned)count, &first, &err);
		line_unlock(line);
		if (taken == 0)
			break;
	}
	if (taken < 0) {
		answer_error(fd, &err);
		return;
	}
	fmt(text, sizeof text, "id %s", JOBID(first));
	answer(fd, text);
}

static void cancel_for(struct line *line, struct spool *spool, int fd, const char *id_text, bool whole)
{
	static const char *const words[] = {
		[CANCELLED_PENDING] = "pending",
		[CANCELLED_ORDERED] = "ordered",
		[CANCELLED_ENDED] = "ended",
		[CANCELLED_UNKNOWN] = "unknown",
	};
	struct onends ends = { 0 };
	struct err err = ERR_NONE;
	uint64_t id;
	int result = jobid_parse(id_text, &id, &err);

	if (result == 0)
		result = (whole ? cancel_job : cancel_record)(line, spool, id, &ends, &err);
	onend_start(&ends);
	if (result < 0)
		answer_error(fd, &err);
	else
		answer(fd, words[result]);
}

/* "hold ID", "release ID", "requeue ID". False: another message. */
static bool manage_for(struct line *line, struct spool *spool, int fd, const char *message)
{
	static const char words[][9] = { "hold ", "release ", "requeue " };
	struct err err = ERR_NONE;
	size_t verb = 0;
	uint64_t id;

	while (verb < 3 && strncmp(message, words[verb], strlen(words[verb])) != 0)
		verb++;
	if (verb == 3)
		return false;
	int result = jobid_parse(message + strlen(words[verb]), &id, &err);
	if (result == 0 && verb == 2)
		result = requeue_job(line, spool, id, &err);
	else if (result == 0)
		result = held_set(line, spool, id, verb == 0, &err);
	if (result < 0)
		answer_error(fd, &err);
	else
		answer(fd, "ok");
	return true;
}

/* "after ID" */
static bool check_for(struct line *line, struct spool *spool, int fd, const char *message)
{
	struct err err = ERR_NONE;
	uint64_t id;

	if (strncmp(message, "after ", 6) != 0)
		return false;
	if (jobid_parse(message + 6, &id, &err) < 0 || depend_check(line, spool, id, &err) < 0)
		answer_error(fd, &err);
	else
		answer(fd, "ok");
	return true;
}

bool desk_told(struct spool *spool, int fd, const char *message)
{
	struct err err = ERR_NONE;
	uint64_t id;

	if (strncmp(message, "end ", 4) != 0)
		return false;
	if (jobid_parse(message + 4, &id, &err) < 0) {
		answer_error(fd, &err);
		return true;
	}
	spool_told(spool, id);
	answer(fd, "ok");
	return true;
}

bool desk_answer(struct line *line, struct spool *spool, int fd, const char *message)
{
	struct err err = ERR_NONE;

	/* The supervisor looks for orders after each settle. */
	if (desk_told(spool, fd, message))
		return true;
	if (strncmp(message, "id ", 3) == 0) {
		give_ids(line, fd, message + 3);
		return false;
	}
	if (strncmp(message, "cancel ", 7) == 0) {
		cancel_for(line, spool, fd, message + 7, true);
		return true;
	}
	if (strncmp(message, "cancel-one ", 11) == 0) {
		cancel_for(line, spool, fd, message + 11, false);
		return true;
	}
	if (manage_for(line, spool, fd, message) || check_for(line, spool, fd, message))
		return true;
	if (strcmp(message, "settle") == 0) {
		answer(fd, "ok");
		return true;
	}
	err_set(&err, EXIT_FAILED, "unknown message");
	answer_error(fd, &err);
	return false;
}

static bool claims(const struct entry *entry, pid_t queue_pid)
{
	if (entry->cell[0])
		return cell_contains_self(entry->cell);
	const char *turn = getenv("GPU_QUEUE_TURN");
	/* The socket's name has the start time in it: a pid that was used again does not fit. */
	if (turn && entry->socket[0] && strcmp(turn, entry->socket) != 0)
		return false;
	return queue_pid > 0 && entry->main.pid && entry->owner.pid == queue_pid && procid_alive(&entry->owner);
}

struct search {
	struct line *line;
	pid_t queue_pid;
	struct entry *entry;
};

static int match_ticket(const struct ticket_name *name, const char *file, void *context)
{
	struct search *search = context;

	/* Only a ticket whose job has begun can have processes. */
	(void)name;
	return ticket_read(search->line, file, search->entry) && search->entry->main.pid &&
	       claims(search->entry, search->queue_pid);
}

bool desk_find(struct line *line, struct entry *ret_supervisor)
{
	const char *text = getenv("GPU_QUEUE_PID");
	struct err ignored = ERR_NONE;
	struct seat_view view;
	int64_t queue_pid = 0;

	if (!text && !cell_self_is_job())
		return false;
	if (text && text_number_parse(text, 1, INT32_MAX, &queue_pid, &ignored) < 0)
		queue_pid = 0;
	for (int lane = 0; lane < CONF_LANES; lane++) {
		if (seat_read(line, lane, &view, &ignored) < 0 || (view.entry.gen == 0 && lane >= 2))
			break;
		if (view.held && view.entry.state != ENTRY_FREE && claims(&view.entry, (pid_t)queue_pid)) {
			*ret_supervisor = view.entry;
			return true;
		}
	}
	if (seat_read(line, SEAT_STANDING, &view, &ignored) == 0 && view.held && view.entry.state != ENTRY_FREE &&
	    claims(&view.entry, (pid_t)queue_pid)) {
		*ret_supervisor = view.entry;
		return true;
	}
	struct search search = { line, (pid_t)queue_pid, ret_supervisor };
	return ticket_each(line, match_ticket, &search, &ignored) == 1;
}

int desk_ask(const struct entry *supervisor, const char *message, char *answer_text, struct err *err)
{
	if (wake_ask(supervisor->socket, message, answer_text, ANSWER_MS) < 0)
		return err_sys(err, "cannot ask the supervisor of this job (process %d)", supervisor->owner.pid);
	if (strncmp(answer_text, "error ", 6) == 0)
		return err_set(err, EXIT_FAILED, "%s", answer_text + 6);
	return 0;
}
