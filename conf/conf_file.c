/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The one place where libconfuse is used. It sees nothing but text that conf_scan() has passed, from memory: no path,
 * no environment, no include. Every key is a string to it without a default, and each value goes to the same strict
 * parsers as the command line's at the moment it is read, while the line is known.
 */
#include "conf_file.h"

#include <confuse.h>
#include <string.h>

#include "base/text.h"
#include "conf/base/fmt.h"
#include "conf_onend.h"
#include "conf_scan.h"

struct reading {
	const char *file;
	struct conf *conf;
	struct conf_lines *lines;
	int known_classes; /* rows that were there before this file */
	struct err *err;
	bool failed;
};

/* libconfuse hands its callbacks no pointer of the caller's. */
static _Thread_local struct reading *current;

/* `class_name` is "" outside of a class. */
static int take_value(const cfg_t *section, cfg_opt_t *option, const struct conf_key keys[], const char *class_name,
		      void *row, int lines[])
{
	struct reading *reading = current;
	int key = conf_key_find(keys, option->name);

	reading->failed = true;
	if (lines[key])
		return conf_error(reading->err, reading->file, section->line,
				  "key '%s' is repeated; it stands on line %d", option->name, lines[key]);
	lines[key] = section->line;
	const char *value = cfg_opt_getnstr(option, 0);
	if ((keys[key].kind == CONF_COMMAND ? conf_onend_put(reading->conf, class_name, value, reading->err)
					    : conf_key_read(&keys[key], row, value, reading->err)) < 0)
		return err_wrap(reading->err, "%s:%d: %s", conf_shown_path(reading->file), section->line, option->name);
	reading->failed = false;
	return 0;
}

static int take_root(cfg_t *root, cfg_opt_t *option)
{
	return take_value(root, option, conf_root_keys, "", current->conf, current->lines->root);
}

static int take_class(cfg_t *section, cfg_opt_t *option)
{
	struct conf *conf = current->conf;
	const struct conf_class *row = conf_class_find(conf, cfg_title(section));

	if (!row)
		return -1;
	long number = row - conf->classes;
	return take_value(section, option, conf_class_keys, row->name, &conf->classes[number],
			  current->lines->classes[number]);
}

static int take_lane(cfg_t *section, cfg_opt_t *option)
{
	struct conf *conf = current->conf;

	for (int i = 0; i < conf->bound_count; i++) {
		if (strcmp(conf->bound[i].name, cfg_title(section)) == 0)
			return take_value(section, option, conf_lane_keys, "", &conf->bound[i],
					  current->lines->bound[i]);
	}
	return -1;
}

/* What conf_scan() lets through libconfuse accepts; should a version differ, its first word is the error. */
static void take_complaint(cfg_t *section, const char *format, va_list args)
{
	char text[256];

	if (current->failed)
		return;
	fmt_args(text, sizeof text, format, args);
	conf_error(current->err, current->file, section ? section->line : 0, "%s (libconfuse)", text);
	current->failed = true;
}

static void list_options(const struct conf_key keys[], cfg_opt_t options[])
{
	for (; keys->name[0]; keys++, options++)
		*options = (cfg_opt_t)CFG_STR(keys->name, NULL, CFGF_NONE);
	*options = (cfg_opt_t)CFG_END();
}

static void watch_options(cfg_t *cfg, const char *prefix, const struct conf_key keys[], cfg_validate_callback_t take)
{
	char name[64];

	for (; keys->name[0]; keys++) {
		fmt(name, sizeof name, "%s%s", prefix, keys->name);
		cfg_set_validate_func(cfg, name, take);
	}
}

