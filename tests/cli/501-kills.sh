#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Whoever holds a lane or watches may be killed or stopped at any moment and the queue goes on (I3), with one lane and with two.
. "$(dirname "$0")/lib.sh"
number=0

# fill LANES KIND: every lane has a job of that kind at a gate; the last one's gate is $gate and its supervisor $holder.
fill()
{
	local lane
	number=$((number + 1))
	conf "lanes = $1"
	for ((lane = 1; lane <= $1; lane++)); do
		gate=g$number-$lane
		if [ "$2" = spool ]; then
			pgpu submit --no-requeue -- sh -c "echo \$GPU_QUEUE_PID >$SANDBOX/holder; $(gate "$gate")" >"$SANDBOX/id"
		else
			pgpu run -q -- sh -c "echo \$GPU_QUEUE_PID >$SANDBOX/holder; $(gate "$gate")" &
		fi
		reached "$gate"
	done
	holder=$(cat "$SANDBOX/holder")
}

# queue_up: a waiting run, $waiter, and behind it a spooled job, $id.
queue_up()
{
	pgpu run -q --name waiter -- true & waiter=$!
	until_true queue_shows waiter
	id=$(pgpu submit -- true)
}

# both_ran WHAT: the two of queue_up did.
both_ran()
{
	wait "$waiter"
	equals "$1: the waiting run starts" 0 $?
	exits 0 "$1: and the spooled job" pgpu wait "$id"
	kill_all
	wait
} 2>/dev/null

for lanes in 1 2; do
	for kind in run spool; do
		fill $lanes $kind
		kill -KILL "$holder"
		exits 0 "$lanes lanes, a killed $kind, no line: the next call has its lane" pgpu run --max-wait 30s -- true
		kill_all

		fill $lanes $kind
		queue_up
		kill -KILL "$holder"
		both_ran "$lanes lanes, a killed $kind with a line"

		fill $lanes $kind
		queue_up
		kill -STOP "$holder"
		open_gate "$gate"
		both_ran "$lanes lanes, a stopped $kind whose job ends"

		# Another worker than the holder, where there is one: it watches.
		fill $lanes $kind
		queue_up
		for pid in $(sandbox_pids); do
			[ "$pid" != "$holder" ] && grep -qsz '^worker$' "/proc/$pid/cmdline" && kill -KILL "$pid" && break
		done
		open_gate "$gate"
		both_ran "$lanes lanes, a killed watcher of a $kind"
	done
done
finish
