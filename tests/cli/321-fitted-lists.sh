#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# On a terminal no line of a list is wider than the terminal; for a program nothing is fitted.
# shellcheck disable=SC2317 # until_true calls some of these
. "$(dirname "$0")/lib.sh"
unset COLUMNS
export TERM=dumb
on_terminal() { python3 "$REPO/tests/cli/wide.py" "$@"; }
# widest: the cells of the longest line of standard input, as a terminal counts them.
widest() { python3 -c 'import sys, unicodedata
print(max(sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in line.rstrip("\n")) for line in sys.stdin))'; }

conf 'lanes = 1'
exits 0 "an empty queue is no table" on_terminal 80 pgpu queue
equals "but nothing" '' "$(cat "$out")"
pgpu submit -q -J 'the holder of the lane, with a name as long as names are in the end' -- sh -c "$(gate a)" >ids
reached a
holder=$(cat ids)
pgpu submit -q -J '映画のレンダリング、一番長い夜の第一部' --as films-of-the-night -- true >ids
wide=$(cat ids)
pgpu submit -q -J $'cafe\u0301' -p clip --as me -- true >ids
pgpu submit -q --array 1-3,5,8,11,13,15,18,20,31,33,34-58:4 -J frames -- true >ids
array=$(cat ids)
# shellcheck disable=SC2034 # for the messages
for columns in 200 120 80 60 40 20; do
	on_terminal $columns pgpu queue >list
	check "a list of $columns cells is no wider" test "$(widest <list)" -le $columns
	equals "and has all jobs" 5 "$(wc -l <list)"
	on_terminal $columns pgpu status >list
	check "nor are the lanes" test "$(sed -n '/LANE/,/^ /p' list | widest)" -le $columns
done
on_terminal 300 pgpu queue >list
matches "with room enough names are whole" 'the holder of the lane, with a name as long as names are in the end' "$(cat list)"
matches "sessions, too" 'films_of_the_night' "$(cat list)"
matches "and tasks" "${array}_\[1-3,[0-9:,-]+\] +PD " "$(cat list)"
equals "columns stand below each other, whatever is in them" 1 "$(python3 -c 'import sys, unicodedata
cells = lambda text: sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)
lines = sys.stdin.read().splitlines()
at = lines[0].index("WHY")
print(len({cells(line[:line.index(word)]) for line in lines[1:] for word in ("on lane", "1 of 1") if word in line} | {at}))' <list)"
on_terminal 60 pgpu queue >list
matches "with less room what is cut says so" '…' "$(cat list)"
matches "ids are whole" "^ *$wide PD " "$(sed -n "/^ *$wide /p" list)"
on_terminal 300 env LC_ALL=C pgpu queue >list
matches "elsewhere than in UTF-8 it measures all the same" '映画のレンダリング' "$(cat list)"
COLUMNS=50 on_terminal 300 pgpu queue >list
check "COLUMNS says how wide it is" test "$(widest <list)" -le 50
for strange in 0 x 5 99999999999999999999 -60; do
	COLUMNS=$strange on_terminal 60 pgpu queue >list
	check "unless it cannot be: $strange" test "$(widest <list)" -eq 60
done
on_terminal 0 pgpu queue >list
check "a terminal that knows no width has 80" test "$(widest <list)" -le 80

# For a program: columns of their own, whole sentences, and an array's tasks push nothing away.
pgpu queue >list
equals "for a program no column is fitted" '   JOB ST CLASS        SESSION      NAME                      TIME  WHY' "$(head -n 1 list)"
matches "names are cut where they were" ' the holder of the la +[0-9]+s  on lane 0$' "$(sed -n "/^ *$holder /p" list)"
few=$(pgpu submit -q --hold --array 1-3 -J few --as me -- true)
equals "an array's tasks take the blanks of the next columns" "${few}_[1-3] PD render" "$(pgpu queue "$few" | sed -n 's/ *me .*//; $p')"
equals "so that the columns behind stay" "$(pgpu queue "$holder" | head -n 1 | awk '{ print index($0, "SESSION") }')" \
	"$(pgpu queue "$few" | awk 'NR == 2 { print index($0, " me ") + 1 }')"
check "status has its lines" grep -q "^lane 0: job $holder the holder" <(pgpu status)
open_gate a
pgpu cancel --all >"$out" 2>&1

for columns in 120 80 40 20; do
	on_terminal $columns pgpu log >list
	check "the history in $columns cells is no wider" test "$(widest <list)" -le $columns
done
on_terminal 80 pgpu log >list
matches "with the outcome, whatever is left out" ' (cancelled|completed)$' "$(tail -n 1 list)"

# A long list is written as it is made, with the widths of its first part.
printf '#!/bin/sh\n' >piece.sh
mapfile -t pieces < <(yes piece.sh | head -n 600)
pgpu submit -q --hold --as long "${pieces[@]}" >ids
on_terminal 80 pgpu queue --as long >list
equals "a long list has each of them once, in order" "$(cat ids)" "$(tail -n +2 list | awk '{ print $1 }')"
check "none too wide" test "$(widest <list)" -le 80
finish
