/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A job while it has, or had, a lane: what supervise.c, aside.c and jobenv.c work on. The functions here are those that
 * a cell answers in one way and its absence in another.
 */
#ifndef PGPU_RUNNER_HOLD_H
#define PGPU_RUNNER_HOLD_H

#include <sys/resource.h>

#include "runner/cell/gpuoom.h"
#include "runner/cell/stall.h"
#include "runner/cell/terminal.h"
#include "runner/cell/times.h"
#include "runner/supervise.h"

enum { HOLD_BEFORE = 32, HOLD_ASKERS = 64 };

/* Connections that wait for the answer to "turn". */
struct askers {
	int fds[HOLD_ASKERS];
	int count;
};

enum stop { STOP_NONE, STOP_LEFT, STOP_LIMIT, STOP_STALLED, STOP_CANCEL, STOP_SIGNAL, STOP_CEILING, STOP_STANDING };

struct hold {
	struct member *member;
	struct task *task;
	const struct cell_place *place;
	char cell_name[96];
	struct cell cell;
	pid_t before
		[HOLD_BEFORE]; /* without a cell: children that we had before the job (`server & exec pgpu run ...`) */
	int before_count;
	struct terminal terminal;
	struct launched first;
	char mark[128]; /* "NAME=VALUE" in the environment of every process of the job */
	char frozen_file[128];
	bool gone;  /* the first process was reaped */
	bool empty; /* and nothing of the job lives: that stays so */
	int status;
	struct rusage usage;
	enum stop stop;
	int stop_signal;    /* of STOP_SIGNAL: what broke off the wait for a lane after fg */
	int64_t kill_at_ns; /* awake; 0: not yet stopping */
	bool killed;
	bool enforced;	     /* the kernel keeps the ceiling of memory */
	int64_t pressed_ns;  /* at its limit: so long it had been held up by that ceiling */
	bool vram_told;	     /* that the job is above its ceiling of the card's memory */
	bool look_at_memory; /* once a second: it does not, or it does not keep the peak */
	int64_t peak_bytes;  /* what was seen then, and of it the shared part; 0: nothing */
	int64_t shared_bytes;
	int64_t began_ns;     /* awake */
	int64_t held_ns;      /* awake: its present hold began */
	bool continued;	      /* a SIGCONT came while it was frozen: there was a Ctrl-Z, which may have met it too */
	int64_t away_ns;      /* frozen since then */
	int64_t logged_ns;    /* run in earlier holds, which have their rows in the log */
	int64_t waited_ns;    /* before this hold */
	int64_t forced_at_ns; /* awake: not to be frozen without asking before that */
	struct askers askers; /* of a turn */
	struct times times;
	int times_done; /* what of it was due already (enum due) */
	struct stall stall;
	int64_t stall_after_ns;
	struct err stalled;  /* what was measured, text "" where it did not stall */
	bool outside;	     /* processes that left the cell are looked at too */
	struct gpu *gpu;     /* gpu.c's; NULL until it is looked at */
	int64_t card_at_ns;  /* awake: when to look at the cards; INT64_MAX: not any more */
	int64_t seen_ns;     /* awake: of the last look at the rules */
	int64_t rules_at_ns; /* awake: when to look at the rules again; INT64_MAX: not by themselves */
	int64_t tick_ns;
	int64_t thaw_at_ns; /* awake: when to thaw it again, which failed; 0: it goes on, or is to be frozen */
};

/* Its present hold began, at that time awake; the line says since when by the other clock. */
void hold_begin_held(struct hold *hold, int64_t now_ns);
/* How long it has run, awake and unfrozen, in all its holds. */
int64_t hold_ran_ns(const struct hold *hold);
/* Finds out where a cell can be made and puts its path on the lane: whoever clears up after us knows it before it is
 * there. */
int hold_name_cell(struct hold *hold, struct err *err);
/* Makes it, or says once a login what is missing without one. */
int hold_make_cell(struct hold *hold, struct err *err);
/* Calls `visit` with each process of the job. */
void hold_each(const struct hold *hold, void (*visit)(pid_t pid, void *context), void *context);
/* Processes of the job that are left. */
int hold_count(const struct hold *hold);
/* True when nothing of the job lives. */
bool hold_empty(struct hold *hold);
void hold_signal(const struct hold *hold, int sig);
/* Bounded; false when it could not be frozen, or thawed, in time (errno ETIMEDOUT), or not be told to. */
bool hold_freeze(const struct hold *hold, bool frozen);
/* It is to go on: where it cannot be told to, that is tried again (hold->thaw_at_ns). */
void hold_thaw(struct hold *hold);
/*
 * SIGKILL to all. What still lives a second later cannot be killed now (it sleeps in the kernel, or is frozen from
 * outside): its pid is put on the lane, which stays taken, and it is tried again every few seconds.
 */
