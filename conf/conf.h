/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The configuration: lanes, limits and the class table. pgpu.conf(5) is its manual.
 *
 * What a person wrote is one file: $PGPU_CONF, else $XDG_CONFIG_HOME/pgpu/pgpu.conf (~/.config), else /etc/pgpu.conf,
 * else the built-in text, which is the shipped conf/pgpu.conf word for word (embedded at build time). What counts is
 * the queue's own copy of it, taken over under the queue lock by the first call that finds the file changed, so that no
 * two processes ever count with two numbers:
 *
 *     conf_copy_read()      the copy in force; fails when there is none or it is damaged
 *     conf_copy_fresh()     is the file still what the copy was made from? one stat(2), no parsing
 *     conf_load()           reads and checks the file with libconfuse (conf_file.c alone includes it)
 *     conf_copy_write()     takes it over; the caller holds the queue lock
 *
 * A rejected file is an error "FILE:LINE: what is wrong", exit code 2; the copy stays in force.
 */
#ifndef PGPU_CONF_H
#define PGPU_CONF_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "conf/base/err.h"
#include "conf/base/hours.h"
#include "conf/base/pci.h"

enum {
	CONF_CLASS_NAME = 33,
	CONF_SIGNAL = 33,
	CONF_CLASSES = 64,
	CONF_LANES = 64,
	CONF_RESIDENT = 1024,
	CONF_PROCESSES = 4194304,
	CONF_LOST = 1000,
	CONF_PAUSE = 1000,
	CONF_KEEP = 10000000,
	CONF_ON_END = 4096,
	CONF_STAMP = 128
};

/* In a set of capabilities: it is one, and what it does not name is taken from the job. */
#define CONF_CAPS_LIMITED (UINT64_C(1) << 62)

/* A duration of "0" where that is not the same as saying nothing. */
#define CONF_NEVER (INT64_MAX / 4)

struct conf_class {
	char name[CONF_CLASS_NAME];
	int rank;			/* 0 first; 0 to 99 */
	int64_t budget_ns;		/* a line is said when it is over */
	int64_t limit_ns;		/* the hard end; 0: twice the budget in force for the job */
	uint64_t memory_bytes;		/* ceiling; 0: conf.memory_bytes */
	uint64_t vram_bytes;		/* of the card's memory, that must be free before a job starts; 0: any */
	uint64_t vram_max_bytes;	/* ceiling of each card's memory; 0: none */
	char turns_as[CONF_CLASS_NAME]; /* "" or the class whose rank it takes once one of the next three is passed; 0:
					   never */
	bool no_new_privileges;		/* set-user-ID programs and file capabilities give the job nothing */
	uint64_t capabilities;		/* 0: as its caller has them; else CONF_CAPS_LIMITED and a bit for each kept */
	int64_t turns_as_after_run_ns;
	int64_t turns_as_after_wait_ns;
	int64_t turns_as_without_turn_ns;
	int64_t min_run_ns;	/* a spooled job that ends well before has failed; 0: none has */
	int pause_after;	/* like failures in a row; 0: conf.pause_after; -1: never */
	bool paused;		/* its spooled jobs do not start. Not of pgpu.conf: see runner/line/pause.h */
	bool turns_forced;	/* turns = "forced": a better rank's job in line freezes it, once it has its lane for */
	int64_t min_hold_ns;	/* this long */
	int64_t stall_after_ns; /* 0: conf.stall_after_ns; CONF_NEVER: never */
	char hours[HOURS_TEXT]; /* "" or when its jobs start; outside of it */
	bool freezes_outside;	/* outside-hours = "freeze": those that run are frozen until it opens again */
	char budget_signal[CONF_SIGNAL]; /* "" or what sigspec_parse() reads: sent ahead of the budget's end */
};

/* A `lane` section: the lane of that number is bound to a card. */
struct conf_lane {
	char name[CONF_CLASS_NAME];
	char card[PCI_TEXT];
};

