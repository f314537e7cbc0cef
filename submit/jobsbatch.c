/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "jobsbatch.h"

#include <ctype.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "conf/base/clock.h"
#include "conf/base/fmt.h"
#include "conf/base/scope.h"
#include "conf/base/text.h"
#include "jobplace.h"
#include "jobset.h"

/* How a value becomes that of a header's key. */
enum reading {
	AS_IT_IS,
	TIME,
	MEMORY,
	PATTERN,
	EXPORT,
	SIGNAL,
	GRES,
	GPUS,
	OPEN_MODE,
	NICE,
	BEGIN,
	AFTER,
	YES,
	NO,
};

/* Short names lie in the row; it is read once for a file that has such lines. */
static const struct directive {
	char name[16];
	char letter;
	char reading;
	char key[14];
} directives[] = {
	{ "array", 'a', AS_IT_IS, "array" },
	{ "begin", 'b', BEGIN, "begin" },
	{ "chdir", 'D', AS_IT_IS, "workdir" },
	{ "workdir", 0, AS_IT_IS, "workdir" },
	{ "dependency", 'd', AFTER, "after" },
	{ "error", 'e', PATTERN, "error" },
	{ "export", 0, EXPORT, "export" },
	{ "gpus", 'G', GPUS, "" },
	{ "gpus-per-node", 0, GPUS, "" },
	{ "gpus-per-task", 0, GPUS, "" },
	{ "gres", 0, GRES, "" },
	{ "hold", 'H', YES, "hold" },
	{ "job-name", 'J', AS_IT_IS, "name" },
	{ "mem", 0, MEMORY, "memory" },
	{ "nice", 0, NICE, "nice" },
	{ "no-requeue", 0, NO, "requeue" },
	{ "open-mode", 0, OPEN_MODE, "open-mode" },
	{ "output", 'o', PATTERN, "output" },
	{ "partition", 'p', AS_IT_IS, "class" },
	{ "requeue", 0, YES, "requeue" },
	{ "signal", 0, SIGNAL, "budget-signal" },
	{ "time", 't', TIME, "limit" },
};
enum { DIRECTIVES = sizeof directives / sizeof directives[0] };

/* Of Slurm's other options those that take no value: what follows them is no value of theirs. */
static const char flags[][16] = {
	"contiguous",	 "exclusive", "help",	 "ignore-pbs", "no-kill",    "overcommit",
	"oversubscribe", "parsable",  "quiet",	 "reboot",     "spread-job", "test-only",
	"use-min-nodes", "verbose",   "version", "wait",
};
static const char flag_letters[] = "hIkOQsvVW";

struct word {
	char *text;
	size_t column; /* of its first byte in the line, from 0 */
};

struct reader {
	const char *file_name;
	struct job *job;
	struct buf *notices, *left; /* lines; what was read comes before what was not */
	char values[JOB_KEYS][64];  /* as they are told; "" where nothing was read */
	bool from_header[JOB_KEYS];
	bool signal_given;
	unsigned line;
	const char *text; /* the line, from its first byte */
	size_t length;
	size_t at; /* what is not read of it yet */
	char *room;
	bool ended; /* the rest is another component's */
};

static struct job_place place_of(const struct reader *reader, const struct word *word)
{
	struct job_place place = jobplace_at(reader->text, word->column);

	place.line = reader->line;
	return place;
}

#define REFUSE(reader, word, err, ...)                                                                                 \
	jobplace_refuse((reader)->file_name ? (reader)->file_name : "", place_of(reader, word), err, __VA_ARGS__)

