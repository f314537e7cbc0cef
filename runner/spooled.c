/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "spooled.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "conf/base/clock.h"
#include "conf/base/fmt.h"
#include "conf/base/say.h"
#include "conf/base/scope.h"
#include "conf/jobid.h"
#include "runner/cell/cell.h"
#include "runner/cell/stray.h"
#include "runner/depend.h"
#include "runner/eligible.h"
#include "runner/line/seat.h"
#include "runner/line/ticket.h"
#include "runner/onend.h"
#include "runner/supervise.h"
#include "submit/spooltasks.h"

/* To die of SIGKILL; and of who did not, one more try. */
enum { CLEAR_MS = 2000, AGAIN_MS = 100 };
/* A call that ends soon looks no more often than that. */
enum { LONG_LOOKS = 3 };

struct listing {
	struct spooled *spooled;
	struct spool *spool;
	struct candidates *candidates;
	size_t first; /* spooled candidates stand from here on */
	struct eligible eligible;
	struct line_pending pending;
	long seen; /* records */
};

static void fill(struct candidate *one, const struct spool_name *name, const char *file)
{
	one->id = name->id;
	one->spooled = true;
	one->reserved_bytes = name->reserved_bytes;
	one->vram_bytes = name->vram_bytes;
	one->nice = name->nice;
	memcpy(one->card, name->card, sizeof one->card);
	fmt(one->class_name, sizeof one->class_name, "%s", name->class_name);
	fmt(one->session, sizeof one->session, "%s", name->session);
	fmt(one->file, sizeof one->file, "%s", file);
}

/* Each of them: they compete with nobody for a lane. */
static int add_standing(struct listing *listing, const struct spool_name *name, const char *file)
{
	struct candidate *added = candidates_add(listing->candidates);

	if (!added)
		return -1;
	fill(added, name, file);
	added->standing = true;
	added->failures = name->failures;
	added->gate = eligible_judge(&listing->eligible, name);
	return 0;
}

/* Who waits for it is looked at when the lock is dropped. Without memory, after a boot. */
static void note_news(struct spooled *spooled, uint64_t id)
{
	idlist_add(&spooled->news, id);
}

/*
 * An array none of whose tasks waits has no record, and one that is about to get its own has it when the lock is
 * dropped: with the lock, this is what a killed caller left, or a damaged file. Without it, somebody is to look again.
 */
static void finish_other(struct listing *listing, const struct spool_name *name, const char *file, struct tasks *tasks)
{
	struct err ignored = ERR_NONE;

	if (listing->spooled->line->lock_fd < 0) {
		listing->pending.competing++;
		return;
	}
	tasks_close(tasks);
	if (tasks_again(listing->spool, name, file, &ignored) == 0 &&
	    tasks_open(listing->spool, name->id, tasks, &ignored) < 0 && ignored.errnum == ENOENT)
		note_news(listing->spooled, name->id);
}

/* The task of an array that would start now, and how many more could; 0 when none may. */
static uint64_t next_task(struct listing *listing, const struct spool_name *name, const char *file)
{
	SCOPE_TASKS struct tasks tasks = TASKS_NONE;
	struct err ignored = ERR_NONE;
	int running = name->cap ? tasks_running(listing->spool, name->id, &ignored) : 0;

	if (running < 0 || (name->cap && running >= name->cap))
		return 0;
	if (tasks_open(listing->spool, name->id, &tasks, &ignored) < 0 || !tasks_next(&tasks, name->id))
		finish_other(listing, name, file, &tasks);
	if (tasks.fd < 0)
		return 0;
	int32_t waiting = tasks_waiting(&tasks);
	if (name->cap && waiting > name->cap - running)
		waiting = name->cap - running;
	listing->pending.competing += waiting > 0 ? waiting - 1 : 0;
	return tasks_next(&tasks, name->id);
}

/* Keeps the first of each (class, session, card), the least nice and of those the oldest: the only one of them that can
 * be elected now. */
