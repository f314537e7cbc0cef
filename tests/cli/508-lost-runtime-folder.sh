#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The runtime folder goes, as at a last logout, and comes back: jobs that run, jobs that wait and new ones are one line.
. "$(dirname "$0")/lib.sh"
conf 'lanes = 2'

# start NAME: a blocking run that notes its name and holds its lane until its gate is opened.
start()
{
	pgpu run -q --name "$1" -- sh -c "echo $1 >>$SANDBOX/ran; $(gate "$1")" &
	runs[$1]=$!
}
states() { pgpu queue --json | python3 -c 'import json, sys; print(*(job["name"] + ":" + job["state"] for job in json.load(sys.stdin)))'; }
# shellcheck disable=SC2317 # until_true calls it
says() { [ "$(states)" = "$1" ]; }
id_of() { pgpu queue | awk -v name="$1" '$5 == name { print $1 }'; }

declare -A runs
start a && reached a
start b && reached b
start c
until_true queue_shows '\bc\b'

rm -r "$XDG_RUNTIME_DIR"
equals "the line is whole without the folder" "a:running b:running c:pending" "$(states)"
mkdir -m 700 "$XDG_RUNTIME_DIR"
start d
until_true queue_shows '\bd\b'
equals "and with a new folder" "a:running b:running c:pending d:pending" "$(states)"
equals "two lanes run two jobs" "a b" "$(paste -sd ' ' "$SANDBOX/ran")"

open_gate a
wait "${runs[a]}"
reached c
until_true says "c:running b:running d:pending"
ok "who waited since before gets the lane"
exits 0 "a job from before is cancelled" pgpu cancel "$(id_of b)"
wait "${runs[b]}"
reached d
until_true says "c:running d:running"
ok "and the next one follows"
rm -r "$XDG_RUNTIME_DIR"
open_gate c
wait "${runs[c]}"
equals "a job that ends without the folder keeps its code" 0 $?
open_gate d
wait "${runs[d]}"
equals "each ran once, in order" "a b c d" "$(paste -sd ' ' "$SANDBOX/ran")"
equals "and each is accounted for" "a completed
b cancelled
c completed
d completed" "$(cut -f 6,15 "$XDG_STATE_HOME"/pgpu/*/log.tsv | tr '\t' ' ' | grep '^[a-d] ' | sort)"
finish
