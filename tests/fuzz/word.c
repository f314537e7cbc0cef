/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Single values: "KIND TEXT", as people write them (array 1-9:2%3) and as they stand in names of files. What is read is
 * written, and must then be read as the same.
 */
#include <string.h>

#include "conf/base/clock.h"
#include "conf/base/hours.h"
#include "conf/base/scope.h"
#include "conf/base/sigspec.h"
#include "conf/base/text.h"
#include "conf/base/when.h"
#include "conf/conf_caps.h"
#include "conf/conf_card.h"
#include "conf/idlist.h"
#include "conf/jobid.h"
#include "fuzz.h"
#include "runner/line/entry.h"
#include "runner/line/ticket.h"
#include "runner/onend.h"
#include "runner/progress.h"
#include "submit/after.h"
#include "submit/array.h"
#include "submit/base64.h"
#include "submit/history.h"
#include "submit/idwords.h"
#include "submit/job.h"
#include "submit/spool.h"

/* 2026-11-30, in a zone with daylight saving. */
#define NOW (INT64_C(1796000000) * NS_PER_S)

static void duration(const char *text)
{
	int64_t ns, again;
	char shown[TEXT_DURATION];

	if (text_duration_parse(text, true, &ns, NULL) < 0)
		return;
	HOLDS(ns >= 0);
	text_duration_format(ns, shown);
	if (ns >= NS_PER_S)
		HOLDS(text_duration_parse(shown, true, &again, NULL) == 0 && again == ns - ns % NS_PER_S);
}

static void size_of(const char *text)
{
	uint64_t bytes, again;
	char shown[TEXT_SIZE];

	if (text_size_parse(text, &bytes, NULL) < 0)
		return;
	text_size_show(bytes, shown);
	text_size_format(bytes, shown);
	if (bytes % 1024 == 0)
		HOLDS(text_size_parse(shown, &again, NULL) == 0 && again == bytes);
}

static void number(const char *text)
{
	int64_t value;
	bool yes;

	if (text_number_parse(text, -100, INT64_MAX, &value, NULL) == 0)
		HOLDS(value >= -100);
	text_bool_parse(text, &yes, NULL);
}

static void hours(const char *text)
{
	int64_t change, now = NOW;

	if (hours_check(text, NULL) < 0)
		return;
	HOLDS(strlen(text) < HOURS_TEXT);
	for (int i = 0; i < 3; i++, now = change) {
		hours_open(text, now, &change);
		if (change == 0)
			break;
		HOLDS(change > now);
	}
}

static void when(const char *text)
{
	int64_t at;
	char shown[CLOCK_TEXT];

	when_last(text, NOW, &at, NULL);
	when_on_day(text, 1, NOW, &at);
	if (when_next(text, NOW, &at, NULL) == 0)
		HOLDS(at >= NOW);
	when_moment(text, NOW, &at, NULL);
	if (clock_wall_parse(text, &at) == 0) {
		clock_wall_format(at, shown);
		clock_utc_format(at, shown);
	}
}

static void sig(const char *text)
{
	struct sigspec spec;
	char name[24];
	int number_of;

	if (sigspec_parse(text, &spec, NULL) == 0)
		sigspec_name(spec.sig, name);
	if (sigspec_signal(text, &number_of, NULL) == 0)
		sigspec_name(number_of, name);
}

static void array(const char *text)
{
	static struct array one, again;
	SCOPE_BUF struct buf put = BUF_EMPTY;
	char shown[64];

	if (array_parse(text, &one, NULL) < 0)
		return;
	int32_t count = array_size(&one);
	HOLDS(count > 0 && count <= ARRAY_TASKS);
	array_put(&one, &put);
	HOLDS(buf_ok(&put) && array_parse(put.text, &again, NULL) == 0 && array_size(&again) == count);
	for (int32_t i = 0; i < count; i += 1 + count / 16)
		HOLDS(array_position(&one, array_task(&one, i)) == i && array_task(&again, i) == array_task(&one, i));
	char *states = malloc((size_t)count);
	HOLDS(states);
	for (int32_t i = 0; i < count; i++)
		states[i] = i % 3 ? ARRAY_WAITS : ARRAY_APART;
	array_show(&one, states, shown, sizeof shown);
	HOLDS(array_next(states, count, ARRAY_SPARSE) < count && array_next(states, count, ARRAY_PLAIN) < count);
	free(states);
}

static void after(const char *text)
{
	struct after_list list = { 0 }, again = { 0 };
	SCOPE_BUF struct buf put = BUF_EMPTY;

	if (after_parse(text, &list, NULL) == 0 && list.count) {
		after_put_all(&list, &put);
		HOLDS(buf_ok(&put) && after_parse(put.text, &again, NULL) == 0 && again.count == list.count);
	}
	after_free(&list);
	after_free(&again);
}

static void id(const char *text)
{
	SCOPE_IDLIST struct idlist ids = { 0 };
	char *words[] = { (char *)text, NULL };
	uint64_t one, again;

	if (jobid_parse(text, &one, NULL) == 0)
		HOLDS(jobid_parse(JOBID(one), &again, NULL) == 0 && again == one && strcmp(JOBID(one), text) == 0);
	idwords_read(words, 1, &ids, NULL);
}

