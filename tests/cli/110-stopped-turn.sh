#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Ctrl-Z of a `run` whose job is away in a turn: the job stays frozen until it has a lane again, whoever brings the run
# back, and nothing of it is left when nobody does.
# shellcheck disable=SC2317 # what follows a sees is reached when it matches
. "$(dirname "$0")/lib.sh"
. "$REPO/tests/cli/terminal.sh"

reason_of() { pgpu queue --json | python3 -c 'import json, sys
print(*[job["state"], job["reason"]] if (job := next((job for job in json.load(sys.stdin) if job["name"] == sys.argv[1]), None)) else [])' "$1"; }
says_of() { [ "$(reason_of "$1")" = "$2" ]; }

# away NAME: in the terminal a run whose job has offered a turn and is away, pid $job, its wrapper $pid; "first-NAME" has the
# lane. Ctrl-Z has stopped the run then.
away()
{
	types "pgpu run -q -p clip --as a --name $1 -- sh -c 'echo pid=\$\$; $(gate "$1"); pgpu turn; $counts'"
	sees '^pid=(\d+)'
	job=$answer
	reached "$1"
	pid=$(wrapper "$1")
	pgpu run -q -p clip --as b --name "first-$1" -- sh -c "$(gate "first-$1")" & first=$!
	until_true queue_shows "PD .*first-$1"
	open_gate "$1"
	reached "first-$1"
	until_true says_of "$1" 'frozen lane'
	press "$Ctrl_Z"
	sees Stopped
	until_true in_state "$pid" T
}
first_ends() { open_gate "first-$1"; wait $first; }

for cells in auto off; do
	if [ $cells = auto ] && ! pgpu status --json | grep -q '"available": *true'; then
		skip "with cells" "no cgroup v2 that we may use"
		continue
	fi
	with="cells = $cells"
	conf "lanes = 1
cells = \"$cells\""
	open_terminal

	away "one-$cells"
	matches "$with: stopped while its job is away, a run stands in line no more" '^frozen ' "$(reason_of "one-$cells")"
	lacks "$with: and says so" ' lane$' "$(reason_of "one-$cells")"
	first_ends "one-$cells"
	exits 0 "$with: the lane goes to another, which completes" pgpu run -q --max-wait 60s -- true
	hold_lane "holder-$cells"
	types "fg$code"
	until_true says_of "one-$cells" 'frozen lane'
	equals "$with: fg puts it back in line" 'frozen lane' "$(reason_of "one-$cells")"
	if [ $cells = off ]; then
		equals "$with: and its job waits with it, for all that fg sent to it" T "$(process_state "$job")"
	fi
	let_go "holder-$cells"
	sees '^begun'
	equals "$with: with a lane the job goes on behind its turn" 1 "$(step)"
	equals "$with: and ends" 2 "$(step end)"
	ends 52 "$with: with its own code"
	equals "$with: the log has both holds" 'turn: failed:52' "$(rows "one-$cells")"

	# Brought back by somebody else than the shell: only the wrapper is continued.
	away "two-$cells"
	first_ends "two-$cells"
	kill -CONT "$pid"
	equals "$with: its wrapper alone continued, the job goes on, too" 1 "$(step end)"
	until_true has_rows "two-$cells" 'turn: failed:51'
	equals "$with: and ends" 'turn: failed:51' "$(rows "two-$cells")"
	enters ''

	away "three-$cells"
	pgpu cancel "$(id_of "three-$cells")" >"$out"
	check "$with: cancelled while stopped in a turn, nothing of it is left" eval "! alive $job"
	equals "$with: both holds are rows" 'turn: cancelled:143' "$(rows "three-$cells")"
	first_ends "three-$cells"

	away "four-$cells"
	kill -KILL "$pid"
	until_true in_state "$pid" ''
	check "$with: a call after the wrapper was killed while stopped in a turn" pgpu queue
	check "$with: nothing frozen is left" eval "! alive $job"
	# Whoever watches may be faster than the call, and writes the row a moment later.
	check "$with: and its row says lost" until_true eval "[[ \$(rows four-$cells) = 'turn: lost:'* ]]"
	first_ends "four-$cells"
	hang_up
done
finish
