/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Standard output of a command, written once, at its end; both return the command's exit code. */
#ifndef PGPU_BASE_PRINT_H
#define PGPU_BASE_PRINT_H

#include "buf.h"

/* A broken pipe is quiet (whoever read has enough); a full disk is an error, since output was lost. */
int print_buf(const struct buf *buf);
/* A usage text. */
int print_usage(const char *text);

#endif
