#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# A queue that lets its jobs end and starts none.
. "$(dirname "$0")/lib.sh"
conf 'lanes = 1'

a=$(pgpu submit -- sh -c "$(gate a); echo a >>order.txt")
reached a
exits 0 "drained" pgpu drain
equals "silently" "" "$(cat "$out" "$err")"
matches "status says so" 'the queue is drained; pgpu undrain lets jobs start' "$(pgpu status)"
matches "in JSON" '"drained":true,"drained_until":null' "$(pgpu status --json)"
b=$(pgpu submit -- sh -c 'echo b >>order.txt')
open_gate a
exits 0 "what runs goes on to its end" pgpu wait "$a"
exits 75 "nothing starts" pgpu run --no-wait -- true
matches "and why it waits" "$b PD .*the queue is drained; pgpu undrain" "$(pgpu queue)"
matches "in JSON" '"reason":"drained"' "$(pgpu queue --json)"
pgpu run -- sh -c 'echo run >>order.txt' 2>waiting &
until_true grep -q 'waiting for a lane as job [0-9]*: the queue is drained' waiting
equals "not even by a rescue" "a" "$(pgpu rescue; cat order.txt)"
conf $'lanes = 1\nmemory = "20G"'
exits 75 "nor after a change of the configuration" pgpu run --no-wait -- true
queue=$(echo "$XDG_STATE_HOME"/pgpu/*)
printf damaged >"$queue/conf"
exits 75 "nor with the queue's copy of it damaged" pgpu run --no-wait -- true
exits 0 "undrained" pgpu undrain
wait $!
exits 0 "all starts by itself" pgpu wait "$b"
equals "in order" $'a\nrun\nb' "$(cat order.txt)"
matches "status says nothing of it" '"drained":false,"drained_until":null' "$(pgpu status --json)"
exits 0 "once more is no error" pgpu undrain

exits 0 "for an hour" pgpu drain --until now+1h
matches "until when" 'drained until 20[0-9-]*T[0-9:]*[+-]' "$(pgpu status)"
exits 0 "the last word counts" pgpu drain --until now+2s
id=$(pgpu submit -- true)
exits 0 "over then, and what waits starts by itself" pgpu wait "$id"
matches "status says nothing of it" '"drained":false,"drained_until":null' "$(pgpu status --json)"
pgpu drain --until now+2s
exits 0 "a run that waits starts then, too" pgpu run -q -- true

pgpu undrain
exits 1 "not from inside a job" pgpu run -q -- pgpu drain
matches "and why" "^pgpu: cannot drain the queue from inside a job$" "$(cat "$err")"
exits 2 "a time that is over" pgpu drain --until 2020-01-01
equals "is named" "pgpu: drain: --until: '2020-01-01' is over" "$(cat "$err")"
exits 2 "a word" pgpu drain now
: >"$queue/drained"
conf 'lanes = 1 memory = "21G"'
exits 75 "a file that says nothing is for good" pgpu run --no-wait -- true
exits 0 "until it is undrained" pgpu undrain
exits 0 "and then it runs" pgpu run -q -- true
finish
