/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "conf_scan.h"

#include <stdarg.h>
#include <string.h>

#include "base/text.h"
#include "conf/base/fmt.h"
#include "conf_keys.h"
#include "conf_onend.h"

enum { SHOWN_PATH = 400 };

/* How much of a word from the file an error repeats, and what a word needs to be told from any key. */
enum { SHOWN_WORD = 64 };

enum token_kind { TOKEN_END, TOKEN_WORD, TOKEN_STRING, TOKEN_SIGN, TOKEN_BAD };

struct token {
	enum token_kind kind;
	char sign; /* '=', '{' or '}' */
	int line;
	char text[SHOWN_WORD + 1]; /* cut */
};

struct scan {
	const char *file;
	char *next;
	char *end;
	int line;
	struct conf_scan *found;
	struct err *err;
};

const char *conf_shown_path(const char *file)
{
	size_t length = strlen(file);

	return length > SHOWN_PATH ? file + length - SHOWN_PATH : file;
}

int conf_error(struct err *err, const char *file, int line, const char *format, ...)
{
	va_list args;
	char text[sizeof err->text];

	va_start(args, format);
	fmt_args(text, sizeof text, format, args);
	va_end(args);
	return err_set(err, EXIT_USAGE, "%s:%d: %s", conf_shown_path(file), line, text);
}

#define REFUSE(scan, ...) conf_error((scan)->err, (scan)->file, (scan)->line, __VA_ARGS__)

static void blank(char *from, const char *end)
{
	for (; from < end; from++) {
		if (*from != '\n')
			*from = ' ';
	}
}

static int skip_block_comment(struct scan *scan)
{
	char *close = strstr(scan->next + 2, "*/");

	if (!close)
		return REFUSE(scan, "the comment is not closed");
	for (const char *p = scan->next; p < close; p++)
		scan->line += *p == '\n';
	blank(scan->next, close + 2);
	scan->next = close + 2;
	return 0;
}

static int refuse_expansion(const struct scan *scan)
{
	return REFUSE(scan, "'${...}' is not filled in from the environment; write the value itself");
}

static int skip_quoted(struct scan *scan)
{
	char quote = *scan->next++;

	for (; *scan->next != quote; scan->next++) {
		unsigned char byte = (unsigned char)*scan->next;

		if (byte == '\0' || byte == '\n')
			return REFUSE(scan, "the quote is not closed on its line");
		if (byte == '\\')
			return REFUSE(scan, "a backslash means nothing in a value");
		if (byte == '$' && scan->next[1] == '{')
			return refuse_expansion(scan);
		if ((byte < 0x20 && byte != '\t') || byte == 0x7f)
			return REFUSE(scan, "control character 0x%02x in a value", byte);
	}
	scan->next++;
	return 0;
}

/* First pass: blanks comments and CRs and refuses bytes that no configuration needs. */
static int clean_step(struct scan *scan)
{
	unsigned char byte = (unsigned char)*scan->next, after = (unsigned char)scan->next[1];

	if (byte == '#' || (byte == '/' && after == '/')) {
		char *end = scan->next + strcspn(scan->next, "\n");
		blank(scan->next, end);
		scan->next = end;
		return 0;
	}
	if (byte == '/' && after == '*')
		return skip_block_comment(scan);
	if (byte == '"' || byte == '\'')
		return skip_quoted(scan);
	if (byte == '$' && after == '{')
		return refuse_expansion(scan);
	if (byte == '\n')
		scan->line++;
	else if (byte == '\r' && after == '\n')
		*scan->next = ' ';
	else if ((byte < 0x20 && byte != '\t') || byte == 0x7f)
		return REFUSE(scan, "control character 0x%02x", byte);
	scan->next++;
	return 0;
}

static int clean(struct scan *scan)
{
	size_t size = (size_t)(scan->end - scan->next);
	const char *nul = memchr(scan->next, '\0', size);

	if (nul) {
		for (const char *p = scan->next; p < nul; p++)
			scan->line += *p == '\n';
		return REFUSE(scan, "a NUL byte; this is no text");
	}
	/* The mark that some editors put in front of UTF-8. */
	if (strncmp(scan->next, "\xEF\xBB\xBF", 3) == 0)
		blank(scan->next, scan->next + 3);
	while (scan->next < scan->end) {
		if (clean_step(scan) < 0)
			return -1;
	}
	return 0;
}

