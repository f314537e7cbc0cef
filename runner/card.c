/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "card.h"

#include <stdlib.h>
#include <string.h>

#include "conf/base/fmt.h"
#include "conf/base/scope.h"
#include "runner/cell/card_vars.h"

enum { LIST = 256 };

static void add(char list[LIST], const char *card)
{
	size_t used = strlen(list);

	fmt(list + used, LIST - used, "%s%s", used ? ", " : "", card);
}

static int refuse_unknown(const struct card_list *cards, const char *card, struct err *err)
{
	char list[LIST] = "";

	for (int i = 0; i < cards->count; i++)
		add(list, cards->list[i].card);
	if (!list[0])
		return err_set(err, EXIT_USAGE, "card: there is no card %s, nor any other", card);
	return err_set(err, EXIT_USAGE, "card: there is no card %s; there %s %s", card, cards->count > 1 ? "are" : "is",
		       list);
}

static int refuse_unbound(const struct conf *conf, const char *card, struct err *err)
{
	char list[LIST] = "";

	for (int i = 0; i < conf->bound_count; i++) {
		if (!strstr(list, conf->bound[i].card))
			add(list, conf->bound[i].card);
	}
	return err_set(err, EXIT_USAGE, "card: no lane is bound to card %s; they are to %s", card, list);
}

int card_check(const struct conf *conf, const char *card, struct err *err)
{
	SCOPE_FREE struct card_list *cards = card[0] ? malloc(sizeof *cards) : NULL;

	if (!card[0])
		return 0;
	if (!cards)
		return err_sys(err, "cannot look at the cards");
	card_list_read(cards);
	int at = 0;
	while (at < cards->count && strcmp(cards->list[at].card, card) != 0)
		at++;
	if (at == cards->count)
		return refuse_unknown(cards, card, err);
	return conf->bound_count && !conf_binds(conf, card) ? refuse_unbound(conf, card, err) : 0;
}
