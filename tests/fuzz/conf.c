/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A pgpu.conf, from the file to the queue's copy: conf_load_file() with all that it checks, and conf_copy_write(),
 * which has to give back what it was given. The same bytes with the right sum are a copy that somebody has edited.
 */
#include <string.h>
#include <unistd.h>

#include "conf/base/file.h"
#include "conf/base/scope.h"
#include "conf/base/words.h"
#include "conf/conf.h"
#include "conf/conf_builtin.h"
#include "fuzz.h"

static int folder;
static struct conf read_conf, copy;

static char *read_copy(size_t *ret_size)
{
	char *text;

	HOLDS(file_read(folder, "conf", 1 << 20, &text, ret_size, NULL) == 0);
	return text;
}

static void copies_are_the_same(const struct conf *conf)
{
	struct err err = ERR_NONE;
	size_t size, again_size;

	HOLDS(conf_copy_write(folder, conf, &err) == 0);
	char *text = read_copy(&size);
	memset(&copy, 0, sizeof copy);
	if (conf_copy_read(folder, &copy, &err) < 0) {
		fprintf(stderr, "%s\n%s\n", err.text, text);
		HOLDS(!"the copy is read");
	}
	HOLDS(conf_copy_write(folder, &copy, &err) == 0);
	char *again = read_copy(&again_size);
	HOLDS(size == again_size && memcmp(text, again, size) == 0);
	free(text);
	free(again);
}

static void use(const struct conf *conf)
{
	const char *names[CONF_CLASSES + 1];
	char **words = NULL;

	conf_class_names(conf, names);
	for (int i = 0; names[i]; i++) {
		HOLDS(conf_class_find(conf, names[i]));
		HOLDS(conf_on_end(conf, names[i], &words) == 0);
		words_free(words);
	}
	conf_ram(conf);
	HOLDS(conf_resident(conf) > 0 && conf->lanes > 0 && conf->lanes <= CONF_LANES);
}

static void as_copy(const uint8_t *bytes, size_t size)
{
	char *text = fuzz_exact(bytes, size), sum[32] = "sum ";
	size_t room = size + 32;

	text = realloc(text, room);
	HOLDS(text);
	char *end = conf_sum_put(sum + 4, conf_sum(text, size));
	*end++ = '\n';
	memcpy(text + size, sum, (size_t)(end - sum));
	fuzz_put(folder, "conf", text, size + (size_t)(end - sum));
	memset(&copy, 0, sizeof copy);
	if (conf_copy_read(folder, &copy, NULL) == 0)
		use(&copy);
	free(text);
}

int fuzz_one(const uint8_t *bytes, size_t size)
{
	struct err err = ERR_NONE;
	char path[128];

	if (!folder)
		folder = fuzz_fresh("queue");
	if (size > 10 && memcmp(bytes, "pgpu-conf ", 10) == 0) {
		as_copy(bytes, size);
		return 0;
	}
	snprintf(path, sizeof path, "%s/queue/pgpu.conf", fuzz_folder());
	fuzz_put(folder, "pgpu.conf", bytes, size);
	if (conf_load_file(path, &read_conf, &err) < 0) {
		HOLDS(err.code == EXIT_USAGE && err.text[0] && !strchr(err.text, '\n'));
	} else {
		use(&read_conf);
		copies_are_the_same(&read_conf);
	}
	return 0;
}
