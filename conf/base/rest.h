/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Gives back memory before a long sleep: free heap, and the pages of program text, which are clean and come back from
 * the page cache at the next wake (some 20 minor faults, tens of microseconds). A process that waits in line for hours
 * keeps what it must remember.
 */
#ifndef PGPU_BASE_REST_H
#define PGPU_BASE_REST_H

#include <poll.h>

/* poll(2). libc checks a count that it sees beside an array of known size, in a part of its text that a start touches
 * for nothing else; here it sees none. */
int rest_poll(struct pollfd *polls, int count, int timeout_ms);

void rest_memory(void);
/* The two halves of it: program text, before a last look that takes back what a look needs; then heap and stack. */
void rest_text(void);
void rest_heap(void);

#endif
