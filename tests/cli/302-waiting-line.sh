#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The one line of a `run` that has to wait: its id, who has the lanes, who is ahead, and how long by the history.
# shellcheck disable=SC2317 # until_true calls some of these
. "$(dirname "$0")/lib.sh"
conf 'lanes = 1'

log=$(echo "$XDG_STATE_HOME"/pgpu/*/log.tsv)
heads=$(head -n 1 "$log")
# row JOB SESSION CLASS NAME RAN_S [OUTCOME]: one more hold in the history.
row() { printf '2026-01-02T03:04:05+00:00\t%s\trun\t%s\t%s\t%s\tcmd\t0.000\t%s\t0.000\t\t\t\t0\t%s\n' "$1" "$2" "$3" "$4" "$5" "${6:-completed}" >>"$log"; }
forget() { printf '%s\n' "$heads" >"$log"; }
id_of() { pgpu queue --json | python3 -c 'import json, sys; print(*[job["id"] for job in json.load(sys.stdin) if job["name"] == sys.argv[1]])' "$1"; }
has_said() { [ -s "$1" ]; }
# says FILE [OPTION…]: what a `run` that has to wait says, and nothing but that; it is then cancelled.
says()
{
	local file=$1 waiter
	shift
	pgpu run -p clip --as me --name me "$@" -- true 2>"$file" & waiter=$!
	until_true has_said "$file"
	id=$(id_of me)
	mv "$file" "$file.first"
	pgpu cancel "$id" >/dev/null
	wait $waiter
	said=$(head -n 1 "$file.first")
}

pgpu run -q -p clip --as artist --name render -- sh -c "$(gate held)" & holder=$!
reached held
held=$(id_of render)

# --- nothing to wait for ---
exits 75 "with --no-wait" pgpu run --no-wait -- true
equals "there is another line" 'pgpu: no lane was free in time' "$(cat "$err")"

# --- nothing is known ---
forget
says unknown
equals "without a history: who has the lane" "pgpu: waiting for a lane as job $id: 1 of 1 busy ($held render), 0 ahead" "$said"
equals "and when it is cancelled, that" "pgpu: job $id was cancelled while it waited" "$(tail -n +2 unknown.first)"
rm -f "$log"
says nofile
equals "without the file, the same" "pgpu: waiting for a lane as job $id: 1 of 1 busy ($held render), 0 ahead" "$said"
forget
row 1 artist truth other 7200.000
row 2 artist clip render 7200.000 failed
says unlike
lacks "others of another class, and what did not complete, say nothing" 'left' "$said"

# --- like jobs ---
forget
row 1 other clip other 7200.000
says class
equals "of its class" "pgpu: waiting for a lane as job $id: 1 of 1 busy ($held render), 0 ahead, about 2h left" "$said"
row 2 artist truth render 10000.000 turn
row 2 artist truth render 800.000
says name
matches "of its name and session, all holds added up" ' 0 ahead, about 3h left$' "$said"
printf 'x\t\t\n2026-01-02T03:04:05+00:00\t3\n' >>"$log"
says damaged
matches "damaged lines are passed over" ' about 3h left$' "$said"
row 4 artist clip render 0.001
row 5 artist clip render 0.001
says over
lacks "it has run longer than they did: nothing" 'left' "$said"
forget
row 1 artist clip render 7200.000
row 9 else none none 1.000
last=$(tail -n 1 "$log")
yes "$last" | head -c 300000 >>"$log"
says old
lacks "only the end of the history is read" 'left' "$said"

# --- ahead in line ---
forget
row 1 artist clip render 7200.000
row 2 spooled clip batch 3600.000
row 3 runs clip preview 600.000
pgpu submit -q -p clip --as spooled --name batch -- true >id
pgpu run -q -p clip --as runs --name preview -- true & ahead=$!
until_true queue_shows 'PD .*preview'
matches "show tells when it may start: at its limit what runs is stopped" "starts in  50m" "$(pgpu show "$(cat id)")"
matches "in JSON" '"starts_in_s":[0-9.]+' "$(pgpu show --json "$(cat id)")"
says ahead
matches "what is ahead takes its time too, spooled or not" ' 2 ahead, about 3h10m left$' "$said"
exits 0 "cancelled" pgpu cancel "$(cat id)" "$(id_of preview)"
wait $ahead

# --- silence ---
pgpu run -q -p clip --as me --name me -- true >quiet 2>&1 & waiter=$!
until_true queue_shows 'PD .* me '
open_gate held
wait $holder; wait $waiter
equals "-q: not a byte" '' "$(cat quiet)"

# --- many lanes, long names ---
conf 'lanes = 6'
names=(one 'two two' "threé$(printf '%060d' 0)" four five six) holders=()
for i in "${!names[@]}"; do
	pgpu run -q -p clip --as artist --name "${names[i]}" -- sh -c "$(gate "many$i")" & holders+=($!)
	reached "many$i"
done
forget
says many
matches "four are named, the others counted" "6 of 6 busy \([0-9]+ one, [0-9]+ two two, [0-9]+ threé0{18}, [0-9]+ four and 2 more\), 0 ahead$" "$said"
for i in "${!names[@]}"; do open_gate "many$i"; done
wait "${holders[@]}"
finish
