/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "watch.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "conf/base/clock.h"
#include "conf/base/fmt.h"
#include "conf/base/scope.h"
#include "runner/watching.h"

/* What changes all the time is drawn ten times a second. */
enum { PAUSE_MS = 100 };

static const int caught[] = { SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGTSTP, SIGCONT, SIGWINCH, SIGCHLD };

void watch_caught(sigset_t *set)
{
	sigemptyset(set);
	for (size_t i = 0; i < sizeof caught / sizeof *caught; i++)
		sigaddset(set, caught[i]);
}

/* The last line that was said meanwhile. */
static void hear_said(struct watch *watch)
{
	char text[4096];
	ssize_t got, all = 0;

	while ((got = read(watch->said[0], text + all, sizeof text - 1 - (size_t)all)) > 0)
		all += got;
	if (all <= 0)
		return;
	text[all] = '\0';
	while (all > 0 && text[all - 1] == '\n')
		text[--all] = '\0';
	const char *line = strrchr(text, '\n');
	line = line ? line + 1 : text;
	if (strncmp(watch->heard, line, sizeof watch->heard - 1) == 0)
		return;
	fmt(watch->heard, sizeof watch->heard, "%s", line);
	memcpy(watch->bottom, watch->heard, sizeof watch->bottom);
}

const char *watch_id_of(const struct watch *watch, int row)
{
	const char *at = watch->page.ids.text;

	if (!at || row < 0 || row >= watch->page.count)
		return "";
	for (; row > 0; row--)
		at += strlen(at) + 1;
	return at;
}

/* Where the chosen job is now; what has gone leaves its place to the next. */
static void find_chosen(struct watch *watch)
{
	int count = watch->page.count;

	for (int row = 0; watch->id[0] && row < count; row++) {
		if (strcmp(watch_id_of(watch, row), watch->id) == 0) {
			watch->chosen = row;
			return;
		}
	}
	if (watch->chosen >= count)
		watch->chosen = count ? count - 1 : 0;
	fmt(watch->id, sizeof watch->id, "%s", watch_id_of(watch, watch->chosen));
}

static void put_bottom(struct watch *watch)
{
	static const char keys[] = "arrows choose   c cancel   h hold   r release   o output   q quit";
	SCOPE_BUF struct buf line = BUF_EMPTY;
	const char *text = watch->bottom[0] ? watch->bottom : keys;
	struct glyph glyph;

	for (int cells = 0; *text; cells += glyph.cells) {
		text += screen_next(text, &glyph);
		if (cells + glyph.cells > watch->full.cells)
			break;
		buf_add(&line, glyph.text, glyph.length);
	}
	fullscreen_put(&watch->full, watch->full.lines - 1, line.text ? line.text : "", false);
}

/* The lines of the page that have a place on the screen. */
static int show(struct watch *watch)
{
	struct fullscreen *full = &watch->full;
	int room = full->lines > 2 ? full->lines - 2 : 0, row = -1;
	char *text = watch->page.text.text, *rest = text;

	if (watch->chosen < watch->top)
		watch->top = watch->chosen;
	if (watch->chosen >= watch->top + room)
		watch->top = watch->chosen - room + 1;
	if (watch->top + room > watch->page.count)
		watch->top = watch->page.count > room ? watch->page.count - room : 0;
	int shown = 0;
	while (watch->page.count > 0 && rest && *rest && shown < room) {
		char *end = strchrnul(rest, '\n');
		bool ended = *end != '\0';
		*end = '\0';
		if (row < 0)
			fullscreen_put(full, 0, rest, false);
		else if (row >= watch->top)
			fullscreen_put(full, 1 + shown++, rest, row == watch->chosen);
		*end = ended ? '\n' : '\0';
		rest = ended ? end + 1 : end;
		row++;
	}
	if (watch->page.count == 0)
		fullscreen_put(full, 0, "nothing runs, and nothing waits", false);
	while (shown < room)
		fullscreen_put(full, 1 + shown++, "", false);
	put_bottom(watch);
	return fullscreen_show(full);
}

static void free_page(struct watch_page *page)
{
	buf_free(&page->text);
	buf_free(&page->ids);
	page->count = 0;
}

/* What cannot be read now leaves the last page, and says why. */
static int draw(struct watch *watch, struct err *err)
{
	struct watch_page page = { 0 };
	const struct watch_source *source = watch->source;

	watch->screen.cells = watch->full.cells;
	int result = source->draw(source->context, &watch->screen, &page, err);
	if (result == 0 && !buf_ok(&page.text)) {
		errno = ENOMEM;
		result = err_sys(err, "cannot list the queue");
	}
	if (result == 0) {
		free_page(&watch->page);
		watch->page = page;
		find_chosen(watch);
	} else {
		free_page(&page);
	}
	watch->drawn_ns = clock_awake_ns();
	watch->stale = false;
	/* Workers that the rescue pass started, and that have ended. */
	while (waitpid(-1, NULL, WNOHANG) > 0)
		;
	return result;
}

static void draw_or_tell(struct watch *watch)
{
	struct err err = ERR_NONE;

	if (draw(watch, &err) < 0)
		fmt(watch->bottom, sizeof watch->bottom, "%s", err.text);
	hear_said(watch);
}

