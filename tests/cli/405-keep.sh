#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# What is kept of jobs that have ended, and what "gone" means.
. "$(dirname "$0")/lib.sh"
conf $'lanes = 1\nkeep-jobs = 2'
# Done for today: nobody takes a record away from under the wait.
exits 0 "nothing to keep yet" pgpu rescue

for job in 1 2 3 4; do ids[job]=$(pgpu submit -- sh -c "echo $job"); done
held=$(pgpu submit -H -- true)
exits 0 "four jobs end" pgpu wait "${ids[@]}"
queue=$(echo "$XDG_STATE_HOME"/pgpu/*)
until_true test -e "$queue/pruned"
rm "$queue/pruned"
exits 0 "once a day, or when it was never done" pgpu rescue
equals "the last two are kept, and what waits" "${ids[3]} ${ids[4]} $held" "$(pgpu queue --class render --all --json | grep -o '"id":"[0-9]*"' | grep -o '[0-9]*' | sort -n | xargs)"
exits 1 "an older id" pgpu show "${ids[1]}"
equals "is gone" "pgpu: cannot show job ${ids[1]}: it is gone" "$(cat "$err")"
exits 1 "to wait too" pgpu wait "${ids[2]}"
matches "and says so" "is gone" "$(cat "$err")"
exits 1 "nothing goes back in line" pgpu requeue "${ids[1]}"
equals "that has no record" "pgpu: cannot requeue job ${ids[1]}: it has no record" "$(cat "$err")"
equals "the log stays" 4 "$(pgpu log | grep -c "render.*completed")"
equals "one environment for all of them" 1 "$(find "$queue/env" -type f | wc -l)"
exits 0 "a kept one runs again" pgpu requeue "${ids[4]}"
exits 0 "with all that it had" pgpu wait "${ids[4]}"
equals "as before" $'4\n4' "$(cat "pgpu-${ids[4]}.out")"
exits 2 "a time that is none" env PGPU_CONF=<(echo 'keep = "30"') pgpu conf
finish
