/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The table of commands. Adding one: a file cmd_NAME.c, a line in commands.h, a row here, a section in man/pgpu.1. */
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "conf/base/filelimit.h"
#include "conf/base/print.h"
#include "conf/base/say.h"
#include "conf/base/text.h"
#include "runner/agents.h"
#include "runner/cell/caps.h"
#include "runner/commands.h"
#include "runner/version.h"

static const struct command {
	const char *name;
	int (*run)(int argc, char **argv);
	bool hidden;
	const char *summary;
} commands[] = {
	{ "run", cmd_run, false, "waits for a lane and runs a command in it" },
	{ "submit", cmd_submit, false, "spools job files" },
	{ "queue", cmd_queue, false, "lists what runs and what waits, in the order in which it will start" },
	{ "cancel", cmd_cancel, false, "takes jobs out of the line, or ends them" },
	{ "hold", cmd_hold, false, "keeps waiting jobs from starting" },
	{ "release", cmd_release, false, "lets held jobs go" },
	{ "update", cmd_update, false, "changes jobs that wait" },
	{ "requeue", cmd_requeue, false, "puts jobs back in line that run or have ended" },
	{ "drain", cmd_drain, false, "lets running jobs end and no other start" },
	{ "undrain", cmd_undrain, false, "lets jobs start again" },
	{ "status", cmd_status, false, "shows the card, the lanes and what the cells can do here" },
	{ "turn", cmd_turn, false, "lets a job that waits go first, from inside a job" },
	{ "show", cmd_show, false, "shows everything known about a job" },
	{ "wait", cmd_wait, false, "waits until jobs have ended" },
	{ "output", cmd_output, false, "prints a job's output file" },
	{ "log", cmd_log, false, "prints the history" },
	{ "report", cmd_report, false, "reports what a night held, as text, page or picture" },
	{ "rescue", cmd_rescue, false, "clears up after crashes and starts what can start" },
	{ "doctor", cmd_doctor, false, "checks this machine, and says what is lost and what mends it" },
	{ "export", cmd_export, false, "prints a job file as a script for Slurm's sbatch" },
	{ "conf", cmd_conf, false, "prints or checks the configuration" },
	{ "worker", cmd_worker, true, "" },
	{ "on-end", cmd_onend, true, "" },
};
enum { COMMANDS = sizeof commands / sizeof commands[0] };

static int print_help(void)
{
	SCOPE_BUF struct buf out = BUF_EMPTY;

	buf_puts(&out, "usage: pgpu COMMAND [options]\nA job queue for one graphics card.\n\n");
	for (int i = 0; i < COMMANDS; i++) {
		if (!commands[i].hidden)
			buf_printf(&out, "  %-8s %s\n", commands[i].name, commands[i].summary);
	}
	buf_puts(&out,
		 "\nEvery command has --help; pgpu help agents is one page for programs; pgpu --version says which\n"
		 "pgpu this is; pgpu(1) is the manual.\n");
	return print_buf(&out);
}

static int print_version(void)
{
	SCOPE_BUF struct buf out = BUF_EMPTY;

	buf_puts(&out, "pgpu " PGPU_VERSION "\n");
	return print_buf(&out);
}

static int refuse(const char *word)
{
	const char *names[COMMANDS + 1];
	struct err err = ERR_NONE;
	char hint[64];
	int count = 0;

	for (int i = 0; i < COMMANDS; i++) {
		if (!commands[i].hidden)
			names[count++] = commands[i].name;
	}
	names[count] = NULL;
	text_hint(word, names, hint, sizeof hint);
	err_set(&err, EXIT_USAGE, "unknown command '%.64s'%s", word, hint);
	return say_err(&err);
}

/* Called with 0, 1 or 2 closed, the next file we open would become one of them, and the job's text would be written
 * into it. */
static void open_closed(void)
{
	struct pollfd polls[3] = { { .fd = 0 }, { .fd = 1 }, { .fd = 2 } };

	if (poll(polls, 3, 0) <= 0)
		return;
	for (int fd = 0; fd <= 2; fd++) {
		if (polls[fd].revents & POLLNVAL)
			open("/dev/null", fd ? O_WRONLY : O_RDONLY);
	}
}

static const struct command *find_command(const char *word)
{
	for (int i = 0; i < COMMANDS; i++) {
		if (strcmp(word, commands[i].name) == 0)
			return &commands[i];
	}
	return NULL;
}

static int help_on(char *word)
{
	const struct command *command = find_command(word);
	char help[] = "--help", *argv[] = { word, help, NULL };

	if (strcmp(word, "agents") == 0)
		return print_usage(agents_page);
	return command && !command->hidden ? command->run(2, argv) : refuse(word);
}

static int dispatch(int argc, char **argv)
{
	struct err err = ERR_NONE;

	if (argc < 2) {
		err_set(&err, EXIT_USAGE, "a command is missing (pgpu --help lists them)");
		return say_err(&err);
	}
	if (strcmp(argv[1], "help") == 0 && argc > 2)
		return help_on(argv[2]);
	if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 || strcmp(argv[1], "help") == 0)
		return print_help();
	if (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "version") == 0)
		return print_version();
	const struct command *command = find_command(argv[1]);
	return command ? command->run(argc - 1, argv + 1) : refuse(argv[1]);
}

/*
 * Where pgpu's file has a capability, glibc takes TMPDIR, LD_LIBRARY_PATH and their like out of the environment. They
 * are the job's to have. The strings still lie where execve(2) put them, between the arguments and the file's name.
 */
static void restore_environment(int argc, char **argv)
{
	const char *end = (const char *)getauxval(AT_EXECFN);
	char *from = argc ? strchr(argv[argc - 1], '\0') + 1 : NULL;
	size_t count = 0;

	for (char *next = from; next && next < end; next = strchr(next, '\0') + 1)
		count++;
	char **list = calloc(count + 1, sizeof *list);
	for (size_t i = 0; list && i < count; i++, from = strchr(from, '\0') + 1)
		list[i] = from;
	if (list && count)
		environ = list;
}

/* Not inlined: its error is to be off the stack when a job starts. */
__attribute__((noinline)) static void give_back(int argc, char **argv)
{
	struct err err = ERR_NONE;
	int given = caps_give_back(argc > 1 && strcmp(argv[1], "status") == 0, &err);

	if (given < 0)
		_exit(say_err(&err));
	if (given)
		restore_environment(argc, argv);
}

int main(int argc, char **argv)
{
	open_closed();
	filelimit_outlive();
	give_back(argc, argv);
	/* No buffer of stdio's is ever filled; what exit(3) would look through costs more pages than a command's own
	 * work at its end. */
	_exit(dispatch(argc, argv));
}
