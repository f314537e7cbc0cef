/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "watch.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "conf/base/clock.h"
#include "conf/base/fmt.h"
#include "conf/base/scope.h"
#include "conf/base/text.h"
#include "runner/fullscreen.h"

enum { BOTTOM = 512, ID = 128, PAUSE_MS = 100, ACTION_MS = 10000 };

struct watch {
	const struct watch_source *source;
	struct fullscreen full;
	struct screen screen;
	struct watch_page page;
	int signals, notify; /* descriptors; -1: no inotify is to be had, the clock alone counts */
	int said[2];	     /* a pipe: what is said on standard error has no place on the page */
	int error_fd;	     /* standard error as it was */
	int chosen, top;     /* rows */
	char id[ID];	     /* of the chosen one: it moves with its job */
	char asked[ID];	     /* to be cancelled, once that is confirmed; "" */
	char heard[BOTTOM];  /* what was said last; the same again is no news */
	char bottom[BOTTOM]; /* what came of the last key; "": the keys */
	int64_t drawn_ns;
	bool stale;
	int ends_by; /* a signal; 0: none yet */
	bool quit;
};

static const int caught[] = { SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGTSTP, SIGCONT, SIGWINCH, SIGCHLD };

static void caught_set(sigset_t *set)
{
	sigemptyset(set);
	for (size_t i = 0; i < sizeof caught / sizeof *caught; i++)
		sigaddset(set, caught[i]);
}

/* --- the page ---------------------------------------------------------------------------------------------------- */

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

static const char *id_of(const struct watch *watch, int row)
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
		if (strcmp(id_of(watch, row), watch->id) == 0) {
			watch->chosen = row;
			return;
		}
	}
	if (watch->chosen >= count)
		watch->chosen = count ? count - 1 : 0;
	fmt(watch->id, sizeof watch->id, "%s", id_of(watch, watch->chosen));
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

/* --- the terminal, taken and given back -------------------------------------------------------------------------- */

static int take_terminal(struct watch *watch, struct err *err)
{
	if (fullscreen_begin(&watch->full, err) < 0)
		return -1;
	dup2(watch->said[1], STDERR_FILENO);
	watch->stale = true;
	return 0;
}

static void leave_terminal(struct watch *watch)
{
	fullscreen_end(&watch->full);
	dup2(watch->error_fd, STDERR_FILENO);
}

/* As if nobody had caught it. */
static void obey(int sig)
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
		leave_terminal(watch);
		obey(SIGTSTP);
		watch->quit |= take_terminal(watch, &err) < 0;
		break;
	case SIGCONT:
		/* Who was stopped without a word finds the terminal as the shell has left it. */
		leave_terminal(watch);
		watch->quit |= take_terminal(watch, &err) < 0;
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

/* --- what keys do ------------------------------------------------------------------------------------------------ */

/* A pgpu of its own, with the signals of a shell's command. Its output goes to `out`, or, -1, where ours does. */
static int start(const char *const words[], int out, pid_t *ret_pid)
{
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attributes;
	sigset_t none, defaults;

	sigemptyset(&none);
	caught_set(&defaults);
	posix_spawn_file_actions_init(&files);
	posix_spawnattr_init(&attributes);
	posix_spawnattr_setsigmask(&attributes, &none);
	posix_spawnattr_setsigdefault(&attributes, &defaults);
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
	int failed = 0;
	if (out >= 0)
		failed = posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0) ||
			 posix_spawn_file_actions_adddup2(&files, out, 1) ||
			 posix_spawn_file_actions_adddup2(&files, out, 2);
	if (!failed)
		failed = posix_spawn(ret_pid, "/proc/self/exe", &files, &attributes, (char *const *)words, environ);
	posix_spawn_file_actions_destroy(&files);
	posix_spawnattr_destroy(&attributes);
	return failed ? -1 : 0;
}

