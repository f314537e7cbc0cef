/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Base64 (RFC 4648, section 4), the form in which YAML's !!binary holds bytes that are not text. */
#ifndef PGPU_SUBMIT_BASE64_H
#define PGPU_SUBMIT_BASE64_H

#include "conf/base/buf.h"

void base64_encode(const void *bytes, size_t size, struct buf *text);
/* Blanks and line ends between the letters are passed over; anything else: -1, and `bytes` is undefined. */
int base64_decode(const char *text, size_t size, struct buf *bytes);

#endif
