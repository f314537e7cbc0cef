/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which pgpu this is; nothing else says it. Formats of files have versions of their own: pgpu-spool(5), VERSIONS. */
#ifndef PGPU_VERSION_H
#define PGPU_VERSION_H

#define PGPU_VERSION "0.9.0"

#endif
