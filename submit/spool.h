/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The spool: one file a job, in the folder that is its state. pgpu-spool(5) has the table of states against files.
 *
 *     pending/ID:CLASS:SESSION:RESTARTS[:mRAM][:vVRAM][:cCARD][:nNICE][:bTIME][:a][:tCAP][:rTRIES][:h]
 *                                                     waits; RAM is what it reserves, VRAM what it asks for: 24G; not
 *                                                     to start before TIME, in seconds since 1970; NICE orders those of
 *                                                     its session and class; with a it waits for other jobs, with h it
 *                                                     is held; TRIES is how often it failed and was retried. With t it
 *                                                     is an array, of which CAP tasks run at once (0: any number); see
 *                                                     spooltasks.h
 *     pending/...[:vVRAM]:sFAILED[:h]                 a standing job, waiting or running: it stays there until it has
 *                                                     ended for good; FAILED is how often it failed in a row
 *     running/ID:CLASS:SESSION:RESTARTS[:mRAM][:vVRAM][:cCARD][:nNICE][:bTIME][:rTRIES]
 *                                                     was claimed by a worker
 *     ended/ID:CLASS:SESSION:RESTARTS[:mRAM][:vVRAM][:cCARD][:nNICE][:bTIME][:rTRIES]:OUTCOME:CODE
 *                                                     is over
 *     orders/ID.cancel                                is to be ended; ID.kill: at once; ID.requeue beside it: and to
 *                                                     go back in line
 *     env/HASH                                        an environment, NUL-separated, shared by the jobs of one shell
 *     after/NUMBER/ID                                 job ID waits for job NUMBER, or for a task of it: what to look
 *                                                     at when that ends. Made again from the records after a boot
 *     tasks/NUMBER                                    what became of each task of an array
 *     reasons/ID                                      why it ended as it did, one line for people
 *     bad/                                            what could not be read, set aside under its own name
 *     dedupe/KEY                                  the job that was last submitted with this key (dedupe.h)
 *     pending/.ID:...PID                              a record being written
 *     pending/.ID.uEDIT                               a changed record being written; see spool_edit()
 *
 * One rename is one decision. Durable, then announced: spool_submit() returns after file and folder are synced;
 * spool_sync() makes the renames of claim and end durable, and both touch running/, whose one fsync covers them.
 *
 * What has the queue lock is said at each function.
 */
#ifndef PGPU_SUBMIT_SPOOL_H
#define PGPU_SUBMIT_SPOOL_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "conf/base/err.h"
#include "submit/job.h"

enum spool_state { SPOOL_PENDING, SPOOL_RUNNING, SPOOL_ENDED, SPOOL_STATES };

enum spool_folder {
	SPOOL_PENDING_DIR = SPOOL_PENDING,
	SPOOL_RUNNING_DIR = SPOOL_RUNNING,
	SPOOL_ENDED_DIR = SPOOL_ENDED,
	SPOOL_ORDERS_DIR,
	SPOOL_ENV_DIR,
	SPOOL_REASONS_DIR,
	SPOOL_AFTER_DIR,
	SPOOL_TASKS_DIR,
	SPOOL_BAD_DIR,
	SPOOL_DEDUPE_DIR,
	SPOOL_FOLDERS,
};

enum outcome {
	OUTCOME_NONE,
	OUTCOME_COMPLETED,
	OUTCOME_FAILED,
	OUTCOME_CANCELLED,
	OUTCOME_TIMEOUT,
	OUTCOME_STALLED,
	OUTCOME_OOM,
	OUTCOME_GPU_OOM,
	OUTCOME_LOST,
	OUTCOME_TURN, /* a hold that ended by giving the lane up; in the log alone */
	OUTCOMES,
};

extern const char *const outcome_names[OUTCOMES];
/* Slurm's letters, ST of our own: CD F CA TO ST OOM NF; a card's memory is OOM as well. */
extern const char *const outcome_letters[OUTCOMES];
/* OUTCOME_NONE for a word that is none. */
enum outcome outcome_parse(const char *word);

enum { SPOOL_RESTARTS_MAX = 999999, SPOOL_FAILURES_MAX = 999 };

enum spool_order { ORDER_NONE, ORDER_CANCEL, ORDER_KILL };

