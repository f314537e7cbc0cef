/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The commands of pgpu, one a file. Each gets its own arguments, its name as argv[0], and returns the exit code.
 */
#ifndef PGPU_RUNNER_COMMANDS_H
#define PGPU_RUNNER_COMMANDS_H

int cmd_conf(int argc, char **argv);

#endif