static int run_libconfuse(struct reading *reading, const char *text)
{
	cfg_opt_t root[CONF_KEYS + 3], rows[CONF_KEYS + 1], lanes[CONF_KEYS + 1];
	size_t last = 0;

	list_options(conf_class_keys, rows);
	list_options(conf_lane_keys, lanes);
	list_options(conf_root_keys, root);
	while (root[last].name)
		last++;
	root[last] = (cfg_opt_t)CFG_SEC("class", rows, CFGF_MULTI | CFGF_TITLE | CFGF_NO_TITLE_DUPES);
	root[last + 1] = (cfg_opt_t)CFG_SEC("lane", lanes, CFGF_MULTI | CFGF_TITLE | CFGF_NO_TITLE_DUPES);
	root[last + 2] = (cfg_opt_t)CFG_END();

	cfg_t *cfg = cfg_init(root, CFGF_NONE);
	if (!cfg)
		return err_set(reading->err, EXIT_FAILED, "cannot read %s: out of memory",
			       conf_shown_path(reading->file));
	cfg_set_error_function(cfg, take_complaint);
	watch_options(cfg, "", conf_root_keys, take_root);
	watch_options(cfg, "class|", conf_class_keys, take_class);
	watch_options(cfg, "lane|", conf_lane_keys, take_lane);
	current = reading;
	int result = cfg_parse_buf(cfg, text);
	current = NULL;
	cfg_free(cfg);
	if (result != CFG_SUCCESS && !reading->failed)
		return err_set(reading->err, EXIT_USAGE, "%s: libconfuse cannot read it",
			       conf_shown_path(reading->file));
	return result == CFG_SUCCESS && !reading->failed ? 0 : -1;
}

/* Rows are there before the first value is read, so that `turns-as` may name a class further down. */
static int add_rows(struct reading *reading, const struct conf_scan *scan)
{
	struct conf *conf = reading->conf;

	for (int i = 0; i < scan->class_count; i++) {
		if (conf_class_find(conf, scan->classes[i].name))
			continue;
		if (conf->class_count == CONF_CLASSES)
			return conf_error(reading->err, reading->file, scan->classes[i].line,
					  "more than %d classes, with the built-in ones", CONF_CLASSES);
		struct conf_class *row = &conf->classes[conf->class_count++];
		memset(row, 0, sizeof *row);
		memcpy(row->name, scan->classes[i].name, sizeof row->name);
	}
	return 0;
}

/* The file's lanes are all there are. */
static void add_lanes(struct reading *reading, const struct conf_scan *scan)
{
	struct conf *conf = reading->conf;

	conf->bound_count = scan->lane_count;
	memset(conf->bound, 0, sizeof conf->bound);
	for (int i = 0; i < scan->lane_count; i++)
		memcpy(conf->bound[i].name, scan->lanes[i].name, sizeof conf->bound[i].name);
}

static int key_line(const int lines[], const char *name)
{
	return lines[conf_key_find(conf_class_keys, name)];
}

static int check_needed(const struct reading *reading, const struct conf_class *row, const int lines[], int line)
{
	const char *names[CONF_CLASSES + 1];
	char hint[64];

	if (row - reading->conf->classes < reading->known_classes)
		return 0;
	for (int i = 0; conf_class_keys[i].name[0]; i++) {
		if (!conf_class_keys[i].needed || lines[i])
			continue;
		conf_class_names(reading->conf, names);
		names[reading->known_classes] = NULL;
		text_hint(row->name, names, hint, sizeof hint);
		return conf_error(reading->err, reading->file, line, "class '%s' is new and needs a %s%s", row->name,
				  conf_class_keys[i].name, hint);
	}
	return 0;
}

static int check_turns(const struct reading *reading, struct conf_class *row, const int lines[], int line)
{
	bool given = row->turns_as_after_run_ns || row->turns_as_after_wait_ns || row->turns_as_without_turn_ns;
	bool named = (key_line(lines, "turns-as-after-run") && row->turns_as_after_run_ns) ||
		     (key_line(lines, "turns-as-after-wait") && row->turns_as_after_wait_ns) ||
		     (key_line(lines, "turns-as-without-turn") && row->turns_as_without_turn_ns);
	int turns_line = key_line(lines, "turns-as") ? key_line(lines, "turns-as") : line;

	if (row->turns_as[0] == '\0') {
		if (named)
			return conf_error(reading->err, reading->file, line,
					  "class '%s' says when it turns but not turns-as what", row->name);
		/* `turns-as = ""` over a built-in row takes its conditions away too. */
		row->turns_as_after_run_ns = row->turns_as_after_wait_ns = row->turns_as_without_turn_ns = 0;
		return 0;
	}
	if (strcmp(row->turns_as, row->name) == 0)
		return conf_error(reading->err, reading->file, turns_line, "turns-as: class '%s' names itself",
				  row->name);
	if (!conf_class_need(reading->conf, row->turns_as, reading->err))
		return err_wrap(reading->err, "%s:%d: turns-as", conf_shown_path(reading->file), turns_line);
	if (!given && key_line(lines, "turns-as"))
		return conf_error(
			reading->err, reading->file, turns_line,
			"turns-as: class '%s' does not say when (turns-as-after-run, -after-wait, -without-turn)",
			row->name);
	return 0;
}