static int add_pending(const struct spool_name *name, const char *file, void *context)
{
	struct listing *listing = context;
	struct candidate *found = NULL;

	if (name->standing)
		return add_standing(listing, name, file);
	enum waits_for gate = eligible_judge(&listing->eligible, name);
	uint64_t id = name->id;
	if (gate == WAITS_LANE && name->array && !(id = next_task(listing, name, file)))
		gate = WAITS_ARRAY;
	listing->pending.timed += gate == WAITS_BEGIN || gate == WAITS_RETRY || gate == WAITS_HOURS;
	if (gate != WAITS_LANE)
		return 0;
	listing->pending.competing++;
	for (size_t i = listing->first; i < listing->candidates->count && !found; i++) {
		struct candidate *one = &listing->candidates->list[i];
		if (!one->standing && strcmp(one->session, name->session) == 0 &&
		    strcmp(one->class_name, name->class_name) == 0 && strcmp(one->card, name->card) == 0)
			found = one;
	}
	if (!found && !(found = candidates_add(listing->candidates)))
		return -1;
	if (!found->id || name->nice < found->nice || (name->nice == found->nice && id < found->id)) {
		fill(found, name, file);
		found->id = id;
	}
	if (!found->arrived || id < found->arrived)
		found->arrived = id;
	return 0;
}

/* How long it has been in line, where its class ages by that: a record is written once, at its submit. */
static void add_waits(struct spooled *spooled, struct listing *listing)
{
	for (size_t i = listing->first; i < listing->candidates->count; i++) {
		struct candidate *one = &listing->candidates->list[i];
		const struct conf_class *class = conf_class_find(&spooled->line->conf, one->class_name);
		int64_t written_ns;
		if (class && class->turns_as_after_wait_ns &&
		    spool_written(spooled->spool, SPOOL_PENDING, one->file, &written_ns) == 0)
			one->waited_ns = clock_wall_ns() - written_ns;
	}
}

/* So many whose names differ in the id alone, of which this is the lowest. */
static int add_pile(const struct spool_name *name, const char *file, size_t count, void *context)
{
	struct listing *listing = context;
	struct line_pending before = listing->pending;
	int result = add_pending(name, file, listing);

	if (listing->pending.competing > before.competing)
		listing->pending.competing += (long)count - 1;
	if (listing->pending.timed > before.timed)
		listing->pending.timed += (long)count - 1;
	return result;
}

static int add_counted(const struct spool_name *name, const char *file, void *context)
{
	struct listing *listing = context;

	listing->seen++;
	return add_pending(name, file, context);
}

static void forget_pendings(struct spooled *spooled)
{
	pendings_free(spooled->pendings);
	spooled->pendings = NULL;
}

/*
 * From memory, where this process has looked at a long line before: 1. What nobody is left in is read in any case,
 * which costs nothing then. 0: the folder is to be read.
 */
static int list_known(struct spooled *spooled, struct listing *listing)
{
	if (!spooled->pendings && spooled->long_looks >= LONG_LOOKS) {
		spooled->pendings = pendings_new(spooled->spool);
		spooled->long_looks = 0;
	}
	if (!spooled->pendings)
		return 0;
	if (!pendings_refresh(spooled->pendings) || pendings_count(spooled->pendings) == 0) {
		forget_pendings(spooled);
		return 0;
	}
	return pendings_each(spooled->pendings, add_pile, listing) < 0 ? -1 : 1;
}

static int list_all(struct spooled *spooled, struct listing *listing, struct err *err)
{
	if (spool_each(spooled->spool, SPOOL_PENDING, add_counted, listing, err) < 0)
		return -1;
	spooled->long_looks = listing->seen >= PENDINGS_MANY ? spooled->long_looks + 1 : 0;
	return 0;
}

static int list_pending(void *context, struct candidates *ret_candidates, struct line_pending *ret_pending,
			struct err *err)
{
	struct spooled *spooled = context;
	struct listing listing = { .spooled = spooled,
				   .spool = spooled->spool,
				   .candidates = ret_candidates,
				   .first = ret_candidates->count,
				   .eligible = eligible_now(&spooled->line->conf) };

	int known = list_known(spooled, &listing);
	if (known < 0)
		return err_sys(err, "cannot read the spool");
	if (known == 0 && list_all(spooled, &listing, err) < 0)
		return -1;
	add_waits(spooled, &listing);
	*ret_pending = listing.pending;
	ret_pending->change_wall_ns = listing.eligible.change_wall_ns;
	return 0;
}

static int stop_at_first(const struct spool_name *name, const char *file, void *context)
{
	(void)file;
	(void)context;
	return !name->held && !name->standing && !name->after;
}

static bool any_pending(void *context)
{
	struct spooled *spooled = context;
	struct err ignored = ERR_NONE;
	int folder = spool_folder(spooled->spool, SPOOL_PENDING_DIR, &ignored);

	if (folder >= 0 && names_still_empty(folder, &spooled->no_pending))
		return false;
	if (spool_each(spooled->spool, SPOOL_PENDING, stop_at_first, NULL, &ignored) != 0)
		return true;
	names_seen_empty(&spooled->no_pending);
	return false;
}