void hold_kill(struct hold *hold);
/* Puts the hold's text on its lane, or on its ticket while it has none. */
int hold_note(struct hold *hold, struct err *err);
/* SIGTERM and SIGCONT to all, thawed; the kill follows after the grace. */
void hold_begin_stop(struct hold *hold, enum stop why);
/* The same with another signal than SIGTERM. */
void hold_stop_by(struct hold *hold, enum stop why, int sig);
/* The same without a grace: killed at once. */
void hold_end_now(struct hold *hold, enum stop why);
/* The first process was reaped: what is left of the job is ended. */
void hold_first_ended(struct hold *hold, int status, const struct rusage *usage);
bool hold_cancelled(const struct hold *hold);

/*
 * aside.c: the job is frozen, its lane goes on, and it stands in line again until it has one; then it is thawed. What
 * ends the wait otherwise (an order, a signal, its death) begins to stop it.
 *
 * hold_stop_aside() is Ctrl-Z of a `run`: we stop ourselves first, and stand in line when we are brought back.
 * hold_turn_aside() is a turn: `*ret_away_ns` is how long the job was away, -1 when it could not be frozen and kept its
 * lane; the job's held_bytes have been measured by then.
 */
int hold_stop_aside(struct hold *hold, struct err *err);
int hold_turn_aside(struct hold *hold, int64_t *ret_away_ns, struct err *err);

/*
 * turn.c: what a job asks for between two passes, and what its class may demand of it.
 *
 * hold_turn_ask() takes over the descriptor of who asked; hold_turn() gives all of them one turn and their answer, or,
 * without any, the turn that the class demands and the line has somebody for (member->yield). hold_turn_at() is when to
 * call it without news, awake; INT64_MAX: no time.
 */
void hold_turn_ask(struct hold *hold, int fd);
int hold_turn(struct hold *hold, struct err *err);
int64_t hold_turn_at(const struct hold *hold);
/* The job is over: whoever still waits for an answer is let go. */
void hold_turn_end(struct hold *hold);

/*
 * ceiling.c: the ceiling of memory. hold_ceiling_begin() once the job has started; hold_ceiling_look() once a second
 * where look_at_memory says so; hold_ceiling_judge() when nothing of the job lives and before its cell is removed:
 * changes a verdict to `oom` by what the kernel counted or the watch did, whatever the first process returned, and says
 * in `why` (code EXIT_OK: it is no error) what happened.
 */
void hold_ceiling_begin(struct hold *hold);
void hold_ceiling_look(struct hold *hold);
void hold_ceiling_judge(struct hold *hold, struct verdict *verdict);

/*
 * rules.c: hold_rules_begin() once the job has started; hold_rules_look() after each sleep and at rules_at_ns says and
 * does what is due.
 */
void hold_rules_begin(struct hold *hold);
void hold_rules_look(struct hold *hold);

/*
 * gpu.c: what the job does on the cards (cell/gpuwatch.h). hold_gpu_begin() once the job has started; hold_gpu_watch()
 * after hold_rules_look() and at card_at_ns looks when it is time, and puts what it sees of a job that holds a card on
 * its lane. hold_gpu_again() looks once more at a job that held one, before its processes are ended.
 *
 * hold_gpu_look() looks now, for the stall rule: what the job has of the cards and how long its engines ran; `outside`:
 * of its processes outside its cell too.
 *
 * hold_gpu_reader() is a child of ours that reads NVIDIA's library, and no job; 0: there is none.
 * hold_gpu_evidence() fills in what the job had of the card that it had most of, when it was last seen whole.
 * hold_gpu_judge() when nothing of the job lives: tells the verdict what was seen, and of a job that had a card who of
 * it, outside its cell, still has; hold_gpu_end() ends it.
 */
void hold_gpu_begin(struct hold *hold);
void hold_gpu_watch(struct hold *hold);
void hold_gpu_again(struct hold *hold);
void hold_gpu_look(struct hold *hold, bool outside, struct activity *now);
pid_t hold_gpu_reader(const struct hold *hold);
void hold_gpu_evidence(const struct hold *hold, struct gpuoom_evidence *evidence);
void hold_gpu_judge(struct hold *hold, struct verdict *verdict);
void hold_gpu_end(struct hold *hold);

/* outofvram.c: when nothing of the job lives: changes `failed` to `gpu-oom` by evidence, and says which in `why`. */
void hold_vram_judge(struct hold *hold, struct verdict *verdict);

/* What the job holds of RAM now; shared pages may count more than once where no cell counts them. 0: unknown. */
uint64_t hold_memory(const struct hold *hold);

/* jobenv.c: the job's environment with what tells it of its lane, as a list in one block of memory that the caller
 * frees. */
char **hold_environment(struct hold *hold, struct err *err);
/* The file behind GPU_QUEUE_FROZEN. */
void hold_write_frozen(const struct hold *hold, int64_t frozen_ns);

#endif