static size_t word_length(const char *text)
{
	return strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.:~%@");
}

static void skip_blanks(struct scan *scan)
{
	for (; *scan->next == ' ' || *scan->next == '\t' || *scan->next == '\n'; scan->next++)
		scan->line += *scan->next == '\n';
}

static struct token next_token(struct scan *scan)
{
	struct token token = { .kind = TOKEN_END };
	size_t length = 0;

	skip_blanks(scan);
	token.line = scan->line;
	const char *text = scan->next;
	if (*text == '\0')
		return token;
	if (*text == '"' || *text == '\'') {
		token.kind = TOKEN_STRING;
		length = (size_t)(strchr(text + 1, *text) - text - 1);
		scan->next += length + 2;
		text++;
	} else if ((length = word_length(text))) {
		token.kind = TOKEN_WORD;
		scan->next += length;
	} else {
		token.kind = strchr("={}", *text) ? TOKEN_SIGN : TOKEN_BAD;
		token.sign = *text;
		length = 1;
		scan->next++;
	}
	memcpy(token.text, text, length < SHOWN_WORD ? length : SHOWN_WORD);
	return token;
}

static bool is_sign(const struct token *token, char sign)
{
	return token->kind == TOKEN_SIGN && token->sign == sign;
}

/* Where a key or the end was expected. */
static int refuse_start(const struct scan *scan, const struct token *token)
{
	if (token->kind == TOKEN_STRING)
		return REFUSE(scan, "\"%s\" stands where a key is expected; keys have no quotes", token->text);
	if (token->kind == TOKEN_SIGN && token->sign == '=')
		return REFUSE(scan, "'=' without a key before it");
	if (token->kind == TOKEN_SIGN && token->sign == '{')
		return REFUSE(scan, "'{' without a section's name before it");
	if (token->kind == TOKEN_SIGN)
		return REFUSE(scan, "'}' closes nothing");
	unsigned char byte = (unsigned char)token->text[0];
	if (byte < 0x80)
		return REFUSE(scan, "unexpected '%c'", byte);
	return REFUSE(scan, "unexpected byte 0x%02x; such text stands in quotes", byte);
}

/* What a name in front of a '{' can be. */
struct kind {
	char name[8], plural[8];
	int most;
};

enum { KIND_CLASS, KIND_LANE, KINDS };
static const struct kind kinds[KINDS] = {
	[KIND_CLASS] = { "class", "classes", CONF_CLASSES },
	[KIND_LANE] = { "lane", "lanes", CONF_LANES },
};

static const struct conf_key *keys_of(const struct kind *kind)
{
	return kind == &kinds[KIND_LANE] ? conf_lane_keys : conf_class_keys;
}

static const struct kind *kind_find(const char *name)
{
	for (int i = 0; i < KINDS; i++) {
		if (strcmp(kinds[i].name, name) == 0)
			return &kinds[i];
	}
	return NULL;
}

/* Another section whose key it is. */
static const struct kind *kind_with(const char *key, const struct kind *but)
{
	for (int i = 0; i < KINDS; i++) {
		if (&kinds[i] != but && conf_key_find(keys_of(&kinds[i]), key) >= 0)
			return &kinds[i];
	}
	return NULL;
}

/* Of a section of `kind`; NULL: outside of all. */
static int refuse_key(const struct scan *scan, const char *name, const struct kind *kind)
{
	const struct kind *other = kind_with(name, kind);
	char hint[128];

	if (strcmp(name, "include") == 0)
		return REFUSE(scan, "'include' is not possible; a configuration is one file");
	if (kind && kind_find(name))
		return REFUSE(scan, "a %s cannot stand inside a %s; is a '}' missing?", name, kind->name);
	if (kind && conf_key_find(conf_root_keys, name) >= 0)
		return REFUSE(scan, "key '%s' belongs outside of a %s", name, kind->name);
	if (other)
		return REFUSE(scan, "key '%s' belongs into a %s", name, other->name);
	conf_key_hint(kind ? keys_of(kind) : conf_root_keys, name, hint, sizeof hint);
	return REFUSE(scan, "unknown key '%s'%s", name, hint);
}

static int refuse_section(const struct scan *scan, const char *name)
{
	const char *sections[KINDS + 1];
	char hint[64];

	for (int i = 0; i < KINDS; i++)
		sections[i] = kinds[i].name;
	sections[KINDS] = NULL;
	text_hint(name, sections, hint, sizeof hint);
	return REFUSE(scan, "unknown section '%s'%s", name, hint);
}

