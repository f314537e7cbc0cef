/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "fuzz.h"

#include <fcntl.h>
#include <ftw.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { INPUT_MAX = 64 << 10, SLOW_MS = 1000, MEMORY_KB = 50 << 10 };

static char folder_path[64];

static long processor_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (long)(now.tv_sec * 1000 + now.tv_nsec / 1000000);
}

static long peak_kb(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return usage.ru_maxrss;
}

/* Processor time, so that a busy machine finds nothing; memory as the most the process ever had. */
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	long began = processor_ms(), peak = peak_kb();

	fuzz_one(bytes, size);
	long took = processor_ms() - began, more = peak_kb() - peak;
	if (size < INPUT_MAX && (took > SLOW_MS || more > MEMORY_KB)) {
		fprintf(stderr, "%zu bytes took %ld ms and %ld kB\n", size, took, more);
		abort();
	}
	return 0;
}

char *fuzz_exact(const uint8_t *bytes, size_t size)
{
	char *copy = malloc(size ? size : 1);

	HOLDS(copy);
	if (size)
		memcpy(copy, bytes, size);
	return copy;
}

char *fuzz_text(const uint8_t *bytes, size_t size)
{
	char *copy = malloc(size + 1);

	HOLDS(copy);
	if (size)
		memcpy(copy, bytes, size);
	copy[size] = '\0';
	return copy;
}

char *fuzz_string(const uint8_t *bytes, size_t size)
{
	const uint8_t *end = size ? memchr(bytes, 0, size) : NULL;

	return fuzz_text(bytes, end ? (size_t)(end - bytes) : size);
}

static int remove_one(const char *path, const struct stat *found, int kind, struct FTW *place)
{
	(void)found, (void)kind, (void)place;
	return remove(path);
}

static void remove_tree(const char *path)
{
	nftw(path, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

static void remove_folder(void)
{
	remove_tree(folder_path);
}

const char *fuzz_folder(void)
{
	if (folder_path[0])
		return folder_path;
	snprintf(folder_path, sizeof folder_path, "%s/pgpu-fuzz.XXXXXX",
		 access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
	HOLDS(mkdtemp(folder_path));
	HOLDS(atexit(remove_folder) == 0);
	return folder_path;
}

int fuzz_fresh(const char *name)
{
	char path[128];

	snprintf(path, sizeof path, "%s/%s", fuzz_folder(), name);
	remove_tree(path);
	HOLDS(mkdir(path, 0700) == 0);
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	HOLDS(fd >= 0);
	return fd;
}

void fuzz_put(int folder, const char *name, const void *bytes, size_t size)
{
	int fd = openat(folder, name, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);

	HOLDS(fd >= 0);
	HOLDS(write(fd, bytes, size) == (ssize_t)size);
	close(fd);
}

/* Makes the folders of `path`, which is changed and put back; false where it leads out, or something is in its way. */
static int make_folders(int folder, char *path)
{
	for (char *slash = path; (slash = strchr(slash, '/')); *slash++ = '/') {
		*slash = '\0';
		int made = path[0] && mkdirat(folder, path, 0700);
		if (slash == path)
			return -1;
		(void)made;
	}
	return 0;
}

static void put_one(int folder, char *path, const char *text, size_t size)
{
	if (path[0] == '/' || strstr(path, "..") || strlen(path) > 200 || make_folders(folder, path) < 0)
		return;
	int fd = openat(folder, path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return;
	HOLDS(write(fd, text, size) == (ssize_t)size);
	close(fd);
}

void fuzz_tree(int folder, const uint8_t *bytes, size_t size)
{
	char *text = fuzz_text(bytes, size), *end = text + size, *at = text;

	for (int count = 0; count < FUZZ_FILES && end - at > 2 && memcmp(at, "@ ", 2) == 0; count++) {
		char *path = at + 2, *line = memchr(path, '\n', (size_t)(end - path));
		if (!line)
			break;
		*line = '\0';
		char *next = memmem(line + 1, (size_t)(end - line - 1), "\n@ ", 3);
		next = next ? next + 1 : end;
		put_one(folder, path, line + 1, (size_t)(next - line - 1));
		at = next;
	}
	free(text);
}
