#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Turns that a class demands, and what bounds the jobs that are frozen beside those that run.
# shellcheck disable=SC2317,SC2154 # until_true calls some of these; `starts` sets pid_NAME
. "$(dirname "$0")/lib.sh"

night='class "night" { rank = 5 budget = "1h" turns = "forced" }'
rows() { awk -F '\t' -v id="$1" '$2 == id { print $NF ":" $(NF - 1) }' "$XDG_STATE_HOME"/pgpu/*/log.tsv | paste -sd ' '; }
states() { pgpu queue --json | python3 -c 'import json, sys
print(*sorted(job["name"] + ":" + job["state"] for job in json.load(sys.stdin)))'; }
are() { [ "$(states)" = "$*" ]; }
is_state() { pgpu show --json "$1" | grep -q "\"state\":\"$2\""; }
# starts NAME OPTIONS…: a run of that name and session that stands at its gate.
starts()
{
	local name=$1
	shift
	pgpu run -q --as "$name" --name "$name" "$@" -- sh -c "$(gate "$name")" &
	declare -g "pid_$name=$!"
	reached "$name"
}
ends() { open_gate "$1"; local pid=pid_$1; wait "${!pid}"; }

for cells in auto off; do
	with="cells = $cells"
	conf "lanes = 1"$'\n'"cells = \"$cells\""$'\n'"$night"
	starts slow -p night
	starts fast -p clip
	equals "$with: a job of a forced class is frozen for a better rank, without being asked" 'fast:running slow:frozen' "$(states)"
	ends fast
	until_true are slow:running
	ok "$with: and goes on after it"
	ends slow

	id=$(pgpu submit -q -p night -J slow -- sh -c "$(gate slow); exit 5")
	reached slow
	other=$(pgpu submit -q -p clip -J fast -- sh -c "$(gate fast)")
	reached fast
	equals "$with: spooled ones too" 'fast:running slow:frozen' "$(states)"
	open_gate fast
	exits 0 "$with: the better one ends" pgpu wait "$other"
	open_gate slow
	exits 5 "$with: and then the other" pgpu wait "$id"
	equals "$with: with a row for each hold" 'turn: failed:5' "$(rows "$id")"
done

# --- who is not frozen ---
conf $'lanes = 2\n'"$night"$'\nclass "poor" { rank = 6 budget = "1h" }\nclass "last" { rank = 7 budget = "1h" turns = "forced" }'
starts asked -p poor
starts forced -p night
pgpu run -q -p night --as equal --name equal -- true & equal=$!
until_true are asked:running equal:pending forced:running
ok "a job of the same rank forces nobody"
starts fast -p clip
equals "of two lanes the job that may be forced gives its own" 'asked:running equal:pending fast:running forced:frozen' "$(states)"
ends fast
wait $equal
ends forced
starts worst -p last
starts better -p clip
equals "the better job has the worst one's lane" 'asked:running better:running worst:frozen' "$(states)"
ends better; ends worst; ends asked

# --- min-hold ---
conf $'lanes = 1\nclass "night" { rank = 5 budget = "1h" turns = "forced" min-hold = "1s" }'
starts slow -p night
id=$(pgpu queue --json | python3 -c 'import json, sys; print(json.load(sys.stdin)[0]["id"])')
starts fast -p clip
check "a job of a forced class keeps its lane for min-hold" awk -F '\t' -v id="$id" '$2 == id && $NF == "turn" { found = $9 >= 1 } END { exit !found }' \
	"$(echo "$XDG_STATE_HOME"/pgpu/*/log.tsv)"
ends fast; ends slow

# --- resident ---
conf $'lanes = 1\nresident = 2\n'"$night"
starts one -p night
starts two -p search
pgpu run -q -p clip --as three --name three -- sh -c "$(gate three)" & three=$!
until_true queue_shows 'PD .*three'
open_gate two; wait "$pid_two"
reached three
ok "one frozen and one that runs: the next one waits for its lane"
ends_three() { open_gate three; wait $three; }
pgpu run -q -p clip --as four --name four -- sh -c "$(gate four)" & four=$!
until_true queue_shows 'PD .*four'
ends_three
reached four
equals "with resident = 2 a second is not frozen beside it" 'four:running one:frozen' "$(states)"
open_gate four; wait $four
ends one

conf $'lanes = 2\nresident = 2\nclass "night" { rank = 5 budget = "1h" turns = "forced" }'
starts one -p night
starts two -p night
pgpu run -q -p clip --as three --name three -- sh -c "$(gate three)" & three=$!
until_true queue_shows 'PD .*three'
# It would be the third in memory: nobody steps aside for a job that could not start.
equals "nobody is frozen for a job that resident keeps from starting" 'one:running three:pending two:running' "$(states)"
open_gate one; wait "$pid_one"
reached three
open_gate three; wait $three
ends two

# --- ram ---
conf $'lanes = 2\nram = "1G"'
starts large -m 700M
pgpu run -q -m 400M --as other --name other -- sh -c "$(gate other)" & other=$!
until_true queue_shows 'PD .*other'
matches "two ceilings that are more than ram are not started together" \
	'"reason":"memory"' "$(pgpu queue --json --state pending)"
matches "and why" 'PD .*other .*running and frozen jobs may need 700M, ram is 1.0+G|PD .*other .*700M.*ram is' "$(pgpu queue)"
open_gate large; wait "$pid_large"
reached other
ok "when one ends the other starts"
open_gate other; wait $other
starts large -p clip -m 700M
starts plain
pgpu run -q -p clip -m 400M --as waits --name waits -- true & waits=$!
until_true queue_shows 'PD .*waits'
ends plain
equals "nor is one that stood in line when a lane became free" 'large:running waits:pending' "$(states)"
ends large
wait $waits
starts other
starts plain
equals "the general ceiling is no plan, and counts nothing" 'other:running plain:running' "$(states)"
ends plain
ends other

# What it holds is known once it is frozen; then the better one would not fit beside it.
conf $'lanes = 1\nram = "1G"\n'"$night"
pgpu run -q -p night --as slow --name slow -- python3 -c "
import os
held = b'x' * 600000000
open('$SANDBOX/slow.here', 'w').write('here\\n')
open('$SANDBOX/slow.open').read()
print(int(open(os.environ['GPU_QUEUE_FROZEN']).read()))" >frozen & slow=$!
reached slow
pgpu run -q -p clip -m 700M --as fast --name fast -- true & fast=$!
until_true queue_shows 'PD .*fast'
pgpu run -q -p clip --as next --name next -- true & next=$!
until_true queue_shows 'PD .*next'
open_gate slow
wait $slow $fast $next
equals "nobody is frozen for a job that could not start beside him" 0 "$(cat frozen)"
starts slow -p night -m 700M
starts fast -p clip -m 700M
equals "a frozen job counts what it holds, not its ceiling" 'fast:running slow:frozen' "$(states)"
ends fast; ends slow
exits 2 "a ceiling above ram is refused" pgpu run -m 2G -- true
matches "with both figures" '2G is above ram, 1G|2.0*G is above ram, 1.0*G' "$(cat "$err")"
finish
