/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "conf_scan.h"

#include <stdarg.h>
#include <string.h>

#include "base/text.h"
#include "conf/base/fmt.h"
#include "conf_keys.h"

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

static struct token next_token(struct scan *scan)
{
	struct token token = { .kind = TOKEN_END };
	size_t length = 0;

	for (; *scan->next == ' ' || *scan->next == '\t' || *scan->next == '\n'; scan->next++)
		scan->line += *scan->next == '\n';
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

static int refuse_key(const struct scan *scan, const char *name, bool in_class)
{
	char hint[128];

	if (strcmp(name, "include") == 0)
		return REFUSE(scan, "'include' is not possible; a configuration is one file");
	if (in_class && strcmp(name, "class") == 0)
		return REFUSE(scan, "a class cannot stand inside a class; is a '}' missing?");
	if (conf_key_find(in_class ? conf_root_keys : conf_class_keys, name) >= 0)
		return REFUSE(scan, in_class ? "key '%s' belongs outside of a class" : "key '%s' belongs into a class",
			      name);
	conf_key_hint(in_class ? conf_class_keys : conf_root_keys, name, hint, sizeof hint);
	return REFUSE(scan, "unknown key '%s'%s", name, hint);
}

static int refuse_section(const struct scan *scan, const char *name)
{
	static const char *const sections[] = { "class", NULL };
	char hint[64];

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

/* From its '{': becomes a string. */
static int scan_list(struct scan *scan, const struct token *key, const struct token *open)
{
	char *text = scan->next - 1;

	scan->line = open->line;
	if (!is_sign(open, '{'))
		return REFUSE(scan, "the value of '%s' is a list: {} or { \"NAME\", ... }", key->text);
	if (scan_names(scan, key) < 0)
		return -1;
	if (scan->line != open->line) {
		scan->line = open->line;
		return REFUSE(scan, "the list of '%s' is not closed on its line", key->text);
	}
	for (char *p = text; p < scan->next; p++) {
		if (*p == '"' || *p == '\'')
			*p = ' ';
	}
	*text = scan->next[-1] = '"';
	return 0;
}

/* After KEY: `= VALUE`. */
static int scan_value(struct scan *scan, const struct token *key, const struct token *sign, bool list)
{
	if (!is_sign(sign, '=')) {
		scan->line = key->line;
		return REFUSE(scan, "'=' is missing after '%s'", key->text);
	}
	scan->line = sign->line;
	struct token value = next_token(scan);
	if (list)
		return scan_list(scan, key, &value);
	if (value.kind == TOKEN_WORD || value.kind == TOKEN_STRING)
		return 0;
	scan->line = sign->line;
	if (value.kind == TOKEN_BAD)
		return REFUSE(scan, "the value of '%s' needs quotes", key->text);
	return REFUSE(scan, "a value is missing after '%s ='", key->text);
}

static int scan_class_body(struct scan *scan, int opened, const char *class_name)
{
	for (;;) {
		struct token key = next_token(scan);
		if (is_sign(&key, '}'))
			return 0;
		if (key.kind == TOKEN_END) {
			scan->line = opened;
			return REFUSE(scan, "class '%s' is not closed with '}'", class_name);
		}
		if (key.kind != TOKEN_WORD)
			return refuse_start(scan, &key);
		int number = conf_key_find(conf_class_keys, key.text);
		if (number < 0)
			return refuse_key(scan, key.text, true);
		struct token sign = next_token(scan);
		if (scan_value(scan, &key, &sign, conf_class_keys[number].kind == CONF_CAPS) < 0)
			return -1;
	}
}

static int note_class(struct scan *scan, const struct token *title)
{
	struct conf_scan *found = scan->found;

	scan->line = title->line;
	if (!text_class_ok(title->text))
		return REFUSE(scan, "'%s' is not a class name (1 to 32 of a-z A-Z 0-9 _ -)", title->text);
	for (int i = 0; i < found->class_count; i++) {
		if (strcmp(found->classes[i].name, title->text) == 0)
			return REFUSE(scan, "class '%s' is repeated; it stands on line %d", title->text,
				      found->classes[i].line);
	}
	if (found->class_count == CONF_CLASSES)
		return REFUSE(scan, "more than %d classes", CONF_CLASSES);
	memcpy(found->classes[found->class_count].name, title->text, CONF_CLASS_NAME);
	found->classes[found->class_count++].line = title->line;
	return 0;
}

/* After `class`: `"NAME" {` and its body. */
static int scan_class(struct scan *scan, const struct token *title)
{
	if (is_sign(title, '='))
		return REFUSE(scan, "'class' is a section: class \"NAME\" { ... }");
	if (title->kind != TOKEN_WORD && title->kind != TOKEN_STRING)
		return REFUSE(scan, "a class needs a name: class \"NAME\" { ... }");
	if (note_class(scan, title) < 0)
		return -1;
	struct token open = next_token(scan);
	if (!is_sign(&open, '{')) {
		scan->line = title->line;
		return REFUSE(scan, "'{' is missing after class '%s'", title->text);
	}
	return scan_class_body(scan, title->line, title->text);
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
		bool class = strcmp(key.text, "class") == 0, known = conf_key_find(conf_root_keys, key.text) >= 0;
		if (strcmp(key.text, "include") == 0)
			return refuse_key(scan, key.text, false);
		struct token next = next_token(scan);
		if (!class && !known) {
			scan->line = key.line;
			return is_sign(&next, '=') || conf_key_find(conf_class_keys, key.text) >= 0
				       ? refuse_key(scan, key.text, false)
				       : refuse_section(scan, key.text);
		}
		if ((class ? scan_class(scan, &next) : scan_value(scan, &key, &next, false)) < 0)
			return -1;
	}
}

int conf_scan(const char *file, char *text, size_t size, struct conf_scan *ret_scan, struct err *err)
{
	struct scan scan = { .file = file, .next = text, .end = text + size, .line = 1, .found = ret_scan, .err = err };

	ret_scan->class_count = 0;
	if (clean(&scan) < 0)
		return -1;
	scan.next = text;
	scan.line = 1;
	return scan_statements(&scan);
}
