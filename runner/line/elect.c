/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "elect.h"

#include <stdlib.h>
#include <string.h>

#include "conf/base/clock.h"
#include "conf/base/scope.h"

struct candidate *candidates_add(struct candidates *candidates)
{
	if (candidates->count == candidates->room) {
		size_t room = candidates->room ? candidates->room * 2 : 2;
		struct candidate *list = realloc(candidates->list, room * sizeof *list);
		if (!list)
			return NULL;
		candidates->list = list;
		candidates->room = room;
	}
	struct candidate *added = &candidates->list[candidates->count++];
	memset(added, 0, sizeof *added);
	return added;
}

void candidates_free(struct candidates *candidates)
{
	free(candidates->list);
	*candidates = (struct candidates){ 0 };
}

const struct conf_class *elect_rank(const struct conf *conf, const struct conf_class *class, int64_t waited_ns,
				    int64_t ran_ns, bool turned)
{
	bool aged = (class->turns_as_after_wait_ns && waited_ns >= class->turns_as_after_wait_ns) ||
		    (class->turns_as_after_run_ns && ran_ns >= class->turns_as_after_run_ns) ||
		    (class->turns_as_without_turn_ns && !turned && ran_ns >= class->turns_as_without_turn_ns);

	if (!aged || !class->turns_as[0])
		return class;
	const struct conf_class *as = conf_class_find(conf, class->turns_as);
	return as ? as : class;
}

void elect_rate(const struct conf *conf, struct candidate *candidate)
{
	const struct conf_class *class = conf_class_find(conf, candidate->class_name);

	candidate->rank = ELECT_LAST;
	if (class)
		candidate->rank =
			elect_rank(conf, class, candidate->waited_ns, candidate->ran_ns, candidate->turned)->rank;
}

