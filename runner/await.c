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

struct watch {
	int fd; /* inotify(7); -1: none is to be had */
	int queue, tickets, states[SPOOL_STATES];
};

static int add_watch(int notify, int folder, uint32_t events)
{
	char path[64];

	/* The folder that is open is the one to watch, whatever its name means by now. */
	fmt(path, sizeof path, "/proc/self/fd/%d", folder);
	return folder < 0 ? -1 : inotify_add_watch(notify, path, events | IN_ONLYDIR);
}

static void open_watch(struct queue *queue, struct watch *watch)
{
	struct err ignored = ERR_NONE;
	bool all = true;

	watch->fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	if (watch->fd < 0)
		return;
	/* A record that leaves pending/ or running/ may be one that was taken away, or set aside. */
	for (int state = 0; state < SPOOL_STATES; state++) {
		watch->states[state] =
			add_watch(watch->fd, spool_folder(&queue->spool, (enum spool_folder)state, &ignored),
				  state == SPOOL_ENDED ? IN_MOVED_TO | IN_CREATE : IN_MOVED_FROM | IN_DELETE);
		all &= watch->states[state] >= 0;
	}
	watch->queue = add_watch(watch->fd, queue->line.queue_fd, IN_MODIFY | IN_CREATE);
	watch->tickets = add_watch(watch->fd, queue->line.tickets_fd, IN_DELETE);
	/* As many watches as a user may have: then it is asked once a second. */
	if (!all || watch->queue < 0 || watch->tickets < 0) {
		close(watch->fd);
		watch->fd = -1;
	}
}

/* Whether it may be the end of one of them: the files of others come and go all the time. */
static bool concerns(const struct watch *watch, const struct inotify_event *event, const struct awaited *jobs,
		     int count)
{
	const char *rest;
	bool queue = event->wd == watch->queue, named = event->wd == watch->tickets;

	for (int state = 0; state < SPOOL_STATES; state++)
		named |= event->wd == watch->states[state];
	if (event->len == 0 || (!named && !queue))
		return true;
	uint64_t id = queue ? 0 : jobid_read(event->name, &rest);
	for (int i = 0; i < count; i++) {
		/* A `run` ends with a row of the log, if there is room for one; a task may end its array. */
		if (queue ? !jobs[i].spooled : jobid_array(id) == jobid_array(jobs[i].id))
			return true;
	}
	return false;
}

/* Reads all there is to hear. */
static bool hear(const struct watch *watch, const struct awaited *jobs, int count)
{
	char events[4096] __attribute__((aligned(__alignof__(struct inotify_event))));
	bool news = false;
	ssize_t got;

	while ((got = read(watch->fd, events, sizeof events)) > 0) {
		for (const char *at = events; at < events + got;) {
			const struct inotify_event *event = (const void *)at;
			news |= concerns(watch, event, jobs, count);
			at += sizeof *event + event->len;
		}
	}
	return news;
}

/* A `run` gives its lane up before it writes its line to the log: whoever looks in between finds neither. */
enum { LOG_PATIENCE_MS = 5000 };