/* One word, as sbatch cuts it: 1, 0 at the end or a comment, -1. */
static int next_word(struct reader *reader, struct word *ret_word, struct err *err)
{
	size_t used = 0;
	char quote = 0;

	while (reader->at < reader->length && isspace((unsigned char)reader->text[reader->at]))
		reader->at++;
	if (reader->at == reader->length || reader->text[reader->at] == '#')
		return 0;
	*ret_word = (struct word){ reader->room, reader->at };
	for (; reader->at < reader->length; reader->at++) {
		char byte = reader->text[reader->at];
		if (byte == '\\' && reader->at + 1 < reader->length)
			byte = reader->text[++reader->at];
		else if (quote && byte == quote) {
			quote = 0;
			continue;
		} else if (!quote && (byte == '"' || byte == '\'')) {
			quote = byte;
			continue;
		} else if (!quote && (byte == '#' || isspace((unsigned char)byte)))
			break;
		reader->room[used++] = byte;
	}
	if (quote)
		return REFUSE(reader, ret_word, err, "#SBATCH: a quote %c that does not end", quote);
	reader->room[used++] = '\0';
	reader->room += used;
	return 1;
}

/* A line for people about one option, without what a terminal obeys. */
static void tell(struct reader *reader, const struct word *word, const char *what)
{
	char shown[200];

	if (!reader->notices)
		return;
	text_show(word->text, shown, sizeof shown);
	buf_printf(reader->left, "%.400s:%u: #SBATCH %s %s\n", reader->file_name ? reader->file_name : "", reader->line,
		   shown, what);
}

/* minutes, minutes:seconds, hours:minutes:seconds, days-hours, days-hours:minutes, days-hours:minutes:seconds */
static int read_time(const char *text, int64_t *ret_s)
{
	enum { MOST = 1 << 30 };
	const char *dash = strchr(text, '-');
	uint64_t figure[4] = { 0 };
	int count = 0;

	for (const char *at = text;; at++) {
		if (count == 4 || *at < '0' || *at > '9')
			return -1;
		figure[count] = fmt_read(at, &at);
		if (figure[count++] > MOST)
			return -1;
		if (*at == '\0')
			break;
		if (*at != ':' && at != dash)
			return -1;
		if (at == dash && count != 1)
			return -1;
	}
	if (dash)
		*ret_s = (int64_t)(figure[0] * 86400 + figure[1] * 3600 + figure[2] * 60 + figure[3]);
	else if (count == 1)
		*ret_s = (int64_t)figure[0] * 60;
	else if (count == 2)
		*ret_s = (int64_t)(figure[0] * 60 + figure[1]);
	else
		*ret_s = (int64_t)(figure[0] * 3600 + figure[1] * 60 + figure[2]);
	return !dash && count == 4 ? -1 : 0;
}

enum translated { READ, LEFT, WRONG };

static enum translated translate_time(struct reader *reader, const struct word *word, const char *value,
				      struct buf *text, struct err *err)
{
	char limit[TEXT_DURATION];
	int64_t seconds;

	if (strcasecmp(value, "infinite") == 0 || strcasecmp(value, "unlimited") == 0 || strcmp(value, "-1") == 0 ||
	    (read_time(value, &seconds) == 0 && seconds == 0)) {
		tell(reader, word, "is not read: no job is without a limit, and the class's holds");
		return LEFT;
	}
	if (read_time(value, &seconds) < 0) {
		REFUSE(reader, word, err,
		       "limit: '%.40s' is no time of Slurm's: minutes, 1:30 (minutes and seconds), 1:30:00, 2-12, "
		       "2-12:30 or 2-12:30:00",
		       value);
		return WRONG;
	}
	text_duration_format(seconds * NS_PER_S, limit);
	buf_puts(text, limit);
	return READ;
}

/* 4096, 24G, 24gb; bare figures are MiB. */
static enum translated translate_memory(struct reader *reader, const struct word *word, const char *value,
					struct buf *text, struct err *err)
{
	const char *end;
	uint64_t figure = fmt_read(value, &end);
	char unit = *end ? (char)toupper((unsigned char)*end) : 'M';

