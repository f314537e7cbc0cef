/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a program inside a job may send to its supervisor: the messages of runner/supervise.h, one a line of the input,
 * each through a socket of the same kind, to a queue with three jobs. And what a supervisor may answer.
 */
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "conf/jobid.h"
#include "fuzz.h"
#include "runner/desk.h"
#include "runner/line/wake.h"
#include "runner/queue.h"
#include "runner/rescue.h"
#include "submit/spool.h"

enum { JOBS = 3, MESSAGES = 16 };

static void open_queue(void)
{
	struct err err = ERR_NONE;
	char path[128];
	int fd = fuzz_fresh("home");

	for (int i = 0; i < 3; i++) {
		static const char *const names[] = { "state", "run", "config" };
		static const char *const variables[] = { "XDG_STATE_HOME", "XDG_RUNTIME_DIR", "XDG_CONFIG_HOME" };
		HOLDS(mkdirat(fd, names[i], 0700) == 0);
		snprintf(path, sizeof path, "%s/home/%s", fuzz_folder(), names[i]);
		setenv(variables[i], path, 1);
	}
	close(fd);
	unsetenv("PGPU_CONF");
	if (queue_open_worker(&queue_only, &err) < 0) {
		fprintf(stderr, "%s\n", err.text);
		HOLDS(!"the queue is opened");
	}
	HOLDS(line_reserve(&queue_only.line, 10, &err) == 0 && line_lock(&queue_only.line, &err) == 0);
	uint64_t first;
	HOLDS(line_take_ids(&queue_only.line, 10, &first, &err) == 0);
	line_unlock(&queue_only.line);
}

/* Jobs 1 to 3 wait; whatever else the last input left of them is gone. */
static void fill(void)
{
	static const char text[] = "name: a\nclass: test\nsession: s\noutput: /dev/null\ncommand: 'true'\n";
	struct spool_name name;
	enum spool_state state;
	struct err err = ERR_NONE;
	char file[256];

	for (uint64_t id = 1; id <= JOBS; id++) {
		struct job_facts facts = { .id = jobid_of(id), .umask = 022, .env_name = "0", .submit_dir = "/" };
		SCOPE_JOB struct job job = JOB_EMPTY;
		int found = spool_find(&queue_only.spool, facts.id, &state, &name, file, &err);
		if (found == 1 && state == SPOOL_PENDING && !name.held)
			continue;
		if (found == 1)
			HOLDS(unlinkat(spool_folder(&queue_only.spool, (enum spool_folder)state, &err), file, 0) == 0);
		HOLDS(job_parse("fuzz", text, sizeof text - 1, &job, NULL, &err) == 0);
		HOLDS(spool_submit(&queue_only.spool, &job, &facts, &err) == 0);
	}
}

static void send_one(const uint8_t *bytes, size_t size)
{
	char message[WAKE_MESSAGE], answer[WAKE_MESSAGE];
	int ends[2];

	HOLDS(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) == 0);
	HOLDS(send(ends[0], bytes, size, MSG_NOSIGNAL) == (ssize_t)size);
	int got = wake_receive(ends[1], message);
	HOLDS(got >= 0 && got < WAKE_MESSAGE && (size_t)got == (size < WAKE_MESSAGE ? size : WAKE_MESSAGE - 1));
	if (got > 0) {
		desk_answer(&queue_only.line, &queue_only.spool, ends[1], message);
		got = wake_receive(ends[0], answer);
		HOLDS(got > 0 && strlen(answer) == (size_t)got);
	}
	HOLDS(queue_only.line.lock_fd < 0);
	close(ends[0]);
	close(ends[1]);
}

int fuzz_one(const uint8_t *bytes, size_t size)
{
	static bool opened;
	const uint8_t *at = bytes, *end = bytes + size;

	if (!opened)
		open_queue();
	opened = true;
	fill();
	for (int i = 0; i < MESSAGES && at < end; i++) {
		const uint8_t *line = memchr(at, '\n', (size_t)(end - at));
		line = line ? line : end;
		send_one(at, (size_t)(line - at));
		at = line + 1;
	}
	return 0;
}
