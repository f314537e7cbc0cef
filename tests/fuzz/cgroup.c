/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The files of a cell: runner/cell/cell.h and dmem.h. The input is a tree of them, "@ memory.events" and so on. */
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fuzz.h"
#include "runner/cell/cell.h"
#include "runner/cell/dmem.h"
#include "runner/cell/login.h"

static void visit(pid_t pid, void *count)
{
	HOLDS(pid > 0);
	++*(int *)count;
}

static void read_cell(struct cell *cell)
{
	struct cell_figures figures;
	struct cell_pressure pressure;
	struct cell_oom oom;
	int count = 0;

	cell_populated(cell);
	cell_is_full(cell);
	cell_each(cell, visit, &count);
	cell_read_figures(cell, &figures);
	HOLDS(figures.cpu_ns >= -1 && figures.peak_memory_bytes >= -1);
	HOLDS(cell_memory_now(cell) >= -1);
	HOLDS(cell_shared_memory(cell) >= -1);
	cell_read_pressure(cell, &pressure);
	HOLDS(pressure.percent >= -1 && pressure.waited_ns >= -1);
	cell_read_oom(cell, &oom);
	cell_knows_peak(cell);
	dmem_set(cell->fd, 1 << 30);
}

int fuzz_one(const uint8_t *bytes, size_t size)
{
	struct cell cell = CELL_NONE;
	char line[DMEM_LINE];
	int folder = fuzz_fresh("cell");
	char *text = fuzz_string(bytes, size);
	const char *next = text;

	fuzz_tree(folder, bytes, size);
	cell.fd = folder;
	cell.events_fd = openat(folder, "cgroup.events", O_RDONLY | O_CLOEXEC);
	read_cell(&cell);
	cell_close(&cell);
	HOLDS(login_scope(text) <= strlen(text));
	while (dmem_next(&next, 1 << 30, line))
		HOLDS(next <= text + strlen(text));
	free(text);
	return 0;
}
