#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# A queue on a disk that is full: what is asked for is done or refused in one line, and nothing is lost.
. "$(dirname "$0")/lib.sh"

# The queue's folder on a file system of its own, with few inodes: full means that no file can be made.
kill_all
remove_cells
if ! mount -t tmpfs -o size=2m,nr_inodes=200,mode=700 pgpu-test "$XDG_STATE_HOME" 2>"$err"; then
	skip "a full disk" "no file system can be mounted: $(cat "$err")"
	finish
fi
trap 'kill_all; umount "$XDG_STATE_HOME"; leave' EXIT
fill() { local i=0; while : >"$XDG_STATE_HOME/fill-$i"; do i=$((i + 1)); done 2>/dev/null; }
drain() { rm -f "$XDG_STATE_HOME"/fill-*; }
id_of() { pgpu queue --json | python3 -c 'import json, sys; print(*[job["id"] for job in json.load(sys.stdin) if job["name"] == sys.argv[1]])' "$1"; }

conf 'lanes = 2'
exits 0 "a first job makes what is needed" pgpu submit -W -q -- true

for cells in auto off; do
	conf "lanes = 2"$'\n'"cells = \"$cells\""
	with="cells = $cells"
	pgpu run -q --name one -- sh -c "$(gate one)" & one=$!
	spooled=$(pgpu submit -J two -- sh -c "$(gate two)")
	reached one
	reached two
	pgpu run -q --name three -- true & three=$!
	until_true queue_shows 'PD .*three'
	waiting=$(id_of three) running=$(id_of one)
	fill

	exits 1 "$with: submit says that it cannot" pgpu submit -- true
	matches "$with: in one line" '^pgpu: cannot spool job: No space left on device$|^pgpu: cannot .*: No space left on device$' "$(cat "$err")"
	lacks "$with: and leaves nothing" '"state":"pending"[^}]*"kind":"spool"' "$(pgpu queue --json)"

	exits 0 "$with: a waiting run is cancelled" pgpu cancel "$waiting"
	matches "$with: and it is said that this is not on disk" "^pgpu: the order to cancel job $waiting is not on disk: No space left on device$" "$(cat "$err")"
	wait $three
	equals "$with: 143" 143 $?
	exits 0 "$with: a running one is cancelled" pgpu cancel "$running"
	equals "$with: its id is printed" "$running" "$(cat "$out")"
	wait $one
	equals "$with: 143 too" 143 $?
	exits 0 "$with: a spooled one is cancelled" pgpu cancel "$spooled"
	drain
	exits 143 "$with: and ended as cancelled" pgpu wait "$spooled"
	equals "$with: once" 0 "$(pgpu show --json "$spooled" | python3 -c 'import json, sys; print(json.load(sys.stdin)["restarts"])')"
	exits 0 "$with: with room again the queue goes on" pgpu submit -W -q -- true
done

# The file of a role is lost, its owner dies, and no other can be made: the job that runs is not ended for it.
conf 'lanes = 1'
pgpu run -q --name holds -- sh -c "$(gate holds)" 2>said & holds=$!
reached holds
next=$(pgpu submit -q -- true)
boot=$(echo "$XDG_STATE_HOME"/pgpu/*/boot-*)
until_true grep -q '^state running' "$boot/standby"
standby=$(sed -n 's/^owner \([0-9]*\) .*/\1/p' "$boot/standby")
kill -STOP $holds
rm "$boot/standby"
kill -KILL "$standby"
until_true eval '! alive $standby'
fill
kill -CONT $holds
until_true grep -q 'No space left' said
equals "a line that cannot be written is said once" 1 "$(grep -c 'No space left' said)"
check "and does not end the job" kill -0 $holds
drain
until_true grep -q '^state running' "$boot/standby"
ok "with room again it is watched again"
open_gate holds
wait $holds
equals "the job ends by itself" 0 $?
exits 0 "and the next one runs" pgpu wait "$next"

# A job that ends while the disk is full is not run again.
conf 'lanes = 1'
id=$(pgpu submit -q -- sh -c "$(gate ends); echo ran >>$SANDBOX/times; exit 6")
reached ends
fill
open_gate ends
until_true test -s "$SANDBOX/times"
until_true eval '! pgpu queue | grep -q .'
drain
exits 6 "a job that ends on a full disk ends with its code" pgpu wait "$id"
equals "and ran once" ran "$(cat "$SANDBOX/times")"

# A lane whose file is yet to be made: what reads and what cancels goes on, and says what cannot be.
conf 'lanes = 1'
pgpu run -q -- true
array=$(pgpu submit -q -H -a 1-20 -- sh -c 'echo "$PGPU_JOB_ID" >>"$0"' "$SANDBOX/tasks-ran")
held=$(pgpu submit -q -H -- true)
conf 'lanes = 3'
pgpu status >"$out"
fill
pgpu release "$array" >"$out" 2>"$err"
for call in queue status "show $held" log "cancel $held"; do
	# shellcheck disable=SC2086 # words
	exits 0 "on a full disk without a lane's file: $call" pgpu $call
done
drain
pgpu release "$array" 2>"$err"
exits 0 "with room again the array runs" pgpu wait "$array"
equals "each task once" 20 "$(sort -u "$SANDBOX/tasks-ran" | wc -l)"
equals "and no more" 20 "$(wc -l <"$SANDBOX/tasks-ran")"
finish