static int parse_winner(const struct candidate *winner, struct spool_name *ret_name, struct err *err)
{
	if (spool_name_parse(winner->file, ret_name) == 0) {
		ret_name->id = winner->id;
		return 0;
	}
	return err_set(err, EXIT_FAILED, "cannot take job %s: its name is damaged", JOBID(winner->id));
}

static int take_pending(void *context, const struct candidate *winner, struct err *err)
{
	struct spooled *spooled = context;
	struct spool_name name;

	if (parse_winner(winner, &name, err) < 0)
		return -1;
	bool array = name.array;
	name.array = false;
	name.cap = 0;
	name.edit = array ? 0 : name.edit;
	int taken = array ? tasks_take(spooled->spool, name.id, winner->file, SPOOL_RUNNING, &name, err)
			  : spool_move(spooled->spool, SPOOL_PENDING, winner->file, SPOOL_RUNNING, &name, err);
	if (taken < (array ? 1 : 0)) {
		/* What is remembered may be why: the next look is at the folder. */
		forget_pendings(spooled);
		return taken < 0 ? -1
				 : err_set(err, EXIT_FAILED, "cannot take job %s: it has been taken", JOBID(name.id));
	}
	/* Orders are for a job that runs: one that lies there is of an earlier start, whose worker died over it. */
	spool_order_done(spooled->spool, name.id);
	spool_name_format(&name, spooled->taken);
	return 0;
}

/* After a boot it counts as started before, too: its name says so before it begins. */
static int serve_pending(void *context, const struct candidate *service, struct err *err)
{
	struct spooled *spooled = context;
	struct spool_name name;

	if (parse_winner(service, &name, err) < 0)
		return -1;
	if (name.restarts < SPOOL_RESTARTS_MAX)
		name.restarts++;
	if (spool_move(spooled->spool, SPOOL_PENDING, service->file, SPOOL_PENDING, &name, err) < 0)
		return -1;
	spool_name_format(&name, spooled->taken);
	return 0;
}

static int describe_pending(void *context, const struct candidate *winner, struct entry *entry, struct err *err)
{
	struct spool_name name;
	(void)context;

	if (parse_winner(winner, &name, err) < 0)
		return -1;
	entry->id = name.id;
	entry->kind = ENTRY_SPOOL;
	entry->restarts = name.restarts;
	entry->name[0] = entry->command[0] = entry->workdir[0] = '\0';
	entry->waited_ns = entry->ran_ns = entry->frozen_ns = 0;
	entry->turned = false;
	entry->held_bytes = 0;
	entry->budget_ns = entry->limit_ns = 0;
	entry->memory_bytes = entry->reserved_bytes = name.reserved_bytes;
	entry->vram_bytes = name.vram_bytes;
	memcpy(entry->card, name.card, sizeof entry->card);
	entry->vram_max_bytes = 0;
	fmt(entry->class_name, sizeof entry->class_name, "%s", name.class_name);
	fmt(entry->session, sizeof entry->session, "%s", name.session);
	return 0;
}

static void keep_first(pid_t pid, void *context)
{
	int *stuck = context;

	*stuck = *stuck ? *stuck : pid;
}

static int not_yet(const struct entry *entry, struct err *err)
{
	return err_set(err, EXIT_FAILED, "cannot end what is left of job %s yet: pid %d", JOBID(entry->id),
		       entry->stuck);
}

/*
 * Its locks are free a moment before the kernel has ended the first process with it, which may not be found (stray.h).
 * Whoever has let its lane go but lives is not waited for any longer.
 */
static void await_owner(const struct entry *entry)
{
	SCOPE_FD int owner = entry->owner.pid == getpid() ? -1 : procid_open(&entry->owner);

	if (owner >= 0)
		poll(&(struct pollfd){ .fd = owner, .events = POLLIN }, 1, AGAIN_MS);
}