/* Until it has said all, or it takes too long. */
static void read_answer(int fd, char *text, size_t size)
{
	struct pollfd more = { .fd = fd, .events = POLLIN };
	int64_t until_ns = clock_awake_ns() + ACTION_MS * NS_PER_MS;
	size_t used = 0;
	ssize_t got = 1;

	while (got != 0 && used + 1 < size && poll(&more, 1, clock_left_ms(until_ns, clock_awake_ns())) == 1) {
		got = read(fd, text + used, size - 1 - used);
		if (got < 0 && errno != EINTR)
			break;
		used += got > 0 ? (size_t)got : 0;
	}
	while (used > 0 && text[used - 1] == '\n')
		used--;
	text[used] = '\0';
}

/* `done` is what is said where the command says nothing but the id. */
static void act(struct watch *watch, const char *const words[], const char *id, const char *done)
{
	char answer[BOTTOM] = "";
	int ends[2], status = -1;
	pid_t pid;

	fmt(watch->bottom, sizeof watch->bottom, "cannot %s job %s", words[1], id);
	if (pipe2(ends, O_CLOEXEC) < 0)
		return;
	int failed = start(words, ends[1], &pid);
	close(ends[1]);
	SCOPE_FD int answers = ends[0];
	if (failed)
		return;
	read_answer(answers, answer, sizeof answer);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	const char *last = strrchr(answer, '\n');
	if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
		fmt(watch->bottom, sizeof watch->bottom, "job %s %s", id, done);
	else if (answer[0])
		fmt(watch->bottom, sizeof watch->bottom, "%s", last ? last + 1 : answer);
	watch->stale = true;
}

/* Those that came while a child had the terminal, Ctrl-C say, were the child's. */
static void note_ends(struct watch *watch, bool stops)
{
	struct signalfd_siginfo info;

	while (read(watch->signals, &info, sizeof info) == (ssize_t)sizeof info) {
		if (info.ssi_signo == SIGTERM || info.ssi_signo == SIGHUP)
			watch->ends_by = (int)info.ssi_signo;
		else if (info.ssi_signo == SIGTSTP && stops)
			obey(SIGTSTP);
	}
}

/* A child that is stopped by Ctrl-Z is stopped with us. */
static void await_child(struct watch *watch, pid_t pid)
{
	struct pollfd news = { .fd = watch->signals, .events = POLLIN };
	pid_t got;
	int status;

	while ((got = waitpid(pid, &status, WUNTRACED | WNOHANG)) == 0 || (got > 0 && WIFSTOPPED(status))) {
		if (got > 0) {
			obey(SIGTSTP);
			kill(pid, SIGCONT);
		}
		if (poll(&news, 1, -1) > 0)
			note_ends(watch, false);
		if (watch->ends_by)
			kill(pid, SIGTERM);
	}
}

static void await_enter(struct watch *watch)
{
	static const char back[] = "\n[Enter: back to the queue]";
	struct pollfd ready[] = { { .fd = STDIN_FILENO, .events = POLLIN },
				  { .fd = watch->signals, .events = POLLIN } };
	char key;

	if (write(STDOUT_FILENO, back, sizeof back - 1) <= 0)
		return;
	while (!watch->ends_by && (poll(ready, 2, -1) > 0 || errno == EINTR)) {
		if (ready[1].revents)
			note_ends(watch, true);
		if (!ready[0].revents)
			continue;
		watch->quit |= read(STDIN_FILENO, &key, 1) <= 0;
		/* The rest of that line is no key. */
		tcflush(STDIN_FILENO, TCIFLUSH);
		return;
	}
}

/* On the shell's own page, where it stays to be read. Ctrl-C ends what is followed, and not us. */
static void show_output(struct watch *watch)
{
	const char *const words[] = { "pgpu", "output", "-f", watch->id, NULL };
	struct err err = ERR_NONE;
	pid_t pid;

	leave_terminal(watch);
	if (start(words, -1, &pid) == 0)
		await_child(watch, pid);
	note_ends(watch, false);
	if (!watch->ends_by)
		await_enter(watch);
	if (!watch->ends_by && take_terminal(watch, &err) < 0)
		watch->quit = true;
}

