/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * After a job's last process has gone the driver gives its memory back a little later: who is to use the card next
 * waits for that, for a bounded time. Only what the cards themselves say is read (mem_info_vram_used), a few times a
 * second, and only in that time.
 */
#ifndef PGPU_RUNNER_VRAMBACK_H
#define PGPU_RUNNER_VRAMBACK_H

#include <stdbool.h>
#include <stdint.h>

/* So long it is waited for, and so much more than before may stay: a desktop's own comes and goes. */
enum { VRAMBACK_MS = 5000, VRAMBACK_STEP_MS = 20 };
#define VRAMBACK_SLACK_BYTES (UINT64_C(64) << 20)

/* Whether it is back: `used_bytes` are used now, `floor_bytes` were before the job. Pure. */
bool vramback_is(uint64_t used_bytes, uint64_t floor_bytes);

/* What all cards that tell it have used, in bytes; false: none does. */
bool vramback_used(uint64_t *ret_bytes);
/* Returns when it is back, cannot be told, or VRAMBACK_MS are over. `context` is not used. */
void vramback_wait(void *context, uint64_t floor_bytes);

#endif