static int compare(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

static uint64_t arrival(const struct candidate *candidate)
{
	return candidate->arrived ? candidate->arrived : candidate->id;
}

/* All that comes before arrival, were their sessions served then. */
static int compare_claims_at(const struct candidate *a, uint64_t a_served, const struct candidate *b, uint64_t b_served)
{
	if (a->barred != b->barred)
		return a->barred ? 1 : -1;
	if (a->rank != b->rank)
		return a->rank < b->rank ? -1 : 1;
	int order = compare(a_served, b_served);
	return order ? order : compare(a->job_served, b->job_served);
}

static int compare_claims(const struct candidate *a, const struct candidate *b)
{
	return compare_claims_at(a, a->session_served, b, b->session_served);
}

static int compare_at(const struct candidate *a, uint64_t a_served, const struct candidate *b, uint64_t b_served)
{
	int order = compare_claims_at(a, a_served, b, b_served);

	if (order == 0)
		order = compare(arrival(a), arrival(b));
	return order ? order : compare(a->id, b->id);
}

int elect_compare(const struct candidate *a, const struct candidate *b)
{
	return compare_at(a, a->session_served, b, b->session_served);
}

static bool same_pile(const struct candidate *a, const struct candidate *b)
{
	return a->barred == b->barred && a->rank == b->rank && strcmp(a->session, b->session) == 0 &&
	       strcmp(a->class_name, b->class_name) == 0;
}

/* The order inside a pile. */
static int compare_in_pile(const struct candidate *a, const struct candidate *b)
{
	int order = compare(a->job_served, b->job_served);

	if (order == 0 && a->nice != b->nice)
		order = a->nice < b->nice ? -1 : 1;
	return order ? order : compare(a->id, b->id);
}

static bool any_nice(const struct candidates *candidates)
{
	for (size_t i = 0; i < candidates->count; i++) {
		if (candidates->list[i].nice)
			return true;
	}
	return false;
}

/* Whether it is the first of its pile; `*arrived` gets that of the one who came first there. */
static bool is_top(const struct candidates *candidates, const struct candidate *one,
		   bool (*may)(const struct candidate *candidate), uint64_t *arrived)
{
	for (size_t i = 0; i < candidates->count; i++) {
		const struct candidate *other = &candidates->list[i];
		if (other == one || !may(other) || !same_pile(other, one))
			continue;
		if (compare_in_pile(other, one) < 0)
			return false;
		if (other->job_served == one->job_served && arrival(other) < *arrived)
			*arrived = arrival(other);
	}
	return true;
}

/* The first of those that may. */
static struct candidate *first_of(const struct candidates *candidates, bool (*may)(const struct candidate *candidate))
{
	bool nice = any_nice(candidates);
	struct candidate *best = NULL;
	uint64_t best_arrived = 0;

	for (size_t i = 0; i < candidates->count; i++) {
		struct candidate *next = &candidates->list[i];
		if (!may(next))
			continue;
		int order = best ? compare_claims(next, best) : -1;
		uint64_t arrived = arrival(next);
		if (order > 0 || (nice && !is_top(candidates, next, may, &arrived)))
			continue;
		if (order < 0 || arrived < best_arrived || (arrived == best_arrived && next->id < best->id)) {
			best = next;
			best_arrived = arrived;
		}
	}
	return best;
}

static bool competes(const struct candidate *candidate)
{
	return !candidate->barred && !candidate->no_room;
}

static bool has_begun(const struct candidate *candidate)
{
	return !candidate->barred && candidate->begun;
}

static bool has_not_begun(const struct candidate *candidate)
{
	return !candidate->barred && !candidate->begun;
}

struct candidate *elect(const struct candidates *candidates)
{
	return first_of(candidates, competes);
}

bool elect_has_room(const struct conf *conf, const struct load *load, const struct candidate *candidate)
{
	uint64_t bytes = load->running_bytes + load->frozen_bytes + candidate->reserved_bytes;

	if (candidate->begun || load->running + load->frozen == 0)
		return true;
	return load->running + load->frozen < conf_resident(conf) && (bytes == 0 || bytes <= conf_ram(conf));
}

static bool lane_fits(const struct conf *conf, const char *lane_card, const struct candidate *candidate)
{
	return !lane_card || !*lane_card || !candidate->card[0] || strcmp(lane_card, candidate->card) == 0 ||
	       (candidate->begun && !conf_binds(conf, candidate->card));
}

bool elect_fits(const struct conf *conf, const struct load *load, const struct candidate *candidate)
{
	return lane_fits(conf, load->lane_card, candidate);
}

bool elect_waits_for_card(const struct conf *conf, const struct load *load, const struct candidate *candidate)
{
	bool other = false;

	for (int lane = 0; candidate->card[0] && lane < conf->bound_count; lane++) {
		bool fits = lane_fits(conf, conf->bound[lane].card, candidate);
		if (fits && !(load->taken >> lane & 1))
			return false;
		other |= !fits;
	}
	return other;
}

const struct card_room *elect_room(const struct load *load, const struct candidate *candidate)
{
	const char *card = load->lane_card && *load->lane_card ? load->lane_card : candidate->card;

	if (!*card || !load->rooms)
		return load->card.known ? &load->card : NULL;
	for (int i = 0; i < load->room_count; i++) {
		if (strcmp(load->rooms[i].card, card) == 0)
			return load->rooms[i].known ? &load->rooms[i] : NULL;
	}
	return NULL;
}

bool elect_has_vram(const struct load *load, const struct candidate *candidate)
{
	const struct card_room *room = candidate->begun || !candidate->vram_bytes ? NULL : elect_room(load, candidate);

	return !room || candidate->vram_bytes <= room->free_bytes;
}

bool elect_has_vram_anywhere(const struct conf *conf, const struct load *load, const struct candidate *candidate)
{
	struct load there = *load;
	bool any = false;

	for (int lane = 0; lane < conf->bound_count; lane++) {
		there.lane_card = conf->bound[lane].card;
		if (load->taken >> lane & 1 || !elect_fits(conf, &there, candidate))
			continue;
		any = true;
		if (elect_has_vram(&there, candidate))
			return true;
	}
	/* Without a lane it waits for that first. */
	return conf->bound_count ? !any : elect_has_vram(load, candidate);
}

struct candidate *elect_first(const struct candidates *candidates, bool begun)
{
	return first_of(candidates, begun ? has_begun : has_not_begun);
}

/* The first frozen job that may go on in the lane. */
static struct candidate *first_begun(const struct conf *conf, const struct load *load,
				     const struct candidates *candidates)
{
	struct candidate *best = NULL;

	for (size_t i = 0; i < candidates->count; i++) {
		struct candidate *next = &candidates->list[i];
		if (!next->barred && next->begun && elect_fits(conf, load, next) &&
		    (!best || elect_compare(next, best) < 0))
			best = next;
	}
	return best;
}

/* Whether our own jobs hold what the patient one needs; those that are frozen only end when they run. */
static bool is_kept_for(const struct conf *conf, const struct load *load, const struct candidate *patient,
			const struct candidates *candidates, struct candidate **ret_instead)
{
	const struct card_room *card = elect_room(load, patient);
	uint64_t needed = patient->vram_bytes - card->free_bytes;

	*ret_instead = NULL;
	if (patient->id != load->card.patient_id || needed > card->own_bytes + card->frozen_bytes)
		return false;
	if (needed > card->own_bytes)
		*ret_instead = first_begun(conf, load, candidates);
	return needed <= card->own_bytes || *ret_instead;
}

struct candidate *elect_for(const struct conf *conf, const struct load *load, struct candidates *candidates)
{
	struct candidate *best, *instead;

	while ((best = elect(candidates))) {
		bool fits = elect_fits(conf, load, best);
		/* NOLINTNEXTLINE(bugprone-branch-clone): the order of the questions is the rule */
		if (!fits && elect_waits_for_card(conf, load, best)) {
			best->no_room = true;
		} else if (!elect_has_room(conf, load, best)) {
			for (size_t i = 0; i < candidates->count; i++)
				candidates->list[i].no_room |= !candidates->list[i].begun;
		} else if (!fits) {
			best->no_room = true;
		} else if (elect_has_vram(load, best)) {
			return best;
		} else if (is_kept_for(conf, load, best, candidates, &instead)) {
			return instead;
		} else {
			best->no_room = true;
		}
	}
	return NULL;
}

const char *const waits_for_names[WAITS] = {
	[WAITS_LANE] = "lane",	 [WAITS_HELD] = "held",	  [WAITS_AFTER] = "after",     [WAITS_BEGIN] = "begin",
	[WAITS_HOURS] = "hours", [WAITS_ARRAY] = "array", [WAITS_DRAINED] = "drained", [WAITS_MEMORY] = "memory",
	[WAITS_VRAM] = "vram",	 [WAITS_CARD] = "card",	  [WAITS_STOPPED] = "stopped", [WAITS_PAUSED] = "paused",
	[WAITS_RETRY] = "retry",
};

void elect_bar(struct candidate *candidate, enum waits_for gate)
{
	if (candidate->barred)
		return;
	candidate->barred = true;
	candidate->gate = gate;
}

static void note_change(int64_t at_wall_ns, int64_t *change_wall_ns)
{
	if (at_wall_ns && (*change_wall_ns == 0 || at_wall_ns < *change_wall_ns))
		*change_wall_ns = at_wall_ns;
}

void elect_bar_by_time(const struct conf *conf, struct candidate *candidate, int64_t now_wall_ns,
		       int64_t *change_wall_ns)
{
	const struct conf_class *class;
	int64_t change_ns;

	if (candidate->barred)
		return;
	if (!candidate->begun && conf_is_drained(conf)) {
		elect_bar(candidate, WAITS_DRAINED);
		if (conf->drained_until_s != CONF_NEVER)
			note_change(conf->drained_until_s * NS_PER_S, change_wall_ns);
		return;
	}
	class = conf_class_find(conf, candidate->class_name);
	if (!class || !class->hours[0] || (candidate->begun && !class->freezes_outside))
		return;
	bool open = hours_open(class->hours, now_wall_ns, &change_ns);
	note_change(change_ns, change_wall_ns);
	if (!open)
		elect_bar(candidate, WAITS_HOURS);
}

enum waits_for elect_why(const struct conf *conf, const struct load *load, int lanes_busy,
			 const struct candidates *candidates, size_t index)
{
	const struct candidate *one = &candidates->list[index];

	if (one->barred)
		return one->gate == WAITS_LANE ? WAITS_STOPPED : one->gate;
	if (elect_waits_for_card(conf, load, one))
		return WAITS_CARD;
	if (one->begun || lanes_busy >= conf->lanes)
		return WAITS_LANE;
	const struct candidate *first = elect_first(candidates, false);
	if (first && !elect_has_room(conf, load, first))
		return WAITS_MEMORY;
	return elect_has_vram_anywhere(conf, load, one) ? WAITS_LANE : WAITS_VRAM;
}

int elect_forced(const struct holder *holders, int count, const struct candidate *best)
{
	int found = -1;

	for (int i = 0; i < count; i++) {
		const struct holder *next = &holders[i];
		if (!next->class || !next->class->turns_forced || next->rank <= best->rank)
			continue;
		if (found < 0 || next->rank > holders[found].rank ||
		    (next->rank == holders[found].rank && next->held_since_ns < holders[found].held_since_ns))
			found = i;
	}
	return found;
}

/* What elect_sequence() deals from: those of one rank, session and class, in their own order. */
struct pile {
	const struct candidate *any; /* of it */
	size_t next, end;	     /* its keys */
	uint64_t served;
};

/* As much of a candidate as its place in its pile depends on: a hundred thousand are sorted by this, not by moving
 * them. */
struct key {
	struct candidate *one;
	size_t pile;
	uint64_t served, id;
	int nice;
};

struct piles {
	struct pile *list;
	size_t count;
	uint32_t *table; /* by hash: number of a pile and 1; 0: free */
	size_t mask;
	size_t last; /* of the candidate before */
};

static uint32_t hash(const char *text, uint32_t start)
{
	for (; *text; text++)
		start = (start ^ (unsigned char)*text) * 16777619U;
	return start;
}

static size_t pile_of(struct piles *piles, const struct candidate *one)
{
	if (piles->count && same_pile(piles->list[piles->last].any, one))
		return piles->last;
	size_t at = hash(one->class_name, hash(one->session, 2166136261U + (uint32_t)one->rank)) & piles->mask;
	while (piles->table[at] && !same_pile(piles->list[piles->table[at] - 1].any, one))
		at = (at + 1) & piles->mask;
	if (!piles->table[at]) {
		piles->list[piles->count] = (struct pile){ .any = one, .served = one->session_served };
		piles->table[at] = (uint32_t)++piles->count;
	}
	return piles->last = piles->table[at] - 1;
}

static int compare_keys(const void *left, const void *right)
{
	const struct key *a = left, *b = right;

	if (a->pile != b->pile)
		return a->pile < b->pile ? -1 : 1;
	int order = compare(a->served, b->served);
	if (order == 0 && a->nice != b->nice)
		order = a->nice < b->nice ? -1 : 1;
	return order ? order : compare(a->id, b->id);
}

static void sort_keys(struct piles *piles, struct key *keys, struct candidate *list, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct candidate *one = &list[i];
		keys[i] = (struct key){ one, pile_of(piles, one), one->job_served, one->id, one->nice };
	}
	qsort(keys, count, sizeof *keys, compare_keys);
	/* Who is on top of what is left of a pile stands for all of it. */
	for (size_t i = count; i-- > 0;) {
		struct pile *pile = &piles->list[keys[i].pile];
		bool last_one =
			i + 1 == count || keys[i].pile != keys[i + 1].pile || keys[i].served != keys[i + 1].served;
		pile->next = i;
		pile->end = pile->end ? pile->end : i + 1;
		keys[i].one->arrived = keys[i].id;
		if (!last_one && keys[i + 1].one->arrived < keys[i].id)
			keys[i].one->arrived = keys[i + 1].one->arrived;
	}
}

