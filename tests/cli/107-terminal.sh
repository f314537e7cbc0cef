#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# `pgpu run` in a terminal, in front of an interactive shell: Ctrl-C, Ctrl-Z and fg, hang-ups, raw mode, with cells and without.
# shellcheck disable=SC2317 # what follows a sees is reached when it matches
. "$(dirname "$0")/lib.sh"
. "$REPO/tests/cli/terminal.sh"

# A job that takes signals one at a time, says which, and ends with 40 and how often INT came when USR1 comes.
cat >counter.py <<'END'
import signal, sys
numbers = {signal.SIGINT, signal.SIGUSR1}
signal.pthread_sigmask(signal.SIG_BLOCK, numbers)
print('counting', flush=True)
ints = 0
while True:
    number = signal.sigwait(numbers)
    if number == signal.SIGUSR1:
        sys.exit(40 + ints)
    ints += 1
    print(f'ints={ints}', flush=True)
END

for cells in auto off; do
	if [ $cells = auto ] && ! pgpu status --json | grep -q '"available": *true'; then
		skip "with cells" "no cgroup v2 that we may use"
		continue
	fi
	with="cells = $cells"
	conf "lanes = 1
cells = \"$cells\""
	open_terminal

	# --- Ctrl-C of a running job ---
	# The wrapper is kept from reading its signals until the job has taken the terminal's INT: a relayed one would be a second.
	types "sh -c 'trap : INT; pgpu run -q --name c005-$cells -- python3 counter.py; echo code=\$?'"
	sees '^counting'
	pid=$(wrapper "c005-$cells")
	kill -STOP "$pid"
	press "$Ctrl_C"
	sees 'ints=1'
	kill -CONT "$pid"
	kill -USR1 "$pid"
	ends 41 "C005 $with: Ctrl-C reaches the job once, and its own code comes back"
	types "pgpu run -q -- sh -c 'trap \"exit 9\" INT; echo begun; while :; do read x; done'$code"
	sees '^begun'
	press "$Ctrl_C"
	ends 9 "$with: a job that heeds Ctrl-C ends with its own code"
	types "pgpu run -q -- cat"
	enters typed
	sees '^typed\ntyped'
	press "$Ctrl_C"
	types "echo code=\$?"
	ends 130 "$with: one that does not ends with 130"
	types "pgpu run -q -- cat$code"
	enters typed
	sees '^typed\ntyped'
	press "$Ctrl_Backslash"
	ends 131 "$with: Ctrl-\\ ends a job with 131"
	types "pgpu run -q -- cat$code"
	enters 'a line'
	sees '^a line\na line'
	press '\x04'
	ends 0 "$with: the job reads the terminal, and Ctrl-D ends its input"

	# --- ends of a waiting run ---
	hold_lane "holder-$cells"
	pgpu run -q --as zz --name behind1 -- true & behind1=$!
	for pair in "$Ctrl_C 130" "$Ctrl_Backslash 131" 'TERM 143' 'HUP 129' 'USR1 138' 'USR2 140'; do
		read -r what wanted <<<"$pair"
		types "pgpu run -p interactive --as aa --name front -- touch ran$code"
		sees 'waiting for a lane'
		until_true queue_shows behind1
		case $what in [A-Z]*) kill "-$what" "$(wrapper front)" ;; *) press "$what" ;; esac
		ends "$wanted" "C043 $with: $what of a waiting run: $wanted"
		equals "C043 $with: its ticket is gone, those behind stand" behind1 "$(names_in_line)"
	done
	let_go "holder-$cells"
	wait $behind1
	equals "C043 $with: they move up" 0 $?
	check "C043 $with: what was broken off never ran" test ! -e ran

	# --- Ctrl-Z of a waiting run ---
	hold_lane "holder-z-$cells"
	types "pgpu run --name zwait -- echo zwait ran$code"
	sees 'waiting for a lane'
	pid=$(wrapper zwait)
	press "$Ctrl_Z"
	sees Stopped
	until_true in_state "$pid" T
	pgpu run -q --name overtakes -- true & overtakes=$!
	until_true queue_shows overtakes
	matches "$with: a waiting run that was stopped says so" stopped "$(pgpu queue --json | python3 -c 'import json, sys