static void ask_to_cancel(struct watch *watch)
{
	fmt(watch->asked, sizeof watch->asked, "%s", watch->id);
	fmt(watch->bottom, sizeof watch->bottom, "cancel job %s? y: yes, any other key: no", watch->id);
}

static void answer_cancel(struct watch *watch, int key)
{
	char id[ID];

	fmt(id, sizeof id, "%s", watch->asked);
	watch->asked[0] = '\0';
	if (key == 'y' || key == 'Y')
		act(watch, (const char *const[]){ "pgpu", "cancel", "--no-wait", id, NULL }, id, "is cancelled");
	else
		fmt(watch->bottom, sizeof watch->bottom, "job %s is left as it is", id);
}

static void choose(struct watch *watch, int row)
{
	int last = watch->page.count - 1;

	watch->chosen = row > last ? last : row;
	if (watch->chosen < 0)
		watch->chosen = 0;
	fmt(watch->id, sizeof watch->id, "%s", id_of(watch, watch->chosen));
}

static void obey_key(struct watch *watch, int key)
{
	int page = watch->full.lines > 4 ? watch->full.lines - 3 : 1;
	const char *id = watch->id;

	if (watch->asked[0]) {
		answer_cancel(watch, key);
		return;
	}
	watch->bottom[0] = '\0';
	switch (key) {
	case KEY_UP:
	case 'k': choose(watch, watch->chosen - 1); return;
	case KEY_DOWN:
	case 'j': choose(watch, watch->chosen + 1); return;
	case KEY_PAGE_UP: choose(watch, watch->chosen - page); return;
	case KEY_PAGE_DOWN: choose(watch, watch->chosen + page); return;
	case KEY_HOME: choose(watch, 0); return;
	case KEY_END: choose(watch, watch->page.count - 1); return;
	case 'q': watch->quit = true; return;
	default: break;
	}
	if (!id[0])
		return;
	if (key == 'c')
		ask_to_cancel(watch);
	else if (key == 'h')
		act(watch, (const char *const[]){ "pgpu", "hold", id, NULL }, id, "is held");
	else if (key == 'r')
		act(watch, (const char *const[]){ "pgpu", "release", id, NULL }, id, "is released");
	else if (key == 'o' || key == KEY_ENTER)
		show_output(watch);
}

static void hear_keys(struct watch *watch)
{
	char text[256];
	ssize_t got = read(STDIN_FILENO, text, sizeof text);

	/* The other end is closed; a terminal in this mode has nothing to read then, again and again. */
	if (got <= 0) {
		watch->quit |= got == 0 || (errno != EINTR && errno != EAGAIN);
		return;
	}
	for (size_t at = 0, used; at < (size_t)got && !watch->quit && !watch->ends_by; at += used)
		obey_key(watch, fullscreen_key(text + at, (size_t)got - at, &used));
}

/* --- the loop ---------------------------------------------------------------------------------------------------- */

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

	/* What changes all the time is drawn ten times a second. */
	if (poll(ready, 3, clock_left_ms(watch->drawn_ns + every_ns, clock_awake_ns())) > 0) {
		if (ready[1].revents)
			hear_signals(watch);
		if (ready[0].revents && !watch->ends_by)
			hear_keys(watch);
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

	caught_set(&set);
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
		result = take_terminal(&watch, err);
	}
	while (result == 0 && !watch.quit && !watch.ends_by)
		turn_once(&watch);
	if (watch.error_fd >= 0)
		leave_terminal(&watch);
	free_page(&watch.page);
	if (watch.ends_by)
		obey(watch.ends_by);
	return result < 0 ? -1 : watch.ends_by ? 128 + watch.ends_by : EXIT_OK;
}
