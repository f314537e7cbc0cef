/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Whether a job can have the card that it asks for; pgpu-job(5), `card`. */
#ifndef PGPU_RUNNER_CARD_H
#define PGPU_RUNNER_CARD_H

#include "conf/conf.h"

/*
 * An error, exit code 2, that names the cards there are when `card` is none of them, or those that lanes are bound to
 * when none is to it. "": any; nothing is looked at then.
 */
int card_check(const struct conf *conf, const char *card, struct err *err);

#endif
