/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What `pgpu doctor` finds: each check adds a finding, which says what is so, and where something is lost what that is
 * and the one command that mends it. A check changes nothing but what every call does: folders are made, and the dead
 * are cleared up after.
 */
#ifndef PGPU_RUNNER_DOCTOR_H
#define PGPU_RUNNER_DOCTOR_H

#include "conf/base/buf.h"
#include "runner/queue.h"

/* FINDING_NOTE: it is so, and no fault of the machine's. */
enum finding_kind { FINDING_OK, FINDING_NOTE, FINDING_LOST };

enum { DOCTOR_TEXT = 640 };
struct finding {
	enum finding_kind kind;
	const char *about;	/* one word */
	char text[DOCTOR_TEXT]; /* a line; may hold names from files */
	char mend[DOCTOR_TEXT]; /* a command or what to write where; "" where there is none */
};

struct doctor {
	struct queue *queue; /* NULL: it could not be opened */
	struct finding list[16];
	int count;
};

/* In the order in which they are to be read. Those that need the queue are left out without one. */
void doctor_configuration(struct doctor *doctor);
void doctor_queue(struct doctor *doctor, struct queue *queue);
void doctor_sockets(struct doctor *doctor);
void doctor_cells(struct doctor *doctor);
void doctor_logout(struct doctor *doctor);
void doctor_boot(struct doctor *doctor);
void doctor_cards(struct doctor *doctor);
void doctor_limits(struct doctor *doctor);

#endif