struct spool {
	int queue_fd;		    /* borrowed */
	int folders[SPOOL_FOLDERS]; /* opened, and made, when first needed */
	bool unsynced;		    /* running/ was changed by us since its last fsync */
	bool newer;		    /* it has records that a newer pgpu wrote; they are left alone, and one is named */
	uint64_t told_id;	    /* spool_told() */
	enum spool_order told;
};

struct spool_name {
	uint64_t id;
	char class_name[CONF_CLASS_NAME];
	char session[JOB_SESSION_MAX + 1];
	int restarts;
	uint64_t reserved_bytes; /* see job.h */
	uint64_t vram_bytes;
	char card[PCI_TEXT];
	int nice;
	int edit;	 /* while pending/.ID.uEDIT exists, that is the record's text; 0: none; see spool_edit() */
	int64_t begin_s; /* wall clock; 0: any time */
	bool after;	 /* waits for other jobs */
	bool array;	 /* speaks for its tasks that wait */
	int cap;	 /* so many of them run at once; 0: any number */
	int tries;	 /* attempts that failed, since it came or was put back in line: begin_s is that of the next */
	bool standing;	 /* so for the next two */
	int failures;	 /* of a standing job: how often in a row it ended by itself with another code than 0 */
	bool held;	 /* does not compete until it is released */
	enum outcome outcome; /* ended records alone */
	int code;
};

void spool_open(struct spool *spool, int queue_fd);
void spool_close(struct spool *spool);
int spool_folder(struct spool *spool, enum spool_folder which, struct err *err);

void spool_name_format(const struct spool_name *name, char file[256]);
int spool_name_parse(const char *file, struct spool_name *ret_name);

/*
 * Stores the environment that `job` exports from `environment`, once for all jobs of the same shell; fills
 * facts->env_name. Durable.
 */
int spool_store_environment(struct spool *spool, const struct job *job, char *const *environment,
			    struct job_facts *facts, struct err *err);
/* An environment that is found stored is given the time of now where its own is older. */
enum { SPOOL_ENV_TOUCHED_DAYS = 1 };
/* NULL-ended list in one piece of memory (`*ret_block`, to be freed with the list). */
int spool_load_environment(struct spool *spool, const char *env_name, char ***ret_list, char **ret_block,
			   struct err *err);

/* Writes and syncs the record and renames it into pending/; the folder is not synced yet. Without the lock. */
int spool_submit(struct spool *spool, const struct job *job, const struct job_facts *facts, struct err *err);
/* The folder's fsync: from here on the jobs survive a power cut. */
int spool_submit_sync(struct spool *spool, struct err *err);
/* Takes a job out again that nobody claimed. 1: it was still there; 0: it is not pending any more. With the lock. */
int spool_withdraw(struct spool *spool, uint64_t id, struct err *err);

/* Calls `visit` for each record of a state; stops at a value other than 0 and returns it. Strange files are set aside.
 */
int spool_each(struct spool *spool, enum spool_state state,
	       int (*visit)(const struct spool_name *name, const char *file, void *context), void *context,
	       struct err *err);
/* The same in one state's folder: 1, 0 or -1. */
int spool_find_in(struct spool *spool, enum spool_state state, uint64_t id, struct spool_name *ret_name,
		  char ret_file[256], struct err *err);
/* 1 and the state where the job has a record, 0 where it has none, -1. */
int spool_find(struct spool *spool, uint64_t id, enum spool_state *ret_state, struct spool_name *ret_name,
	       char ret_file[256], struct err *err);

/* The other jobs that it waits for have done what it waits for. With the lock, and not synced. */
int spool_after_met(struct spool *spool, struct spool_name *name, char file[256], struct err *err);

/*
 * Changing the text of a pending record, and its name with it:
 *
 *     spool_edit_write()    the new text beside the record, synced, without the lock
 *     spool_edit()          makes it the record's, with the lock: the caller has found the record again, under `file`,
 *                           and its inode is still edit.inode; not synced
 *     spool_edit_drop()     instead of that
 *
 * Where the name stays, one rename replaces the text. Where it changes, one rename decides: to the new name with the
 * mark uEDIT, by which every reader takes the new text. Then the text is moved under the name, then the mark is taken
 * off it. Killed after any of these, the job has one record and either all of its old header or all of its new one.
 * spool_edit_finish() does what a killed one left, of a pending record, with the lock; `*name` and `file` follow.
 */
