#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# A job that ends too soon has failed; a class whose jobs fail one like the other starts no more of them.
. "$(dirname "$0")/lib.sh"

queue() { echo "$XDG_STATE_HOME"/pgpu/*; }
# fails CODE…: a job for each, one after the other.
fails() { for code; do pgpu submit -W "${class[@]}" -- sh -c "exit $code" >/dev/null; done; }
class=()

# --- min-run-time ---------------------------------------------------------------------------------------------------
printf 'lanes = 1\nclass "quick" { rank = 1 budget = "1m" min-run-time = "1h" }\n' >"$XDG_CONFIG_HOME/pgpu/pgpu.conf"
printf -- '---\nmin-run-time: 10m\n---\n#!/bin/sh\ntrue\n' >soon.job
exits 1 "a job that ends too soon has failed" pgpu submit -W soon.job
id=$(cat "$out")
matches "show says why" $'state +failed .*why +ended after 0s, min-run-time is 10m\n' "$(pgpu show "$id")"
matches "the log says so" "$id"$'\twork\trender\tsoon\t.*\t1\tfailed$' "$(tail -n 1 "$(queue)/log.tsv" | cut -f 2,4-)"
exits 1 "by its class" pgpu submit -W -p quick -- true
printf 'class: quick\nmin-run-time: 0s\ncommand: "true"\n' >never.yaml
exits 0 "unless it says never" pgpu submit -W never.yaml
exits 3 "one that fails keeps its code" pgpu submit -W -p quick -- sh -c 'exit 3'
exits 0 "a run has no such time" pgpu run -q -p quick -- true
printf 'standing: true\nmin-run-time: 1s\ncommand: "true"\n' >standing.yaml
exits 2 "nor has a standing job" pgpu submit standing.yaml
matches "which is refused" 'standing.yaml:2:15: min-run-time: a standing job has none' "$(cat "$err")"
id=$(pgpu submit -H -p quick -- true)
exits 0 "it goes with the class" pgpu update "$id" class=render
pgpu release "$id"
exits 0 "that gave it" pgpu wait "$id"
id=$(pgpu submit -H -- true)
exits 0 "and is changed" pgpu update "$id" min-run-time=10m
pgpu release "$id"
exits 1 "while it waits" pgpu wait "$id"

# --- pauses ---------------------------------------------------------------------------------------------------------
conf $'lanes = 1\npause-after-failures = 3\nclass "clip" { pause-after-failures = 0 }\nclass "bench" { pause-after-failures = 1 }'
fails 1 1 2 2 0 2 2
equals "neither two codes nor a success between them pause a class" '"paused":[]' "$(pgpu status --json | grep -o '"paused":[^]]*]')"
pgpu run -q -- false
check "a run counts for nothing" [ -z "$(pgpu status | grep paused)" ]
a=$(pgpu submit -- sh -c "$(gate a); exit 2")
reached a
b=$(pgpu submit -- sh -c 'echo b >>ran')
held=$(pgpu submit -H -- sh -c 'echo held >>ran')
other=$(pgpu submit -p clip -- sh -c 'echo other >>ran')
open_gate a
exits 2 "the third" pgpu wait "$a"
exits 0 "the other classes go on" pgpu wait "$other"
why='paused: 3 jobs in a row ended failed, exit code 2; pgpu release --class render'
matches "its jobs wait, and queue says why" "$b PD .*$why" "$(pgpu queue)"
matches "in JSON" '"reason":"paused"' "$(pgpu queue --json "$b")"
matches "show" "why +$why" "$(pgpu show "$b")"
matches "status" "class render: $why" "$(pgpu status)"
equals "in JSON" '"paused":["render"]' "$(pgpu status --json | grep -o '"paused":[^]]*]')"
equals "on disk" "render 3 $a failed 2 paused" "$(cat "$(queue)/failures")"
equals "nobody watches for them" "" "$(sandbox_pids)"
exits 0 "a run of the class is not kept" pgpu run -q -p render --no-wait -- true
equals "nor does a rescue start one" "other" "$(pgpu rescue; cat ran)"
conf $'lanes = 1\nmemory = "1G"\npause-after-failures = 3\nclass "clip" { pause-after-failures = 0 }\nclass "bench" { pause-after-failures = 1 }'
matches "over a change of the configuration" "$b PD .*$why" "$(pgpu queue)"
printf damaged >"$(queue)/conf"
matches "and with the queue's copy of it damaged" "$b PD .*$why" "$(pgpu queue)"
mv "$(queue)"/boot-* "$SANDBOX/old-boot" # as after a boot, but for the lanes
matches "and over a boot" "$b PD .*$why" "$(pgpu queue)"
c=$(pgpu submit -- sh -c 'echo c >>ran')
matches "one that comes now waits as well" "$c PD .*$why" "$(pgpu queue)"

exits 2 "an unknown class" pgpu release --class rendr
matches "is named" "release: unknown class 'rendr', did you mean 'render'" "$(cat "$err")"
exits 2 "not both" pgpu release --class render "$held"
exits 2 "hold knows no class" pgpu hold --class render
exits 1 "not from inside a job" pgpu run -q -- pgpu release --class render
matches "and why" 'cannot release class render from inside a job' "$(cat "$err")"
exits 0 "a class that is not paused is none to release" pgpu release --class test
exits 0 "released" pgpu release -p render
equals "silently" "" "$(cat "$out" "$err")"
exits 0 "they go on by themselves" pgpu wait "$b" "$c"
equals "in their order, but not the held one" $'other\nb\nc' "$(cat ran)"
equals "nothing is left of it" '"paused":[]' "$(pgpu status --json | grep -o '"paused":[^]]*]')"
check "nor on disk" [ ! -e "$(queue)/failures" ]
fails 2 2
equals "it counts from 0" '"paused":[]' "$(pgpu status --json | grep -o '"paused":[^]]*]')"
fails 0

# What is none of a job's doing.
fails 7 7
id=$(pgpu submit -- sh -c "$(gate k); exit 7")
reached k
pgpu cancel "$id" >/dev/null
id=$(pgpu submit --no-requeue -- sh -c 'kill -KILL $GPU_QUEUE_PID; read _; exit 7')
pgpu wait "$id"
equals "cancelled and lost ones count for nothing" "render 2 failed 7 counting" "$(cut -d ' ' -f 1,2,4- "$(queue)/failures")"
id=$(awk '{ print $3 }' "$(queue)/failures")
pgpu requeue "$id"
exits 7 "one that fails again" pgpu wait "$id"
equals "counts once" "render 2 failed 7 counting" "$(cut -d ' ' -f 1,2,4- "$(queue)/failures")"
fails 7
matches "and another one is the third" 'paused: 3 jobs in a row ended failed, exit code 7' "$(pgpu status)"
pgpu release --class render

class=(-p clip)
fails 1 1 1 1
class=(-p bench)
fails 1
equals "a class has its own number, and 0 is never" '"paused":["bench"]' "$(pgpu status --json | grep -o '"paused":[^]]*]')"
class=(-p test)
fails 4 4
pgpu submit -W -p test -t 1s -- sleep 60 >/dev/null
fails 4
equals "a timeout is another failure" "test 1 failed 4 counting" "$(grep '^test ' "$(queue)/failures" | cut -d ' ' -f 1,2,4-)"

pgpu release --class bench
for line in garbage 'bench' 'bench 1 x failed 1 paused' 'bench 1 3 failed x paused'; do
	echo "$line" >"$(queue)/failures"
	conf $'lanes = 1\nclass "bench" { memory = "1G" }'" # $line"
	exits 0 "a line that is damaged pauses nobody: $line" pgpu submit -W -p bench -- true
done
finish
