#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Jobs that go back in line by hand.
. "$(dirname "$0")/lib.sh"
conf 'lanes = 1'

spooled() { find "$XDG_STATE_HOME"/pgpu/*/"$1" -type f -printf '%f\n' | sed 's/:render:work//' | sort; }

# shellcheck disable=SC2016 # the job's shell reads it
id=$(pgpu submit -m 64M -- sh -c 'echo $PGPU_RESTART_COUNT >>counts; [ $PGPU_RESTART_COUNT = 1 ]')
exits 1 "it fails" pgpu wait "$id"
equals "its record keeps what it asked for" "$id:0:m64M:failed:1" "$(spooled ended)"
exits 0 "an ended job is put back" pgpu requeue "$id"
equals "silently" "" "$(cat "$out" "$err")"
exits 0 "and runs again" pgpu wait "$id"
equals "with its count raised" $'0\n1' "$(cat counts)"
equals "one record" "$id:1:m64M:completed:0" "$(spooled ended)"
# A worker writes its row when the record has moved.
rows() { pgpu log | awk -v id="$id" '$2 == id { print $NF }' | xargs; }
until_true eval '[[ $(rows) = *completed ]]'
equals "each hold has its row in the log" "failed completed" "$(rows)"
# As a worker leaves it that was killed before it wrote its row.
log=$(echo "$XDG_STATE_HOME"/pgpu/*/log.tsv)
loses_its_row()
{
	sed -i '$d' "$log"
	until_true eval '[ $(($(date +%s) - $(stat -c %Z "$XDG_STATE_HOME"/pgpu/*/ended/"$id":*))) -gt 2 ] && pgpu rescue'
}
loses_its_row
equals "the row of its last end is written again" "failed completed" "$(rows)"
# shellcheck disable=SC2016 # the job's shell reads it
id=$(pgpu submit --no-requeue -- sh -c 'kill -KILL $GPU_QUEUE_PID; read _')
exits 125 "one that is lost with its worker" pgpu wait "$id"
until_true eval '[[ $(rows) = lost ]]'
loses_its_row
equals "has its row written again, too" "lost" "$(rows)"
exits 0 "and once" pgpu rescue
equals "only" "lost" "$(rows)"
# A timer's rescue and one by hand would write each row twice.
sed -i '$d' "$log"
exits 0 "a rescue beside one that writes the log again" flock -o "$(dirname "$log")/ended" pgpu rescue
equals "leaves that to it" "" "$(rows)"
exits 0 "and the next" pgpu rescue
equals "does it" "lost" "$(rows)"
# A worker that is held up between its record and its row for longer than that. (valgrind is no pgpu to trace.)
if [ -n "$sanitizer" ] || ! strace -o /dev/null true 2>"$err"; then
	skip "a worker that is held up writes no second row" "strace cannot trace here"
else
	id=$(pgpu submit -- sh -c "$(gate slow)")
	reached slow
	worker=$(sed -n 's/^owner \([0-9]*\) .*/\1/p' "$XDG_STATE_HOME"/pgpu/*/boot-*/lane-0)
	strace -qq -o /dev/null -e trace=fsync -e inject=fsync:delay_enter=5s:when=1 -p "$worker" 2>"$err" &
	until_true grep -q '^TracerPid:.*[1-9]' "/proc/$worker/status"
	open_gate slow
	until_true eval '[ $(($(date +%s) - $(stat -c %Z "$XDG_STATE_HOME"/pgpu/*/ended/"$id":*))) -gt 2 ] && pgpu rescue && [[ $(rows) = completed ]]'
	until_true eval "! alive $worker"
	equals "a worker that is held up writes no second row" "completed" "$(rows)"
fi

id=$(pgpu submit -- sh -c "trap 'echo term >>ends; exit 0' TERM; $(gate a)")
reached a
exits 0 "one that runs is ended" pgpu requeue "$id"
reached a
equals "as by a cancel, and started again" "term" "$(cat ends)"
matches "with its count raised" '"restarts":1' "$(pgpu show --json "$id")"
equals "nothing is left of the order" "" "$(spooled orders)"
equals "the log says how its hold ended" "cancelled" "$(rows)"
exits 0 "a cancel is one for good" pgpu cancel "$id"
equals "afterwards too" "$id:1:cancelled:143" "$(spooled ended | grep "^$id:")"

# The first end takes its time: what is ordered meanwhile counts.
id=$(pgpu submit -- sh -c "trap '$(gate b2)' TERM; $(gate b1)")
reached b1
exits 0 "requeued" pgpu requeue "$id"
reached b2
exits 0 "and once more, which is the same" pgpu requeue "$id"
exits 0 "then cancelled" pgpu cancel --no-wait "$id"
exits 1 "it does not go back after that" pgpu requeue "$id"
matches "and why" "^pgpu: cannot requeue job $id: it is being cancelled$" "$(cat "$err")"
open_gate b2
exits 143 "it has ended" pgpu wait "$id"
equals "cancelled" "$id:0:cancelled:143" "$(spooled ended | grep "^$id:")"

# shellcheck disable=SC2016 # the job's shell reads it
id=$(pgpu submit -- sh -c 'echo $PGPU_RESTART_COUNT >>own; [ $PGPU_RESTART_COUNT = 1 ] || { pgpu requeue $PGPU_JOB_ID; read _ <'"$SANDBOX"'/never; }')
mkfifo "$SANDBOX/never"
until_true grep -qx 1 own
exits 0 "a job requeues itself" pgpu wait "$id"
equals "once" $'0\n1' "$(cat own)"

id=$(pgpu submit -- sh -c "trap '' TERM; echo \$GPU_QUEUE_PID >pid; $(gate c)")
reached c
exits 0 "one that does not end at once" pgpu requeue "$id"
kill -KILL "$(cat pid)"
reached c
matches "its worker dies before it: it goes back once" '"restarts":1' "$(pgpu show --json "$id")"
exits 0 "a cancel" pgpu cancel --no-wait "$id"
exits 0 "and a second one end it" pgpu cancel "$id"

held=$(pgpu submit -H -- true)
exits 1 "a waiting one" pgpu requeue "$held"
matches "waits already" "it waits already" "$(cat "$err")"
pgpu run -q -- sh -c "$(gate r)" &
reached r
exits 1 "a run" pgpu requeue "$(pgpu queue --state R | awk '/ R / { print $1 }')"
matches "has no record" "it is a run, which has no record" "$(cat "$err")"
open_gate r
wait
exits 1 "an unknown one" pgpu requeue 4711
exits 2 "none" pgpu requeue

# A worker that was killed between a job's end and the order's leaves that; it is not for the next start.
id=$(pgpu submit --hold -- true)
orders=$(echo "$XDG_STATE_HOME"/pgpu/*/orders)
mkdir -p "$orders"
touch "$orders/$id.cancel" "$orders/$id.kill" "$orders/$id.requeue"
exits 0 "a job with an order of an earlier start is released" pgpu release "$id"
exits 0 "it runs" pgpu wait "$id"
matches "once" '"restarts":0' "$(pgpu show --json "$id")"
equals "and the order is gone" "" "$(spooled orders)"

finish