	if (*end)
		end++;
	if ((*end == 'b' || *end == 'B') && end > value + 1)
		end++;
	if (*value < '0' || *value > '9' || *end || !strchr("KMGT", unit)) {
		REFUSE(reader, word, err, "memory: '%.40s' is no size of Slurm's: 4096 (MiB), 512M or 24G", value);
		return WRONG;
	}
	if (figure == 0) {
		tell(reader, word, "is not read: all of a machine's memory is no ceiling, and the class's holds");
		return LEFT;
	}
	buf_printf(text, "%llu%c", (unsigned long long)figure, unit);
	return READ;
}

/* What stands for something that a job here has one of; NULL: the letter is pgpu's own, or unknown to both. */
static const char *fixed_piece(char letter, char host[65])
{
	const char *user;

	switch (letter) {
	case 'J': return "%j";
	case 'n':
	case 't': return "0";
	case 's': return "batch";
	case 'u': user = getenv("USER"); return user && *user ? user : "user";
	case 'N':
		if (gethostname(host, 64) < 0)
			return "localhost";
		host[64] = '\0';
		host[strcspn(host, ".")] = '\0';
		return host;
	default: return NULL;
	}
}

/* %j %A %a %x and %% are the same here, with figures for leading zeros between % and the letter. */
static void translate_pattern(struct reader *reader, const struct word *word, const char *value, struct buf *text)
{
	bool padded = false;
	char host[65];

	for (const char *p = value; *p; p++) {
		if (*p != '%') {
			buf_add(text, p, 1);
			continue;
		}
		const char *letter = p + 1 + strspn(p + 1, "0123456789");
		const char *piece = *letter ? fixed_piece(*letter, host) : NULL;
		padded |= piece && letter > p + 1;
		if (piece)
			buf_puts(text, piece);
		else
			buf_add(text, p, (size_t)(letter - p) + (*letter != '\0'));
		if (!*letter)
			break;
		p = letter;
	}
	if (padded)
		tell(reader, word, "is read without its leading zeros");
}

/* [R|B:]SIGNAL[@SECONDS], the signal by name or number; 60 seconds where none are named. */
static enum translated translate_signal(struct reader *reader, const struct word *word, const char *value,
					struct buf *text, struct err *err)
{
	bool first = strncasecmp(value, "B:", 2) == 0;
	const char *name = value + (first || strncasecmp(value, "R:", 2) == 0 ? 2 : 0), *at = strchrnul(name, '@'),
		   *end;
	char word_text[32];
	uint64_t seconds = *at ? fmt_read(at + 1, &end) : 60;

	fmt(word_text, sizeof word_text, "%.*s", (int)(at - name), name);
	const char *numbered = *name >= '0' && *name <= '9' ? sigabbrev_np((int)fmt_read(word_text, NULL)) : NULL;
	if (*at && (at[1] < '0' || at[1] > '9' || *end || seconds > 65535)) {
		REFUSE(reader, word, err, "budget-signal: '%.40s' is no time of Slurm's: seconds, at most 65535",
		       at + 1);
		return WRONG;
	}
	for (char *p = word_text; *p; p++)
		*p = (char)toupper((unsigned char)*p);
	buf_printf(text, "%s%s@%llus", first ? "B:" : "", numbered ? numbered : word_text, (unsigned long long)seconds);
	reader->signal_given = true;
	return READ;
}

/* A lane is for one job, and a job has one card: [TYPE:]COUNT, several joined by commas. */
static enum translated check_gpus(struct reader *reader, const struct word *word, const char *value, struct err *err)
{
	uint64_t count = 0;

	for (const char *at = value; *at;) {
		size_t length = strcspn(at, ",");
		const char *colon = memrchr(at, ':', length), *figure = colon ? colon + 1 : at, *end;
		uint64_t these = fmt_read(figure, &end);
		if (figure == end || end != at + length) {
			REFUSE(reader, word, err, "'%.60s' is no number of GPUs", value);
			return WRONG;
		}
		count += these > 1000 ? 1000 : these;
		at += length + (at[length] == ',');
	}
	if (count <= 1)
		return READ;
	REFUSE(reader, word, err, "%llu GPUs, and a job here has one card", (unsigned long long)count);
	return WRONG;
}

