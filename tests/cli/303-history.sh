#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The history: which rows, and their sums.
. "$(dirname "$0")/lib.sh"

pgpu run -q --as film -p clip -- true
pgpu run -q --as film -p render -- false
pgpu run -q --as game -p render -- sh -c 'kill -9 $$' 2>/dev/null
until_true test "$(pgpu log | grep -cE 'film|game')" = 3

# rows OPTION…: the outcomes of the rows that it prints, in order.
rows() { pgpu log --json "$@" | python3 -c 'import json, sys; print(*[row["outcome"] for row in json.load(sys.stdin)])'; }
equals "of a session" "completed failed" "$(rows --as film)"
equals "of a class" "failed failed" "$(rows --class render)"
equals "of both" "failed" "$(rows -p render --session film)"
equals "by outcome" "completed" "$(rows --as film --outcome completed)"
equals "by letters" "failed failed" "$(rows --outcome F)"
equals "of none" "" "$(rows --as nobody)"
exits 2 "an outcome that is none" pgpu log --outcome fialed
equals "and the nearest right one" "pgpu: log: unknown outcome 'fialed', did you mean 'failed'?" "$(cat "$err")"
exits 2 "a time that is none" pgpu log --since 25:00
matches "is named" "^pgpu: log: --since: .25:00. is no time" "$(cat "$err")"
equals "of the last hour" "completed failed" "$(rows --since 1h --as film)"
equals "since a time of yesterday" "completed failed" "$(rows --since "yesterday 00:00" --as film)"
exits 2 "a sum of nothing" pgpu log --sum lane
equals "is named" "pgpu: log: --sum is class or session, not 'lane'" "$(cat "$err")"

equals "sums of sessions" "film 2 1
game 1 1" "$(pgpu log --sum session | awk '/film|game/ { print $1, $2, $3 }' | sort)"
equals "of what was chosen" "film 1 1" "$(pgpu log --sum session -p render --as film | awk 'NR > 1 { print $1, $2, $3 }')"
matches "with a head" '^CLASS +JOBS +FAILED +WAITED +RAN +CPU +GPU +PEAK' "$(pgpu log --sum class)"
matches "in JSON" '^\[[{]"class":"render","jobs":2,"failed":2,"waited_s":[0-9.]+,"ran_s":[0-9.]+,"cpu_s":[0-9.]+,"gpu_s":(null|[0-9.]+),"peak_memory_bytes":(null|[0-9]+)[}]\]$' "$(pgpu log --json --sum class -p render)"
equals "nothing of nothing" "[]" "$(pgpu log --json --sum class --as nobody)"
equals "and no head" "" "$(pgpu log --sum class --as nobody)"

# A log that somebody else wrote to is printed without what a terminal would obey.
log=$(echo "$XDG_STATE_HOME"/pgpu/*/log.tsv)
awk -F'\t' -v OFS='\t' '$4 == "game" { $4 = "ga\033[31m"; $5 = "re\\x1b[2J"; $7 = "a\\x" } { print }' "$log" >"$SANDBOX/strange" && cp "$SANDBOX/strange" "$log"
matches "its row is there" 're\?\[2J +ga\?\[31m' "$(pgpu log)"
lacks "no list has an escape" $'\e' "$(pgpu log; pgpu log --sum class; pgpu log --sum session; pgpu queue --all)"
finish
