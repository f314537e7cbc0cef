/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "jobyaml.h"

#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#include "base64.h"
#include "conf/base/scope.h"
#include "conf/base/text.h"
#include "jobplace.h"
#include "jobset.h"

#define SCOPE_EVENT __attribute__((cleanup(yaml_event_delete)))

struct walk {
	const struct jobyaml_source *source;
	yaml_parser_t parser;
	const char *cursor; /* where the last event began; libyaml counts characters, a limit counts bytes */
	size_t cursor_index;
	size_t bytes; /* passed so far, beside large values */
	bool large;   /* within a large value */
};

/* From a place in the header to the place in the file; what lies behind the last line counts as on it. */
static struct job_place map_place(const struct jobyaml_source *source, struct job_place place)
{
	size_t line = place.line - 1;

	place.column += source->indent;
	if (!source->lines)
		place.line = source->first_line + (unsigned)line;
	else if (source->line_count == 0)
		place.line = source->first_line;
	else
		place.line = source->lines[line < source->line_count ? line : source->line_count - 1];
	return place;
}

static struct job_place mark_place(const struct walk *walk, yaml_mark_t mark)
{
	return map_place(walk->source, (struct job_place){ (unsigned)mark.line + 1, (unsigned)mark.column + 1 });
}

#define REFUSE(walk, place, err, ...) jobplace_refuse((walk)->source->file_name, place, err, __VA_ARGS__)

/* U+0085, U+2028 and U+2029 end a line for YAML and for nobody else: lines would be miscounted and bytes changed. */
static bool ends_yaml_line(const char *text)
{
	return strncmp(text, "\xC2\x85", 2) == 0 || strncmp(text, "\xE2\x80\xA8", 3) == 0 ||
	       strncmp(text, "\xE2\x80\xA9", 3) == 0;
}

/* libyaml would find most of these too, but would not say where, nor in words that help. */
static int check_bytes(const struct jobyaml_source *source, struct err *err)
{
	const char *reason = NULL;
	size_t i = 0;

	while (i < source->size && !reason) {
		unsigned char byte = (unsigned char)source->text[i];
		/* As nearly all of them are. */
		if ((byte >= 0x20 && byte < 0x7f) || byte == '\n') {
			i++;
			continue;
		}
		size_t length = text_utf8_length(source->text + i);
		if (byte == '\r')
			reason = "DOS line ends (CRLF); save the file with Unix line ends";
		else if (length == 0 || length > source->size - i)
			reason = "a byte that is not UTF-8 text";
		else if (byte == 0x7f || (byte < 0x20 && byte != '\n' && byte != '\t'))
			reason = "a control character";
		else if (ends_yaml_line(source->text + i))
			reason = "a line separator (U+0085, U+2028, U+2029); write \\N, \\L or \\P in double quotes";
		else
			i += length;
	}
	if (!reason)
		return 0;
	struct job_place place = map_place(source, jobplace_at(source->text, i));
	return jobplace_refuse(source->file_name, place, err, "%s", reason);
}

static int parser_failed(struct walk *walk, struct err *err)
{
	const yaml_parser_t *parser = &walk->parser;
	struct job_place place = mark_place(walk, parser->problem_mark);

	if (parser->error == YAML_MEMORY_ERROR)
		return jobset_no_memory(err);
	if (parser->error == YAML_READER_ERROR && parser->problem_offset <= walk->source->size)
		place = map_place(walk->source, jobplace_at(walk->source->text, parser->problem_offset));
	if (parser->problem && strcmp(parser->problem, "did not find expected <document start>") == 0)
		return REFUSE(walk, place, err, "more text after the end of the header");
	return REFUSE(walk, place, err, "%s%s%s", parser->problem ? parser->problem : "not YAML",
		      parser->context ? " " : "", parser->context ? parser->context : "");
}

static void move_cursor(struct walk *walk, size_t index)
{
	const char *from = walk->cursor, *end = walk->source->text + walk->source->size;

	for (; walk->cursor_index < index && walk->cursor < end; walk->cursor_index++)
		walk->cursor += text_utf8_length(walk->cursor);
	if (!walk->large)
		walk->bytes += (size_t)(walk->cursor - from);
}

static const char *const BINARY = "tag:yaml.org,2002:binary";