/* A list of gpu[:TYPE][:COUNT] and other resources. */
static enum translated check_gres(struct reader *reader, const struct word *word, const char *value, struct err *err)
{
	SCOPE_BUF struct buf gpus = BUF_EMPTY;
	bool others = false;

	for (const char *at = value; *at;) {
		size_t length = strcspn(at, ","),
		       skip = strncmp(at, "gres/", 5) == 0 || strncmp(at, "gres:", 5) == 0 ? 5 : 0;
		if (length - skip >= 3 && strncmp(at + skip, "gpu", 3) == 0 && strchr(":=,", at[skip + 3])) {
			size_t from = skip + 3 + (length > skip + 3);
			buf_printf(&gpus, "%s%.*s", gpus.size ? "," : "", (int)(length - from), at + from);
			/* A type alone is one of it. */
			if (!memchr(at + from, ':', length - from) &&
			    strspn(at + from, "0123456789") < (length > from ? length - from : 1))
				buf_puts(&gpus, length > from ? ":1" : "1");
		} else {
			others = true;
		}
		at += length + (at[length] == ',');
	}
	if (gpus.size && check_gpus(reader, word, gpus.text, err) == WRONG)
		return WRONG;
	if (others)
		tell(reader, word, gpus.size ? "is read for its GPU alone" : "is not read");
	return gpus.size && !others ? READ : LEFT;
}

/* now+COUNT[UNIT], where Slurm's units are words and none means seconds; the rest is read as it is. */
static void translate_begin(const char *value, struct buf *text)
{
	static const struct {
		char word[8];
		char unit[4];
		int times;
	} units[] = { { "", "s", 1 },	  { "second", "s", 1 }, { "minute", "m", 1 },
		      { "hour", "h", 1 }, { "day", "d", 1 },	{ "week", "d", 7 } };
	const char *end;

	if (strncmp(value, "now+", 4) != 0 || value[4] < '0' || value[4] > '9') {
		buf_puts(text, value);
		return;
	}
	uint64_t figure = fmt_read(value + 4, &end);
	size_t length = strlen(end);
	if (length && end[length - 1] == 's')
		length--;
	for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
		if (strlen(units[i].word) == length && strncmp(units[i].word, end, length) == 0) {
			buf_printf(text, "now+%llu%s", (unsigned long long)figure * units[i].times, units[i].unit);
			return;
		}
	}
	buf_puts(text, value);
}

static enum translated translate(struct reader *reader, const struct directive *directive, const struct word *word,
				 const char *value, struct buf *text, struct err *err)
{
	switch ((enum reading)directive->reading) {
	case TIME: return translate_time(reader, word, value, text, err);
	case MEMORY: return translate_memory(reader, word, value, text, err);
	case SIGNAL: return translate_signal(reader, word, value, text, err);
	case GPUS: return check_gpus(reader, word, value, err);
	case GRES: return check_gres(reader, word, value, err);
	case PATTERN: translate_pattern(reader, word, value, text); break;
	case BEGIN: translate_begin(value, text); break;
	case EXPORT: buf_puts(text, strcasecmp(value, "nil") == 0 ? "none" : value); break;
	case NICE: buf_puts(text, *value ? value : "100"); break;
	case YES: buf_puts(text, "true"); break;
	case NO: buf_puts(text, "false"); break;
	case OPEN_MODE: buf_puts(text, value[0] == 'a' ? "append" : value[0] == 't' ? "truncate" : value); break;
	default: buf_puts(text, value);
	}
	return READ;
}

static int set_key(struct reader *reader, int key, const char *text, const struct word *word, struct err *err)
{
	struct job_place place = place_of(reader, word);
	char *told = reader->values[key];

	if (job_set(reader->job, jobset_key_name((enum job_key)key), text, err) < 0)
		return jobplace_blame(reader->file_name ? reader->file_name : "", place, err);
	reader->job->places[key] = place;
	text_show(text, told, sizeof reader->values[0]);
	return 0;
}

