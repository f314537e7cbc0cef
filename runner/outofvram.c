/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Whether a job failed for want of the card's memory: the evidence, and what is said of it. */
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "conf/base/fmt.h"
#include "conf/base/scope.h"
#include "conf/base/text.h"
#include "conf/jobid.h"
#include "runner/hold.h"

/*
 * The end of what the job itself has written. The descriptor that it wrote to is opened anew for reading, so that no
 * name is looked up that it may have turned elsewhere.
 */
static const char *look_into(int fd, int64_t from)
{
	char path[32], text[GPUOOM_TAIL];
	struct stat found;

	if (fd < 0 || fstat(fd, &found) < 0 || !S_ISREG(found.st_mode))
		return NULL;
	fmt(path, sizeof path, "/proc/self/fd/%d", fd);
	SCOPE_FD int again = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	/* A file that was cut short is the job's from its beginning. */
	int64_t start = found.st_size < from ? 0 : from;
	if (found.st_size - start > GPUOOM_TAIL)
		start = found.st_size - GPUOOM_TAIL;
	ssize_t got = again < 0 ? -1 : pread(again, text, sizeof text, start);
	return got > 0 ? gpuoom_phrase(text, (size_t)got) : NULL;
}

static const char *find_phrase(const struct task *task)
{
	const char *phrase = look_into(task->launch.fds[2], task->output_from[1]);

	return phrase ? phrase : look_into(task->launch.fds[1], task->output_from[0]);
}

static void tell(struct verdict *verdict, uint64_t id, enum gpuoom how, const struct gpuoom_evidence *evidence)
{
	char held[TEXT_SIZE], left[TEXT_SIZE], total[TEXT_SIZE];

	verdict->outcome = OUTCOME_GPU_OOM;
	if (how == GPUOOM_SAID) {
		err_set(&verdict->why, EXIT_OK, "job %s ran out of the card's memory: its output says '%s'", JOBID(id),
			evidence->phrase);
		return;
	}
	text_size_show((uint64_t)evidence->held_bytes, held);
	text_size_show((uint64_t)evidence->free_bytes, left);
	text_size_show((uint64_t)evidence->total_bytes, total);
	err_set(&verdict->why, EXIT_OK,
		"job %s failed with the card's memory full: it had %s, and %s of %s were free when last seen",
		JOBID(id), held, left, total);
}

void hold_vram_judge(struct hold *hold, struct verdict *verdict)
{
	struct gpuoom_evidence evidence = { .failed = verdict->outcome == OUTCOME_FAILED && hold->stop != STOP_SIGNAL,
					    .exit_code = verdict->exit_code,
					    .held_bytes = -1,
					    .free_bytes = -1,
					    .total_bytes = -1 };

	if (!evidence.failed)
		return;
	hold_gpu_evidence(hold, &evidence);
	evidence.phrase = find_phrase(hold->task);
	enum gpuoom how = gpuoom_verdict(&evidence);
	if (how != GPUOOM_NO)
		tell(verdict, hold->member->job.id, how, &evidence);
}