/* A lone `!` leaves no trace in a scalar's event, only in the text. */
static int check_node(const struct walk *walk, const yaml_event_t *event, const yaml_char_t *anchor,
		      const yaml_char_t *tag, struct err *err)
{
	struct job_place place = mark_place(walk, event->start_mark);
	bool scalar = event->type == YAML_SCALAR_EVENT;
	bool bare = scalar && !tag && walk->cursor_index == event->start_mark.index && *walk->cursor == '!';

	if (anchor)
		return REFUSE(walk, place, err, "an anchor (&%.64s); anchors and aliases are not read",
			      (const char *)anchor);
	if (bare || (tag && !(scalar && strcmp((const char *)tag, BINARY) == 0)))
		return REFUSE(walk, place, err, "a tag (%.64s); only !!binary of a text is read",
			      tag ? (const char *)tag : "!");
	return 0;
}

static int check_event(const struct walk *walk, const yaml_event_t *event, struct err *err)
{
	switch (event->type) {
	case YAML_ALIAS_EVENT:
		return REFUSE(walk, mark_place(walk, event->start_mark), err,
			      "an alias (*%.64s); anchors and aliases are not read",
			      (const char *)event->data.alias.anchor);
	case YAML_SCALAR_EVENT: return check_node(walk, event, event->data.scalar.anchor, event->data.scalar.tag, err);
	case YAML_SEQUENCE_START_EVENT:
		return check_node(walk, event, event->data.sequence_start.anchor, event->data.sequence_start.tag, err);
	case YAML_MAPPING_START_EVENT:
		return check_node(walk, event, event->data.mapping_start.anchor, event->data.mapping_start.tag, err);
	default: return 0;
	}
}

static int next_event(struct walk *walk, yaml_event_t *event, struct err *err)
{
	yaml_event_delete(event);
	if (!yaml_parser_parse(&walk->parser, event))
		return parser_failed(walk, err);
	move_cursor(walk, event->start_mark.index);
	if (walk->bytes > walk->source->limit)
		return REFUSE(walk, mark_place(walk, event->start_mark), err, "the header is larger than %zu KiB",
			      walk->source->limit >> 10);
	return check_event(walk, event, err);
}

static bool is_null(const yaml_event_t *event)
{
	static const char *const words[] = { "", "~", "null", "Null", "NULL" };

	if (event->data.scalar.style != YAML_PLAIN_SCALAR_STYLE || event->data.scalar.tag)
		return false;
	for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
		if (strcmp((const char *)event->data.scalar.value, words[i]) == 0)
			return true;
	}
	return false;
}

static int read_text(const struct walk *walk, const yaml_event_t *event, struct jobyaml_text *ret_text, struct err *err)
{
	const char *value = (const char *)event->data.scalar.value;
	size_t size = event->data.scalar.length;
	struct job_place place = mark_place(walk, event->start_mark);
	SCOPE_BUF struct buf bytes = BUF_EMPTY;

	buf_add(&bytes, "", 0);
	if (!event->data.scalar.tag)
		buf_add(&bytes, value, size);
	else if (base64_decode(value, size, &bytes) < 0)
		return REFUSE(walk, place, err, "!!binary of something that is not base64");
	if (!buf_ok(&bytes))
		return jobset_no_memory(err);
	if (memchr(bytes.text, '\0', bytes.size))
		return REFUSE(walk, place, err, "a NUL byte in a value");
	*ret_text = (struct jobyaml_text){ bytes.text, bytes.size, place, is_null(event) };
	bytes = BUF_EMPTY;
	return 0;
}

static int add_item(const struct walk *walk, struct jobyaml_entry *entry, const yaml_event_t *event, struct err *err)
{
	if (event->type != YAML_SCALAR_EVENT)
		return REFUSE(walk, mark_place(walk, event->start_mark), err, "%.64s: a %s holds texts, nothing nested",
			      entry->key.text, entry->kind == JOBYAML_MAP ? "map" : "list");
	if (entry->count == entry->room) {
		size_t room = entry->room ? entry->room * 2 : 4;
		struct jobyaml_text *items = reallocarray(entry->items, room, sizeof *items);
		if (!items)
			return jobset_no_memory(err);
		entry->items = items;
		entry->room = room;
	}
	if (read_text(walk, event, &entry->items[entry->count], err) < 0)
		return -1;
	entry->count++;
	return 0;
}

