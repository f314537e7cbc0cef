/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "conf/base/clock.h"
#include "conf/base/fmt.h"
#include "conf/base/say.h"
#include "conf/base/scope.h"
#include "conf/base/words.h"
#include "conf/jobid.h"
#include "runner/cell/card_vars.h"
#include "runner/hold.h"
#include "runner/progress.h"
#include "submit/slurmenv.h"

void hold_write_frozen(const struct hold *hold, int64_t frozen_ns)
{
	char text[32];
	SCOPE_FD int fd = hold->frozen_file[0] ? open(hold->frozen_file,
						      O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600)
					       : -1;
	int length = fmt(text, sizeof text, "%020lld\n", (long long)(frozen_ns / NS_PER_MS));

	if (fd >= 0 && pwrite(fd, text, (size_t)length, 0) != length)
		say("cannot write %s", hold->frozen_file);
}

static bool wants_priority(const struct hold *hold)
{
	char *const *next = hold->task->environment;

	for (; *next; next++) {
		if (strcmp(*next, "PRIORITY=normal") == 0 || strncmp(*next, "AMD_PRIORITY=", 13) == 0)
			return false;
	}
	return hold->member->line->conf.amd_priority;
}

/* An enclosing job's own marks never pass. */
static bool is_ours(const char *assignment)
{
	return strncmp(assignment, "GPU_QUEUE", 9) == 0 || strncmp(assignment, "PGPU_JOB_ID=", 12) == 0 ||
	       strncmp(assignment, "PGPU_PROGRESS=", 14) == 0;
}

/* A `run` whose caller inherited the marks of a job that Slurm's variables were made for: they are not its own. */
static char **without_slurm(char **list, char **end)
{
	char **kept = list;

	for (char **next = list; next < end; next++) {
		if (!slurmenv_is_ours(*next))
			*kept++ = *next;
	}
	return kept;
}

enum { OWN = 7, OWN_SIZE = 1024 };

/* The variables of its card. A job for any card neither fails with each lane whose card is away, nor uses another one
 * without a word. */
static int find_vars(const struct hold *hold, struct card_vars *ret_vars, struct err *err)
{
	const char *card = hold->member->job.card;

	if (card_vars_find(card, ret_vars))
		return 0;
	if (hold->task->needs_card)
		return err_set(err, EXIT_NO_START, "cannot start the job: card %s is not there", card);
	say("card %s of this lane is not there: the job is given none", card);
	return 0;
}

/* One assignment of our own, written behind the list's pointers; returns where the next one goes. */
static char *put(char ***end, char *text, const char *name, const char *value)
{
	*(*end)++ = text;
	return text + fmt(text, OWN_SIZE / 5, "%s=%s", name, value) + 1;
}

char **hold_environment(struct hold *hold, struct err *err)
{
	const struct member *member = hold->member;
	bool has_card = member->job.card[0] != '\0', leaked = false;
	size_t room = words_count(hold->task->environment) + words_count(hold->task->extra) + OWN +
		      (has_card ? CARD_VARS : 0) + 1;
	char **list = malloc(room * sizeof *list + OWN_SIZE + (has_card ? sizeof(struct card_vars) : 0)), **end = list;
	/* cppcheck-suppress nullPointerArithmeticRedundantCheck ; not used before it is known to be there */
	char *text = (char *)(list + room), number[32], path[PROGRESS_PATH];
	struct card_vars *vars = has_card ? (struct card_vars *)(text + OWN_SIZE) : NULL;

	if (!list) {
		err_sys(err, "cannot start the job");
		return NULL;
	}
	if (vars && find_vars(hold, vars, err) < 0) {
		free(list);
		return NULL;
	}
	for (char *const *next = hold->task->environment; *next; next++) {
		leaked |= strncmp(*next, "PGPU_JOB_ID=", 12) == 0;
		if (!is_ours(*next) && !(vars && card_vars_stale(*next)))
			*end++ = *next;
	}
	if (leaked)
		end = without_slurm(list, end);
	for (int i = 0; vars && i < vars->count; i++)
		*end++ = vars->list[i];
	for (char *const *next = hold->task->extra; next && *next; next++)
		*end++ = *next;
	*end++ = "GPU_QUEUE=1";
	fmt(number, sizeof number, "%d", member->job.owner.pid);
	fmt(hold->mark, sizeof hold->mark, "GPU_QUEUE_PID=%s", number);
	text = put(&end, text, "GPU_QUEUE_PID", number);
	fmt(number, sizeof number, "%s", JOBID(member->job.id));
	text = put(&end, text, "PGPU_JOB_ID", number);
	if (member->wake.path[0]) {
		fmt(hold->frozen_file, sizeof hold->frozen_file, "%s.frozen", member->wake.path);
		fmt(hold->mark, sizeof hold->mark, "GPU_QUEUE_TURN=%s", member->wake.path);
		text = put(&end, text, "GPU_QUEUE_TURN", member->wake.path);
		text = put(&end, text, "GPU_QUEUE_FROZEN", hold->frozen_file);
		progress_path(member->wake.path, path);
		put(&end, text, "PGPU_PROGRESS", path);
	}
	if (wants_priority(hold))
		*end++ = "AMD_PRIORITY=-512";
	*end = NULL;
	return list;
}
