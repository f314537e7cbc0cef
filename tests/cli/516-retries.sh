#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# A job that failed starts again by itself, later each time, so often as it says.
. "$(dirname "$0")/lib.sh"
conf $'lanes = 1\nretry-after = "0"'

queue() { echo "$XDG_STATE_HOME"/pgpu/*; }
# job NAME RETRIES LINE: a job file.
job() { printf -- '---\nname: %s\nretries: %s\n---\n#!/bin/sh\n%s\n' "$1" "$2" "$3" >"$1.job"; }
# rows ID: exit code and outcome of each of its holds.
rows() { awk -F '\t' -v id="$1" '$2 == id { print $(NF - 1) ":" $NF }' "$(queue)/log.tsv" | paste -sd ' '; }

# shellcheck disable=SC2016 # the job's shell reads these
job works 3 'echo $PGPU_RESTART_COUNT >>starts; [ $PGPU_RESTART_COUNT = 2 ]'
exits 0 "the third attempt is well" pgpu submit -W works.job
id=$(cat "$out")
equals "each counts up" $'0\n1\n2' "$(cat starts)"
equals "and has its row" "1:failed 1:failed 0:completed" "$(rows "$id")"
matches "show counts them" $'\nattempts   3 of 4\n' "$(pgpu show "$id")"$'\n'
lacks "and says nothing of the failures" '\nwhy ' "$(pgpu show "$id")"
matches "in JSON" '"retries":3,"attempts":3' "$(pgpu show --json "$id")"
job fails 2 'echo x >>tries; exit 7'
exits 7 "the last attempt is the job's end" pgpu submit -W fails.job
equals "after all of them" 3 "$(wc -l <tries)"
equals "of which each has its row" "7:failed 7:failed 7:failed" "$(rows "$(cat "$out")")"
job signal 1 'kill -9 $$'
exits 137 "a signal" pgpu submit -W signal.job
equals "is a failure" "137:failed 137:failed" "$(rows "$(cat "$out")")"
printf 'retries: 1\ncommand: [/nowhere/at/all]\n' >start.yaml
exits 127 "one that cannot start" pgpu submit -W start.yaml
equals "as well" "127:failed 127:failed" "$(rows "$(cat "$out")")"
printf 'retries: 1\nmin-run-time: 1h\ncommand: "true"\n' >soon.yaml
exits 1 "one that ends too soon" pgpu submit -W soon.yaml
equals "as well" "1:failed 1:failed" "$(rows "$(cat "$out")")"
printf 'retries: 3\nlimit: 1s\ncommand: sleep 60\n' >long.yaml
exits 124 "one that was stopped past its limit" pgpu submit -W long.yaml
equals "is not" "124:timeout" "$(rows "$(cat "$out")")"
job held 5 "$(gate c); exit 1"
id=$(pgpu submit held.job)
reached c
pgpu cancel "$id" >/dev/null
equals "nor is one that was cancelled" "143:cancelled" "$(rows "$id")"
matches "which has ended so" '"state":"cancelled"' "$(pgpu show --json "$id")"
pgpu submit -W fails.job >"$out"
id=$(cat "$out")
: >tries
pgpu requeue "$id"
exits 7 "requeued" pgpu wait "$id"
equals "it has all its attempts again" 3 "$(wc -l <tries)"

# --- the pause between ----------------------------------------------------------------------------------------------
conf $'lanes = 1\nretry-after = "1h"\npause-after-failures = 2'
id=$(pgpu submit works.job)
until_true queue_shows 'attempt 2 of 4'
later="failed, exit code 1; attempt 2 of 4 not before 20[0-9-]*T[0-9:]*[+-]"
matches "it waits, and why" "$id PD .*$later" "$(pgpu queue)"
matches "with a reason of its own" '"reason":"retry"' "$(pgpu queue --json)"
matches "show, too" "why +$later" "$(pgpu show "$id")"
matches "the name says it" "^$id:render:work:1:b[0-9]+:r1$" "$(ls "$(queue)/pending")"
begin=$(find "$(queue)/pending" -type f | sed 's/.*:b\([0-9]*\):.*/\1/')
check "in an hour" [ $((begin - $(date +%s))) -gt 3500 ]
check "and not later" [ $((begin - $(date +%s))) -le 3601 ]
other=$(pgpu submit -- true)
exits 0 "others go on meanwhile" pgpu wait "$other"
equals "an attempt that failed is no failure of its class" '"paused":[]' "$(pgpu status --json | grep -o '"paused":[^]]*]')"
exits 0 "it is let go at once by begin" pgpu update "$id" begin=now
until_true queue_shows 'attempt 3 of 4'
begin=$(find "$(queue)/pending" -type f | sed 's/.*:b\([0-9]*\):.*/\1/')
check "the next one is as late, not twice, beyond a quarter of an hour" [ $((begin - $(date +%s))) -le 3601 ]
exits 0 "no more retries" pgpu update "$id" retries=1 begin=now
exits 0 "is what counts then" pgpu wait "$id"
matches "attempts" $'\nattempts   3 of 2\n' "$(pgpu show "$id")"$'\n'

conf $'lanes = 1\nretry-after = "1s"\nlost-limit = 2'
rm -f starts
id=$(pgpu submit works.job)
exits 0 "by itself, after a second and two" pgpu wait "$id"
equals "it starts again" $'0\n1\n2' "$(cat starts)"
equals "nobody is left" "" "$(until_true eval '[ -z "$(sandbox_pids)" ]'; sandbox_pids)"
# shellcheck disable=SC2016 # the job's shell reads it
job both 5 'case $PGPU_RESTART_COUNT in 0 | 1) exit 3 ;; 2) kill -KILL $GPU_QUEUE_PID; read _ ;; esac'
conf $'lanes = 1\nretry-after = "0"\nlost-limit = 2'
id=$(pgpu submit both.job)
exits 0 "attempts that failed are no lost ones" pgpu wait "$id"
matches "though each is a restart" '"restarts":3' "$(pgpu show --json "$id")"

# A log that lacks the last row gets it again, whatever earlier attempts are in it.
exits 7 "one more" pgpu submit -W fails.job
id=$(cat "$out")
sed -i '$d' "$(queue)/log.tsv"
until_true eval '[ $(($(date +%s) - $(stat -c %Z "$(queue)/ended/$id:"*))) -gt 2 ] && pgpu rescue'
equals "its row is written again" "7:failed 7:failed 7:failed" "$(rows "$id")"

for wrong in -1 1001 x 1.5; do
	job wrong "$wrong" true
	exits 2 "no number of retries: $wrong" pgpu submit wrong.job
done
matches "with its place" '^pgpu: wrong.job:3:10: retries: ' "$(cat "$err")"
printf 'standing: true\nretries: 1\ncommand: "true"\n' >standing.yaml
exits 2 "nor of a standing job" pgpu submit standing.yaml
finish
