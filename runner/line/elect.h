/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Who comes first: a pure function of a snapshot. The order in line is rank, then the session served longest ago, then
 * the job served longest ago, then arrival (the id). Those of one session, class and rank stand in an order of their
 * own, in which the least nice comes before arrival; what the first of them competes with is the arrival of the one who
 * came first, so that nice never changes what others get. `queue` prints what this says and the runner obeys it.
 */
#ifndef PGPU_RUNNER_ELECT_H
#define PGPU_RUNNER_ELECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "conf/conf.h"

/* Why a job waits: the contract's words. */
enum waits_for {
	WAITS_LANE,
	WAITS_HELD,
	WAITS_AFTER,
	WAITS_BEGIN,
	WAITS_RETRY,
	WAITS_HOURS,
	WAITS_ARRAY,
	WAITS_PAUSED,
	WAITS_DRAINED,
	WAITS_MEMORY,
	WAITS_VRAM,
	WAITS_CARD,
	WAITS_STOPPED,
	WAITS
};
extern const char *const waits_for_names[WAITS];

/* Of jobs whose class is no longer in the table: they come last, but they come. */
enum { ELECT_LAST = 100 };

struct candidate {
	uint64_t id;
	bool spooled;
	bool standing;		 /* a service, standing.h: it competes for no lane; so for the next */
	int failures;		 /* in a row; of others: attempts that are retried */
	int rank;		 /* in force: after ageing, see elect_rank() */
	uint64_t session_served; /* sequence number; 0: never */
	uint64_t job_served;
	int64_t waited_ns; /* in line, all its waits added up; only known where its class ages; so for the next two */
	int64_t ran_ns;	   /* in earlier holds of a job that gave its lane up */
	bool turned;	   /* offered its first turn in time */
	bool begun;	   /* frozen: it gave its lane up for others */
	uint64_t reserved_bytes; /* the ceiling that it, or its class, asks for; 0: none */
	int nice;		 /* among those of its session and class */
	uint64_t arrived;    /* the lowest id of those of its session, class and card that it stands for; 0: its own */
	bool barred;	     /* does not compete now: passed over, granted a lane already, or by what follows */
	int64_t begin_s;     /* wall clock; 0: any time; for people */
	enum waits_for gate; /* WAITS_LANE: none; else barred by this */
	bool no_room;	     /* nor now: see elect_has_room() and elect_has_vram() */
	bool forced;	     /* a job is to be frozen for it */
	uint64_t vram_bytes; /* of the card's memory, that is to be free before it starts; 0: any */
	char card[PCI_TEXT]; /* the one it asks for, or, begun, has; "": any */
	char session[65];
	char class_name[33];
	char file[256]; /* name of its ticket or record */
};

struct candidates {
	struct candidate *list;
	size_t count;
	size_t room;
};

/* A card's memory, as far as the gate for it needs to know. */
struct card_room {
	char card[PCI_TEXT];   /* "": not known which */
	bool known;	       /* false: no card, or it does not tell: nobody is held back */
	uint64_t free_bytes;   /* not used, less what running jobs asked for and do not hold yet */
	uint64_t own_bytes;    /* held by our running jobs, or promised to them */
	uint64_t frozen_bytes; /* held by our frozen jobs */
	uint64_t patient_id;   /* a job that has waited for it longer than vram-patience; 0: none; of load.card alone */
};

/*
 * What is in memory beside who is elected. A job with a lane counts the ceiling that was asked for it; one that has but
 * the default ceiling counts nothing, since that is a guard and no plan: two lanes of it are more than most machines
 * have. A frozen job counts what it holds (it asks for no more), or its ceiling where that is not known.
 */
struct load {
	int running;
	int frozen;
	uint64_t running_bytes;
	uint64_t frozen_bytes;
	struct card_room card;	 /* the one with the most free */
	struct card_room *rooms; /* each of them; NULL: it does not matter which, or none was looked at */
	int room_count;
	const char *lane_card; /* which card the lane that is to be given is bound to; NULL or "": none */
	uint64_t taken;	       /* the lanes that are, a bit for each */
};

/*
 * Whether a job that has not begun may be started beside them: at most conf_resident() jobs run or are frozen, and the
 * sum stays within conf_ram(). A begun job is always thawed, and one that is alone is always started.
 */
