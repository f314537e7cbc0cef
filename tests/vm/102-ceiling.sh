#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# A job above its ceiling of memory is killed, all of it, and nobody else is.
# scenes: manager ssh
. "$(dirname "$0")/lib.sh"
need_cells "a job above its ceiling is killed"

pgpu run -q -- sh -c "$(gate neighbour); exit 5" & neighbour=$!
reached neighbour
exits 137 "a job above its ceiling is killed" pgpu run -q --memory 64M -- python3 -c 'x = bytearray(200 << 20)'
check "its neighbour lives" alive $neighbour
exits 0 "below its ceiling a job is left alone" pgpu run -q --memory 64M -- python3 -c 'x = bytearray(16 << 20)'

# The shell stays small, its child does not: the cell goes as a whole.
# shellcheck disable=SC2016 # the job's shell reads it
exits 137 "a small parent goes with its large child" \
	pgpu run -q --memory 64M -- bash -c 'python3 -c "x = bytearray(200 << 20)"; exit 0'

id=$(pgpu submit --memory 64M -- python3 -c 'x = bytearray(200 << 20)')
exits 137 "a spooled job too" pgpu wait "$id"
matches "and is listed as failed" '"state":"failed"' "$(pgpu show --json "$id")"
id=$(pgpu submit -- sh -c 'exit 6')
exits 6 "the line goes on" pgpu wait "$id"

open_gate neighbour
wait $neighbour
equals "the neighbour ends as it likes" 5 $?
equals "no cgroup is left" "" "$(cells)"
finish
