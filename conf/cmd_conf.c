/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * `pgpu conf`: what it prints is a pgpu.conf that reads back as the same configuration, also under another built-in
 * table, so everything that holds a value is printed, and what was set to nothing is printed too.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/say.h"
#include "base/text.h"
#include "conf.h"
#include "conf_file.h"
#include "conf_keys.h"
#include "runner/commands.h"

static const char usage[] = "usage: pgpu conf [--check FILE]\n"
			    "Prints the configuration in force, each value with where it comes from.\n"
			    "\n"
			    "  --check FILE   read FILE, say whether it is right, and change nothing\n"
			    "  --help         print this\n";

enum { COMMENT_COLUMN = 40 };

static void print_keys(const struct conf_key keys[], const void *row, const int lines[], const char *indent,
		       const char *source, struct buf *buf)
{
	for (int i = 0; keys[i].name; i++) {
		size_t start = buf->size;

		if (!keys[i].needed && !lines[i] && !conf_key_given(&keys[i], row))
			continue;
		buf_printf(buf, "%s%s = ", indent, keys[i].name);
		conf_key_print(&keys[i], row, buf);
		int used = (int)(buf->size - start);
		buf_printf(buf, "%*s# ", used < COMMENT_COLUMN ? COMMENT_COLUMN - used : 1, "");
		if (lines[i])
			buf_printf(buf, "%s:%d\n", source, lines[i]);
		else
			buf_puts(buf, "built-in\n");
	}
}

static int finish(const struct buf *buf)
{
	struct err err = ERR_NONE;

	if (buf_print(buf) == 0)
		return EXIT_OK;
	if (errno == EPIPE)
		return EXIT_FAILED;
	err_sys(&err, "cannot write to standard output");
	return say_err(&err);
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
	print_keys(conf_root_keys, &conf, lines.root, "", conf.source, &buf);
	for (int i = 0; i < conf.class_count; i++) {
		buf_printf(&buf, "\nclass \"%s\" {\n", conf.classes[i].name);
		print_keys(conf_class_keys, &conf.classes[i], lines.classes[i], "\t", conf.source, &buf);
		buf_puts(&buf, "}\n");
	}
	return finish(&buf);
}

static int check_file(const char *path)
{
	struct conf conf;
	struct err err = ERR_NONE;
	SCOPE_BUF struct buf buf = BUF_EMPTY;

	if (conf_load_file(path, &conf, &err) < 0)
		return say_err(&err);
	buf_printf(&buf, "%s: ok\n", path);
	return finish(&buf);
}

static int refuse_word(const char *word)
{
	static const char *const options[] = { "--check", "--help", NULL };
	struct err err = ERR_NONE;
	char hint[64];

	text_hint(word, options, hint, sizeof hint);
	if (word[0] == '-')
		err_set(&err, EXIT_USAGE, "conf: unknown option '%.100s'%s", word, hint);
	else
		err_set(&err, EXIT_USAGE, "conf: unexpected argument '%.100s'; a file is checked with --check FILE",
			word);
	return say_err(&err);
}

int cmd_conf(int argc, char **argv)
{
	static const char check[] = "--check";
	const char *word = argc > 1 ? argv[1] : NULL, *file = NULL;
	int used = 2;

	if (!word)
		return print_conf();
	if (strcmp(word, "--help") == 0) {
		SCOPE_BUF struct buf buf = BUF_EMPTY;
		buf_puts(&buf, usage);
		return finish(&buf);
	}
	if (strcmp(word, check) == 0 && argc > 2)
		file = argv[used++];
	else if (strncmp(word, "--check=", sizeof check) == 0)
		file = word + sizeof check;
	else if (strcmp(word, check) != 0)
		return refuse_word(word);
	if (argc > used)
		return refuse_word(argv[used]);
	if (!file || *file == '\0') {
		struct err err = ERR_NONE;
		err_set(&err, EXIT_USAGE, "conf: --check needs a file");
		return say_err(&err);
	}
	return check_file(file);
}
