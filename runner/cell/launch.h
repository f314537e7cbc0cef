/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Starts a job's command: clone3(2) straight into its cell, with CLONE_VM and CLONE_VFORK: no memory is copied, and the
 * answer of exec is there when it returns.
 *
 * The child's first act that can take time is to close every descriptor of ours: a lock is shared across a clone until
 * the exec, and a child held up before its exec (a hung file system, say) must not look like a living owner. What it
 * gets is exactly what is described here and what the caller of pgpu had; how that is so for capabilities is in caps.h.
 */
#ifndef PGPU_RUNNER_LAUNCH_H
#define PGPU_RUNNER_LAUNCH_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "conf/base/err.h"

struct launch {
	char *const *argv;
	char *const *environment;
	const char *workdir;	/* NULL: stay */
	int fds[3];		/* what becomes 0, 1 and 2; -1: as it is */
	bool only_three;	/* nothing above 2 is passed on (a spooled job); else the caller's descriptors are */
	mode_t umask;		/* (mode_t)-1: stay */
	const uint64_t *limits; /* 16 soft limits by the numbers of getrlimit(2), UINT64_MAX: none; NULL: they stay */
	bool own_session;
	bool own_group;
	sigset_t mask;
	struct sigaction on_child; /* SIGCHLD as the caller had it; pgpu itself needs the default */
	int cell_fd;		   /* -1: no cell */
	const int *close_first;	   /* descriptors that hold locks, ended by -1 */
	bool dies_with_us;	   /* SIGKILL to it when we die: until its exec it has no mark (stray.h) */
	uint64_t capabilities;	   /* that the class leaves its jobs (conf.h); 0: all */
	bool no_new_privileges;
};

struct launched {
	pid_t pid;
	int pidfd;
};

/*
 * 0, or -1: exit code EXIT_NO_START (127) when the command or its folder is what is wrong, EXIT_BROKEN (125) when pgpu
 * could not start it, or not as restricted as it is to be. The command is looked for in the PATH of `environment`; a
 * file without a #! line that the kernel refuses is run by /bin/sh, as execvp(3) does.
 */
int launch(const struct launch *launch, struct launched *ret_launched, struct err *err);

#endif