print(*[job["reason"] for job in json.load(sys.stdin) if job["name"] == "zwait"])')"
	let_go "holder-z-$cells"
	wait $overtakes
	equals "$with: Ctrl-Z of a waiting run: it is passed over" 0 $?
	types "fg"
	sees '^zwait ran'
	until_true shows_state zwait completed
	equals "$with: fg brings it back" completed "$(state_of zwait)"

	# Brought back while the lane is busy: in its old place.
	hold_lane "holder-y-$cells"
	types "pgpu run --name ywait -- echo ywait ran"
	sees 'waiting for a lane'
	press "$Ctrl_Z"
	sees Stopped
	pgpu run -q --name younger -- true & younger=$!
	until_true queue_shows younger
	types fg
	until_true test "$(until_true shows_state ywait pending; names_in_line)" = 'ywait younger'
	equals "$with: in its old place" 'ywait younger' "$(names_in_line)"
	let_go "holder-y-$cells"
	sees '^ywait ran'
	wait $younger
	equals "$with: and the one behind it after it" 0 $?

	# --- Ctrl-Z of a running job ---
	types "pgpu run -q --name zrun-$cells -- sh -c '$counts'"
	sees '^begun'
	equals "$with: a job counts" 1 "$(step)"
	pid=$(wrapper "zrun-$cells")
	press "$Ctrl_Z"
	sees Stopped
	until_true shows_state "zrun-$cells" frozen
	ok "$with: Ctrl-Z of a running job freezes it"
	matches "$with: shown as S" ' S ' "$(pgpu queue)"
	equals "$with: the hold that ended is a row of the log" turn: "$(rows "zrun-$cells")"
	exits 0 "$with: its lane goes to another, which completes" pgpu run -q --max-wait 60s -- true
	exits 0 "$with: and another" pgpu run -q --max-wait 60s -- true
	types "fg$code"
	until_true shows_state "zrun-$cells" running
	equals "$with: fg: the job goes on where it was" 2 "$(step)"
	equals "$with: and ends" 3 "$(step end)"
	ends 53 "$with: with its own code"
	equals "$with: the log has both holds" 'turn: failed:53' "$(rows "zrun-$cells")"

	# fg while the lane is busy: it waits, Ctrl-C thaws and ends it.
	types "pgpu run --name zbusy-$cells -- sh -c '$counts'"
	sees '^begun'
	press "$Ctrl_Z"
	sees Stopped
	hold_lane "holder-x-$cells"
	types "fg$code"
	sees 'waiting for a lane again'
	press "$Ctrl_C"
	ends 130 "$with: Ctrl-C while it waits after fg ends the job: 130"
	equals "$with: and its rows say so" 'turn: failed:130' "$(rows "zbusy-$cells")"
	equals "$with: the lane is still the other's" "holder-x-$cells" "$(pgpu queue --json | python3 -c 'import json, sys