/* 1 ended, 0 not yet, -1. */
static int look(struct queue *queue, struct awaited *job, struct jobview *view, struct err *err)
{
	uint64_t id = job->id;

	if (jobview_find(queue, id, view, err) < 0)
		return -1;
	if (view->state == VIEW_ENDED || (view->state == VIEW_GONE && job->rowless))
		return 1;
	if (view->state == VIEW_UNKNOWN) {
		jobview_free(view);
		return err_set(err, EXIT_FAILED, "cannot find job %s: no such id", JOBID(id));
	}
	job->spooled = view->spooled;
	/* A task, or what the log knows to have had a record, has none any more; a run's row may be still to come. */
	if (view->state != VIEW_GONE || (job->seen_ns == 0 && !view->spooled && jobid_task(id) < 0))
		job->seen_ns = clock_awake_ns();
	if (view->state == VIEW_GONE &&
	    (job->seen_ns == 0 || clock_awake_ns() - job->seen_ns > LOG_PATIENCE_MS * NS_PER_MS)) {
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
		int found = look(queue, &jobs[i], &view, err);
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

/* Until something has happened, or it is time to look anyway. */
static int sleep_once(const struct watch *watch, const struct awaited *jobs, int count, int64_t until_ns, int most_ms,
		      struct err *err)
{
	struct pollfd change = { .fd = watch->fd, .events = POLLIN };

	for (;;) {
		int64_t left = until_ns < 0 ? -1 : clock_left_ms(until_ns, clock_awake_ns());
		if (most_ms >= 0 && (left < 0 || left > most_ms))
			left = most_ms;
		int ready = poll(&change, 1, (int)left);
		if (ready < 0 && errno != EINTR)
			return err_sys(err, "cannot wait for job %s", JOBID(jobs[0].id));
		if (ready == 0 || (ready > 0 && hear(watch, jobs, count)))
			return 0;
	}
}

int await_any(struct queue *queue, struct awaited *jobs, int count, int timeout_ms, int *ret_index,
	      struct jobview *ret_view, struct err *err)
{
	struct watch watch = { .fd = -1 };
	int64_t until_ns = timeout_ms < 0 ? -1 : clock_awake_ns() + timeout_ms * NS_PER_MS;
	int found;
	bool gone;

	*ret_view = (struct jobview){ 0 };
	/* A kernel may take milliseconds to close inotify: who need not wait opens none, and who must looks again. */
	for (bool watched = false;; watched = true) {
		found = look_at_all(queue, jobs, count, ret_index, ret_view, &gone, err);
		/* It is either by then, whatever the time-out. */
		if (found != 0 || (!gone && until_ns >= 0 && clock_awake_ns() >= until_ns))
			break;
		jobview_free(ret_view);
		int most_ms = watch.fd < 0 || gone ? 1000 : -1;
		if (!watched)
			open_watch(queue, &watch);
		else if (sleep_once(&watch, jobs, count, gone ? -1 : until_ns, most_ms, err) < 0)
			found = -1;
		if (found < 0)
			break;
	}
	scope_close(&watch.fd);
	return found;
}

int await_end(struct queue *queue, uint64_t id, int timeout_ms, struct jobview *ret_view, struct err *err)
{
	struct awaited job = { .id = id };
	int index;

	return await_any(queue, &job, 1, timeout_ms, &index, ret_view, err);
}

int await_gone(struct queue *queue, uint64_t id, int timeout_ms, struct jobview *ret_view, struct err *err)
{
	struct awaited job = { .id = id, .rowless = true };
	int index;

	return await_any(queue, &job, 1, timeout_ms, &index, ret_view, err);
}

static int add(const struct spool_name *name, const char *file, void *context)
{
	(void)file;
	return idlist_add(context, name->id);
}

/* An array's own record has ended when its last task has begun. */
static int add_ended(const struct spool_name *name, const char *file, void *context)
{
	return name->array ? 0 : add(name, file, context);
}

static int list_ended(struct queue *queue, struct idlist *ret_ids, struct err *err)
{
	idlist_free(ret_ids);
	if (spool_each(&queue->spool, SPOOL_ENDED, add_ended, ret_ids, err) != 0)
		return err_sys(err, "cannot look for the jobs");
	idlist_sort(ret_ids);
	return 0;
}

/* Those that have records are looked up together. */
static int look_for_all(struct queue *queue, const struct idlist *ids, struct err *err)
{
	SCOPE_IDLIST struct idlist known = { 0 };

	for (int state = 0; state < SPOOL_STATES; state++) {
		if (spool_each(&queue->spool, (enum spool_state)state, add, &known, err) != 0)
			return err_sys(err, "cannot look for the jobs");
	}
	idlist_sort(&known);
	for (size_t i = 0; i < ids->count; i++) {
		SCOPE_VIEW struct jobview view = { 0 };
		if (idlist_count(&known, ids->list[i]) == 0 && await_end(queue, ids->list[i], 0, &view, err) < 0)
			return -1;
	}
	return 0;
}

int await_all(struct queue *queue, const struct idlist *ids, int timeout_ms, struct jobview *ret_view, struct err *err)
{
	SCOPE_IDLIST struct idlist ended = { 0 };
	size_t last = ids->count - 1;

	*ret_view = (struct jobview){ 0 };
	if (ids->count > 1 && look_for_all(queue, ids, err) < 0)
		return -1;
	int result = await_end(queue, ids->list[last], timeout_ms, ret_view, err);
	/* The last one ends last, as a rule, and the others are passed over then by one list of names. */
	for (size_t i = last; result == 1 && i-- > 0;) {
		struct jobview view;
		if (idlist_count(&ended, ids->list[i]) == 0 && list_ended(queue, &ended, err) < 0)
			return -1;
		if (idlist_count(&ended, ids->list[i]) > 0)
			continue;
		result = await_end(queue, ids->list[i], timeout_ms, &view, err);
		if (result == 0) {
			jobview_free(ret_view);
			*ret_view = view;
		} else {
			jobview_free(&view);
		}
	}
	return result;
}
