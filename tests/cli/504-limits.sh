#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# What must not go on for ever, and what is not the job's to end.
. "$(dirname "$0")/lib.sh"

# shellcheck disable=SC2016 # the job's shell reads it
id=$(pgpu submit -- sh -c 'kill -KILL $GPU_QUEUE_PID; exec sleep 1000')
until_true queue_shows 'its worker or the machine died 3 times while it ran; pgpu release'
matches "a job that kills its worker each time is held" '"state":"pending","reason":"held".*"restarts":3' "$(pgpu show --json "$id")"
exits 0 "and can be cancelled" pgpu cancel "$id"

conf $'lanes = 1\ncells = "off"'
bash -c 'sleep 1000 & echo $! >before; exec pgpu run -q -- true'
check "without a cell, a child that the caller had before is left alone" alive "$(cat before)"
exits 0 "and the job's own children are ended" pgpu run -q -- bash -c 'setsid sleep 1000 & echo $! >inside'
if alive "$(cat inside)"; then not_ok "really"; else ok "really"; fi
kill "$(cat before)"
finish