int watch_take_terminal(struct watch *watch, struct err *err)
{
	if (fullscreen_begin(&watch->full, err) < 0)
		return -1;
	dup2(watch->said[1], STDERR_FILENO);
	watch->stale = true;
	return 0;
}

void watch_leave_terminal(struct watch *watch)
{
	fullscreen_end(&watch->full);
	dup2(watch->error_fd, STDERR_FILENO);
}

void watch_obey(int sig)
{
	sigset_t one, before;

	sigemptyset(&one);
	sigaddset(&one, sig);
	(void)raise(sig);
	sigprocmask(SIG_UNBLOCK, &one, &before);
	sigprocmask(SIG_SETMASK, &before, NULL);
}

static void note_signal(struct watch *watch, int sig)
{
	struct err err = ERR_NONE;

	switch (sig) {
	case SIGWINCH:
		watch->quit |= fullscreen_resize(&watch->full) < 0;
		watch->stale = true;
		break;
	case SIGTSTP:
		watch_leave_terminal(watch);
		watch_obey(SIGTSTP);
		watch->quit |= watch_take_terminal(watch, &err) < 0;
		break;
	case SIGCONT:
		/* Who was stopped without a word finds the terminal as the shell has left it. */
		watch_leave_terminal(watch);
		watch->quit |= watch_take_terminal(watch, &err) < 0;
		break;
	case SIGCHLD: break;
	default: watch->ends_by = sig;
	}
}

static void hear_signals(struct watch *watch)
{
	struct signalfd_siginfo info;
	bool stopped = false;

	while (read(watch->signals, &info, sizeof info) == (ssize_t)sizeof info) {
		/* The one that ended our own stop. */
		if (info.ssi_signo == SIGCONT && stopped)
			continue;
		stopped |= info.ssi_signo == SIGTSTP;
		note_signal(watch, (int)info.ssi_signo);
	}
}

static void add_watch(int notify, int folder)
{
	enum { CHANGES = IN_MODIFY | IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_ONLYDIR };
	char path[64];

	fmt(path, sizeof path, "/proc/self/fd/%d", folder);
	if (folder >= 0)
		inotify_add_watch(notify, path, CHANGES);
}

/* The folders that are open are the ones to watch; where one cannot be, the clock has to do. */
static void watch_folders(const struct watch *watch)
{
	struct queue *queue = watch->source->queue;
	struct err ignored = ERR_NONE;

	if (watch->notify < 0)
		return;
	for (int state = 0; state < SPOOL_STATES; state++)
		add_watch(watch->notify, spool_folder(&queue->spool, (enum spool_folder)state, &ignored));
	add_watch(watch->notify, queue->line.tickets_fd);
	add_watch(watch->notify, queue->line.boot_fd);
}

static void hear_changes(struct watch *watch)
{
	char events[4096] __attribute__((aligned(__alignof__(struct inotify_event))));

	while (read(watch->notify, events, sizeof events) > 0)
		watch->stale = true;
}

static void turn_once(struct watch *watch)
{
	int64_t every_ns = watch->stale ? PAUSE_MS * NS_PER_MS : watch->source->every_ns;
	struct pollfd ready[] = { { .fd = STDIN_FILENO, .events = POLLIN },
				  { .fd = watch->signals, .events = POLLIN },
				  { .fd = watch->notify, .events = POLLIN } };

	if (poll(ready, 3, clock_left_ms(watch->drawn_ns + every_ns, clock_awake_ns())) > 0) {
		if (ready[1].revents)
			hear_signals(watch);
		if (ready[0].revents && !watch->ends_by)
			watch_hear_keys(watch);
		if (ready[2].revents)
			hear_changes(watch);
	}
	every_ns = watch->stale ? PAUSE_MS * NS_PER_MS : watch->source->every_ns;
	if (!watch->quit && !watch->ends_by && clock_awake_ns() >= watch->drawn_ns + every_ns)
		draw_or_tell(watch);
	if (!watch->quit && !watch->ends_by && show(watch) < 0)
		watch->quit = true;
}

static int open_all(struct watch *watch, struct err *err)
{
	sigset_t set;

	watch_caught(&set);
	sigprocmask(SIG_BLOCK, &set, NULL);
	watch->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	watch->notify = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	watch->error_fd = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
	if (watch->signals < 0 || watch->error_fd < 0 || pipe2(watch->said, O_CLOEXEC | O_NONBLOCK) < 0)
		return err_sys(err, "cannot watch the queue");
	return draw(watch, err);
}

int watch_run(const struct watch_source *source, struct err *err)
{
	struct watch watch = {
		.source = source, .screen = source->screen, .signals = -1, .notify = -1, .error_fd = -1
	};

	watch.full.cells = source->screen.cells;
	int result = open_all(&watch, err);
	if (result == 0) {
		watch_folders(&watch);
		result = watch_take_terminal(&watch, err);
	}
	while (result == 0 && !watch.quit && !watch.ends_by)
		turn_once(&watch);
	if (watch.error_fd >= 0)
		watch_leave_terminal(&watch);
	free_page(&watch.page);
	if (watch.ends_by)
		watch_obey(watch.ends_by);
	return result < 0 ? -1 : watch.ends_by ? 128 + watch.ends_by : EXIT_OK;
}