/* Everything of a list or map up to its end; in a map `<<` stands for a merge only where a name is due. */
static int read_items(struct walk *walk, struct jobyaml_entry *entry, struct err *err)
{
	for (;;) {
		SCOPE_EVENT yaml_event_t event = { 0 };
		if (next_event(walk, &event, err) < 0)
			return -1;
		if (event.type == YAML_SEQUENCE_END_EVENT || event.type == YAML_MAPPING_END_EVENT)
			return 0;
		if (entry->kind == JOBYAML_MAP && entry->count % 2 == 0 && event.type == YAML_SCALAR_EVENT &&
		    event.data.scalar.style == YAML_PLAIN_SCALAR_STYLE &&
		    strcmp((const char *)event.data.scalar.value, "<<") == 0)
			return REFUSE(walk, mark_place(walk, event.start_mark), err,
				      "a merge key (<<); merge keys are not read");
		if (add_item(walk, entry, &event, err) < 0)
			return -1;
	}
}

static int read_value(struct walk *walk, struct jobyaml_entry *entry, struct err *err)
{
	SCOPE_EVENT yaml_event_t event = { 0 };

	if (next_event(walk, &event, err) < 0)
		return -1;
	entry->place = mark_place(walk, event.start_mark);
	if (event.type == YAML_SCALAR_EVENT)
		return add_item(walk, entry, &event, err);
	entry->kind = event.type == YAML_MAPPING_START_EVENT ? JOBYAML_MAP : JOBYAML_LIST;
	return read_items(walk, entry, err);
}

static void free_entry(struct jobyaml_entry *entry)
{
	free(entry->key.text);
	for (size_t i = 0; i < entry->count; i++)
		free(entry->items[i].text);
	free(entry->items);
}

static bool is_large(const struct walk *walk, const char *key)
{
	for (const char *const *large = walk->source->large_keys; large && *large; large++) {
		if (strcmp(*large, key) == 0)
			return true;
	}
	return false;
}

static int read_entry(struct walk *walk, const yaml_event_t *key, jobyaml_taker *take, void *context, struct err *err)
{
	__attribute__((cleanup(free_entry))) struct jobyaml_entry entry = { 0 };

	if (key->type != YAML_SCALAR_EVENT)
		return REFUSE(walk, mark_place(walk, key->start_mark), err, "a key must be a word");
	if (read_text(walk, key, &entry.key, err) < 0)
		return -1;
	if (strcmp(entry.key.text, "<<") == 0)
		return REFUSE(walk, entry.key.place, err, "a merge key (<<); merge keys are not read");
	walk->large = is_large(walk, entry.key.text);
	if (read_value(walk, &entry, err) < 0)
		return -1;
	return take(context, &entry, err);
}

static int read_mapping(struct walk *walk, jobyaml_taker *take, void *context, struct err *err)
{
	for (;;) {
		SCOPE_EVENT yaml_event_t event = { 0 };
		if (next_event(walk, &event, err) < 0)
			return -1;
		walk->large = false;
		if (event.type == YAML_MAPPING_END_EVENT)
			return 0;
		if (read_entry(walk, &event, take, context, err) < 0)
			return -1;
	}
}

static int read_stream(struct walk *walk, jobyaml_taker *take, void *context, struct err *err)
{
	SCOPE_EVENT yaml_event_t event = { 0 };

	if (next_event(walk, &event, err) < 0 || next_event(walk, &event, err) < 0)
		return -1;
	if (event.type == YAML_STREAM_END_EVENT)
		return 0;
	if (next_event(walk, &event, err) < 0)
		return -1;
	if (event.type != YAML_MAPPING_START_EVENT)
		return REFUSE(walk, mark_place(walk, event.start_mark), err,
			      "a header is lines of 'key: value', not a %s",
			      event.type == YAML_SCALAR_EVENT ? "text (a script begins with '#!')" : "list");
	if (read_mapping(walk, take, context, err) < 0)
		return -1;
	if (next_event(walk, &event, err) < 0 || next_event(walk, &event, err) < 0)
		return -1;
	if (event.type != YAML_STREAM_END_EVENT)
		return REFUSE(walk, mark_place(walk, event.start_mark), err,
			      "a second document; a job file has one header");
	return 0;
}

int jobyaml_read(const struct jobyaml_source *source, jobyaml_taker *take, void *context, struct err *err)
{
	struct walk walk = { .source = source, .cursor = source->text };

	if (check_bytes(source, err) < 0)
		return -1;
	if (!yaml_parser_initialize(&walk.parser))
		return jobset_no_memory(err);
	yaml_parser_set_encoding(&walk.parser, YAML_UTF8_ENCODING);
	yaml_parser_set_input_string(&walk.parser, (const unsigned char *)source->text, source->size);
	int result = read_stream(&walk, take, context, err);
	yaml_parser_delete(&walk.parser);
	return result;
}
