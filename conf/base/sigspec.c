/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sigspec.h"

#include <signal.h>
#include <string.h>

#include "fmt.h"
#include "text.h"

enum { PLAIN_SIGNALS = 32, NAME = 16 };

/* The number of a name without SIG; 0: there is none. */
static int find_signal(const char *name, const char *names[PLAIN_SIGNALS])
{
	int found = 0, count = 0;

	for (int sig = 1; sig < PLAIN_SIGNALS; sig++) {
		const char *known = sigabbrev_np(sig);
		if (!known)
			continue;
		names[count++] = known;
		if (strcmp(known, name) == 0)
			found = sig;
	}
	names[count] = NULL;
	return found;
}

static int read_name(const char *text, struct sigspec *spec, struct err *err)
{
	const char *names[PLAIN_SIGNALS], *plain = strncmp(text, "SIG", 3) == 0 ? text + 3 : text;
	char hint[64];

	spec->sig = find_signal(plain, names);
	if (spec->sig == SIGKILL || spec->sig == SIGSTOP)
		return err_set(err, EXIT_USAGE, "no process can catch %s", plain);
	if (spec->sig)
		return 0;
	text_hint(plain, names, hint, sizeof hint);
	return err_set(err, EXIT_USAGE, "unknown signal '%s'%s", plain, hint);
}

int sigspec_parse(const char *text, struct sigspec *ret_spec, struct err *err)
{
	struct sigspec spec = { .first_alone = strncmp(text, "B:", 2) == 0 };
	const char *name = spec.first_alone ? text + 2 : text, *at = strchr(name, '@');
	char word[NAME];

	if (*text == '\0') {
		*ret_spec = spec;
		return 0;
	}
	if (at && text_duration_parse(at + 1, true, &spec.ahead_ns, err) < 0)
		return -1;
	fmt(word, sizeof word, "%.*s", (int)(at ? at - name : NAME), name);
	if (read_name(word, &spec, err) < 0)
		return -1;
	*ret_spec = spec;
	return 0;
}
