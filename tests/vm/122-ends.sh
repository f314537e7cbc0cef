#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# However a job's processes hold out, they end, and no cgroup is left of it.
# scenes: manager ssh
. "$(dirname "$0")/../cli/lib.sh"

if pgpu status | grep -q '^cells: none'; then
	skip "ends in a cell" "$(pgpu status | tail -n 1)"
	finish
fi

tree=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts)
cells_left() { find "$tree" -type d -name "pgpu-$(printf %x "$(stat -c %i "$XDG_STATE_HOME"/pgpu/*)")-*" 2>/dev/null; }
# cancel_it NAME TEXT: a job with this text is cancelled once it stands at the gate, and nothing of it is left.
cancel_it()
{
	pgpu run -q -- sh -c "$2" 2>/dev/null &
	reached "$1"
	exits 0 "$1: it is cancelled" timeout 120 pgpu cancel --all
	wait $!
	equals "$1: with 143" 143 $?
	equals "$1: and no cgroup is left" "" "$(cells_left)"
}

# Nobody waits for this grace: who had SIGTERM ends.
conf 'grace = "1h"'
cancel_it stopped "sh -c 'kill -STOP \$\$' & $(gate stopped); wait"
# shellcheck disable=SC2016 # the job's shell reads it
own='cell=$(awk "\$3 == \"cgroup2\" { print \$2; exit }" /proc/mounts)$(sed -n s/^0:://p /proc/self/cgroup)'
cancel_it "C113-frozen" "$own; mkdir \$cell/inner; sh -c 'trap \"echo >saved; exit\" TERM; echo >ready; while :; do sleep 1; done' &
	while [ ! -e ready ]; do :; done; echo \$! >\$cell/inner/cgroup.procs; echo 1 >\$cell/inner/cgroup.freeze; $(gate C113-frozen); wait"
check "C113 what the job froze can still save its work" [ -e saved ]
conf 'grace = "0"'
cancel_it deaf "trap '' TERM INT HUP; setsid sh -c 'trap \"\" TERM; while :; do sleep 1; done' & $(gate deaf); while :; do sleep 1; done"
cancel_it deep "$own; d=\$cell; for i in 1 2 3 4 5; do d=\$d/n; mkdir \$d; done; sleep 1000 & echo \$! >\$d/cgroup.procs; $(gate deep); wait"

if pgpu status --json | grep -q '"processes":true'; then
	# C143: a bomb is stopped by pids.max, and its end outruns it.
	conf $'grace = "1h"\nprocesses = 64'
	# shellcheck disable=SC2016 # bash reads it
	pgpu run -q -- bash -c 'f() { f & f & }; echo "$(sed -n s/^0:://p /proc/self/cgroup)" >bomb; f; exec sleep 1000' 2>/dev/null &
	bomb=$!
	# shellcheck disable=SC2317 # until_true calls it
	full() { [ "$(cat "$tree$(cat bomb)/pids.current")" -ge 60 ]; }
	until_true full
	check "C143 a bomb does not pass the limit" [ "$(cat "$tree$(cat bomb)/pids.max")" = 64 ]
	exits 0 "C143 and is cancelled, its grace left aside" timeout 120 pgpu cancel --all
	wait $bomb
	equals "C143 with 143" 143 $?
	equals "C143 and nothing is left" "" "$(cells_left)"
else
	skip "C143 a bomb does not pass the limit" "no pids controller here"
fi

# TEST_JOBS=1000 where starting a process costs a millisecond.
conf 'lanes = 2'
for ((i = 0; i < ${jobs:=${TEST_JOBS:-100}}; i++)); do pgpu run -q -- true || break; done
equals "$jobs jobs run" "$jobs" $i
equals "and leave no cgroup" "" "$(cells_left)"

# The supervisor is killed at whatever it does; the next call clears up.
for ((i = 0; i < 20; i++)); do
	pgpu run -q -- sleep 1000 &
	sleep "0.0$i" # synchronises nothing: another instruction is hit each time
	kill -KILL $!
	wait $! 2>/dev/null
done
until_true eval 'pgpu rescue; [ -z "$(cells_left)" ]'
equals "killed supervisors leave none either" "" "$(cells_left)"
finish
