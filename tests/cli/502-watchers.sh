#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Standby and second, a winner and whoever holds the queue lock are killed or stopped; with the queue left alone the next job
# still begins: it says so in a FIFO, and nobody calls pgpu before that (I3).
# shellcheck disable=SC2317 # until_true calls some
. "$(dirname "$0")/lib.sh"

# owner SEAT: the pid that a watcher's file names while that lives and is not stopped.
owner()
{
	local pid
	pid=$(sed -n 's/^owner \([0-9]*\) .*/\1/p' "$XDG_STATE_HOME"/pgpu/*/boot-*/"$1" 2>/dev/null)
	[ -n "$pid" ] && alive "$pid" && [[ $(sed 's/.*) //' "/proc/$pid/stat" 2>/dev/null) != T* ]] && echo "$pid"
}
has_other() { local now; now=$(owner "$1") && [ "$now" != "$2" ]; }

number=0
# begin LANES LINE: spooled jobs at gates on all lanes, and, with a LINE, a waiting run and two spooled jobs. The next to begin
# stands at $next.
begin()
{
	local lane
	number=$((number + 1))
	conf "lanes = $1
take-within = \"1s\""
	for ((lane = 1; lane <= $1; lane++)); do
		pgpu submit --no-requeue -- sh -c "$(gate "h$number-$lane")" >>"$SANDBOX/ids"
		reached "h$number-$lane"
	done
	gate=h$number-1 next=n$number
	if [ "$2" = line ]; then
		pgpu submit -- sh -c "$(gate "$next")" >>"$SANDBOX/ids"
		pgpu submit -- true >>"$SANDBOX/ids"
	fi
	until_true owner standby
	standby=$(owner standby)
}

# goes_on WHAT: the holder ends and the next begins; without a line a job that is submitted now does.
goes_on()
{
	open_gate "$gate"
	[ "$2" = line ] || pgpu submit -- sh -c "$(gate "$next")" >"$SANDBOX/id"
	if timeout 60 cat "$SANDBOX/$next.here" >"$SANDBOX/reached"; then ok "$1"; else not_ok "$1" "$(pgpu queue 2>&1)"; fi
	kill_all
	wait
	remove_cells
	rm -rf "$XDG_STATE_HOME/pgpu"
} 2>/dev/null

for lanes in 1 2; do
	for line in line none; do
		for sig in KILL STOP; do
			begin $lanes $line
			kill -$sig "$standby"
			goes_on "$lanes lanes, $line: standby gets $sig" $line

			begin $lanes $line
			kill -$sig "$standby"
			until_true has_other standby "$standby"
			kill -$sig "$(owner standby)"
			goes_on "$lanes lanes, $line: and its heir too" $line

			# Second: where the standby alone guards, a run that holds a lane does not count as its watcher.
			begin $lanes $line
			second=$(owner second) && kill -$sig "$second"
			kill -$sig "$standby"
			goes_on "$lanes lanes, $line: standby and, where there is one, second get $sig" $line
		done
	done

	# The winner is a stopped run: passed over.
	begin $lanes none
	pgpu run -q -p interactive --name winner -- true & winner=$!
	until_true queue_shows winner
	pgpu submit -p search -- sh -c "$(gate "$next")" >>"$SANDBOX/ids"
	kill -STOP $winner
	goes_on "$lanes lanes: a winner that is stopped is passed over" line

	# Whoever holds the queue lock is frozen: the next that wants it continues it.
	begin $lanes line
	lock=$(echo "$XDG_STATE_HOME"/pgpu/*/lock)
	mkfifo "$SANDBOX/locked$lanes"
	python3 -c 'import fcntl, os, signal, sys
lock = open(sys.argv[1], "r+")
fcntl.flock(lock, fcntl.LOCK_EX)
open(sys.argv[2], "w").write("locked\n")
os.kill(os.getpid(), signal.SIGSTOP)' "$lock" "$SANDBOX/locked$lanes" &
	read -r _ <"$SANDBOX/locked$lanes"
	goes_on "$lanes lanes: a frozen holder of the queue lock is continued" line
done

# The only holder is stopped by hand, and its job goes on. The standby looks for that once in five minutes; it is woken here,
# which carries no truth. Both roles go to a worker, or to runs in line.
sleeps_minutes() { [ $((($(cut -s -d ' ' -f 4 "/proc/$1/syscall" 2>/dev/null) + 30000) / 60000)) = "$2" ]; }
for runs in 0 3; do
	begin 1 none
	for ((i = 0; i < runs; i++)); do
		pgpu run -q --name "r$i" -- true &
		until_true queue_shows "r$i"
	done
	if [ $runs -gt 0 ]; then
		kill -KILL "$standby"
		until_true has_other standby "$standby"
		standby=$(owner standby)
	fi
	holder=$(owner lane-0)
	if [ -r "/proc/$standby/syscall" ]; then
		check "$runs runs: a standby with a holder beside it sleeps five minutes" until_true sleeps_minutes "$standby" 5
	else
		skip "$runs runs: a standby with a holder beside it sleeps five minutes" "/proc/PID/syscall is closed here"
	fi
	kill -STOP "$holder"
	until_true eval '! owner lane-0'
	kill -URG "$standby"
	check "$runs runs: where its only holder is stopped it gets a second" until_true owner second
	kill -KILL "$standby"
	check "$runs runs: and can be killed" until_true has_other standby "$standby"
	check "$runs runs: all agree on that" [ "$(sed -n 's/^gen //p' "$XDG_STATE_HOME"/pgpu/*/boot-*/second)" -lt 9 ]
	kill -CONT "$holder"
	goes_on "$runs runs: the holder continued, the line goes on" none
