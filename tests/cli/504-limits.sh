#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# What must not go on for ever, and what is not the job's to end.
. "$(dirname "$0")/lib.sh"

# shellcheck disable=SC2016 # the job's shell reads it
id=$(pgpu submit -- sh -c 'kill -KILL $GPU_QUEUE_PID; exec sleep 1000')
exits 125 "a job that kills its worker each time ends" pgpu wait "$id"
matches "as lost, with why and how often" '"state":"lost","reason":"[^"]*three times.*"restarts":2' "$(pgpu show --json "$id")"

conf $'lanes = 1\ncells = "off"'
bash -c 'sleep 1000 & echo $! >before; exec pgpu run -q -- true'
check "without a cell, a child that the caller had before is left alone" alive "$(cat before)"
exits 0 "and the job's own children are ended" pgpu run -q -- bash -c 'setsid sleep 1000 & echo $! >inside'
if alive "$(cat inside)"; then not_ok "really"; else ok "really"; fi
kill "$(cat before)"
finish
