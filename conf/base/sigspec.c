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

static int read_any(const char *text, int *ret_sig, struct err *err)
{
	const char *names[PLAIN_SIGNALS], *plain = strncmp(text, "SIG", 3) == 0 ? text + 3 : text;
	char hint[64];

	*ret_sig = find_signal(plain, names);
	if (*ret_sig)
		return 0;
	text_hint(plain, names, hint, sizeof hint);
	return err_set(err, EXIT_USAGE, "unknown signal '%s'%s", plain, hint);
}

static int read_name(const char *text, struct sigspec *spec, struct err *err)
{
	if (read_any(text, &spec->sig, err) < 0)
		return -1;
	if (spec->sig == SIGKILL || spec->sig == SIGSTOP)
		return err_set(err, EXIT_USAGE, "no process can catch %s", sigabbrev_np(spec->sig));
	return 0;
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

int sigspec_signal(const char *text, int *ret_sig, struct err *err)
{
	char word[NAME];
	int64_t number;

	if (*text >= '0' && *text <= '9') {
		if (text_number_parse(text, 1, SIGRTMAX, &number, err) < 0)
			return -1;
		*ret_sig = (int)number;
		return 0;
	}
	fmt(word, sizeof word, "%s", text);
	for (char *p = word; *p; p++)
		*p = *p >= 'a' && *p <= 'z' ? (char)(*p - 'a' + 'A') : *p;
	return read_any(word, ret_sig, err);
}

void sigspec_name(int sig, char text[24])
{
	const char *name = sigabbrev_np(sig);

	if (name)
		fmt(text, 24, "%s", name);
	else
		fmt(text, 24, "signal %d", sig);
}
