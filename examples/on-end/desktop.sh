#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# A note on the desktop when a job has ended.
#
#     on-end: [/path/to/desktop.sh]                in a job file
#     on-end = { "/path/to/desktop.sh" }           in pgpu.conf, for all
set -u

case $PGPU_JOB_OUTCOME in
completed) urgency=low text="done" ;;
cancelled) exit 0 ;;
*) urgency=critical text="$PGPU_JOB_OUTCOME, exit code $PGPU_JOB_EXIT_CODE" ;;
esac
# Submitted over ssh, say, the job knows no desktop; the user's own bus has a place of its own.
: "${DBUS_SESSION_BUS_ADDRESS:=unix:path=/run/user/$(id -u)/bus}"
export DBUS_SESSION_BUS_ADDRESS
exec notify-send --app-name=pgpu --urgency="$urgency" "$PGPU_JOB_NAME ($PGPU_JOB_ID): $text" "$PGPU_JOB_OUTPUT"
