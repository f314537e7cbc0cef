#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# queue, show, wait, output, cancel and log tell the same about the same jobs.
. "$(dirname "$0")/lib.sh"

# field JSON_COMMAND… NAME: a field of the (first) object that the command prints.
field() { "${@:1:$#-1}" | python3 -c '
import json, sys
found = json.load(sys.stdin)
print((found[0] if isinstance(found, list) else found)[sys.argv[1]])' "${@: -1}"; }

conf 'lanes = 1'
pgpu submit --name holder -- sh -c "echo begun; $(gate a); echo ended; exit 4" >ids
reached a
read -r holder <ids
pgpu submit --name second --as me -p clip --budget 3m -- true >>ids
second=$(tail -n 1 ids)
pgpu run --name blocking -- sh -c "$(gate b)" 2>"$SANDBOX/blocking.err" &
until_true queue_shows blocking
blocking=$(pgpu queue --json | python3 -c '
import json, sys
print(*[job["id"] for job in json.load(sys.stdin) if job["name"] == "blocking"])')

equals "each has an id of its own" 3 "$(printf '%s\n' "$holder" "$second" "$blocking" | sort -un | wc -l)"
pgpu queue >list
matches "queue shows the running one" " $holder +R " "$(cat list)"
matches "and a waiting spooled one" " $second +PD " "$(cat list)"
matches "and a waiting run" " $blocking +PD " "$(cat list)"
equals "queue ID shows that one" "$second" "$(field pgpu queue "$second" --json id)"
equals "queue --as, --class and --state choose" "$second $second $holder" \
	"$(field pgpu queue --as me --json id) $(field pgpu queue --class clip --json id) $(field pgpu queue --state running --json id)"
equals "queue --json has what the contract lists" '' "$(pgpu queue --json | python3 -c '
import json, sys
keys = """id state reason class session name command kind submitted started ended waited_s ran_s frozen_s budget_s memory_bytes
vram_bytes lane pid exit_code restarts workdir output begin after array""".split()
print(*sorted({key for job in json.load(sys.stdin) for key in keys if key not in job}))')"
equals "kinds" 'spool spool run' "$(for id in $holder $second $blocking; do field pgpu show "$id" --json kind; done | paste -sd ' ')"
equals "states" 'running pending pending' "$(for id in $holder $second $blocking; do field pgpu show "$id" --json state; done | paste -sd ' ')"
equals "why they wait" 'lane lane' "$(for id in $second $blocking; do field pgpu show "$id" --json reason; done | paste -sd ' ')"
equals "budget in seconds" 180.0 "$(field pgpu show "$second" --json budget_s)"
equals "an unknown figure is null" None "$(field pgpu show "$second" --json exit_code)"
equals "output shows what is there so far" begun "$(pgpu output "$holder")"
matches "show is for people too" 'holder' "$(pgpu show "$holder")"

# status: the lane and who waits.
check "status --json has the lane's job and the count of those who wait" sh -c "pgpu status --json | python3 -c '
import json, sys
status = json.load(sys.stdin)
assert [lane[\"job\"] for lane in status[\"lanes\"]] == [\"$holder\"], status
assert status[\"waiting\"] == 2, status
assert set(status) >= {\"cards\", \"lanes\", \"waiting\", \"foreign\", \"cells\"}, status
assert set(status[\"cells\"]) >= {\"available\", \"memory\", \"freezer\", \"reason\"}, status'"

ran_s=$(field pgpu show "$holder" --json ran_s)

# output -f follows to the end, wait gives the code.
pgpu output -f "$holder" >followed & follower=$!
pgpu wait "$holder" & waiter=$!
open_gate a
wait $waiter
equals "wait exits with the job's code" 4 $?
wait $follower
equals "output -f ends with the job and has all" '0 begun ended' "$? $(paste -sd ' ' followed)"
reached b
equals "an ended job has its outcome as its state" failed "$(field pgpu show "$holder" --json state)"
equals "and its code" 4 "$(field pgpu show "$holder" --json exit_code)"
exits 4 "wait for an ended job returns at once" pgpu wait "$holder"
lacks "queue no longer shows it" "^ *$holder " "$(pgpu queue)"
matches "queue --all does" " $holder +F " "$(pgpu queue --all)"

# cancel.
exits 0 "cancel of a waiting spooled job" pgpu cancel "$second"
matches "names it" "$second" "$(cat "$out")"
equals "it is cancelled" cancelled "$(field pgpu show "$second" --json state)"
exits 143 "wait for it gives 143" pgpu wait "$second"
exits 1 "cancel of an ended job" pgpu cancel "$second"
exits 2 "a malformed id cancels nothing" pgpu cancel "$blocking" x1
equals "nothing" running "$(field pgpu show "$blocking" --json state)"
exits 1 "an unknown id is an error" pgpu cancel 987654 "$blocking"
wait
equals "the others are still cancelled" cancelled "$(field pgpu show "$blocking" --json state)"
equals "and the lane is free" 0 "$(pgpu run --no-wait -- true; echo $?)"

id=$(pgpu submit --as keep -- sh -c "$(gate c)")
reached c
other=$(pgpu submit --as drop -- true)
exits 0 "cancel --as" pgpu cancel --as drop
equals "cancels that session's only" 'cancelled running' "$(field pgpu show "$other" --json state) $(field pgpu show "$id" --json state)"
exits 0 "cancel --all" pgpu cancel --all
exits 143 "a running job that was cancelled" pgpu wait "$id"
equals "how long it ran is no guess" True "$(python3 -c "print($ran_s < 600)")"
equals "nothing is left in the queue" '[]' "$(pgpu queue --json | tr -d ' \n')"
conf $'lanes = 1\ngrace = "0"'
id=$(pgpu submit -- sh -c "trap '' TERM; $(gate d)")
reached d
exits 0 "C015 a job deaf to TERM is killed after the grace" pgpu cancel "$id"
equals "C015 and is gone" '[]' "$(pgpu queue --json | tr -d ' \n')"

# The log has a line a hold.
equals "log.tsv begins with its columns" 'ended job kind session class name command waited_s ran_s frozen_s cpu_s gpu_s peak_memory_bytes exit_code outcome' \
	"$(head -n 1 "$XDG_STATE_HOME"/pgpu/*/log.tsv | tr '\t' ' ')"
equals "each line has as many fields" 15 "$(awk -F '\t' '{ print NF }' "$XDG_STATE_HOME"/pgpu/*/log.tsv | sort -u | paste -sd ' ')"
equals "log --json has the holds in order" "$holder $blocking" "$(pgpu log --json | python3 -c '
import json, sys
print(*[row["job"] for row in json.load(sys.stdin) if str(row["job"]) in sys.argv[1:]])' "$holder" "$blocking")"
matches "log is for people too" holder "$(pgpu log)"

# A long list is printed in pieces, and who has read enough of it is not told about the rest.
printf '#!/bin/sh\n' >piece.sh
mapfile -t pieces < <(yes piece.sh | head -n 500)
pgpu submit -q --hold --as long "${pieces[@]}" >"$SANDBOX/ids"
pgpu queue --as long >"$SANDBOX/list"
equals "a long list has each of them once, in order" "$(cat "$SANDBOX/ids")" "$(tail -n +2 "$SANDBOX/list" | awk '{ print $1 }')"
equals "under one heading" 1 "$(grep -c JOB "$SANDBOX/list")"
equals "in JSON, too" 500 "$(pgpu queue --as long --json | python3 -c 'import json, sys; print(len({job["id"] for job in json.load(sys.stdin)}))')"
equals "read in part, it ends quietly" '   JOB' "$({ pgpu queue --as long 2>&1 >&3 3>&- | cat >"$err"; } 3>&1 | head -c 6)$(cat "$err")"
finish