static void card(const char *text)
{
	char address[PCI_TEXT] = "", again[PCI_TEXT] = "", mark[64];
	const char *at = text;

	if (pci_read(text, address)) {
		pci_mark_put(mark, sizeof mark, address);
		at = mark;
		HOLDS(pci_mark_parse(&at, again) == 0 && *at == '\0' && strcmp(address, again) == 0);
	}
	at = text;
	pci_mark_parse(&at, again);
	conf_card_read(text, address, NULL);
}

static void caps(const char *text)
{
	SCOPE_BUF struct buf put = BUF_EMPTY;
	uint64_t set;

	if (conf_caps_read(text, &set, NULL) == 0)
		conf_caps_print(set, &put);
}

static void spool(const char *text)
{
	struct spool_name name, again;
	char file[256];

	if (spool_name_parse(text, &name) < 0)
		return;
	spool_name_format(&name, file);
	HOLDS(spool_name_parse(file, &again) == 0 && name.id == again.id && name.outcome == again.outcome);
	HOLDS(name.held == again.held && name.nice == again.nice && name.begin_s == again.begin_s);
}

static void ticket(const char *text)
{
	struct ticket_name name, again;
	char file[256];

	if (ticket_name_parse(text, &name) < 0)
		return;
	ticket_name_format(&name, file);
	HOLDS(ticket_name_parse(file, &again) == 0 && name.id == again.id && name.flag == again.flag);
}

static void onend(const char *text)
{
	struct onend one;
	char word[ONEND_WORD];

	if (onend_parse(text, &one) == 0)
		onend_format(&one, word);
}

static void progress(const char *text)
{
	SCOPE_BUF struct buf json = BUF_EMPTY;
	struct progress one;
	char shown[PROGRESS_TEXT];
	size_t size = strlen(text);
	char *exact = fuzz_exact((const uint8_t *)text, size);

	if (progress_parse(exact, size, &one))
		HOLDS(one.total && one.done <= one.total && text_printable(one.words, strlen(one.words)));
	progress_show(&one, 90 * NS_PER_S, shown);
	progress_json(&one, 90 * NS_PER_S, &json);
	free(exact);
}

static void entry(const char *text)
{
	static struct entry one, again;
	char put[ENTRY_TEXT], same[ENTRY_TEXT];

	if (entry_parse(text, &one) < 0)
		return;
	entry_format(&one, put);
	HOLDS(entry_parse(put, &again) == 0);
	entry_format(&again, same);
	if (strcmp(put, same) != 0)
		fprintf(stderr, "%s\n%s\n", put, same);
	HOLDS(strcmp(put, same) == 0);
}

static void output(const char *text)
{
	char path[256];

	job_output_path(text, UINT64_C(12) << 24 | 4, 2, "a/b", path, sizeof path, NULL);
}

static void base64(const char *text)
{
	SCOPE_BUF struct buf bytes = BUF_EMPTY, put = BUF_EMPTY, again = BUF_EMPTY;

	if (base64_decode(text, strlen(text), &bytes) < 0)
		return;
	base64_encode(bytes.text, bytes.size, &put);
	HOLDS(base64_decode(put.text ? put.text : "", put.size, &again) == 0 && again.size == bytes.size);
}

static void words(const char *text)
{
	static const char *const list[] = { "interactive", "render", "test", NULL };
	char shown[80], small[8];
	char *copy = strdup(text);

	HOLDS(copy);
	text_hint(text, list, shown, sizeof shown);
	text_session_clean(text, small, sizeof small);
	text_show(text, small, sizeof small);
	HOLDS(text_printable(small, strlen(small)));
	text_class_ok(text);
	history_unescape(copy);
	HOLDS(strlen(copy) <= strlen(text));
	outcome_parse(text);
	free(copy);
}

static const struct {
	char kind[9];
	void (*read)(const char *text);
} kinds[] = {
	{ "duration", duration }, { "size", size_of },	{ "number", number },
	{ "hours", hours },	  { "when", when },	{ "signal", sig },
	{ "array", array },	  { "after", after },	{ "id", id },
	{ "card", card },	  { "caps", caps },	{ "spool", spool },
	{ "ticket", ticket },	  { "onend", onend },	{ "progress", progress },
	{ "entry", entry },	  { "output", output }, { "base64", base64 },
	{ "words", words },
};

int fuzz_one(const uint8_t *bytes, size_t size)
{
	char *text = fuzz_string(bytes, size), *value = strchr(text, ' ');

	setenv("TZ", "CET-1CEST,M3.5.0,M10.5.0/3", 1);
	for (size_t i = 0; value && i < sizeof kinds / sizeof kinds[0]; i++) {
		if (strlen(kinds[i].kind) == (size_t)(value - text) &&
		    strncmp(text, kinds[i].kind, (size_t)(value - text)) == 0) {
			/* A copy of its own, so that one byte too many is seen on both sides. */
			char *alone = fuzz_string((const uint8_t *)value + 1, strlen(value + 1));
			kinds[i].read(alone);
			free(alone);
		}
	}
	free(text);
	return 0;
}
