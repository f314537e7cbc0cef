/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The names of capabilities(7) as pgpu.conf spells them: "sys_nice"; "cap_sys_nice" and capitals are read too. A set is
 * one number, bit N for the capability N of the kernel, and CONF_CAPS_LIMITED (conf.h) in each: an empty list is not
 * the same as no list.
 */
#ifndef PGPU_CONF_CAPS_H
#define PGPU_CONF_CAPS_H

#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"

/* Names with blanks and commas between them, as conf_scan() hands a list on. The error is the reason alone, exit
 * code 2. */
int conf_caps_read(const char *list, uint64_t *ret_caps, struct err *err);
/* `{ "sys_nice", "net_raw" }` or `{}`. */
void conf_caps_print(uint64_t caps, struct buf *buf);

#endif
