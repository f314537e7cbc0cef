/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `pgpu doctor`: what this machine lets the queue do, what is lost, and the command that mends it. */
#include "conf/base/json.h"
#include "conf/base/say.h"
#include "conf/base/scope.h"
#include "conf/base/text.h"
#include "runner/commands.h"
#include "runner/doctor.h"
#include "runner/options.h"

static const char usage[] = "usage: pgpu doctor [options]\n"
			    "Checks configuration, folders, cells, logout, boot, card and limits; says what is lost, "
			    "and how it is mended.\n"
			    "\n"
			    "      --json   one JSON array\n"
			    "      --help   print this\n";

static const char *const words[] = { [FINDING_OK] = "ok", [FINDING_NOTE] = "note", [FINDING_LOST] = "lost" };

static void put_text(const struct finding *finding, struct buf *out)
{
	char shown[DOCTOR_TEXT];

	text_show(finding->text, shown, sizeof shown);
	buf_printf(out, "%-4s  %s: %s\n", words[finding->kind], finding->about, shown);
	if (!finding->mend[0])
		return;
	text_show(finding->mend, shown, sizeof shown);
	buf_printf(out, "      mend: %s\n", shown);
}

static void put_json(const struct finding *finding, bool first, struct buf *out)
{
	buf_printf(out, "%s{\"check\":\"%s\",\"state\":\"%s\"", first ? "" : ",", finding->about, words[finding->kind]);
	json_text(out, "text", finding->text);
	json_text(out, "mend", finding->mend[0] ? finding->mend : NULL);
	buf_puts(out, "}");
}

static int print_findings(const struct doctor *doctor, bool json)
{
	SCOPE_BUF struct buf out = BUF_EMPTY;
	bool lost = false;

	buf_puts(&out, json ? "[" : "");
	for (int i = 0; i < doctor->count; i++) {
		lost |= doctor->list[i].kind == FINDING_LOST;
		if (json)
			put_json(&doctor->list[i], i == 0, &out);
		else
			put_text(&doctor->list[i], &out);
	}
	buf_puts(&out, json ? "]\n" : "");
	return print_buf(&out) != EXIT_OK || lost ? EXIT_FAILED : EXIT_OK;
}

int cmd_doctor(int argc, char **argv)
{
	static struct doctor doctor;
	bool json;
	int code = options_json_alone("doctor", argc, argv, usage, &json);

	if (code >= 0)
		return code;
	/* The findings say it all. */
	say_quiet(true);
	doctor_configuration(&doctor);
	doctor_queue(&doctor, &queue_only);
	doctor_sockets(&doctor);
	doctor_cells(&doctor);
	doctor_logout(&doctor);
	doctor_boot(&doctor);
	doctor_cards(&doctor);
	doctor_limits(&doctor);
	return print_findings(&doctor, json);
}