/* A list's names up to its '}'. */
static int scan_names(struct scan *scan, const struct token *key)
{
	for (;;) {
		struct token token = next_token(scan);
		if (is_sign(&token, '}'))
			return 0;
		if (token.kind != TOKEN_WORD && token.kind != TOKEN_STRING)
			return REFUSE(scan, "a name or '}' is missing in the list of '%s'", key->text);
		if (!*token.text || token.text[word_length(token.text)])
			return REFUSE(scan, "%s: '%s' is not a name", key->text, token.text);
		token = next_token(scan);
		if (is_sign(&token, '}'))
			return 0;
		if (token.sign != ',')
			return REFUSE(scan, "',' or '}' is missing in the list of '%s'", key->text);
	}
}

static int refuse_open(struct scan *scan, const struct token *key, int line)
{
	scan->line = line;
	return REFUSE(scan, "the list of '%s' is not closed on its line", key->text);
}

/* From its '{': becomes a string. */
static int scan_list(struct scan *scan, const struct token *key, const struct token *open)
{
	char *text = scan->next - 1;

	scan->line = open->line;
	if (!is_sign(open, '{'))
		return REFUSE(scan, "the value of '%s' is a list: {} or { \"NAME\", ... }", key->text);
	if (scan_names(scan, key) < 0)
		return -1;
	if (scan->line != open->line)
		return refuse_open(scan, key, open->line);
	for (char *p = text; p < scan->next; p++) {
		if (*p == '"' || *p == '\'')
			*p = ' ';
	}
	*text = scan->next[-1] = '"';
	return 0;
}

/* The words of a command up to its '}', moved to `to` with a mark between them; the end of what was written there. It
 * never meets what is still to be read: what is left out is as long as what is put in. */
static char *scan_words(struct scan *scan, const struct token *key, char *to)
{
	for (bool first = true;; first = false) {
		skip_blanks(scan);
		const char *from = scan->next;
		struct token token = next_token(scan);
		if (is_sign(&token, '}'))
			return to;
		if (token.kind != TOKEN_WORD && token.kind != TOKEN_STRING) {
			REFUSE(scan, "a word or '}' is missing in the list of '%s'; in quotes, what is no plain word",
			       key->text);
			return NULL;
		}
		const char *end = scan->next - (token.kind == TOKEN_STRING);
		if (!first)
			*to++ = CONF_WORD_END;
		for (from += token.kind == TOKEN_STRING; from < end; from++)
			*to++ = *from == '"' ? CONF_WORD_QUOTE : *from;
		/* An empty first word is told by a mark at the start. */
		if (first && !token.text[0])
			*to++ = CONF_WORD_END;
		token = next_token(scan);
		if (is_sign(&token, '}'))
			return to;
		if (token.sign != ',') {
			REFUSE(scan, "',' or '}' is missing in the list of '%s'", key->text);
			return NULL;
		}
	}
}

/* The same for words that may hold anything: becomes one string, and blanks behind it. */
static int scan_command(struct scan *scan, const struct token *key, const struct token *open)
{
	char *text = scan->next - 1;

	scan->line = open->line;
	if (!is_sign(open, '{'))
		return REFUSE(scan, "the value of '%s' is a list: {} or { \"CMD\", \"ARG\", ... }", key->text);
	char *end = scan_words(scan, key, text + 1);
	if (!end)
		return -1;
	if (scan->line != open->line)
		return refuse_open(scan, key, open->line);
	*text = *end = '"';
	blank(end + 1, scan->next);
	return 0;
}

/* After KEY: `= VALUE`. */
static int scan_value(struct scan *scan, const struct token *key, const struct token *sign, enum conf_kind kind)
{
	if (!is_sign(sign, '=')) {
		scan->line = key->line;
		return REFUSE(scan, "'=' is missing after '%s'", key->text);
	}
	scan->line = sign->line;
	struct token value = next_token(scan);
	if (kind == CONF_CAPS)
		return scan_list(scan, key, &value);
	if (kind == CONF_COMMAND)
		return scan_command(scan, key, &value);
	if (value.kind == TOKEN_WORD || value.kind == TOKEN_STRING)
		return 0;
	scan->line = sign->line;
	if (value.kind == TOKEN_BAD)
		return REFUSE(scan, "the value of '%s' needs quotes", key->text);
	return REFUSE(scan, "a value is missing after '%s ='", key->text);
}