static int check_forced(const struct reading *reading, const struct conf_class *row, const int lines[])
{
	if (!row->min_hold_ns || row->turns_forced || !key_line(lines, "min-hold"))
		return 0;
	return conf_error(reading->err, reading->file, key_line(lines, "min-hold"),
			  "min-hold: class '%s' is without turns = \"forced\"", row->name);
}

static int check_row(const struct reading *reading, struct conf_class *row, int line)
{
	const int *lines = reading->lines->classes[row - reading->conf->classes];

	if (check_needed(reading, row, lines, line) < 0)
		return -1;
	if (row->limit_ns && row->limit_ns < row->budget_ns)
		return conf_error(reading->err, reading->file,
				  key_line(lines, "limit") ? key_line(lines, "limit") : line,
				  "limit: class '%s' would be stopped before its budget is over", row->name);
	if (check_forced(reading, row, lines) < 0)
		return -1;
	return check_turns(reading, row, lines, line);
}

static int check_default_class(const struct reading *reading, const char *key, const char *name)
{
	int line = reading->lines->root[conf_key_find(conf_root_keys, key)];

	if (conf_class_need(reading->conf, name, reading->err))
		return 0;
	return err_wrap(reading->err, "%s:%d: %s", conf_shown_path(reading->file), line, key);
}

/* Their sections say how many lanes there are; `lanes` beside them says the same or is wrong. */
static int check_lanes(const struct reading *reading, const struct conf_scan *scan)
{
	int *line = &reading->lines->root[conf_key_find(conf_root_keys, "lanes")];
	struct conf *conf = reading->conf;

	for (int i = 0; i < scan->lane_count; i++) {
		if (!conf->bound[i].card[0])
			return conf_error(reading->err, reading->file, scan->lanes[i].line,
					  "lane '%s' needs a card: card = \"0000:03:00.0\"", conf->bound[i].name);
	}
	if (scan->lane_count && *line && conf->lanes != scan->lane_count)
		return conf_error(reading->err, reading->file, *line,
				  "lanes: %d is not the number of the lane sections, %d; they suffice", conf->lanes,
				  scan->lane_count);
	if (scan->lane_count && !*line) {
		conf->lanes = scan->lane_count;
		*line = scan->lanes[0].line;
	}
	return 0;
}

/* What needs the whole file: rows that name each other, and what must not be missing. */
static int check(const struct reading *reading, const struct conf_scan *scan)
{
	struct conf *conf = reading->conf;

	for (int i = 0; i < scan->class_count; i++) {
		long number = conf_class_find(conf, scan->classes[i].name) - conf->classes;
		if (check_row(reading, &conf->classes[number], scan->classes[i].line) < 0)
			return -1;
	}
	for (int i = 0; reading->known_classes == 0 && conf_root_keys[i].name[0]; i++) {
		if (reading->lines->root[i] == 0)
			return conf_error(reading->err, reading->file, 1, "key '%s' is missing",
					  conf_root_keys[i].name);
	}
	if (check_lanes(reading, scan) < 0)
		return -1;
	if (check_default_class(reading, "run-class", conf->run_class) < 0)
		return -1;
	return check_default_class(reading, "submit-class", conf->submit_class);
}

int conf_file_parse(const char *file, char *text, size_t size, struct conf *conf, struct conf_lines *lines,
		    struct err *err)
{
	struct conf_scan scan;
	struct reading reading = {
		.file = file, .conf = conf, .lines = lines, .known_classes = conf->class_count, .err = err
	};

	memset(lines, 0, sizeof *lines);
	if (conf_scan(file, text, size, &scan, err) < 0 || add_rows(&reading, &scan) < 0)
		return -1;
	add_lanes(&reading, &scan);
	/* An empty buffer is an error to some versions of the library, or of fmemopen(3) under it. */
	if (text[strspn(text, " \t\n")] != '\0' && run_libconfuse(&reading, text) < 0)
		return -1;
	return check(&reading, &scan);
}
