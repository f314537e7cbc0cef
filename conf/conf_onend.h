/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * `on-end`, of pgpu.conf and of its classes: a command as a list of words. They are the one value of the configuration
 * that has no size of its own, and that is needed at a submit alone, so they lie behind everything else in struct conf,
 * as the lines that the queue's copy has of them:
 *
 *     on-end CLASS WORD WORD...     CLASS empty: the general one; a control byte (CONF_WORD_END) in front of each word
 *
 * A line without words is a class without a command, whatever the general one is.
 */
#ifndef PGPU_CONF_ONEND_H
#define PGPU_CONF_ONEND_H

#include "base/buf.h"
#include "conf.h"

#define CONF_WORD_END '\x1f'
/* Stands for a double quote on the way through libconfuse. */
#define CONF_WORD_QUOTE '\x1e'

/* Takes over what conf_scan() made of a list: its words with CONF_WORD_END in between, "" for none. "": the general
 * one. The error is the reason alone, exit code 2. */
int conf_onend_put(struct conf *conf, const char *class_name, const char *words, struct err *err);
/* As pgpu.conf spells it. */
void conf_onend_print(const struct conf *conf, const char *class_name, struct buf *buf);
/* Reads the lines at `*next`, which moves behind them; -1 where one cannot be right. */
int conf_onend_load(struct conf *conf, char **next);

#endif
