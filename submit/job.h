/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A job as a person described it: a header and a script or command. pgpu-job(5) is its manual.
 *
 *     job_parse()      reads a job file in any of the three spellings
 *     job_set()        one header key from text: options, and the parser itself, go through it
 *     job_complete()   fills in every default and checks what needs the machine: folders, class, ceiling
 *     job_format()     writes the record: a valid job file in the `---` spelling, script byte for byte, and before the
 *                      header's first key the facts of the submit as comment lines "# pgpu KEY VALUE"
 *     job_record_parse() reads that back
 *
 * Strings are owned by the job; job_free() ends it. Errors of a file are "FILE:LINE:COLUMN: what is wrong", exit code
 * 2; columns count characters from 1. The job remembers where each key stood, so that job_complete() too can name it.
 */
#ifndef PGPU_SUBMIT_JOB_H
#define PGPU_SUBMIT_JOB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "conf/base/buf.h"
#include "conf/base/err.h"
#include "conf/conf.h"
#include "submit/after.h"
#include "submit/array.h"

enum {
	JOB_HEADER_MAX = 64 << 10,
	JOB_SCRIPT_MAX = 64 << 20,
	JOB_ENV_STRING_MAX = 128 << 10, /* the kernel's MAX_ARG_STRLEN */
	JOB_NAME_MAX = 255,
	JOB_LIMITS = 16, /* RLIM_NLIMITS of all architectures that Linux runs on */
	JOB_DEDUPE_MAX = 80,
	JOB_SESSION_MAX = 64,
	JOB_RETRIES_MAX = 1000,
	JOB_NICE_MAX = 2147483645, /* as Slurm has it, and as far below 0 */
};

enum job_key {
	JOB_KEY_NAME,
	JOB_KEY_CLASS,
	JOB_KEY_SESSION, /* also written `as` */
	JOB_KEY_BUDGET,
	JOB_KEY_LIMIT,
	JOB_KEY_MEMORY,
	JOB_KEY_VRAM,
	JOB_KEY_CARD,
	JOB_KEY_VRAM_MAX,
	JOB_KEY_NICE,
	JOB_KEY_MIN_RUN_TIME,
	JOB_KEY_RETRIES,
	JOB_KEY_WORKDIR,
	JOB_KEY_OUTPUT,
	JOB_KEY_ERROR,
	JOB_KEY_OPEN_MODE,
	JOB_KEY_ENV,
	JOB_KEY_EXPORT,
	JOB_KEY_REQUEUE,
	JOB_KEY_HOLD,
	JOB_KEY_BEGIN,
	JOB_KEY_AFTER,
	JOB_KEY_ARRAY,
	JOB_KEY_ORDER,
	JOB_KEY_SKIP_EXISTING,
	JOB_KEY_STANDING,
	JOB_KEY_DEDUPE,
	JOB_KEY_SLURM_ENV,
	JOB_KEY_BUDGET_SIGNAL,
	JOB_KEY_ON_END,
	JOB_KEY_COMMAND,
	JOB_KEY_SCRIPT,
	JOB_KEY_ARGUMENTS, /* a list of texts: what stands behind `submit FILE --`, "$1" and on for the script */
	JOB_KEYS,
};

struct job_place {
	unsigned line; /* 0: not from a file */
	unsigned column;
};

enum job_export { JOB_EXPORT_ALL, JOB_EXPORT_NONE, JOB_EXPORT_LIST };

/* What stands after the header. */
enum job_body {
	JOB_BODY_NONE,
	JOB_BODY_TEXT,	 /* text after the header, begins with #! : written to a file and executed */
	JOB_BODY_SCRIPT, /* `script:` ; run by its #! line, or by /bin/sh where it has none */
	JOB_BODY_SHELL,	 /* `command: STRING`: /bin/sh -c STRING */
	JOB_BODY_ARGV,	 /* `command: [LIST]`, or `submit -- CMD ARG...` */
};

