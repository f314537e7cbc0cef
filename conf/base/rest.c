/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "rest.h"

#include <link.h>
#include <malloc.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

int rest_poll(struct pollfd *polls, int count, int timeout_ms)
{
	return poll(polls, (nfds_t)count, timeout_ms);
}

/* Segments that nobody can have written to: what is dropped of them is read again from the file (madvise(2),
 * MADV_DONTNEED). */
static int drop_clean(struct dl_phdr_info *info, size_t size, void *context)
{
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	(void)size;
	(void)context;

	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
		if (segment->p_type != PT_LOAD || (segment->p_flags & PF_W))
			continue;
		uintptr_t start = (info->dlpi_addr + segment->p_vaddr) & ~(page - 1);
		uintptr_t end = info->dlpi_addr + segment->p_vaddr + segment->p_filesz;
		/* What cannot be dropped (the kernel's vdso) stays. */
		madvise((void *)start, end - start, MADV_DONTNEED);
	}
	return 0;
}

/* The pages below the deepest call that is going on: earlier, deeper ones have left them dirty. */
static void drop_stack(void)
{
	enum { DEPTH = 256 << 10, MARGIN = 16 << 10 };
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	uintptr_t end = ((uintptr_t)__builtin_frame_address(0) - MARGIN) & ~(page - 1);

	madvise((void *)(end - DEPTH), DEPTH, MADV_DONTNEED);
}

void rest_text(void)
{
	dl_iterate_phdr(drop_clean, NULL);
}

void rest_heap(void)
{
	malloc_trim(0);
	drop_stack();
}

void rest_memory(void)
{
	rest_heap();
	rest_text();
}
