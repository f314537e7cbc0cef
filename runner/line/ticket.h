/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The place in line of a blocking `run`, or of a job that gave its lane up: file
 * boot-ID/tickets/ID:CLASS:SESSION[:mRAM][:vVRAM][:cCARD][:FLAG], locked (byte 0, OFD) by the waiting process for as
 * long as it lives. The election reads names alone and asks for the lock of its winner only.
 *
 * FLAG is `passed` (did not take its lane in time; it takes the flag off itself when it answers again), `turn` (its job
 * has begun, is frozen, and stands in line again) or `frozen` (the same, but it does not compete: its `run` was
 * stopped, or it did not take its lane in time and becomes `turn` when it answers). What the dead owner of a begun job
 * left is cleared by rescue. All with the queue lock.
 */
#ifndef PGPU_RUNNER_TICKET_H
#define PGPU_RUNNER_TICKET_H

#include "line.h"

enum ticket_flag { TICKET_PLAIN, TICKET_PASSED, TICKET_TURN, TICKET_FROZEN, TICKET_FLAGS };

struct ticket {
	int fd; /* -1: none */
	char file[256];
};

#define TICKET_NONE ((struct ticket){ .fd = -1 })

struct ticket_name {
	uint64_t id;
	char class_name[33];
	char session[65];
	uint64_t reserved_bytes, vram_bytes;
	char card[PCI_TEXT];
	enum ticket_flag flag;
};

void ticket_name_format(const struct ticket_name *name, char file[256]);
/* -1 when the file's name is none of ours; such files are left alone. */
int ticket_name_parse(const char *file, struct ticket_name *ret_name);

/* Makes and locks it, with `entry` as text. */
int ticket_make(struct line *line, struct entry *entry, enum ticket_flag flag, struct ticket *ret_ticket,
		struct err *err);
int ticket_update(const struct ticket *ticket, struct entry *entry, struct err *err);
/* Renames a ticket, ours or a passed-over one, to carry `flag`; `file` is changed with it. */
int ticket_flag(struct line *line, char file[256], enum ticket_flag flag, struct err *err);
/* Our ticket's name as it is now, in case somebody flagged it. */
void ticket_refresh(struct line *line, struct ticket *ticket);
void ticket_remove(struct line *line, struct ticket *ticket);

/* True while its owner lives; fills the text where wanted. A missing file is false. */
bool ticket_read(struct line *line, const char *file, struct entry *ret_entry);
/* True when its owner is known not to live: the file is gone, or nobody has it locked. What cannot be read lives. */
bool ticket_dead(struct line *line, const char *file);
/* What its name says of a candidate for the election, and what its text adds of a job that waits at `now` (boot clock).
 */
void candidate_of_ticket(const struct ticket_name *name, const char *file, struct candidate *ret_candidate);
void candidate_of_entry(const struct entry *entry, int64_t now_boot_ns, struct candidate *candidate);
/* Whether there is any. */
bool ticket_any(struct line *line);
/* Calls `visit` for each ticket; stops at any value but 0 and returns it. */
int ticket_each(struct line *line, int (*visit)(const struct ticket_name *name, const char *file, void *context),
		void *context, struct err *err);

#endif
