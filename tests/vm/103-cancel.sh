#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# When cancel returns, a job is gone that ignores SIGTERM, is stopped, or has children of another session.
# scenes: manager ssh
# shellcheck disable=SC2016 # the jobs' shells read it
. "$(dirname "$0")/lib.sh"
conf $'lanes = 2\ngrace = "1s"'

# held NAME SHELL-TEXT: spools a job that writes its processes' pids to the file NAME and stays.
held()
{
	id=$(pgpu submit --no-requeue -- bash -c "$2; echo \$\$ >>$1; $(gate "$1")")
	reached "$1"
	mapfile -t pids <"$1"
}

held deaf 'trap "" TERM; setsid sleep 1000 & echo $! >>deaf'
exits 0 "a job that ignores SIGTERM can be cancelled" pgpu cancel "$id"
gone "and is gone, with its child" "${pids[@]}"

held stopped 'setsid sleep 1000 & echo $! >>stopped'
kill -STOP "${pids[@]}"
exits 0 "a stopped job can be cancelled" pgpu cancel "$id"
gone "and is gone, with its child" "${pids[@]}"

pgpu run -q -- bash -c "trap '' TERM; echo \$\$ >blocking; $(gate blocking)" & run=$!
reached blocking
exits 0 "a blocking one too" pgpu cancel "$(pgpu queue --json | sed 's/.*"id":"\([0-9]*\)".*/\1/')"
gone "and is gone" "$(cat blocking)"
wait $run 2>/dev/null
lacks "its wrapper tells" '^0$' $?
equals "no cgroup is left" "" "$(cells)"
finish
