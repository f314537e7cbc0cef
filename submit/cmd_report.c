/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `pgpu report`: what a night held, as text, as a page, or as a picture. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>

#include "conf/base/buf.h"
#include "conf/base/clock.h"
#include "conf/base/file.h"
#include "conf/base/fmt.h"
#include "conf/base/print.h"
#include "conf/base/say.h"
#include "conf/base/scope.h"
#include "conf/base/when.h"
#include "runner/commands.h"
#include "runner/options.h"
#include "runner/queue.h"
#include "submit/report.h"
#include "submit/reporthtml.h"
#include "submit/reportsvg.h"
#include "submit/reporttext.h"

static const char usage[] =
	"usage: pgpu report [options]\n"
	"Prints what a night held: jobs, lanes over time, and what failed with the end of its output.\n"
	"\n"
	"      --since TIME  what ended after 22:00, 2026-12-01T02:30, or in the last 8h; by default 12h\n"
	"      --until TIME  and not after that\n"
	"      --html FILE   writes a page that has all in itself; - is standard output\n"
	"      --svg FILE    writes its timeline alone, as a picture\n"
	"      --help        print this\n";

#define SPAN_NS (12 * 3600 * NS_PER_S)

struct request {
	const char *since, *until;
	const char *html, *svg; /* where it goes; "-": standard output */
	bool help;
};

static int read_request(struct request *request, int argc, char **argv, struct err *err)
{
	static const struct option long_options[] = {
		{ "since", OPTION_VALUE, 's' }, { "until", OPTION_VALUE, 'u' }, { "html", OPTION_VALUE, 'H' },
		{ "svg", OPTION_VALUE, 'S' },	{ "help", OPTION_FLAG, 'h' },	{ .name = "" },
	};
	struct options options = OPTIONS("report", argc, argv, "", long_options);

	for (int option; (option = options_next(&options, err)) != 0;) {
		switch (option) {
		case 's': request->since = options.value; break;
		case 'u': request->until = options.value; break;
		case 'H': request->html = options.value; break;
		case 'S': request->svg = options.value; break;
		case 'h': request->help = true; return 0;
		default: return -1;
		}
	}
	if (request->html && request->svg)
		return err_set(err, EXIT_USAGE, "report: either --html or --svg");
	return options_end(&options, err);
}

static int read_span(const struct request *request, struct report *report, struct err *err)
{
	int64_t now = clock_wall_ns();

	report->until_wall_ns = now;
	if (request->until && when_last(request->until, now, &report->until_wall_ns, err) < 0)
		return err_wrap(err, "report: --until");
	report->since_wall_ns = report->until_wall_ns > SPAN_NS ? report->until_wall_ns - SPAN_NS : 0;
	if (request->since && when_last(request->since, now, &report->since_wall_ns, err) < 0)
		return err_wrap(err, "report: --since");
	/* No log is older than the clock, and a span is to be a number of nanoseconds. */
	if (report->since_wall_ns < 0)
		report->since_wall_ns = 0;
	if (report->until_wall_ns <= report->since_wall_ns)
		return err_set(err, EXIT_USAGE, "report: --until is not after --since");
	return 0;
}

static int collect(struct report *report, struct err *err)
{
	struct queue *const queue = &queue_only;

	if (queue_open(queue, QUEUE_LENIENT, err) < 0 || report_collect(report, queue->line.queue_fd, err) < 0)
		return -1;
	return report_records(report, &queue->spool, err);
}

/* Under its name it is there as a whole, or as it was. A device or a link keeps what it is. */
static int write_file(const char *path, const struct buf *out, struct err *err)
{
	char copy[PATH_MAX];
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	struct err why = ERR_NONE;
	struct stat found;

	if (!*name ||
	    fmt(copy, sizeof copy, "%.*s", slash ? (int)(slash - path) + 1 : 1, slash ? path : ".") >= PATH_MAX)
		return err_set(err, EXIT_FAILED, "cannot write %s: that is no name of a file", path);
	SCOPE_FD int folder = open(copy, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (folder < 0)
		return err_sys(err, "cannot write %s", path);
	if (fstatat(folder, name, &found, AT_SYMLINK_NOFOLLOW) == 0 && !S_ISREG(found.st_mode))
		return err_set(err, EXIT_FAILED, "cannot write %s: it is no regular file", path);
	if (file_replace(folder, name, out->text, out->size, FILE_VOLATILE, &why) == 0)
		return 0;
	errno = why.errnum;
	return why.errnum ? err_sys(err, "cannot write %s", path) : err_pass(err, &why);
}

static int put(const struct request *request, const struct report *report, struct buf *out, struct err *err)
{
	int result = request->html  ? report_html(report, out, err)
		     : request->svg ? report_svg(report, out, err)
				    : report_text(report, out, err);

	return result == 0 && !buf_ok(out) ? err_set(err, EXIT_FAILED, "cannot write the report: out of memory")
					   : result;
}

int cmd_report(int argc, char **argv)
{
	struct request request = { 0 };
	struct report report = { 0 };
	struct buf out = BUF_EMPTY;
	struct err err = ERR_NONE;

	if (read_request(&request, argc, argv, &err) < 0)
		return say_err(&err);
	if (request.help)
		return print_usage(usage);
	if (read_span(&request, &report, &err) < 0)
		return say_err(&err);
	const char *path = request.html ? request.html : request.svg;
	bool printed = !path || strcmp(path, "-") == 0;
	int result = collect(&report, &err);
	if (result == 0)
		result = put(&request, &report, &out, &err);
	if (result == 0 && !printed)
		result = write_file(path, &out, &err);
	int code = result < 0 ? say_err(&err) : printed ? print_buf(&out) : EXIT_OK;
	report_free(&report);
	buf_free(&out);
	return code;
}
