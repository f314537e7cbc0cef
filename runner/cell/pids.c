/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "pids.h"

void pids_add(pid_t pid, void *context)
{
	struct pids *pids = context;
	pid_t *more = probe_grow(pids->list, &pids->size, sizeof *more, SIZE_MAX / sizeof *more);

	if (!more)
		return;
	pids->list = more;
	more[pids->size.count++] = pid;
}

struct probe_set pids_set(struct pids *pids)
{
	pids->size.count = probe_set_sort(pids->list, pids->size.count);
	return (struct probe_set){ pids->list, pids->size.count };
}
