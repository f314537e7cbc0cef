/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The gate for the card's memory: a pure function of the lanes and of one look at the card. gate.c has the rest of it
 * as well, which a settle uses (view.h).
 */
#ifndef PGPU_RUNNER_GATE_H
#define PGPU_RUNNER_GATE_H

#include "line.h"
#include "seat.h"

/*
 * What is left of the card: total less used, less what the lanes' jobs asked for and do not hold yet. While a lane is
 * promised to a job that is not on file yet, nothing is. Lanes that are given away just now do not count: `moving` has
 * one for each lane; NULL: none is.
 */
/*
 * The same for each card of the sample into `rooms`; returns how many. A job whose card is not known counts against
 * each.
 */
int gate_rooms(const struct seat_view *seats, int lanes, const struct card_sample *sample, const bool *moving,
	       struct card_room rooms[LINE_CARDS]);
void gate_room(const struct seat_view *seats, int lanes, const struct card_sample *sample, const bool *moving,
	       struct card_room *ret_room);

#endif