/* Kills what is left; a cgroup that is already gone is success. */
static int clear_left(void *context, struct entry *entry, struct err *err)
{
	int patience_ms = entry->stuck ? AGAIN_MS : CLEAR_MS;
	struct cell cell;
	struct err why = ERR_NONE;
	(void)context;

	if (entry->cell[0]) {
		if (cell_open(entry->cell, &cell, &why) < 0)
			return why.errnum == ENOENT || why.errnum == ENODEV ? 0 : err_pass(err, &why);
		cell_kill(&cell);
		bool empty = cell_wait_empty(&cell, patience_ms);
		entry->stuck = 0;
		if (empty)
			cell_remove(&cell);
		else
			cell_each(&cell, keep_first, &entry->stuck);
		cell_close(&cell);
		return empty ? 0 : not_yet(entry, err);
	}
	if (!entry->mark[0])
		return 0;
	await_owner(entry);
	/* A session's number is only trusted while its leader lives: the number of a dead one may be somebody else's by
	 * now. */
	struct stray stray = { .mark = entry->mark };
	if (procid_alive(&entry->main)) {
		stray.first = entry->main;
		stray.session = entry->kind == ENTRY_SPOOL ? entry->main.pid : 0;
	}
	entry->stuck = 0;
	if (stray_kill(&stray, patience_ms))
		return 0;
	stray_each(&stray, keep_first, &entry->stuck);
	return not_yet(entry, err);
}

static void note_row(struct spooled *spooled, const struct entry *entry, enum outcome outcome, int code)
{
	struct history_row *row = malloc(sizeof *row);

	if (!row || spooled->row_count == SPOOLED_ROWS) {
		free(row);
		return;
	}
	row_of_entry(entry, row);
	row->waited_ns = entry->waited_ns;
	if (entry->state == ENTRY_FROZEN)
		row->ran_ns = 0; /* each of its holds has its row */
	else if (entry->since_boot_ns && entry->started_wall_ns)
		row->ran_ns = clock_boot_ns() - entry->since_boot_ns;
	row->outcome = outcome;
	row->exit_code = code;
	spooled->rows[spooled->row_count++] = row;
}

/* Without memory it is not run, as if we had been killed here. */
static void note_end(struct spooled *spooled, const struct spool_name *name)
{
	if (spooled->end_count == spooled->end_room) {
		size_t room = spooled->end_room ? spooled->end_room * 2 : 4;
		struct spool_name *more = realloc(spooled->ends, room * sizeof *more);
		if (!more)
			return;
		spooled->ends = more;
		spooled->end_room = room;
	}
	spooled->ends[spooled->end_count++] = *name;
}

static void start_on_end(struct spooled *spooled)
{
	struct onends ends = { 0 };

	for (size_t i = 0; i < spooled->end_count; i++)
		onend_of(&ends, spooled->spool, &spooled->ends[i]);
	onend_start(&ends);
	spooled->end_count = 0;
}

static bool wants_requeue(struct spooled *spooled, const char *file)
{
	SCOPE_JOB struct job job = JOB_EMPTY;
	struct job_facts facts = { 0 };
	struct err ignored = ERR_NONE;
	bool wanted = spool_read(spooled->spool, SPOOL_RUNNING, file, &job, &facts, &ignored) < 0 || job.requeue;

	job_facts_free(&facts);
	return wanted;
}

/* Cancelled wins over lost; else back in line with one more restart, or the end where the header says so. One that has
 * taken its worker, or the machine, along too often would do so for ever: it is back in line, but held. */
static int give_back(struct spooled *spooled, const struct spool_name *name, const char *file, struct entry *entry,
		     struct err *err)
{
	struct spool_name moved = *name;
	enum spool_state to = SPOOL_ENDED;

	if (spool_ordered(spooled->spool, name->id) != ORDER_NONE) {
		bool back = spool_ordered_back(spooled->spool, name->id);
		moved.outcome = back ? OUTCOME_NONE : OUTCOME_CANCELLED;
		moved.code = EXIT_SIGNAL + 15;
		moved.restarts += back;
		moved.tries = back ? 0 : moved.tries;
		to = back ? SPOOL_PENDING : SPOOL_ENDED;
	} else if (wants_requeue(spooled, file)) {
		int limit = spooled->line->conf.lost_limit;
		moved.restarts++;
		moved.held = limit && moved.restarts - moved.tries >= limit;
		to = SPOOL_PENDING;
	} else {
		moved.outcome = OUTCOME_LOST;
		moved.code = EXIT_BROKEN;
	}
	if (spool_move(spooled->spool, SPOOL_RUNNING, file, to, &moved, err) < 0)
		return err->errnum == ENOENT ? 0 : -1;
	if (to == SPOOL_ENDED)
		note_news(spooled, name->id);
	spool_order_done(spooled->spool, name->id);
	if (to == SPOOL_ENDED)
		note_end(spooled, &moved);
	if (moved.held) {
		char reason[64];
		fmt(reason, sizeof reason, "its worker or the machine died %d times while it ran",
		    moved.restarts - moved.tries);
		spool_reason_write(spooled->spool, name->id, reason);
	}
	entry->kind = ENTRY_SPOOL;
	entry->id = name->id;
	fmt(entry->class_name, sizeof entry->class_name, "%s", name->class_name);
	fmt(entry->session, sizeof entry->session, "%s", name->session);
	note_row(spooled, entry, to == SPOOL_ENDED ? moved.outcome : OUTCOME_LOST,
		 to == SPOOL_ENDED ? moved.code : EXIT_BROKEN);
	spooled->mended++;
	if (spooled->tell)
		say("job %s: its worker was gone; %s", JOBID(name->id),
		    moved.held		  ? "it is held"
		    : to == SPOOL_PENDING ? "back in line"
					  : "it has ended");
	return 0;
}