bool elect_has_room(const struct conf *conf, const struct load *load, const struct candidate *candidate);
/* The first of those that have begun, or have not, whether they find room or not. */
struct candidate *elect_first(const struct candidates *candidates, bool begun);
/*
 * Whether that lane is one for it: its card's, or any where it asks for none. A lane that is bound to none gives a
 * job the card that it asks for. A begun job whose card no lane is bound to any more may go on in any.
 */
bool elect_fits(const struct conf *conf, const struct load *load, const struct candidate *candidate);
/* Whether it waits for a lane of its card, while another's is free, or would be no use to it. */
bool elect_waits_for_card(const struct conf *conf, const struct load *load, const struct candidate *candidate);
/* The memory that counts for it in that lane; NULL: nobody tells, and it is not held back. */
const struct card_room *elect_room(const struct load *load, const struct candidate *candidate);
/* The same wherever it could start now. */
bool elect_has_vram_anywhere(const struct conf *conf, const struct load *load, const struct candidate *candidate);
/* Whether the card has what it asks for; a begun job holds it. */
bool elect_has_vram(const struct load *load, const struct candidate *candidate);
/*
 * elect() among those that may start now in the lane. Who waits for a lane of its card is passed. When the first of
 * them that has not begun finds no room, none of those that have not is started, so that small jobs do not pass a
 * large one for ever. One that waits for VRAM is passed, until it is the patient one: then nobody starts (NULL) where
 * running jobs of ours hold what it needs, and a frozen job goes on where those do. What foreign processes hold is
 * waited for by nobody.
 */
struct candidate *elect_for(const struct conf *conf, const struct load *load, struct candidates *candidates);

/* A zeroed new element at the end, or NULL without memory. */
struct candidate *candidates_add(struct candidates *candidates);
void candidates_free(struct candidates *candidates);

/*
 * The rank that counts for a job of `class`: its own, or that of its `turns-as` class once it has run, waited, or done
 * without a turn for longer than the class says. Returns the class it competes as.
 */
const struct conf_class *elect_rank(const struct conf *conf, const struct conf_class *class, int64_t waited_ns,
				    int64_t ran_ns, bool turned);
/* Fills in candidate->rank by its class, waits and run. A class that is not in the table any more comes last. */
void elect_rate(const struct conf *conf, struct candidate *candidate);

/* -1 when `a` comes before `b`, 1 when after. Ids differ, so it is never 0 for two jobs. Without the order inside one
 * session and class. */
int elect_compare(const struct candidate *a, const struct candidate *b);
/* The first that competes, or NULL. */
struct candidate *elect(const struct candidates *candidates);

/* Bars it by that gate, unless it is barred already. */
void elect_bar(struct candidate *candidate, enum waits_for gate);
/*
 * Bars by `drained` who has not begun, and by its class's hours who has not or whose class freezes outside of them;
 * `*change_wall_ns` becomes the first moment at which the clock changes that, where it is 0 or later.
 */
void elect_bar_by_time(const struct conf *conf, struct candidate *candidate, int64_t now_wall_ns,
		       int64_t *change_wall_ns);
/* What keeps the one at `index` from starting, by the rule that decided it: `lanes_busy` of the lanes are taken. */
enum waits_for elect_why(const struct conf *conf, const struct load *load, int lanes_busy,
			 const struct candidates *candidates, size_t index);

/* A job with a lane, as those see it who might be let in for it. */
struct holder {
	const struct conf_class *class; /* NULL: no longer in the table */
	int rank;			/* in force */
	int64_t held_since_ns;		/* boot clock */
};
/*
 * Which of the running jobs is frozen without asking, so that `best`, the first in line, gets its lane: of a class with
 * turns = "forced" and of a worse rank in force; of several the worst rank, then the one that has its lane the longest.
 * Its number, or -1. It keeps the lane until its class's min-hold is over.
 */
int elect_forced(const struct holder *holders, int count, const struct candidate *best);
/*
 * Sorts all of them into the order in which they would start, one after the other, each start counting as served for
 * its session. `last` is the highest sequence number given out. Barred ones come last. 0, or -1 without memory.
 */
int elect_sequence(struct candidates *candidates, uint64_t last);

#endif
