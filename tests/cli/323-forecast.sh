#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# When jobs start and end, about: on a terminal, in JSON and in show; by the history, else by budgets. A pipe has none of it.
. "$(dirname "$0")/lib.sh"
unset COLUMNS
export TERM=dumb
conf 'lanes = 1'
on_terminal() { python3 "$REPO/tests/cli/wide.py" 200 "$@"; }
log=$(echo "$XDG_STATE_HOME"/pgpu/*/log.tsv)
heads=$(head -n 1 "$log")
row() { printf '2026-01-02T03:04:05+00:00\t%s\trun\t%s\t%s\t%s\tcmd\t0.000\t%s\t0.000\t\t\t\t0\tcompleted\n' "$@" >>"$log"; }
# expected FIELD…: of the jobs in order, from the JSON.
expected() { pgpu queue --json | python3 -c 'import json, sys
for job in json.load(sys.stdin):
    print(job["name"], *(job[key] if key == "estimated_by" or job[key] is None else round(job[key]) // 60 for key in sys.argv[1:]))' "$@"; }
line_of() { grep " $1 " list; }

pgpu submit -q -J now --as film -p clip --budget 30m -- sh -c "$(gate a)" >"$out"
reached a
pgpu submit -q -J next --as film -p clip --budget 20m -- true >"$out"
next=$(cat "$out")
pgpu submit -q -J last --as other -p render -- true >"$out"
later=$(cat "$out")
held=$(pgpu submit -q -H -J kept -- true)

printf '%s\n' "$heads" >"$log"
equals "without a history by budgets" $'now None 30 budget\nlast 30 55 budget\nnext 55 80 budget\nkept None None None' "$(expected starts_in_s ends_in_s estimated_by)"
on_terminal pgpu queue >list
matches "on a terminal: what runs, and to when" ' ~30m  on lane 0; ends in about 30m if it takes its budget$' "$(line_of now)"
matches "what waits, from when to when" ' ~30m +~55m  1 of 1 lanes busy, 0 ahead; starts in about 30m if each takes its budget$' "$(line_of last)"
matches "nothing of what is held" ' pgpu release [0-9]+ lets it go$' "$(line_of kept)"
row 901 film clip now 2400.000
row 902 other clip thing 1200.000
row 903 film clip next 600.000
equals "with one by that" $'now None 40 history\nlast 40 70 budget\nnext 70 80 budget\nkept None None None' "$(expected starts_in_s ends_in_s estimated_by)"
row 904 other render last 60.000
on_terminal pgpu queue >list
matches "in words" 'on lane 0; ends in about 40m, as like jobs took; in at most 1h, by its limit$' "$(line_of now)"
matches "for all" ' ~40m +~41m  1 of 1 lanes busy, 0 ahead; starts in about 40m, as like jobs took$' "$(line_of last)"
equals "queue --json has the sentence" "1 of 1 lanes busy, 0 ahead; starts in about 40m, as like jobs took" "$(pgpu queue --json "$later" | python3 -c 'import json, sys; print(json.load(sys.stdin)[0]["why"])')"
equals "filters leave nobody out who is ahead" "next 41 51 history" "$(pgpu queue --json -J next | python3 -c 'import json, sys
for job in json.load(sys.stdin): print(job["name"], round(job["starts_in_s"] / 60), round(job["ends_in_s"] / 60), job["estimated_by"])')"
matches "show has the times" $'starts in  41m\nends in    51m\nestimate   about, as like jobs took' "$(pgpu show "$next" | grep -E '^(starts|ends|estimate)')"
pgpu queue >list
matches "a pipe has neither" 'on lane 0$' "$(line_of now)"
matches "nor words" '1 of 1 lanes busy, 0 ahead$' "$(line_of last)"
lacks "nor columns" 'STARTS|ENDS|~' "$(cat list)"
if command -v strace >/dev/null && [ -z "$sanitizer" ]; then
	strace -f -o trace pgpu queue >list
	lacks "and the history is not read for it" 'log\.tsv' "$(cat trace)"
fi
pgpu submit -q -J more -d "afterok:$later,afterany:$next" -- true >"$out"
pgpu queue >list
matches "what it waits for, in words" "waits for job $later to complete, job $next to end$" "$(line_of more)"
pace=$(dirname "$(find "$XDG_RUNTIME_DIR/pgpu" -type s | head -n 1)")
for socket in "$pace"/*; do [ -S "$socket" ] && echo 1/2 >"$socket.progress"; done
equals "what says how far it is goes by that" progress "$(pgpu queue --format estimated_by -J now)"
equals "and who waits by the less certain" history "$(pgpu queue --format estimated_by "$later")"
open_gate a
pgpu cancel "$held" >"$out"
pgpu wait "$next" "$later" "$(pgpu queue --json | python3 -c 'import json, sys; print(*[job["id"] for job in json.load(sys.stdin)] or ["1"])')" >"$out" 2>&1
finish
