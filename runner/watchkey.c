/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the keys of a watched list do. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "conf/base/clock.h"
#include "conf/base/fmt.h"
#include "conf/base/scope.h"
#include "runner/watching.h"

enum { ACTION_MS = 10000 };

/* A pgpu of its own, with the signals of a shell's command. Its output goes to `out`, or, -1, where ours does. */
static int start(const char *const words[], int out, pid_t *ret_pid)
{
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attributes;
	sigset_t none, defaults;

	sigemptyset(&none);
	watch_caught(&defaults);
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
	char answer[WATCH_BOTTOM] = "";
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
			watch_obey(SIGTSTP);
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
			watch_obey(SIGTSTP);
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

	watch_leave_terminal(watch);
	if (start(words, -1, &pid) == 0)
		await_child(watch, pid);
	note_ends(watch, false);
	if (!watch->ends_by)
		await_enter(watch);
	if (!watch->ends_by && watch_take_terminal(watch, &err) < 0)
		watch->quit = true;
}

static void ask_to_cancel(struct watch *watch)
{
	fmt(watch->asked, sizeof watch->asked, "%s", watch->id);
	fmt(watch->bottom, sizeof watch->bottom, "cancel job %s? y: yes, any other key: no", watch->id);
}

static void answer_cancel(struct watch *watch, int key)
{
	char id[WATCH_ID];

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
	fmt(watch->id, sizeof watch->id, "%s", watch_id_of(watch, watch->chosen));
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

void watch_hear_keys(struct watch *watch)
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