static int scan_body(struct scan *scan, int opened, const struct kind *kind, const char *name)
{
	const struct conf_key *keys = keys_of(kind);

	for (;;) {
		struct token key = next_token(scan);
		if (is_sign(&key, '}'))
			return 0;
		if (key.kind == TOKEN_END) {
			scan->line = opened;
			return REFUSE(scan, "%s '%s' is not closed with '}'", kind->name, name);
		}
		if (key.kind != TOKEN_WORD)
			return refuse_start(scan, &key);
		int number = conf_key_find(keys, key.text);
		if (number < 0)
			return refuse_key(scan, key.text, kind);
		struct token sign = next_token(scan);
		if (scan_value(scan, &key, &sign, keys[number].kind) < 0)
			return -1;
	}
}

static int note_section(struct scan *scan, const struct kind *kind, const struct token *title)
{
	bool class = kind == &kinds[KIND_CLASS];
	struct conf_section *list = class ? scan->found->classes : scan->found->lanes;
	int *count = class ? &scan->found->class_count : &scan->found->lane_count;

	scan->line = title->line;
	if (!text_class_ok(title->text))
		return REFUSE(scan, "'%s' is not a %s name (1 to 32 of a-z A-Z 0-9 _ -)", title->text, kind->name);
	for (int i = 0; i < *count; i++) {
		if (strcmp(list[i].name, title->text) == 0)
			return REFUSE(scan, "%s '%s' is repeated; it stands on line %d", kind->name, title->text,
				      list[i].line);
	}
	if (*count == kind->most)
		return REFUSE(scan, "more than %d %s", kind->most, kind->plural);
	memcpy(list[*count].name, title->text, CONF_CLASS_NAME);
	list[(*count)++].line = title->line;
	return 0;
}

/* After `class`, or `lane`: `"NAME" {` and its body. */
static int scan_section(struct scan *scan, const struct kind *kind, const struct token *title)
{
	if (is_sign(title, '='))
		return REFUSE(scan, "'%s' is a section: %s \"NAME\" { ... }", kind->name, kind->name);
	if (title->kind != TOKEN_WORD && title->kind != TOKEN_STRING)
		return REFUSE(scan, "a %s needs a name: %s \"NAME\" { ... }", kind->name, kind->name);
	if (note_section(scan, kind, title) < 0)
		return -1;
	struct token open = next_token(scan);
	if (!is_sign(&open, '{')) {
		scan->line = title->line;
		return REFUSE(scan, "'{' is missing after %s '%s'", kind->name, title->text);
	}
	return scan_body(scan, title->line, kind, title->text);
}

/* Second pass: the shape, and the words where libconfuse would only say that it does not know one. */
static int scan_statements(struct scan *scan)
{
	for (;;) {
		struct token key = next_token(scan);
		if (key.kind == TOKEN_END)
			return 0;
		if (key.kind != TOKEN_WORD)
			return refuse_start(scan, &key);
		const struct kind *kind = kind_find(key.text);
		int known = conf_key_find(conf_root_keys, key.text);
		if (strcmp(key.text, "include") == 0)
			return refuse_key(scan, key.text, NULL);
		struct token next = next_token(scan);
		/* Who writes `lane = 2` means lanes. */
		if (kind == &kinds[KIND_LANE] && is_sign(&next, '='))
			kind = NULL;
		if (!kind && known < 0) {
			scan->line = key.line;
			return is_sign(&next, '=') || kind_with(key.text, NULL) ? refuse_key(scan, key.text, NULL)
										: refuse_section(scan, key.text);
		}
		if ((kind ? scan_section(scan, kind, &next)
			  : scan_value(scan, &key, &next, conf_root_keys[known].kind)) < 0)
			return -1;
	}
}

int conf_scan(const char *file, char *text, size_t size, struct conf_scan *ret_scan, struct err *err)
{
	struct scan scan = { .file = file, .next = text, .end = text + size, .line = 1, .found = ret_scan, .err = err };

	ret_scan->class_count = ret_scan->lane_count = 0;
	if (clean(&scan) < 0)
		return -1;
	scan.next = text;
	scan.line = 1;
	return scan_statements(&scan);
}
