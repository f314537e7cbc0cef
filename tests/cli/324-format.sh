#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# --format: the fields of the JSON as columns with tabs between, for a shell.
. "$(dirname "$0")/lib.sh"
conf 'lanes = 1'

pgpu submit -q -J 'a name with blanks' --as film -p clip --output out -- sh -c "printf '0/9 t\\tab' >\$PGPU_PROGRESS; $(gate a); exit 3" >ids
job=$(cat ids)
reached a
pgpu submit -q -J waits -- true >ids
waits=$(cat ids)
exits 0 "queue --format" pgpu queue --format id,state,name,exit_code,progress.done,lane
equals "is a line a job, in the order of the line, and nothing else" "$job"$'\trunning\ta name with blanks\t\t0\t0\n'"$waits"$'\tpending\twaits\t\t\t' "$(cat "$out")"
equals "a shell reads it" "$job:running $waits:pending" "$(pgpu queue --format=id,state | while read -r id state; do echo "$id:$state"; done | paste -sd ' ')"
equals "with filters" "$waits" "$(pgpu queue --state pending --format id)"
equals "and of those that wait the sentence and the times" $'1 of 1 lanes busy, 0 ahead; starts in about 25m if each takes its budget\t1500.000' "$(pgpu queue "$waits" --format why,starts_in_s)"
equals "what show knows, too" "50m 5" "$(pgpu queue "$job" --format limit_s,nice | awk '{ printf "%dm %d", $1 / 60, $2 + 5 }')"
equals "values are those of the JSON" '' "$(python3 -c '
import json, subprocess
ask = lambda *words: subprocess.run(["pgpu", "show", *words], capture_output=True, text=True, check=True).stdout
job = json.loads(ask("--json", "'"$waits"'"))
for name, value in job.items():
    found = ask("--format", name, "'"$waits"'").rstrip("\n")
    wanted = "" if value is None else value.replace("\\", "\\\\") if isinstance(value, str) else json.dumps(value, separators=(",", ":"))
    same = found == wanted or name in ("waited_s", "starts_in_s", "ends_in_s", "budget_s", "limit_s", "why") or isinstance(value, (list, dict))
    if not same:
        print(name, repr(wanted), repr(found))')"
for command in "queue" "show $job" "log"; do
	# shellcheck disable=SC2086 # words
	exits 2 "${command%% *}: a field that is none" pgpu $command --format id,stat,outcom
	matches "names it and the nearest" "^pgpu: ${command%% *}: unknown field '(stat|id|outcom)'(, did you mean '[a-z_]+'\?)?$" "$(cat "$err")"
	equals "and prints nothing" '' "$(cat "$out")"
	# shellcheck disable=SC2086
	exits 2 "nor with --json" pgpu $command --format session --json
	# shellcheck disable=SC2086
	exits 2 "nor without a name" pgpu $command --format ''
done
exits 1 "an id that is none is an error as before" pgpu queue --format id 98765
exits 0 "on a terminal it is the same" python3 "$REPO/tests/cli/wide.py" 20 pgpu queue --format name,class,session "$job"
equals "not fitted, not coloured" $'a name with blanks\tclip\tfilm' "$(cat "$out")"

open_gate a
pgpu wait "$waits" >"$out" 2>&1
equals "ended ones" "$job"$'\tfailed\t3\n'"$waits"$'\tcompleted\t0' "$(pgpu queue --format id,state,exit_code "$job" "$waits")"
equals "show, a line an id" "$waits"$'\tcompleted\n'"$job"$'\tfailed' "$(pgpu show --format id,state "$waits" "$job")"
equals "log" "$job"$'\tfilm\tfailed\n'"$waits"$'\twork\tcompleted' "$(pgpu log --format job,session,outcome | tail -n 2)"
equals "its sums" $'clip\t1\nrender\t1' "$(pgpu log --sum class --format class,jobs | grep -E 'clip|render')"
exits 2 "not who else wanted the card" pgpu log --foreign --format pid
equals "says so" "pgpu: log: --format and --foreign do not go together" "$(cat "$err")"
pgpu submit -q -D "$PWD" -o $'odd\tname' -- true >ids 2>/dev/null
odd=$(cat ids)
[ -z "$odd" ] || { pgpu wait "$odd"; equals "a tab in a text is no separator" 1 "$(pgpu queue --format output "$odd" | awk -F '\t' '{ print NF }')"; }
finish
