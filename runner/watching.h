/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A watched list from inside: what watch.c, which draws and waits, and watchkey.c, which obeys, have in common. */
#ifndef PGPU_RUNNER_WATCHING_H
#define PGPU_RUNNER_WATCHING_H

#include <signal.h>

#include "runner/fullscreen.h"
#include "runner/watch.h"

enum { WATCH_BOTTOM = 512, WATCH_ID = 128 };

struct watch {
	const struct watch_source *source;
	struct fullscreen full;
	struct screen screen;
	struct watch_page page;
	int signals, notify;	   /* descriptors; -1: no inotify is to be had, the clock alone counts */
	int said[2];		   /* a pipe: what is said on standard error has no place on the page */
	int error_fd;		   /* standard error as it was */
	int chosen, top;	   /* rows */
	char id[WATCH_ID];	   /* of the chosen one: it moves with its job */
	char asked[WATCH_ID];	   /* to be cancelled, once that is confirmed; "" */
	char heard[WATCH_BOTTOM];  /* what was said last; the same again is no news */
	char bottom[WATCH_BOTTOM]; /* what came of the last key; "": the keys */
	int64_t drawn_ns;
	bool stale;
	int ends_by; /* a signal; 0: none yet */
	bool quit;
};

/* The signals that watch->signals reads. */
void watch_caught(sigset_t *set);
/* The terminal, with standard error aside, and back as it was. */
int watch_take_terminal(struct watch *watch, struct err *err);
void watch_leave_terminal(struct watch *watch);
/* As if nobody had caught it. */
void watch_obey(int sig);

/* What of a job a command takes, "" where there is no such row. */
const char *watch_id_of(const struct watch *watch, int row);
/* Reads the keys that are there, and does what they say. */
void watch_hear_keys(struct watch *watch);

#endif