struct running {
	struct spool_name name;
	char file[256];
};

struct claim {
	struct spooled *spooled;
	const struct entry *left; /* what the dead one left */
};

/* Of a frozen job that `left` says itself we have the ticket. */
static int is_frozen_elsewhere(const struct ticket_name *name, const char *file, void *context)
{
	const struct claim *claim = context;
	struct entry entry;

	return name->id == claim->left->id && ticket_read(claim->spooled->line, file, &entry) &&
	       !procid_equal(&entry.owner, &claim->left->owner);
}

/*
 * A worker that died between its lane's text and the claim left a record that is still pending, and another may have
 * claimed it meanwhile: that one's lane names it too, and is held, or its ticket does.
 */
static int runs_elsewhere(struct spooled *spooled, const struct entry *left, struct err *err)
{
	struct claim claim = { spooled, left };
	struct seat_view *seats;
	int lanes, found = 0;
	int result = seat_read_all(spooled->line, &seats, &lanes, err);

	for (int lane = 0; result == 0 && lane < lanes; lane++) {
		const struct entry *entry = &seats[lane].entry;
		found |= seats[lane].held && entry->id == left->id && entry->kind == ENTRY_SPOOL &&
			 entry->state == ENTRY_RUNNING;
	}
	free(seats);
	if (result < 0 || found)
		return result < 0 ? -1 : 1;
	return ticket_each(spooled->line, is_frozen_elsewhere, &claim, err);
}

/* Its record never left pending/, and that its worker died says nothing against it. 1: it is a standing one. */
static int service_lost(struct spooled *spooled, const struct entry *entry, struct err *err)
{
	struct spool_name name;
	char file[256];
	int found = spool_find_in(spooled->spool, SPOOL_PENDING, entry->id, &name, file, err);

	if (found <= 0 || !name.standing)
		return found < 0 ? -1 : 0;
	bool cancelled = spool_ordered(spooled->spool, name.id) != ORDER_NONE;
	if (cancelled) {
		name.outcome = OUTCOME_CANCELLED;
		name.code = EXIT_SIGNAL + 15;
		if (spool_move(spooled->spool, SPOOL_PENDING, file, SPOOL_ENDED, &name, err) < 0)
			return -1;
		note_news(spooled, name.id);
		spool_order_done(spooled->spool, name.id);
		note_end(spooled, &name);
	}
	/* One that was only about to begin has no row. */
	if (entry->state != ENTRY_GRANTED)
		note_row(spooled, entry, cancelled ? OUTCOME_CANCELLED : OUTCOME_LOST,
			 cancelled ? EXIT_SIGNAL + 15 : EXIT_BROKEN);
	spooled->mended++;
	if (spooled->tell)
		say("job %s: its worker was gone; %s", JOBID(name.id),
		    cancelled ? "it has ended" : "it stands by again");
	return 1;
}