print(*[job["name"] for job in json.load(sys.stdin)])')"
	let_go "holder-x-$cells"

	# One that does not take the INT: the TERM behind it ends it, and Ctrl-C is still why.
	types "pgpu run --name zdeaf-$cells -- sh -c 'trap \"\" INT; $counts'"
	sees '^begun'
	press "$Ctrl_Z"
	sees Stopped
	hold_lane "holder-y-$cells"
	types "fg$code"
	sees 'waiting for a lane again'
	press "$Ctrl_C"
	ends 130 "$with: Ctrl-C while it waits after fg ends a job deaf to it, too"
	let_go "holder-y-$cells"

	# Stopped twice: once running, once while it waits again.
	types "pgpu run --name ztwice-$cells -- sh -c '$counts'"
	sees '^begun'
	press "$Ctrl_Z"
	sees Stopped
	hold_lane "holder-w-$cells"
	types "fg$code"
	sees 'waiting for a lane again'
	press "$Ctrl_Z"
	sees Stopped
	let_go "holder-w-$cells"
	exits 0 "$with: stopped while it waits after fg, it is passed over" pgpu run -q --max-wait 60s -- true
	types "fg$code"
	until_true shows_state "ztwice-$cells" running
	equals "$with: and comes back once more" 1 "$(step end)"
	ends 51 "$with: with its own code"

	# The job dies while it waits for its lane again.
	types "pgpu run --name zdies-$cells -- sh -c 'echo pid=\$\$; $counts'"
	sees '^pid=(\d+)'
	job=$answer
	sees '^begun'
	press "$Ctrl_Z"
	sees Stopped
	hold_lane "holder-v-$cells"
	types "fg$code"
	sees 'waiting for a lane again'
	kill -KILL "$job"
	until_true in_state "$job" ''
	let_go "holder-v-$cells"
	ends 137 "$with: a job that is killed while it waits after fg: its own code"

	# Killed while stopped.
	types "pgpu run -q --name zkill-$cells -- sh -c 'echo pid=\$\$; $counts'"
	sees '^pid=(\d+)'
	job=$answer
	sees '^begun'
	pid=$(wrapper "zkill-$cells")
	press "$Ctrl_Z"
	sees Stopped
	until_true in_state "$pid" T
	kill -KILL "$pid"
	until_true in_state "$pid" ''
	check "$with: a call after the wrapper was killed while stopped" pgpu queue
	check "$with: nothing of its frozen job is left" eval "! alive $job"
	matches "$with: and its row says lost" 'turn: lost:' "$(rows "zkill-$cells")"
	lacks "$with: and no list shows it" "zkill-$cells" "$(pgpu queue)"
	# --- raw mode ---
	# Neither the inner sh nor pgpu's caller puts the terminal right: what it is afterwards is what pgpu made of it.
	types "sh -c 'pgpu run -q --name raw -- sh -c \"stty raw -echo; echo is raw; exec sleep 1000\"; echo code=\$?; cat'"
	sees '^is raw'
	ask state
	matches "C087 $with: a full-screen program has the terminal raw" 'echo=0 lines=0' "$answer"
	front=${answer##*=}
	pgpu cancel "$(id_of raw)" >"$out"
	ends 143 "C087 $with: it is cancelled"
	ask state
	equals "C087 $with: the terminal is as it was" "echo=1 lines=1 front=$front" "$answer"
	press '\x04'
	types "sh -c 'pgpu run -q --limit $((2 * slow))s -- sh -c \"stty raw -echo; echo is raw; exec sleep 1000\"; echo code=\$?; cat'"
	sees '^is raw'
	ends 124 "C087 $with: a full-screen program is stopped at its limit"
	ask state
	matches "C087 $with: and the terminal is as it was" '^echo=1 lines=1 ' "$answer"
	press '\x04'
	# A run in the background leaves alone what others have made of the terminal since.
	types "pgpu run -q --name back -- sleep 1000 & stty -echo"
	until_true shows_state back running
	pgpu cancel "$(id_of back)" >"$out"
	enters "wait \$!$code"
	ends 143 "$with: a run in the background is cancelled"
	ask state
	matches "C087 $with: and leaves the terminal alone" '^echo=0' "$answer"
	types 'stty echo'

	# --- signals to the wrapper ---
	for name in TERM HUP USR1 USR2; do
		types "pgpu run -q --name takes -- sh -c 'trap \"exit 42\" $name; echo begun; while read x; do :; done'$code"
		sees '^begun'
		kill -$name "$(wrapper takes)"
		enters ''
		ends 42 "C129 $with: $name is passed on"
	done
	types "pgpu run -q --name takes -- sh -c 'echo begun; read x; exit 43'$code"
	sees '^begun'
	kill -TTIN "$(wrapper takes)"
	kill -TTOU "$(wrapper takes)"
	kill -CONT "$(wrapper takes)"
	enters ''
	ends 43 "C129 $with: TTIN, TTOU and CONT do nothing to a run whose job runs"
	hold_lane "holder-u-$cells"
	types "pgpu run --name ttin -- true$code"
	sees 'waiting for a lane'
	kill -TTIN "$(wrapper ttin)"
	kill -TTOU "$(wrapper ttin)"
	kill -CONT "$(wrapper ttin)"
	let_go "holder-u-$cells"
	ends 0 "C129 $with: nor to one that waits"
	hold_lane "holder-t-$cells"
	types "pgpu run --name tstp -- true$code"
	sees 'waiting for a lane'
	pid=$(wrapper tstp)
	kill -TSTP "$pid"
	sees Stopped
	until_true in_state "$pid" T
	ok "C129 $with: TSTP stops a waiting run"
	let_go "holder-t-$cells"
	kill -CONT "$pid"
	until_true in_state "$pid" ''
	ok "C129 $with: CONT brings it back, in the background too"

	# --- the line drops ---
	types "pgpu run -q --name hup-$cells -- sh -c 'echo pid=\$\$; exec sleep 1000'"
	sees '^pid=(\d+)'
	job=$answer
	hang_up
	until_true in_state "$job" ''
	until_true has_rows "hup-$cells" failed:129
	ok "C017 $with: a running job ends with its terminal, recorded as 129"
	hold_lane "holder-h-$cells"
	open_terminal
	types "pgpu run --name hupwait -- touch ran"
	sees 'waiting for a lane'
	pid=$(wrapper hupwait)
	hang_up
	until_true in_state "$pid" ''
	equals "C017 $with: a waiting run ends with its terminal, and so does its ticket" '' "$(names_in_line)"
	let_go "holder-h-$cells"
done
check "C017 and what it was to run never ran" test ! -e ran
finish
