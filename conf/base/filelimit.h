/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * RLIMIT_FSIZE, `ulimit -f`: what a caller limits is its job's files. SIGXFSZ would end whoever writes a row to a log
 * that is longer than that; ignored, the write fails with EFBIG like another.
 */
#ifndef PGPU_CONF_BASE_FILELIMIT_H
#define PGPU_CONF_BASE_FILELIMIT_H

/* For main(). */
void filelimit_outlive(void);
/* Before an exec: SIGXFSZ as our caller had it. */
void filelimit_give_back(void);
#endif