static int job_lost(void *context, const struct entry *entry, struct err *err)
{
	struct spooled *spooled = context;
	struct spool_name name;
	char file[256];
	struct entry copy = *entry;

	if (entry->id == 0)
		return 0;
	if (entry->kind == ENTRY_RUN) {
		bool cancelled = spool_ordered(spooled->spool, entry->id) != ORDER_NONE;
		note_row(spooled, entry, cancelled ? OUTCOME_CANCELLED : OUTCOME_LOST,
			 cancelled ? EXIT_SIGNAL + 15 : EXIT_BROKEN);
		spool_order_done(spooled->spool, entry->id);
		spooled->mended++;
		if (spooled->tell)
			say("job %s: its wrapper was gone; it has ended", JOBID(entry->id));
		return 0;
	}
	int found_standing = service_lost(spooled, entry, err);
	if (found_standing != 0)
		return found_standing < 0 ? -1 : 0;
	int elsewhere = runs_elsewhere(spooled, entry, err);
	if (elsewhere != 0)
		return elsewhere < 0 ? -1 : 0;
	int found = spool_find_in(spooled->spool, SPOOL_RUNNING, entry->id, &name, file, err);
	/* Its end was recorded, and its worker died before it looked who waits for that, and what was ordered. */
	if (found == 0) {
		note_news(spooled, entry->id);
		spool_order_done(spooled->spool, entry->id);
	}
	if (found <= 0)
		return found;
	return give_back(spooled, &name, file, &copy, err);
}

struct collected {
	struct running *list;
	size_t count, room;
};

static int collect(const struct spool_name *name, const char *file, void *context)
{
	struct collected *names = context;

	if (names->count == names->room) {
		size_t room = names->room ? names->room * 2 : 16;
		struct running *list = realloc(names->list, room * sizeof *list);
		if (!list)
			return -1;
		names->list = list;
		names->room = room;
	}
	names->list[names->count].name = *name;
	fmt(names->list[names->count++].file, sizeof names->list[0].file, "%s", file);
	return 0;
}

static int sweep_running(void *context, struct err *err)
{
	struct spooled *spooled = context;
	struct collected names = { 0 };
	int result = spool_each(spooled->spool, SPOOL_RUNNING, collect, &names, err);

	for (size_t i = 0; result == 0 && i < names.count; i++) {
		struct entry entry = { 0 };
		result = give_back(spooled, &names.list[i].name, names.list[i].file, &entry, err);
	}
	free(names.list);
	/* Orders were obeyed above; nobody writes before the sweep is done. */
	if (result == 0)
		spool_sweep(spooled->spool);
	if (result == 0)
		result = tasks_sweep(spooled->spool, err);
	return result;
}

static int repair_log(void *context, struct err *err)
{
	struct spooled *spooled = context;
	struct err why = ERR_NONE;

	if (depend_sweep(spooled->line, spooled->spool, &why) < 0)
		say_err(&why);
	why = ERR_NONE;
	int repaired = history_repair(spooled->spool, spooled->line->conf.log_bytes, &why);

	(void)err;
	if (repaired < 0)
		say_err(&why);
	if (repaired > 0 && spooled->tell)
		say("%d line%s of the log written again", repaired, repaired == 1 ? "" : "s");
	return 0;
}

static int tell_news(struct spooled *spooled, struct err *err)
{
	int result = 0;

	for (size_t i = 0; result >= 0 && i < spooled->news.count; i++)
		result = depend_news(spooled->line, spooled->spool, spooled->news.list[i], err);
	idlist_free(&spooled->news);
	return result < 0 ? -1 : 0;
}

static int sync_all(void *context, struct err *err)
{
	struct spooled *spooled = context;
	int result = spool_sync(spooled->spool, err);

	if (result == 0)
		result = tell_news(spooled, err);

	/* A row that cannot be written is worth a line; it must not stop whoever clears up. */
	for (int i = 0; i < spooled->row_count; i++) {
		struct err why = ERR_NONE;
		if (history_append(spooled->line->queue_fd, spooled->rows[i], spooled->line->conf.log_bytes, &why) < 0)
			say_err(&why);
		free(spooled->rows[i]);
	}
	spooled->row_count = 0;
	start_on_end(spooled);
	return result;
}

void spooled_connect(struct spooled *spooled, struct line *line, struct spool *spool)
{
	*spooled = (struct spooled){ .line = line, .spool = spool };
	line->spool = (struct line_spool){
		.list = list_pending,
		.any = any_pending,
		.describe = describe_pending,
		.serve = serve_pending,
		.take = take_pending,
		.clear = clear_left,
		.lost = job_lost,
		.sweep = sweep_running,
		.repair = repair_log,
		.sync = sync_all,
		.context = spooled,
	};
}

void spooled_close(struct spooled *spooled)
{
	for (int i = 0; i < spooled->row_count; i++)
		free(spooled->rows[i]);
	spooled->row_count = 0;
	idlist_free(&spooled->news);
	forget_pendings(spooled);
	free(spooled->ends);
	spooled->ends = NULL;
	spooled->end_count = spooled->end_room = 0;
}
