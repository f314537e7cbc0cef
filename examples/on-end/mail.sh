#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# A mail to oneself when a job has ended, with the last lines of its output.
#
#     on-end: [/path/to/mail.sh]                   in a job file
#     class "night" { rank = 4  budget = "12h"  on-end = { "/path/to/mail.sh", "ada@example.org" } }
set -u

to=${1:-$(id -un)}
# A name may hold anything that is no control character, and a header is one line of ASCII.
name=$(printf %s "$PGPU_JOB_NAME" | LC_ALL=C tr -c ' -~' '?')
{
	echo "To: $to"
	echo "Subject: [pgpu] $name ($PGPU_JOB_ID): $PGPU_JOB_OUTCOME, exit code $PGPU_JOB_EXIT_CODE"
	echo "Content-Type: text/plain; charset=utf-8"
	echo
	echo "$PGPU_JOB_OUTPUT:"
	tail -n 20 -- "$PGPU_JOB_OUTPUT" 2>&1
} | PATH=$PATH:/usr/sbin:/usr/lib sendmail -i -- "$to"