struct job {
	char *name;
	char *class_name;
	char *session;
	int64_t budget_ns;	 /* 0 until job_complete() */
	int64_t limit_ns;	 /* 0 until job_complete(); a limit alone sets the budget to half of itself */
	int64_t min_run_ns;	 /* ended well before, it has failed; 0: the class's; -1: it has not */
	uint64_t memory_bytes;	 /* 0 until job_complete() */
	uint64_t vram_bytes;	 /* of the card's memory, that must be free at its start; 0: any */
	char card[PCI_TEXT];	 /* its lane's, or the one that it gets; "": any */
	uint64_t vram_max_bytes; /* ceiling of each card's memory; 0: none */
	int nice;		 /* among the jobs of its own session and class: the lowest goes first */
	int retries;		 /* so often it starts again by itself where it failed */
	bool memory_default;	 /* neither the job nor its class named it */
	uint64_t reserved_bytes; /* by job_complete(): memory_bytes, or 0 where that is the default; the record does not
				    have it, its name does */
	char *workdir;		 /* absolute after job_complete() */
	char *output;		 /* pattern as written; absolute after job_complete() */
	char *error;		 /* NULL: same as output */
	bool truncate;		 /* `open-mode: truncate`: its first start empties these files */
	char **env;		 /* header's `env`, "NAME=VALUE", NULL-ended; may be NULL */
	enum job_export export;
	char **export_names; /* for JOB_EXPORT_LIST: "NAME" or "NAME=VALUE", NULL-ended; for JOB_EXPORT_ALL, where
				written as `all,NAME=VALUE`, the assignments alone, else NULL */
	bool requeue;	     /* default true */
	bool requeue_set;
	bool hold;	       /* is spooled held; from then on the record's name says whether it is */
	int64_t begin_wall_ns; /* does not start before; 0: any time. In whole seconds */
	bool begin_recorded;   /* read from a record, where it may be over */
	struct after_list after;
	struct array array;	/* its tasks; count 0: it has none */
	enum array_order order; /* in which they start */
	char *skip_existing;	/* pattern as written, absolute after job_complete(): a task whose file is there, and
				   not empty, has completed; NULL: none */
	bool standing;		/* a service: has the card only while no job and no foreign contender wants it; after
				job_complete() it has neither budget nor limit */
	char *dedupe;		/* at most one job that waits or runs has this key (dedupe.h); NULL: none */
	bool slurm_env;		/* gets SLURM_* variables as well */
	char *budget_signal;	/* as sigspec_parse() reads it; NULL: the class's */
	char **on_end;		/* run once when it has ended for good, NULL-ended; NULL: the class's; empty: nothing */
	enum job_body body;
	char *script; /* bytes of JOB_BODY_TEXT, _SCRIPT or the line of _SHELL; NUL-ended beyond script_size */
	size_t script_size;
	char **argv;	 /* JOB_BODY_ARGV; for the others the arguments of `submit FILE -- ARG...`; may be NULL */
	char *file_name; /* as given to job_parse(); NULL for a command and for a record */
	struct job_place places[JOB_KEYS]; /* where the value of a key stands in that file */
};

/* What pgpu notes at submit, beside what the person wrote. */
struct job_facts {
	uint64_t id;
	int64_t submitted_wall_ns;
	mode_t umask;
	bool limits_known;	     /* false in a record of an older pgpu */
	uint64_t limits[JOB_LIMITS]; /* soft ones, by the numbers of getrlimit(2); UINT64_MAX: none */
	char env_name[64];	     /* name of the environment's file in env/ */
	char *submit_dir;	     /* PGPU_SUBMIT_DIR; owned; job_facts_free() */
};

#define JOB_EMPTY ((struct job){ .requeue = true })
#define SCOPE_JOB __attribute__((cleanup(job_free)))

void job_free(struct job *job);
void job_facts_free(struct job_facts *facts);

/*
 * `file_name` is for messages and for the default name ("-" for standard input: name "stdin"). `text` is not changed.
 * `notices`, where not NULL, gets lines worth telling, such as what was read from #SBATCH lines, each with its newline.
 */
int job_parse(const char *file_name, const char *text, size_t size, struct job *ret_job, struct buf *notices,
	      struct err *err);

