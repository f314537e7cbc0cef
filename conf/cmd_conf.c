/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * `pgpu conf`: what it prints is a pgpu.conf that reads back as the same configuration, also under another built-in
 * table, so everything that holds a value is printed, and what was set to nothing is printed too.
 */
#include "base/buf.h"
#include "base/err.h"
#include "base/print.h"
#include "base/say.h"
#include "conf.h"
#include "conf_file.h"
#include "conf_keys.h"
#include "conf_onend.h"
#include "runner/commands.h"
#include "runner/options.h"

static const char usage[] = "usage: pgpu conf [--check FILE]\n"
			    "Prints the configuration in force, each value with where it comes from.\n"
			    "\n"
			    "  --check FILE   read FILE, say whether it is right, and change nothing\n"
			    "  --help         print this\n";

enum { COMMENT_COLUMN = 40 };

/* `class_name` is "" outside of a class. */
static void print_keys(const struct conf *conf, const struct conf_key keys[], const char *class_name, const void *row,
		       const int lines[], const char *indent, struct buf *buf)
{
	for (int i = 0; keys[i].name[0]; i++) {
		size_t start = buf->size;

		/* A root key always stands: 0 is its value, and of a row it is the general one. */
		if (keys != conf_root_keys && !keys[i].needed && !lines[i] && !conf_key_given(&keys[i], row))
			continue;
		buf_printf(buf, "%s%s = ", indent, keys[i].name);
		if (keys[i].kind == CONF_COMMAND)
			conf_onend_print(conf, class_name, buf);
		else
			conf_key_print(&keys[i], row, buf);
		int used = (int)(buf->size - start);
		buf_printf(buf, "%*s# ", used < COMMENT_COLUMN ? COMMENT_COLUMN - used : 1, "");
		if (lines[i])
			buf_printf(buf, "%s:%d\n", conf->source, lines[i]);
		else
			buf_puts(buf, "built-in\n");
	}
}

static int print_conf(void)
{
	struct conf conf;
	struct conf_lines lines;
	struct err err = ERR_NONE;
	SCOPE_BUF struct buf buf = BUF_EMPTY;

	if (conf_load_lines(&conf, &lines, &err) < 0)
		return say_err(&err);
	buf_printf(&buf, "# from: %s\n", conf.source);
	print_keys(&conf, conf_root_keys, "", &conf, lines.root, "", &buf);
	for (int i = 0; i < conf.bound_count; i++) {
		buf_printf(&buf, "\nlane \"%s\" {\n", conf.bound[i].name);
		print_keys(&conf, conf_lane_keys, "", &conf.bound[i], lines.bound[i], "\t", &buf);
		buf_puts(&buf, "}\n");
	}
	for (int i = 0; i < conf.class_count; i++) {
		buf_printf(&buf, "\nclass \"%s\" {\n", conf.classes[i].name);
		print_keys(&conf, conf_class_keys, conf.classes[i].name, &conf.classes[i], lines.classes[i], "\t",
			   &buf);
		buf_puts(&buf, "}\n");
	}
	return print_buf(&buf);
}

static int check_file(const char *path)
{
	struct conf conf;
	struct err err = ERR_NONE;
	SCOPE_BUF struct buf buf = BUF_EMPTY;

	if (conf_load_file(path, &conf, &err) < 0)
		return say_err(&err);
	buf_printf(&buf, "%s: ok\n", path);
	return print_buf(&buf);
}

int cmd_conf(int argc, char **argv)
{
	static const struct option long_options[] = { { "check", OPTION_VALUE, 'c' },
						      { "help", OPTION_FLAG, 'h' },
						      { .name = "" } };
	struct options options = OPTIONS("conf", argc, argv, "+", long_options);
	struct err err = ERR_NONE;
	const char *file = NULL;

	for (int option; (option = options_next(&options, &err)) != 0;) {
		if (option == 'h')
			return print_usage(usage);
		if (option < 0)
			return say_err(&err);
		file = options.value;
	}
	if (options_end(&options, &err) < 0 ||
	    (file && !*file && err_set(&err, EXIT_USAGE, "conf: --check needs a file") < 0))
		return say_err(&err);
	return file ? check_file(file) : print_conf();
}
