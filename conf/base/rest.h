/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Gives back memory before a long sleep: free heap, and the pages of program text, which are clean and come back from
 * the page cache at the next wake (some 20 minor faults, tens of microseconds). A process that waits in line for hours
 * keeps what it must remember.
 */
#ifndef PGPU_BASE_REST_H
#define PGPU_BASE_REST_H

void rest_memory(void);
/* The two halves of it: program text, before a last look that takes back what a look needs; then heap and stack. */
void rest_text(void);
void rest_heap(void);

#endif