done

# Nobody has a lane, and a job waits for its time. The standby looks at the second, and whoever leaves at both.
conf 'lanes = 1'
pgpu submit -q --begin now+1h -- true >>"$SANDBOX/ids"
until_true owner standby
until_true owner second
stops() { local pid; pid=$(owner "$1") && kill -STOP "$pid" && until_true eval "! owner $1" && printf '%s' "$pid"; }
stopped=$(stops second)
kill -URG "$(owner standby)"
check "a standby whose second is stopped gets another" until_true has_other second "$stopped"
for call in "run -q -- true" "rescue"; do
	stops second >/dev/null
	stopped=$(stops standby)
	# shellcheck disable=SC2086 # a list of words
	pgpu $call
	check "$call leaves no stopped standby behind" until_true has_other standby "$stopped"
	check "$call: nor one alone" until_true owner second
done
kill_all
wait 2>/dev/null
rm -rf "$XDG_STATE_HOME/pgpu"

# The only holder is stopped, and the standby killed or stopped: nobody who could see that is left, and the next call does,
# whichever it is.
for sig in KILL STOP; do
	for who in job run; do
		begin 1 none
		[ $who = job ] || { pgpu run -q --name waits -- true & until_true queue_shows waits; }
		holder=$(owner lane-0)
		kill -STOP "$holder"
		until_true eval '! owner lane-0'
		kill -$sig "$standby"
		until_true eval '! owner standby'
		pgpu queue >/dev/null
		check "$who: a standby that gets $sig beside a stopped holder is replaced by the next call" until_true has_other standby "$standby"
		kill -CONT "$holder" "$standby" 2>/dev/null
		goes_on "$who, $sig: the line goes on" none
	done
done

# The standby is the first in line, and stopped: its seat is not offered to it for ever.
kill_all
conf $'lanes = 1\ntake-within = "1s"'
gate=first
pgpu run -q -- sh -c "$(gate $gate)" &
reached $gate
standby_is() { [ "$(owner standby)" = "$1" ]; }
pgpu run -q --name stopped -- true & first=$!
until_true queue_shows stopped
pgpu run -q --name other -- true & other=$!
until_true queue_shows other
until_true standby_is $first
kill -STOP $first
check "a standby that is stopped is followed by the next in line" until_true standby_is $other
kill_all
wait 2>/dev/null

# A lane that was granted to somebody who died, with nobody else in line.
kill_all
conf $'lanes = 1\ntake-within = "1h"'
gate=last
pgpu run -q -- sh -c "$(gate $gate)" &
reached $gate
pgpu run -q --name heir -- true & heir=$!
until_true queue_shows heir
kill -STOP $heir
open_gate $gate
until_true grep -q '^state granted' "$XDG_STATE_HOME"/pgpu/*/boot-*/lane-0
kill_all
wait 2>/dev/null
matches "a lane whose heir died, and that nobody wants, is free" $'\nlane 0: free\n' "$(pgpu status)"
finish
