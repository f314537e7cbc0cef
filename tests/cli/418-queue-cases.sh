#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# What went wrong for users of other queues, in the line and with times.
. "$(dirname "$0")/lib.sh"
conf 'lanes = 1'
state_of() { pgpu show --json "$1" | python3 -c 'import json, sys; print(json.load(sys.stdin)["state"])'; }

# --- C025: what it depends on failed, was cancelled, was never there ---
fails=$(pgpu submit -q -- false)
pgpu wait "$fails"
cancelled=$(pgpu submit -q -H -- true)
pgpu cancel "$cancelled" >"$out"
ended=$(pgpu submit -q -- true)
pgpu wait "$ended"
exits 125 "C025 of one that failed it ends at once" pgpu submit -q -W -d "afterok:$fails" -- true
exits 125 "C025 of one that was cancelled" pgpu submit -q -W -d "afterok:$cancelled" -- true
exits 0 "C025 of one that has ended well it starts" pgpu submit -q -W -d "afterok:$ended" -- true
exits 2 "C025 one that was never there is refused" pgpu submit -q -d "afterok:999" -- true

# --- C073: 02:30 in the nights in which the clocks are changed ---
export TZ=CET-1CEST,M3.5.0,M10.5.0/3
begin() { pgpu submit --dry-run -b "$1" -- true | sed -n 's/^begin: //p'; }
equals "C073 the one that the night skips is the first moment after" 2027-03-28T01:30:00+00:00 "$(begin '2027-03-28 02:30')"
equals "C073 of the one that comes twice the first" 2027-10-31T00:30:00+00:00 "$(begin '2027-10-31 02:30')"
unset TZ

# --- C123: impossible and very distant times ---
for time in 2027-02-30 25:00 yesterday 2027-13-01T10:00 'tomorrow 24:01' 2300-01-01 ''; do
	exits 2 "C123 '$time' is refused" pgpu submit -b "$time" -- true
done
far=$(pgpu submit -q -b 2199-12-31T00:00 -- true)
matches "C123 a very distant one is shown" "$far PD .*not before 2199-12-31" "$(pgpu queue)"
exits 0 "C123 and stops nobody" pgpu submit -q -W -- true
exits 0 "C123 a run neither" pgpu run -q --no-wait -- true
exits 0 "C123 it can be cancelled" pgpu cancel "$far"

# --- C121: bounds of arrays ---
for list in 0-4000000000 4294967293-4294967295:2 10-1 1-10:0 1-3,2-4 1-3%0 -1-3 99999999999999999999; do
	exits 2 "C121 array $list is refused" pgpu submit --array="$list" -- true
	matches "C121 with the reason" "^pgpu: .*array: '$list' (is no list of tasks|has|.*tasks)" "$(cat "$err")"
done

# --- C131: before maintenance ---
runs=$(pgpu submit -q -- sh -c "$(gate runs)")
reached runs
pgpu drain
waits=$(pgpu submit -q -- true)
matches "C131 what runs is listed" "$runs R " "$(pgpu queue)"
matches "C131 what does not start says why" "$waits PD .*drained" "$(pgpu queue)"
find "$XDG_STATE_HOME"/pgpu/*/ended -type f -delete
matches "C131 the ended ones purged, what runs is listed all the same" "$runs R " "$(pgpu queue)"
open_gate runs
exits 0 "C131 and ends" pgpu wait "$runs"
pgpu undrain
exits 0 "C131 then the others start" pgpu wait "$waits"

# --- C035: a long queue ---
# Names are read, records are not: with 500 jobs in line a call opens as many files as with 5.
if command -v strace >/dev/null && strace -o /dev/null true 2>/dev/null; then
	opens() { strace -o trace -e trace=openat "$@" >"$out" 2>"$err"; grep -c '^openat' trace; }
	pgpu drain
	for ((i = 0; i < 5; i++)); do echo true.yaml; done >five
	echo 'command: "true"' >true.yaml
	# shellcheck disable=SC2046 # a list of words
	pgpu submit -q $(cat five) >ids
	pgpu submit -q true.yaml >>ids
	opens pgpu status >"$out" # what is done once is done
	short="$(opens pgpu submit -q true.yaml) $(opens pgpu status) $(opens pgpu run -q --no-wait -- true) $(opens pgpu queue --state R)"
	# shellcheck disable=SC2046
	pgpu submit -q $(for ((i = 0; i < 100; i++)); do cat five; done) >>ids
	equals "C035 submit, status, run and an election open no more files in a long queue" "$short" \
		"$(opens pgpu submit -q true.yaml) $(opens pgpu status) $(opens pgpu run -q --no-wait -- true) $(opens pgpu queue --state R)"
	equals "C035 all are listed" 508 "$(pgpu queue --json | python3 -c 'import json, sys; print(len(json.load(sys.stdin)))')"
	pgpu cancel --all >"$out"
	pgpu undrain
else
	skip "C035 a long queue" "no strace here"
fi

# --- C111: a machine that cannot start anything now ---
if command -v strace >/dev/null && strace -o /dev/null true 2>/dev/null; then
	first=$(pgpu submit -q -- sh -c "$(gate first)")
	reached first
	main=$(main_of "$first")
	worker=$(sed -n 's/^PPid:\t//p' "/proc/$main/status")
	second=$(pgpu submit -q -- sh -c 'echo ran >>second')
	strace -q -p "$worker" -o trace -e trace=clone3,clone -e inject=clone3,clone:error=EAGAIN & tracer=$!
	until_true grep -q "TracerPid:	$tracer" "/proc/$worker/status"
	open_gate first
	pgpu wait "$first"
	until_true queue_shows "$second PD .*not before"
	ok "C111 a job that cannot be started now is put off, not burned"
	matches "C111 and says why" "$second PD .*Resource temporarily unavailable; not before" "$(pgpu queue)"
	kill "$tracer" && wait "$tracer"
	exits 0 "C111 sooner, if somebody says so" pgpu update "$second" begin=now
	exits 0 "C111 then it runs" pgpu wait "$second"
	equals "C111 once" "ran completed" "$(cat second) $(state_of "$second")"
	equals "C111 and counts as started once" 0 "$(pgpu show --json "$second" | python3 -c 'import json, sys; print(json.load(sys.stdin)["restarts"])')"
else
	skip "C111 a machine that cannot start anything now" "no strace here"
fi
pgpu run -q -- true
no_command=$(pgpu submit -q -- /nowhere/at/all)
exits 127 "C111 a command that is not there is final at once" pgpu wait "$no_command"
finish
