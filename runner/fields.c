/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "fields.h"

#include <stdlib.h>
#include <string.h>

#include "conf/base/scope.h"
#include "conf/base/text.h"

void fields_free(struct fields *fields)
{
	free(fields->text);
	*fields = (struct fields){ 0 };
}

static const char *behind_string(const char *at)
{
	for (at++; *at && *at != '"'; at++)
		at += *at == '\\' && at[1];
	return at + (*at == '"');
}

/* Past the value at `at`. */
static const char *behind(const char *at)
{
	int depth = 0;

	do {
		if (*at == '"') {
			at = behind_string(at);
			continue;
		}
		depth += *at == '{' || *at == '[';
		depth -= *at == '}' || *at == ']';
		at += *at != '\0';
	} while (*at && (depth > 0 || !strchr(",}]", *at)));
	return at;
}

struct member {
	const char *key, *value;
	size_t key_length;
};

/* The first member of the object at `at`, or the one behind `at`; NULL: there is none. */
static const char *next_member(const char *at, struct member *ret_member)
{
	if (*at != '{' && *at != ',')
		return NULL;
	at++;
	if (*at != '"')
		return NULL;
	const char *end = behind_string(at);
	*ret_member = (struct member){ .key = at + 1, .value = end + 1, .key_length = (size_t)(end - at) - 2 };
	return *end == ':' ? behind(end + 1) : NULL;
}

/* NULL: no such member. */
static const char *find(const char *object, const char *name)
{
	struct member member;

	for (const char *at = object; (at = next_member(at, &member));) {
		if (strncmp(member.key, name, member.key_length) != 0)
			continue;
		if (name[member.key_length] == '\0')
			return member.value;
		if (name[member.key_length] != '.')
			continue;
		/* From here on inside of it. */
		name += member.key_length + 1;
		at = member.value;
	}
	return NULL;
}

/* Each with its NUL. */
static void add_name(const struct member *outer, const struct member *inner, struct buf *names)
{
	if (outer)
		buf_printf(names, "%.*s.", (int)outer->key_length, outer->key);
	buf_add(names, inner->key, inner->key_length);
	buf_add(names, "", 1);
}

static void list_names(const char *object, struct buf *names)
{
	struct member member, inner;

	for (const char *at = object; (at = next_member(at, &member));) {
		add_name(NULL, &member, names);
		for (const char *in = member.value; (in = next_member(in, &inner));)
			add_name(&member, &inner, names);
	}
}

static int refuse(const char *name, const char *sample, const char *command, struct err *err)
{
	enum { MOST = 128 };
	SCOPE_BUF struct buf names = BUF_EMPTY;
	const char *list[MOST + 1];
	char hint[96] = "";
	int count = 0;

	list_names(sample, &names);
	for (const char *at = names.text; at && at < names.text + names.size && count < MOST; at += strlen(at) + 1)
		list[count++] = at;
	list[count] = NULL;
	text_hint(name, list, hint, sizeof hint);
	return err_set(err, EXIT_USAGE, "%s: unknown field '%.40s'%s", command, name, hint);
}

int fields_parse(const char *list, const char *sample, const char *command, struct fields *ret_fields, struct err *err)
{
	struct fields fields = { .text = strdup(list) };
	char *rest = fields.text;

	if (!fields.text)
		return err_sys(err, "cannot read the fields");
	for (char *name; (name = strsep(&rest, ","));) {
		int result = 0;
		if (fields.count == FIELDS_MOST)
			result = err_set(err, EXIT_USAGE, "%s: more than %d fields", command, FIELDS_MOST);
		else if (!find(sample, name))
			result = refuse(name, sample, command, err);
		if (result < 0) {
			fields_free(&fields);
			return -1;
		}
		fields.names[fields.count++] = name;
	}
	fields_free(ret_fields);
	*ret_fields = fields;
	return 0;
}

bool fields_have(const struct fields *fields, const char *name)
{
	for (int i = 0; i < fields->count; i++) {
		if (strcmp(fields->names[i], name) == 0)
			return true;
	}
	return false;
}

static int hex_digit(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : 0;
}

/* What buf_json() wrote: \" \\ \n \t, and \u00XX of control characters. */
static const char *put_escaped(const char *at, struct buf *text)
{
	if (*at == 'n' || *at == 't') {
		buf_puts(text, *at == 'n' ? "\n" : "\t");
		return at + 1;
	}
	if (*at != 'u' || strnlen(at, 5) < 5) {
		buf_add(text, at, *at != '\0');
		return at + (*at != '\0');
	}
	unsigned char code = (unsigned char)(hex_digit(at[3]) << 4 | hex_digit(at[4]));
	if (code < 0x80)
		buf_add(text, &code, 1);
	else
		buf_add(text, (const char[]){ (char)(0xc0 | code >> 6), (char)(0x80 | (code & 0x3f)) }, 2);
	return at + 5;
}

static void put_string(const char *value, struct buf *out)
{
	SCOPE_BUF struct buf text = BUF_EMPTY;

	for (const char *at = value + 1; *at && *at != '"';) {
		size_t length = strcspn(at, "\\\"");
		buf_add(&text, at, length);
		at += length;
		if (*at == '\\')
			at = put_escaped(at + 1, &text);
	}
	out->failed |= text.failed;
	buf_field(out, text.text ? text.text : "", 0);
}

void fields_put(const struct fields *fields, const char *object, struct buf *out)
{
	for (int i = 0; i < fields->count; i++) {
		const char *value = object ? find(object, fields->names[i]) : NULL;
		buf_puts(out, i ? "\t" : "");
		if (!value || strncmp(value, "null", 4) == 0)
			continue;
		if (*value == '"')
			put_string(value, out);
		else
			buf_add(out, value, (size_t)(behind(value) - value));
	}
	buf_puts(out, "\n");
}