/* One option with its value. */
static int take(struct reader *reader, const struct directive *directive, const struct word *word, const char *value,
		struct err *err)
{
	SCOPE_BUF struct buf text = BUF_EMPTY;
	int key = directive->key[0] ? jobset_key(directive->key) : -1;

	if (directive->key[0] && key < 0) {
		tell(reader, word, "is not read: this version has nothing like it");
		return 0;
	}
	if (key >= 0 && reader->from_header[key])
		return 0;
	enum translated result = translate(reader, directive, word, value, &text, err);
	if (!buf_ok(&text))
		return jobset_no_memory(err);
	if (result == WRONG)
		return -1;
	if (result == LEFT || key < 0)
		return 0;
	return set_key(reader, key, text.text ? text.text : "", word, err);
}

static const struct directive *find(const char *name, size_t length, char letter)
{
	for (int i = 0; i < DIRECTIVES; i++) {
		const struct directive *one = &directives[i];
		if (letter ? one->letter == letter
			   : name && strlen(one->name) == length && memcmp(one->name, name, length) == 0)
			return one;
	}
	return NULL;
}

static bool takes_none(const struct directive *directive)
{
	return directive->reading == YES || directive->reading == NO;
}

static bool is_flag(const char *name, size_t length)
{
	for (size_t i = 0; i < sizeof flags / sizeof flags[0]; i++) {
		if (strnlen(flags[i], sizeof flags[0]) == length && memcmp(flags[i], name, length) == 0)
			return true;
	}
	return false;
}

static int need_value(struct reader *reader, const struct directive *directive, const struct word *word,
		      struct err *err)
{
	struct word value;
	int found = next_word(reader, &value, err);

	if (found == 0)
		return REFUSE(reader, word, err, "#SBATCH: '--%s' lacks its value", directive->name);
	if (found < 0)
		return -1;
	/* Told with its option: the words lie behind each other. */
	value.text[-1] = ' ';
	return take(reader, directive, &(struct word){ word->text, value.column }, value.text, err);
}

/* An option that means nothing here takes along the word that seems to be its value. */
static int leave(struct reader *reader, const struct word *word, bool alone, struct err *err)
{
	size_t at = reader->at;
	struct word value;
	int found = alone ? 0 : next_word(reader, &value, err);

	if (found < 0)
		return -1;
	if (found && value.text[0] == '-')
		reader->at = at;
	else if (found)
		value.text[-1] = ' ';
	tell(reader, word, "is not read");
	return 0;
}

static int take_long(struct reader *reader, const struct word *word, struct err *err)
{
	const char *name = word->text + 2, *equals = strchr(name, '=');
	size_t length = equals ? (size_t)(equals - name) : strlen(name);
	const struct directive *directive = find(name, length, 0);

	if (!directive)
		return leave(reader, word, equals || is_flag(name, length), err);
	if (takes_none(directive))
		return take(reader, directive, word, "", err);
	if (equals || directive->reading == NICE)
		return take(reader, directive, word, equals ? equals + 1 : "", err);
	return need_value(reader, directive, word, err);
}

/* A bundle such as -HJname: letters without a value, then perhaps one with it. */
static int take_letters(struct reader *reader, const struct word *word, struct err *err)
{
	for (const char *p = word->text + 1; *p; p++) {
		const struct directive *directive = find(NULL, 0, *p);
		char shown[] = { '-', *p, '\0' };
		struct word one = { shown, word->column };
		if (!directive && strchr(flag_letters, *p)) {
			tell(reader, &one, "is not read");
			continue;
		}
		if (!directive)
			return leave(reader, word, p[1] != '\0', err);
		if (takes_none(directive)) {
			if (take(reader, directive, &one, "", err) < 0)
				return -1;
			continue;
		}
		return p[1] ? take(reader, directive, word, p + 1, err) : need_value(reader, directive, word, err);
	}
	return 0;
}

