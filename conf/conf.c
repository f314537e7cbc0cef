/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "conf.h"

#include <string.h>
#include <sys/sysinfo.h>

#include "base/clock.h"
#include "base/text.h"

int conf_resident(const struct conf *conf)
{
	return conf->resident ? conf->resident : conf->lanes + 1;
}

uint64_t conf_ram(const struct conf *conf)
{
	struct sysinfo info;

	if (conf->ram_bytes)
		return conf->ram_bytes;
	/* sysinfo(2) calls MemTotal totalram. In whole pages: an odd number of bytes has no spelling that a record
	 * could hold. */
	if (sysinfo(&info) < 0 || info.totalram == 0)
		return UINT64_MAX;
	return (uint64_t)info.totalram * info.mem_unit / 10 * 9 / 4096 * 4096;
}

const char *conf_lane_card(const struct conf *conf, int lane)
{
	return lane >= 0 && lane < conf->bound_count ? conf->bound[lane].card : "";
}

bool conf_binds(const struct conf *conf, const char *card)
{
	for (int i = 0; i < conf->bound_count; i++) {
		if (strcmp(conf->bound[i].card, card) == 0)
			return true;
	}
	return false;
}

bool conf_is_drained(const struct conf *conf)
{
	int64_t until_s = conf->drained_until_s;

	return until_s && (until_s == CONF_NEVER || clock_wall_ns() < until_s * NS_PER_S);
}

int conf_pause_after(const struct conf *conf, const struct conf_class *class)
{
	return class->pause_after > 0 ? class->pause_after : class->pause_after < 0 ? 0 : conf->pause_after;
}

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
	const struct conf_class *found = conf_class_find(conf, name);
	const char *names[CONF_CLASSES + 1];
	char shown[80], hint[64];

	if (found)
		return found;
	conf_class_names(conf, names);
	text_hint(name, names, hint, sizeof hint);
	text_show(name, shown, sizeof shown);
	err_set(err, EXIT_USAGE, "unknown class '%s'%s", shown, hint);
	return NULL;
}