/* The pile whose top starts next: piles of better rank first, then the session served longest ago. */
static struct pile *best_pile(const struct piles *piles, const struct key *keys)
{
	struct pile *best = NULL;

	for (size_t i = 0; i < piles->count; i++) {
		struct pile *pile = &piles->list[i];
		if (pile->next == pile->end)
			continue;
		if (!best || compare_at(keys[pile->next].one, pile->served, keys[best->next].one, best->served) < 0)
			best = pile;
	}
	return best;
}

static void deal(struct piles *piles, const struct key *keys, struct candidate *sorted, uint64_t last)
{
	for (struct pile *pile; (pile = best_pile(piles, keys)); sorted++) {
		*sorted = *keys[pile->next++].one;
		last++;
		for (size_t i = 0; i < piles->count; i++) {
			if (strcmp(piles->list[i].any->session, sorted->session) == 0)
				piles->list[i].served = last;
		}
	}
}

int elect_sequence(struct candidates *candidates, uint64_t last)
{
	size_t count = candidates->count, slots = 4;

	if (count == 0)
		return 0;
	while (slots < 2 * count)
		slots *= 2;
	SCOPE_FREE struct candidate *sorted = malloc(count * sizeof *sorted);
	SCOPE_FREE struct key *keys = malloc(count * sizeof *keys);
	SCOPE_FREE struct pile *list = malloc(count * sizeof *list);
	SCOPE_FREE uint32_t *table = calloc(slots, sizeof *table);
	if (!sorted || !keys || !list || !table)
		return -1;
	struct piles piles = { .list = list, .table = table, .mask = slots - 1 };
	sort_keys(&piles, keys, candidates->list, count);
	deal(&piles, keys, sorted, last);
	free(candidates->list);
	candidates->list = TAKE(sorted);
	candidates->room = count;
	return 0;
}
