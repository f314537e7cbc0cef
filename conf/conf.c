/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "conf.h"

#include <string.h>

#include "conf/base/text.h"

const struct conf_class *conf_class_find(const struct conf *conf, const char *name)
{
	for (int i = 0; i < conf->class_count; i++) {
		if (strcmp(conf->classes[i].name, name) == 0)
			return &conf->classes[i];
	}
	return NULL;
}

void conf_class_names(const struct conf *conf, const char *names[CONF_CLASSES + 1])
{
	for (int i = 0; i < conf->class_count; i++)
		names[i] = conf->classes[i].name;
	names[conf->class_count] = NULL;
}

const struct conf_class *conf_class_need(const struct conf *conf, const char *name, struct err *err)
{
	const struct conf_class *class = conf_class_find(conf, name);
	const char *names[CONF_CLASSES + 1];
	char hint[64];

	if (class)
		return class;
	conf_class_names(conf, names);
	text_hint(name, names, hint, sizeof hint);
	err_set(err, EXIT_USAGE, "unknown class '%.64s'%s", name, hint);
	return NULL;
}