struct spool_edit {
	uint64_t id;
	int number;
	ino_t inode; /* of the record that was read */
};
int spool_edit_write(struct spool *spool, const char *file, const struct job *job, const struct job_facts *facts,
		     struct spool_edit *ret_edit, struct err *err);
int spool_edit(struct spool *spool, const struct spool_edit *edit, const char *file, const struct spool_name *name,
	       struct err *err);
void spool_edit_drop(struct spool *spool, const struct spool_edit *edit);
/*
 * Gives a pending record a file of its own, with the same text and time: that of an array whose file has as many names
 * as the file system lets one have (65000 on ext4). With the lock, and synced all the same, once in so many tasks.
 */
int spool_renew(struct spool *spool, const char *file, struct err *err);
/* A script of the most bytes, each of them quoted. */
#define SPOOL_RECORD_MAX ((size_t)JOB_SCRIPT_MAX * 5)
int spool_edit_finish(struct spool *spool, enum spool_state state, struct spool_name *name, char file[256],
		      struct err *err);
/* The inode of a pending record; 0: it is not there. */
ino_t spool_inode(struct spool *spool, const char *file);
/* For spool_read(): the text of an edit that was broken off. */
enum { SPOOL_EDIT_NAME = 48 };
void spool_edit_name(const struct spool_name *name, char file[SPOOL_EDIT_NAME]);

/* Holds a pending job, or lets it go: `*name` and `file` get its new name. With the lock, and not synced. */
int spool_hold(struct spool *spool, struct spool_name *name, char file[256], bool held, struct err *err);
/* Moves a record: `name` gives the new file's name. With the lock. -1 with errnum ENOENT: somebody else has moved it.
 */
int spool_move(struct spool *spool, enum spool_state from, const char *file, enum spool_state to,
	       const struct spool_name *name, struct err *err);
/* The fsync that covers our claims and ends since the last one, if there are any. Without the lock. */
int spool_sync(struct spool *spool, struct err *err);

/* Reads a record. A damaged one is moved to bad/ with one line on stderr, and -1 returned. */
int spool_read(struct spool *spool, enum spool_state state, const char *file, struct job *ret_job,
	       struct job_facts *ret_facts, struct err *err);
/* When the record was written, wall clock; -1 when it is gone. */
int spool_written(struct spool *spool, enum spool_state state, const char *file, int64_t *ret_wall_ns);
/* When it was last moved, which for an ended record is when it ended. */
int spool_moved(struct spool *spool, enum spool_state state, const char *file, int64_t *ret_wall_ns);
void spool_set_aside(struct spool *spool, enum spool_state state, const char *file, const char *reason);

/* Puts an order on file: the first is ORDER_CANCEL, a second for the same job ORDER_KILL. After spool_order_back() the
 * first means that it does not go back in line. With the lock. */
int spool_order(struct spool *spool, uint64_t id, enum spool_order *ret_order, struct err *err);
/* The order to end a job and put it back in line; -1 where it is to be cancelled already. With the lock. */
int spool_order_back(struct spool *spool, uint64_t id, struct err *err);
enum spool_order spool_ordered(struct spool *spool, uint64_t id);
/* Of a job whose end was ordered: it is to go back in line. */
bool spool_ordered_back(struct spool *spool, uint64_t id);
/* The same order by word alone, to the process that supervises the job: for a disk that is full. It is gone with that
 * process. */
void spool_told(struct spool *spool, uint64_t id);
void spool_order_done(struct spool *spool, uint64_t id);

/* After a boot, with the lock: what killed writers left in pending/ and beside the queue's files, and orders that
 * nobody will obey. */
void spool_sweep(struct spool *spool);
/* How many entries were set aside in bad/. */
long spool_count_bad(struct spool *spool);

/* One line for people beside an ended or a held record; losing it costs nothing. `text` gets "" where there is none. */
void spool_reason_write(struct spool *spool, uint64_t id, const char *reason);
void spool_reason_read(struct spool *spool, uint64_t id, char *text, size_t size);
void spool_reason_forget(struct spool *spool, uint64_t id);

#endif
