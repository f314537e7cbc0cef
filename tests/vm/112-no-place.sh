#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# A login of a user who does not linger: no cell that would end with it, and each job says what is missing.
# scenes: ssh-other
. "$(dirname "$0")/lib.sh"
rm -f "$XDG_RUNTIME_DIR"/pgpu/said-*

before=$(cat /proc/self/cgroup)
exits 3 "the job runs" pgpu run -- sh -c 'exit 3'
matches "and what is missing is said, with what mends it" "pgpu: no cell: .*loginctl enable-linger" "$(cat "$err")"
exits 0 "once a login" pgpu run -- true
equals "and not again" "" "$(cat "$err")"
equals "nothing was moved" "$before" "$(cat /proc/self/cgroup)"
matches "status says it too" "cells: none.*loginctl enable-linger" "$(pgpu status)"
mkfifo ready
exits 0 "a daemon of the job is ended with it" pgpu run -q -- sh -c \
	'setsid sh -c "sleep 1000 & echo >ready; wait" & read -r _ <ready'
equals "none is left" "" "$(sandbox_pids | xargs -r ps -o args= -p | grep '^sleep')"
id=$(pgpu submit -- true 2>"$err") && exits 0 "a spooled job runs" pgpu wait "$id"
lacks "and a machine that ends nothing at logout is not warned of" "log out" "$(cat "$err")"
finish
