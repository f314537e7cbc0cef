#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# What a stop reaches: grandchildren, other sessions and traps; and what it never touches: a number that was reused.
. "$(dirname "$0")/lib.sh"

sleeps() { sandbox_pids | xargs -r ps -o args= -p 2>/dev/null | grep '^sleep 600'; }

pgpu run -q -- sh -c "sleep 600 & setsid sleep 600 & sh -c 'sleep 600 & sleep 600' & $(gate grandchildren); wait" &
reached grandchildren
exits 0 "C001 a job with grandchildren is cancelled" pgpu cancel --all
equals "C001 and all of them are gone when cancel returns" "" "$(sleeps)"
wait $! 2>/dev/null

# The shell waits for its child: only a signal that reaches the child lets its trap run in time.
pgpu run -q -- bash -c "trap 'echo saved >$SANDBOX/saved; exit 3' TERM; $(gate trap); sleep 600" &
reached trap
open_gate trap
exits 0 "C059 a job with a trap is cancelled" pgpu cancel --all
wait $!
equals "C059 it has the code of a cancelled job" 143 $?
equals "C059 and its trap has run" saved "$(cat "$SANDBOX/saved")"

if strace -o /dev/null true 2>/dev/null; then
	strace -f -o "$SANDBOX/trace" -e trace=kill,tkill,tgkill pgpu run -q -- sh -c "$(gate numbers)" &
	reached numbers
	strace -f -o "$SANDBOX/trace2" -e trace=kill,tkill,tgkill pgpu cancel --all >/dev/null
	wait $!
	equals "C153 no signal is sent to a number" "" "$(grep -hE 'kill\(' "$SANDBOX/trace" "$SANDBOX/trace2")"
else
	skip "C153 no signal is sent to a number" "strace cannot trace here"
fi
exits 1 "C153 a job that has ended is not signalled" pgpu cancel 1
matches "C153 and that is said" 'has ended|is gone' "$(cat "$err")"
finish
