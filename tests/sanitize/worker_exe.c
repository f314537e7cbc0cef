/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Preloaded into a pgpu that runs under valgrind. A worker is started as /proc/self/exe, which valgrind hands on as it
 * is, and which then is valgrind: here it becomes the file that wrap.sh says (REAL). No job sees the preloading: it is
 * taken out of the environment at once, and given back to workers alone.
 */
#include <dlfcn.h>
#include <errno.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char preload[4096];

__attribute__((constructor)) static void hide(void)
{
	const char *text = getenv("LD_PRELOAD");

	/* valgrind's own starter is a shell's script, which hands it on. */
	if (strcmp(program_invocation_short_name, "pgpu") != 0)
		return;
	snprintf(preload, sizeof preload, "LD_PRELOAD=%s", text ? text : "");
	unsetenv("LD_PRELOAD");
}

int posix_spawn(pid_t *pid, const char *path, const posix_spawn_file_actions_t *files,
		const posix_spawnattr_t *attributes, char *const argv[], char *const environment[])
{
	int (*real)(pid_t *, const char *, const posix_spawn_file_actions_t *, const posix_spawnattr_t *, char *const[],
		    char *const[]) = (__typeof__(real))dlsym(RTLD_NEXT, "posix_spawn");
	size_t count = 0;

	while (environment[count])
		count++;
	char *all[count + 2];
	memcpy(all, environment, count * sizeof *all);
	all[count] = preload;
	all[count + 1] = NULL;
	if (strcmp(path, "/proc/self/exe") != 0)
		return real(pid, path, files, attributes, argv, environment);
	return real(pid, REAL, files, attributes, argv, all);
}