static int take_word(struct reader *reader, const struct word *word, struct err *err)
{
	if (strcmp(word->text, "hetjob") == 0 || strcmp(word->text, "packjob") == 0) {
		tell(reader, word, "and the lines behind it are not read: a job has one part");
		reader->ended = true;
		return 0;
	}
	if (word->text[0] == '-' && word->text[1] == '-' && word->text[2])
		return take_long(reader, word, err);
	if (word->text[0] == '-' && word->text[1] && word->text[1] != '-')
		return take_letters(reader, word, err);
	tell(reader, word, "is not read: it is no option");
	return 0;
}

static int read_line(struct reader *reader, struct err *err)
{
	SCOPE_FREE char *room = malloc(reader->length + 2);
	struct word word;
	int found = 0;

	if (!room)
		return jobset_no_memory(err);
	reader->room = room;
	while (!reader->ended && (found = next_word(reader, &word, err)) > 0) {
		if (take_word(reader, &word, err) < 0)
			return -1;
		/* What was looked at and put back is copied once more, so the room begins anew with each option. */
		reader->room = room;
	}
	return found < 0 ? -1 : 0;
}

/* True where the line is none of a comment: sbatch stops there. */
static bool is_command(const char *text, size_t length)
{
	size_t i = 0;

	while (i < length && isspace((unsigned char)text[i]))
		i++;
	return i < length && text[i] != '#';
}

static int read_lines(struct reader *reader, const char *text, size_t size, bool *ret_any, struct err *err)
{
	static const char magic[] = "#SBATCH";
	enum { MAGIC = sizeof magic - 1 };

	*ret_any = false;
	for (const char *at = text, *end = text + size, *newline; at < end && !reader->ended; at = newline + 1) {
		newline = memchr(at, '\n', (size_t)(end - at));
		newline = newline ? newline : end;
		reader->line++;
		reader->text = at;
		reader->length = (size_t)(newline - at);
		reader->at = MAGIC;
		if (is_command(at, reader->length))
			break;
		if (reader->length < MAGIC || memcmp(at, magic, MAGIC) != 0)
			continue;
		*ret_any = true;
		if (read_line(reader, err) < 0)
			return -1;
	}
	return 0;
}

/* Slurm's signal comes before the end; ours before the budget's, which is half of it where the limit stands alone. */
static void end_at_budget(struct reader *reader)
{
	struct job *job = reader->job;

	if (!reader->signal_given || !job->limit_ns || job->budget_ns)
		return;
	job->budget_ns = job->limit_ns;
	text_duration_format(job->budget_ns, reader->values[JOB_KEY_BUDGET]);
}

static void tell_all(struct reader *reader)
{
	bool first = true;

	for (int key = 0; key < JOB_KEYS; key++) {
		if (!reader->values[key][0])
			continue;
		if (first)
			buf_printf(reader->notices,
				   "%.400s: read from #SBATCH: ", reader->file_name ? reader->file_name : "");
		buf_printf(reader->notices, "%s%s %s", first ? "" : ", ", jobset_key_name((enum job_key)key),
			   reader->values[key]);
		first = false;
	}
	if (!first)
		buf_puts(reader->notices, "\n");
	if (reader->left->size)
		buf_add(reader->notices, reader->left->text, reader->left->size);
}

int jobsbatch_read(const char *file_name, const char *text, size_t size, struct job *job, struct buf *notices,
		   struct err *err)
{
	SCOPE_BUF struct buf left = BUF_EMPTY;
	struct reader reader = { .file_name = file_name, .job = job, .notices = notices, .left = &left };
	bool any;

	for (int key = 0; key < JOB_KEYS; key++)
		reader.from_header[key] = job->places[key].line != 0;
	if (read_lines(&reader, text, size, &any, err) < 0)
		return -1;
	if (any && !reader.from_header[JOB_KEY_SLURM_ENV])
		job->slurm_env = true;
	end_at_budget(&reader);
	if (notices)
		tell_all(&reader);
	return buf_ok(&left) && (!notices || buf_ok(notices)) ? 0 : jobset_no_memory(err);
}
