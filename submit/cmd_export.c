/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `pgpu export`: a job file as a script for sbatch(1), so that nobody who outgrows one card is locked in. */
#include <errno.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "conf/base/print.h"
#include "conf/base/say.h"
#include "conf/base/scope.h"
#include "runner/commands.h"
#include "runner/options.h"
#include "runner/queue.h"
#include "submit/sbatch.h"

static const char usage[] = "usage: pgpu export [options] FILE\n"
			    "Prints the job of a file as a script for sbatch, the submit command of Slurm.\n"
			    "\n"
			    "      --partition NAME   the partition it asks for; by default it names none\n"
			    "      --qos NAME         the quality of service; by default it names none\n"
			    "      --gres LIST        what stands for the card: gpu:1 by default; none: nothing\n"
			    "      --help             print this\n";

struct request {
	struct sbatch_names names;
	const char *file;
	bool help;
};

static int read_request(struct request *request, int argc, char **argv, struct err *err)
{
	static const struct option long_options[] = { { "partition", OPTION_VALUE, 'p' },
						      { "qos", OPTION_VALUE, 'q' },
						      { "gres", OPTION_VALUE, 'g' },
						      { "help", OPTION_FLAG, 'h' },
						      { .name = "" } };
	struct options options = OPTIONS("export", argc, argv, "", long_options);
	int option;

	request->names.gres = "gpu:1";
	while ((option = options_next(&options, err)) > 0) {
		switch (option) {
		case 'p': request->names.partition = options.value; break;
		case 'q': request->names.qos = options.value; break;
		case 'g': request->names.gres = strcmp(options.value, "none") == 0 ? NULL : options.value; break;
		default: request->help = true; return 0;
		}
	}
	if (option < 0)
		return -1;
	if (options.next + 1 != argc)
		return err_set(err, EXIT_USAGE, "export: %s (pgpu export [options] FILE)",
			       options.next < argc ? "one job file at a time" : "a job file is missing");
	request->file = argv[options.next];
	return 0;
}

/* Twice: as it is written, and with all that is left open filled in. */
static int read_job(const struct request *request, const struct conf *conf, const char *text, size_t size,
		    struct job *written, struct job *full, struct err *err)
{
	char folder[PATH_MAX];

	if (!getcwd(folder, sizeof folder))
		return err_sys(err, "cannot find the working folder");
	if (job_parse(request->file, text, size, written, NULL, err) < 0 ||
	    job_parse(request->file, text, size, full, NULL, err) < 0)
		return -1;
	return job_complete(full, conf, folder, err);
}

static int export(const struct request *request, const struct conf *conf, struct err *err)
{
	SCOPE_JOB struct job written = JOB_EMPTY, full = JOB_EMPTY;
	SCOPE_BUF struct buf script = BUF_EMPTY, notices = BUF_EMPTY;
	SCOPE_FREE char *text = NULL;
	size_t size;

	if (job_file_read(request->file, &text, &size, err) < 0 ||
	    read_job(request, conf, text, size, &written, &full, err) < 0)
		return -1;
	if (sbatch_write(&written, &full, &request->names, &script, &notices, err) < 0)
		return err_wrap(err, "%s", request->file);
	for (const char *line = notices.text; line && *line; line += strcspn(line, "\n") + 1)
		say("%.*s", (int)strcspn(line, "\n"), line);
	return print_buf(&script);
}

int cmd_export(int argc, char **argv)
{
	struct request request = { 0 };
	struct err err = ERR_NONE;
	struct queue *const queue = &queue_only;

	int code = read_request(&request, argc, argv, &err);
	if (code == 0 && request.help)
		return print_usage(usage);
	if (code == 0)
		code = queue_open(queue, QUEUE_STRICT, &err);
	if (code == 0)
		code = export(&request, &queue->line.conf, &err);
	return code < 0 ? say_err(&err) : code;
}