/* A job file may be anything that can be read: a file, a link to one, a pipe, "-" for standard input. `*ret_text` is
 * malloc'd and NUL-ended; the error has exit code 2. */
int job_file_read(const char *name, char **ret_text, size_t *ret_size, struct err *err);

/*
 * Sets one key (name class session budget limit memory vram vram-max nice min-run-time retries card workdir output
 * error open-mode export requeue hold begin after array order skip-existing standing dedupe slurm-env budget-signal)
 * from text, replacing what is there.
 * `export` is `all`, `none` or NAME,NAME=VALUE,... After an error, "KEY: reason" with exit code 2, the job is
 * as before.
 */
int job_set(struct job *job, const char *key, const char *value, struct err *err);

/* `submit -- CMD ARG...` on JOB_EMPTY, `submit FILE -- ARG...` on a parsed job: copies `argv` to where it belongs. */
int job_set_argv(struct job *job, char *const argv[], struct err *err);

/*
 * Fills in what the job leaves open and checks it against this machine. `submit_dir` is absolute; a relative workdir is
 * taken from there and then resolved, a relative output or error from the workdir. A default memory ceiling is cut to
 * what the machine has; one that was asked for is refused. Reads the file system; changes nothing. Doing it twice does
 * no harm. After an error the job is only good for job_free().
 */
int job_complete(struct job *job, const struct conf *conf, const char *submit_dir, struct err *err);

/*
 * The same for a blocking `run`, which has neither script nor output: class, times, ceiling and session. `workdir` is
 * the folder it was called in, as text alone: a folder that is gone is the command's business.
 */
int job_complete_run(struct job *job, const struct conf *conf, const char *workdir, struct err *err);

/* Of a record's first JOB_RECORD_HEAD bytes: a pgpu wrote it that writes a newer version than this one. */
enum { JOB_RECORD_HEAD = 64 };
bool job_record_is_newer(const char *head);
/*
 * The record of a completed job. job_record_parse() returns the same job and facts, byte for byte; it refuses a version
 * that is newer than its own, with errnum EPROTO. Its errors name no file (the caller does) and have exit code 1.
 */
void job_format(const struct job *job, const struct job_facts *facts, struct buf *record);
int job_record_parse(const char *text, size_t size, struct job *ret_job, struct job_facts *ret_facts, struct err *err);

/* The job's command for lists: the argv shell-quoted, the shell line as written, or the job's name; then arguments. */
void job_command_line(const struct job *job, struct buf *line);

/* What the letters of an output pattern stand for. */
struct job_pattern {
	uint64_t id;	  /* %j, as 12 or 12_3; %A and %a are its two numbers, %a of a job that is no task nothing */
	int restarts;	  /* %r */
	const char *name; /* %x */
	const char *user; /* %u */
};

/*
 * Fills in %j %A %a %r %x %u %% of an output pattern. A number between % and letter, as in %4a, pads what is a number
 * with zeros to that many digits, at most JOB_PAD_MAX, and says nothing to a text. In %x and %u a '/' and a leading '.'
 * become '_'.
 */
enum { JOB_PAD_MAX = 10 };
int job_output_expand(const char *pattern, const struct job_pattern *values, char *path, size_t size, struct err *err);
/* The same for the job of a record: job_complete() has filled in %u. */
int job_output_path(const char *pattern, uint64_t id, int restarts, const char *name, char *path, size_t size,
		    struct err *err);

/*
 * The environment a job gets: the submitter's `environment` filtered by `export`, then the header's `env` over it.
 * pgpu's own variables of an enclosing job (PGPU_JOB_*, PGPU_ARRAY_*, PGPU_SUBMIT_DIR, PGPU_RESTART_COUNT, GPU_QUEUE*)
 * never pass, nor do those by which Slurm tells a job who it is (slurmenv.h). This is the first half, for each of the
 * submitter's strings; what is left to the caller is to add the assignments in `export_names` and then `env` over all.
 * A variable that an assignment of `export` sets does not pass.
 */
bool job_env_passes(const struct job *job, const char *assignment);

#endif
