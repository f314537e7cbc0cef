#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Any process of pgpu may be killed or stopped at any moment and the queue goes on (I3), with one lane and with two.
. "$(dirname "$0")/lib.sh"

# The pids of pgpu's own processes in this sandbox, jobs and pid $1 aside.
ours() { for pid in $(sandbox_pids); do [[ $(tr "\0" " " 2>/dev/null <"/proc/$pid/cmdline") = pgpu\ * ]] && [ "$pid" != "${1:-}" ] && echo "$pid"; done; }
number=0

# A job each in the spool and in the line, and the holders at their gates g1…gLANES.
fill()
{
	local lane
	number=$((number + 1))
	conf "lanes = $1"
	gates=()
	for ((lane = 1; lane <= $1; lane++)); do
		gates+=("g$number-$lane")
		if [ "$2" = spool ]; then
			pgpu submit --no-requeue -- sh -c "$(gate "${gates[-1]}")" >"$SANDBOX/holder"
		else
			pgpu run -- sh -c "$(gate "${gates[-1]}")" 2>"$SANDBOX/killed.err" &
		fi
		reached "${gates[-1]}"
	done
}

for lanes in 1 2; do
	for holder in run spool; do
		# A killed holder, with nobody waiting.
		fill $lanes $holder
		kill -KILL "$(ours | head -n 1)"
		exits 0 "$lanes lanes: a killed $holder holder with no line: the next run starts" pgpu run -- true
		kill_all
		wait

		# A killed holder, with a run and a spooled job waiting.
		fill $lanes $holder
		pgpu run --name waiter -- true & waiter=$!
		until_true queue_shows waiter
		id=$(pgpu submit -- true)
		kill -KILL "$(ours $waiter | head -n 1)"
		wait $waiter
		equals "$lanes lanes: a killed $holder holder with a line: the waiting run starts" 0 $?
		exits 0 "$lanes lanes: and the spooled job" pgpu wait "$id"
		kill_all
		wait

		# Every process of pgpu but the waiting run is stopped: it starts all the same once the job is gone.
		fill $lanes $holder
		pgpu run --name waiter -- true & waiter=$!
		until_true queue_shows waiter
		id=$(pgpu submit -- true)
		ours $waiter | xargs kill -STOP
		for gate in "${gates[@]}"; do open_gate "$gate"; done
		wait $waiter
		equals "$lanes lanes: stopped $holder holders: the waiting run starts" 0 $?
		exits 0 "$lanes lanes: and the spooled job" pgpu wait "$id"
		kill_all
		wait
	done
done
finish
