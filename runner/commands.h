/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The commands of pgpu, one a file. Each gets its own arguments, its name as argv[0], and returns the exit code.
 */
#ifndef PGPU_RUNNER_COMMANDS_H
#define PGPU_RUNNER_COMMANDS_H

int cmd_cancel(int argc, char **argv);
int cmd_conf(int argc, char **argv);
int cmd_doctor(int argc, char **argv);
int cmd_drain(int argc, char **argv);
int cmd_export(int argc, char **argv);
int cmd_hold(int argc, char **argv);
int cmd_log(int argc, char **argv);
int cmd_output(int argc, char **argv);
int cmd_queue(int argc, char **argv);
int cmd_release(int argc, char **argv);
int cmd_report(int argc, char **argv);
int cmd_requeue(int argc, char **argv);
int cmd_rescue(int argc, char **argv);
int cmd_run(int argc, char **argv);
int cmd_show(int argc, char **argv);
int cmd_status(int argc, char **argv);
int cmd_submit(int argc, char **argv);
int cmd_turn(int argc, char **argv);
int cmd_undrain(int argc, char **argv);
int cmd_update(int argc, char **argv);
int cmd_wait(int argc, char **argv);
/* Not for people: the process that runs spooled jobs (worker.h). */
int cmd_worker(int argc, char **argv);
/* Nor this one: what jobs name for their end (onend.h). */
int cmd_onend(int argc, char **argv);

#endif
