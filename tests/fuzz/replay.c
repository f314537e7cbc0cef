/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * NAME [-max_total_time=S] FILE|FOLDER...: the target on each input, where there is no libFuzzer. With a time it goes
 * on from there with inputs that are cut, joined and changed at random: slower and blinder than libFuzzer, but
 * everywhere.
 *
 * What is being run stands in the file that $FUZZ_INPUT names, for whoever has to find out what it was.
 */
#include "fuzz.h"

#include <dirent.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

enum { INPUT_MAX = 64 << 10, CORPUS_MAX = 4096 };

struct input {
	uint8_t *bytes;
	size_t size;
};
static struct input corpus[CORPUS_MAX];
static size_t corpus_count;

static void add_file(const char *path, size_t size)
{
	FILE *file = fopen(path, "rb");

	HOLDS(file && corpus_count < CORPUS_MAX);
	uint8_t *bytes = malloc(size ? size : 1);
	HOLDS(bytes && fread(bytes, 1, size, file) == size);
	fclose(file);
	corpus[corpus_count++] = (struct input){ bytes, size };
	fprintf(stderr, "%s\n", path);
	LLVMFuzzerTestOneInput(bytes, size);
}

static void add(const char *path)
{
	struct dirent **names;
	struct stat found;
	char below[4096];

	HOLDS(stat(path, &found) == 0);
	if (!S_ISDIR(found.st_mode)) {
		add_file(path, (size_t)found.st_size);
		return;
	}
	int count = scandir(path, &names, NULL, alphasort);
	for (int i = 0; i < count; i++) {
		snprintf(below, sizeof below, "%s/%s", path, names[i]->d_name);
		if (names[i]->d_name[0] != '.')
			add(below);
		free(names[i]);
	}
	free(names);
}

/* xorshift64: the same inputs in every run of the same corpus. */
static size_t next_random(size_t below)
{
	static uint64_t seed = 88172645463325252u;

	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return below ? (size_t)(seed >> 11) % below : 0;
}

/* Some bytes of one input put into another in place of some of its own, and some bytes changed. */
static size_t mix(uint8_t *bytes)
{
	const struct input *one = &corpus[next_random(corpus_count)], *other = &corpus[next_random(corpus_count)];
	size_t from = next_random(one->size + 1), to = from + next_random(next_random(one->size - from + 1) + 1);
	size_t start = next_random(other->size + 1), count = next_random(next_random(other->size - start + 1) + 1);
	size_t size = from + count + (one->size - to);

	if (size > INPUT_MAX)
		return 0;
	memcpy(bytes, one->bytes, from);
	memcpy(bytes + from, other->bytes + start, count);
	memcpy(bytes + from + count, one->bytes + to, one->size - to);
	for (size_t i = next_random(4); size && i > 0; i--)
		bytes[next_random(size)] = "\0\n\t \"':-@%0189az\x7f\xff\xc3"[next_random(20)];
	return size;
}

static void keep(const uint8_t *bytes, size_t size)
{
	const char *path = getenv("FUZZ_INPUT");
	FILE *file = path ? fopen(path, "wb") : NULL;

	if (file && fwrite(bytes, 1, size, file) == size)
		fclose(file);
}

int main(int argc, char **argv)
{
	static uint8_t bytes[INPUT_MAX];
	long seconds = 0, runs = 0;

	for (int i = 1; i < argc; i++) {
		if (strncmp(argv[i], "-max_total_time=", 16) == 0)
			seconds = strtol(argv[i] + 16, NULL, 10);
		else if (argv[i][0] != '-')
			add(argv[i]);
	}
	HOLDS(corpus_count > 0);
	for (time_t end = time(NULL) + seconds; seconds && time(NULL) < end; runs++) {
		size_t size = mix(bytes);
		keep(bytes, size);
		LLVMFuzzerTestOneInput(bytes, size);
	}
	fprintf(stderr, "Done %ld runs beside the %zu of the corpus\n", runs, corpus_count);
	return 0;
}