struct conf {
	int lanes;			 /* 1 to CONF_LANES */
	int bound_count;		 /* lanes in `bound`: all of them, or 0 */
	uint64_t memory_bytes;		 /* default ceiling of a job's RAM */
	uint64_t ram_bytes;		 /* what all jobs may use together; 0: see conf_ram() */
	int resident;			 /* most jobs that run or are frozen; 0: see conf_resident() */
	int64_t vram_patience_ns;	 /* so long a lane is not kept free for who waits for VRAM */
	int64_t standing_after_ns;	 /* so long the card is free before a standing job is started */
	uint64_t contender_vram_bytes;	 /* by so much a foreign client may grow while one runs */
	int64_t vram_settle_ns;		 /* so long at most a lane waits for an ended job's VRAM to come free */
	int64_t stall_after_ns;		 /* so long without progress is a stall; CONF_NEVER: none is */
	int64_t keep_ns;		 /* so long the record of an ended job is kept; CONF_NEVER: never removed */
	int keep_jobs;			 /* of at most so many; 0: any number */
	uint64_t log_bytes;		 /* log.tsv is begun anew beyond it; 0: never */
	int lost_limit;			 /* a job whose supervisor died so often is held; 0: never */
	int64_t retry_after_ns;		 /* before a failed job's first retry; later ones take longer */
	int pause_after;		 /* so many like failures of a class in a row pause it; 0: never */
	int processes;			 /* most processes and threads of a job's cell */
	int64_t grace_ns;		 /* between SIGTERM and the kill; 0 allowed */
	int64_t take_ns;		 /* a winner that does not take its lane within this is passed over (3 s) */
	bool cells;			 /* cells = "auto"; false: "off", never make a cgroup */
	bool amd_priority;		 /* amd-priority = "on" */
	char run_class[CONF_CLASS_NAME]; /* default class of `run` */
	char submit_class[CONF_CLASS_NAME];
	/* Wall clock: no job starts before. 0: they do; CONF_NEVER: not before it is undrained. Not of pgpu.conf: see
	 * line_drain() of the runner. */
	int64_t drained_until_s;
	char stamp[CONF_STAMP]; /* what the file was: device, inode, size, times, and the built-in text's sum */
	int class_count;
	size_t on_end_size;			 /* bytes in `on_end` */
	char source[PATH_MAX];			 /* path of the file, or "built-in" */
	struct conf_class classes[CONF_CLASSES]; /* late: what is not used of it is never touched */
	struct conf_lane bound[CONF_LANES];	 /* likewise: the lanes by their number */
	char on_end[CONF_ON_END];		 /* likewise: see conf_onend.h */
};

/* Of resident = 0: one more than lanes. */
int conf_resident(const struct conf *conf);
/* Of ram = "0": nine tenths of this machine's memory, in whole pages; UINT64_MAX when that cannot be told. */
uint64_t conf_ram(const struct conf *conf);

/* The card that the lane is bound to, "" where it is to none. */
const char *conf_lane_card(const struct conf *conf, int lane);
/* Whether any lane is bound to the card. */
bool conf_binds(const struct conf *conf, const char *card);

/* What is run when a job of the class has ended: `*ret_words` is a list that words_free() ends, NULL for nothing. -1:
 * memory is out. */
int conf_on_end(const struct conf *conf, const char *class_name, char ***ret_words);

/* True while no job starts; what has begun goes on. */
bool conf_is_drained(const struct conf *conf);

/* After how many like failures in a row the class is paused; 0: never. */
int conf_pause_after(const struct conf *conf, const struct conf_class *class);

/* The class of that name, or NULL. */
const struct conf_class *conf_class_find(const struct conf *conf, const char *name);
/* The names of all classes, NULL-ended, for text_hint(). Points into `conf`; `names` holds CONF_CLASSES + 1. */
void conf_class_names(const struct conf *conf, const char *names[CONF_CLASSES + 1]);
/* ": unknown class 'X', did you mean 'Y'?" as an error, exit code 2; or the class. */
const struct conf_class *conf_class_need(const struct conf *conf, const char *name, struct err *err);

/* Which file is to be read now: fills `path` with it, or with "built-in". Never fails; an unreadable $PGPU_CONF is kept
 * as it is. */
void conf_path(char path[PATH_MAX]);
/* Reads the file named by conf_path(). */
int conf_load(struct conf *ret_conf, struct err *err);
int conf_load_builtin(struct conf *ret_conf, struct err *err);
/* Reads and checks one named file (`pgpu conf --check FILE`). */
int conf_load_file(const char *path, struct conf *ret_conf, struct err *err);

/*
 * The copy lies in the queue's folder as the file "conf": text, one value a line. conf_copy_read() fails with errnum
 * ENOENT when there is none, EBADMSG when it is damaged (both: load the file, take it over) and EPROTO when a newer
 * pgpu wrote it (leave it alone). conf_copy_fresh() also notices that another file is to be read now.
 */
int conf_copy_read(int queue_fd, struct conf *ret_conf, struct err *err);
bool conf_copy_fresh(const struct conf *copy);
int conf_copy_write(int queue_fd, const struct conf *conf, struct err *err);

#endif
