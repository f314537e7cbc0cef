/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Environments of spooled jobs: stored once by content, NUL-separated and byte for byte, mode 0600.
 *
 * The name is a 64-bit FNV-1a hash of the content; a name that is taken by other content gets a number behind it, so
 * that the hash needs to be good, not perfect. A file found in place was synced by whoever put it there; one younger
 * than a minute is synced again, since its writer may be killed between rename and sync. One older than a day is given
 * the time of today before it is looked at, so that it is not removed as forgotten (prune.h).
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "conf/base/buf.h"
#include "conf/base/clock.h"
#include "conf/base/file.h"
#include "conf/base/fmt.h"
#include "conf/base/scope.h"
#include "spool.h"

enum { ENV_MAX = 64 << 20, YOUNG_S = 60 };

static uint64_t hash(const char *bytes, size_t count)
{
	uint64_t sum = UINT64_C(14695981039346656037);

	for (size_t i = 0; i < count; i++)
		sum = (sum ^ (unsigned char)bytes[i]) * UINT64_C(1099511628211);
	return sum;
}

static void collect(const struct job *job, char *const *environment, struct buf *all)
{
	for (; *environment; environment++) {
		if (job_env_passes(job, *environment))
			buf_add(all, *environment, strlen(*environment) + 1);
	}
	for (char **name = job->export_names; name && *name; name++) {
		if (strchr(*name, '='))
			buf_add(all, *name, strlen(*name) + 1);
	}
}

/* 1: the file is there with this content; 0: there is none of that name; -2: other content. */
static int compare(int folder, const char *name, const struct buf *all, struct err *err)
{
	SCOPE_FREE char *text = NULL;
	size_t size;
	struct err why = ERR_NONE;
	struct stat found;

	if (fstatat(folder, name, &found, AT_SYMLINK_NOFOLLOW) < 0 && errno == ENOENT)
		return 0;
	if (found.st_mtime + SPOOL_ENV_TOUCHED_DAYS * 86400 < clock_wall_ns() / NS_PER_S &&
	    utimensat(folder, name, NULL, AT_SYMLINK_NOFOLLOW) < 0 && errno == ENOENT)
		return 0;
	if (file_read(folder, name, ENV_MAX, &text, &size, &why) < 0)
		return why.errnum == ENOENT ? 0 : err_pass(err, &why);
	if (size != all->size || (size && memcmp(text, all->text, size) != 0))
		return -2;
	if (found.st_mtime + YOUNG_S > clock_wall_ns() / NS_PER_S && fsync(folder) < 0)
		return err_sys(err, "cannot sync the environment");
	return 1;
}

int spool_store_environment(struct spool *spool, const struct job *job, char *const *environment,
			    struct job_facts *facts, struct err *err)
{
	SCOPE_BUF struct buf all = BUF_EMPTY;
	int folder = spool_folder(spool, SPOOL_ENV_DIR, err);

	if (folder < 0)
		return -1;
	collect(job, environment, &all);
	if (!buf_ok(&all)) {
		errno = ENOMEM;
		return err_sys(err, "cannot store the environment");
	}
	unsigned long long sum = hash(all.text, all.size);
	for (int number = 0; number < 1000; number++) {
		fmt(facts->env_name, sizeof facts->env_name, number ? "%016llx-%d" : "%016llx", sum, number);
		int known = compare(folder, facts->env_name, &all, err);
		if (known == -2)
			continue;
		if (known != 0)
			return known < 0 ? -1 : 0;
		if (file_replace(folder, facts->env_name, all.text, all.size, FILE_DURABLE, err) < 0)
			return err_wrap(err, "cannot store the environment");
		return 0;
	}
	return err_set(err, EXIT_FAILED, "cannot store the environment: no name is left for it");
}

int spool_load_environment(struct spool *spool, const char *env_name, char ***ret_list, char **ret_block,
			   struct err *err)
{
	SCOPE_FREE char *block = NULL;
	size_t size, count = 0;
	int folder = spool_folder(spool, SPOOL_ENV_DIR, err);

	if (folder < 0 || strchr(env_name, '/') || file_read(folder, env_name, ENV_MAX, &block, &size, err) < 0)
		return err_wrap(err, "cannot read the job's environment");
	for (size_t i = 0; i < size; i++)
		count += block[i] == '\0';
	char **list = malloc((count + 1) * sizeof *list);
	if (!list)
		return err_sys(err, "cannot read the job's environment");
	char *next = block;
	for (size_t i = 0; i < count; i++) {
		list[i] = next;
		next += strlen(next) + 1;
	}
	list[count] = NULL;
	*ret_list = list;
	*ret_block = TAKE(block);
	return 0;
}
