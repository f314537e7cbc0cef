/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "await.h"

#include <errno.h>
#include <poll.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "conf/base/clock.h"
#include "conf/base/fmt.h"
#include "conf/base/scope.h"
#include "conf/jobid.h"

static void add_watch(int notify, int folder, uint32_t events)
{
	char path[64];

	/* The folder that is open is the one to watch, whatever its name means by now. */
	fmt(path, sizeof path, "/proc/self/fd/%d", folder);
	if (folder >= 0)
		inotify_add_watch(notify, path, events | IN_ONLYDIR);
}

static int open_watch(struct queue *queue)
{
	struct err ignored = ERR_NONE;
	int notify = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);

	if (notify < 0)
		return -1;
	add_watch(notify, spool_folder(&queue->spool, SPOOL_ENDED_DIR, &ignored), IN_MOVED_TO | IN_CREATE);
	add_watch(notify, queue->line.queue_fd, IN_MODIFY | IN_CREATE);
	add_watch(notify, queue->line.tickets_fd, IN_DELETE);
	return notify;
}

static void drain(int notify)
{
	char events[4096];

	while (read(notify, events, sizeof events) > 0)
		;
}

/* A `run` gives its lane up before it writes its line to the log: seen alive, it is not gone yet. */
enum { LOG_PATIENCE_MS = 5000 };

/* 1 ended, 0 not yet, -1. */
static int look(struct queue *queue, uint64_t id, int64_t *seen_ns, struct jobview *view, struct err *err)
{
	if (jobview_find(queue, id, view, err) < 0)
		return -1;
	if (view->state == VIEW_ENDED)
		return 1;
	if (view->state == VIEW_UNKNOWN) {
		jobview_free(view);
		return err_set(err, EXIT_FAILED, "cannot find job %s: no such id", JOBID(id));
	}
	if (view->state != VIEW_GONE)
		*seen_ns = clock_awake_ns();
	if (view->state == VIEW_GONE && (*seen_ns == 0 || clock_awake_ns() - *seen_ns > LOG_PATIENCE_MS * NS_PER_MS)) {
		jobview_free(view);
		return err_set(err, EXIT_FAILED, "cannot find job %s: it is gone", JOBID(id));
	}
	return 0;
}

/* 1 with the first of them that has ended, 0 not yet, -1. One that cannot be found is an error, though another has
 * ended. `*ret_gone`: of one only its row in the log is still to come. */
static int look_at_all(struct queue *queue, struct awaited *jobs, int count, int *ret_index, struct jobview *ret_view,
		       bool *ret_gone, struct err *err)
{
	struct jobview view;
	int ended = 0;

	*ret_gone = false;
	for (int i = 0; i < count; i++) {
		int found = look(queue, jobs[i].id, &jobs[i].seen_ns, &view, err);
		if (found < 0) {
			jobview_free(ret_view);
			return -1;
		}
		*ret_gone |= view.state == VIEW_GONE;
		/* The last look is for who is told that none has ended. */
		if (found > ended || i == 0) {
			jobview_free(ret_view);
			*ret_view = view;
			*ret_index = i;
			ended = found;
		} else {
			jobview_free(&view);
		}
	}
	return ended;
}

static int await(struct queue *queue, struct awaited *jobs, int count, int timeout_ms, void (*each)(void *context),
		 void *context, int *ret_index, struct jobview *ret_view, struct err *err)
{
	SCOPE_FD int notify = open_watch(queue);
	struct pollfd change = { .fd = notify, .events = POLLIN };
	int64_t until = clock_awake_ns() + timeout_ms * NS_PER_MS;
	bool gone;

	*ret_view = (struct jobview){ 0 };
	for (;;) {
		int found = look_at_all(queue, jobs, count, ret_index, ret_view, &gone, err);
		if (each)
			each(context);
		if (found != 0)
			return found;
		int64_t left = timeout_ms < 0 ? -1 : (until - clock_awake_ns()) / NS_PER_MS;
		if (timeout_ms >= 0 && left <= 0)
			return 0;
		if ((notify < 0 || gone) && (left < 0 || left > 1000))
			left = 1000;
		jobview_free(ret_view);
		if (poll(&change, 1, (int)left) < 0 && errno != EINTR)
			return err_sys(err, "cannot wait for job %s", JOBID(jobs[0].id));
		drain(notify);
	}
}

int await_any(struct queue *queue, struct awaited *jobs, int count, int timeout_ms, int *ret_index,
	      struct jobview *ret_view, struct err *err)
{
	return await(queue, jobs, count, timeout_ms, NULL, NULL, ret_index, ret_view, err);
}

int await_end(struct queue *queue, uint64_t id, int timeout_ms, void (*each)(void *context), void *context,
	      struct jobview *ret_view, struct err *err)
{
	struct awaited job = { .id = id };
	int index;

	return await(queue, &job, 1, timeout_ms, each, context, &index, ret_view, err);
}
