#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Jobs that make no progress are stopped, and no others. A job that stalls is the clock of those that must not: it
# began after them, and when it is stopped they have been quiet for longer.
# shellcheck disable=SC2317 # until_true calls some of these
. "$(dirname "$0")/lib.sh"

rows() { awk -F '\t' -v id="$1" '$2 == id { print $NF ":" $(NF - 1) }' "$XDG_STATE_HOME"/pgpu/*/log.tsv | paste -sd ' '; }
after=$((2 * slow))s
# a_stall: as long as stall-after, and longer than those who were there before.
a_stall() { pgpu run -q -p clip --as clock --name clock -- sleep 1000; [ $? -eq 124 ] || not_ok "the clock stalls"; }

for cells in auto off; do
	conf $'lanes = 4\nstall-after = "'$after$'"\ngrace = "1s"\ncells = "'$cells$'"\nclass "test" { stall-after = "0" }'
	with="cells = $cells"

	exits 124 "$with: a job that only sleeps is stopped" pgpu run -- sleep 1000
	matches "$with: and told why" '^pgpu: job [0-9]+ is stopped: no progress for '$after' \(no hold on a card, 0.*s of CPU, nothing read or written\)$' "$(grep -v 'ceiling\|no cell' "$err")"
	id=$(pgpu queue --all --json | python3 -c 'import json, sys; print(json.load(sys.stdin)[-1]["id"])')
	equals "$with: its row" stalled:124 "$(rows "$id")"
	exits 0 "$with: listed under ST" pgpu queue --all --state ST
	matches "$with: by name" "$id ST .* stalled, exit code 124" "$(cat "$out")"

	id=$(pgpu submit -q -- sh -c 'sleep 1000 & wait')
	exits 124 "$with: a spooled one too" pgpu wait "$id"
	matches "$with: show says what was measured" 'no progress for '$after' \(no hold on a card, 0.*s of CPU, nothing read or written\)' "$(pgpu show "$id")"

	# --- progress, in each of its forms, and one that is not to be judged ---
	pgpu run -q -p clip --as cpu -- python3 -c '
import os, time
while not os.path.exists("end"):
	end = time.process_time() + 0.05
	while time.process_time() < end:
		pass
	time.sleep(0.2)' & cpu=$!
	pgpu run -q -p clip --as io -- python3 -c '
import os, time
read, write = os.pipe()
while not os.path.exists("end"):
	os.write(write, b"x"); os.read(read, 1)
	time.sleep(0.2)' & io=$!
	pgpu run -q -p test --as never --name never -- python3 -c '
import os, signal
os.mkfifo("never")
open("never")' & never=$!
	until_true queue_shows 'R .*never'
	until_true test -p never
	a_stall
	a_stall
	: >end
	wait $cpu
	equals "$with: a little CPU is progress" 0 $?
	wait $io
	equals "$with: a byte through a pipe is" 0 $?
	: >never
	wait $never
	equals "$with: of a class with stall-after = 0 none is stopped" 0 $?
	rm -f end never

	# --- at the terminal ---
	mkfifo keys keys2
	script -qec "pgpu run -q -p clip --as tty -- sh -c 'echo > at-tty; read line; exit 5'" /dev/null <keys >/dev/null & reads=$!
	script -qec "pgpu run -q -p clip --as poll -- python3 -c 'import select, sys; open(\"at-poll\", \"w\"); select.select([sys.stdin], [], []); sys.exit(6)'" /dev/null <keys2 >/dev/null & polls=$!
	exec 8>keys 9>keys2
	until_true test -e at-tty
	until_true test -e at-poll
	a_stall
	a_stall
	echo >&8; echo >&9
	wait $reads
	equals "$with: a job that reads its terminal is not stalled" 5 $?
	wait $polls
	equals "$with: nor one that polls it" 6 $?
	exec 8>&- 9>&-
	rm keys keys2 at-tty at-poll

	# --- work in another process ---
	pgpu run -q -p clip --as child -- sh -c 'setsid python3 -c "
import os, time
while not os.path.exists(\"end\"):
	os.stat(\".\"); print(end=\"x\", flush=True)
	time.sleep(0.2)" >beside & wait' & child=$!
	until_true test -s beside
	a_stall
	a_stall
	: >end
	wait $child
	equals "$with: what a child in a session of its own does is progress" 0 $?
	rm -f end beside
done

# --- the card, from a tree in place of /proc and /sys (tests/fixtures) ---
# Time enough to make a job's tree, on a busy machine too.
after=$((slow > 1 ? 2 * slow : 5))s
conf $'lanes = 4\nstall-after = "'$after$'"\ngrace = "1s"'
tree=$SANDBOX/tree
mkdir -p "$tree"
cp -r "$REPO/tests/fixtures/amdgpu-rx9060xt/sys" "$tree/sys"
export PGPU_PROCFS=$tree/proc PGPU_SYSFS=$tree/sys
# draws PID FIXTURE: what process 4100 of that fixture had of the card, the process PID has.
draws()
{
	rm -rf "$tree/proc/$1" # another folder: nobody remembers it
	mkdir -p "$tree/proc"
	cp -r "$REPO/tests/fixtures/$2/proc/$(holder_of "$2")" "$tree/proc/$1"
	sed -i "s/^[0-9]* /$1 /" "$tree/proc/$1/stat"
}
holder_of() { grep -lr drm-engine-gfx "$REPO/tests/fixtures/$1/proc" | sort | sed -n '1s|.*/proc/\([0-9]*\)/.*|\1|p'; }
draw=$(holder_of amdgpu-rx9060xt)
equals "the same process draws in both fixtures" "$draw" "$(holder_of amdgpu-rx9060xt-t10s)"

pgpu run -q -p clip --as gpu --name gpu -- sh -c "$(gate gpu)" & idle=$!
reached gpu
draws "$(main_of gpu)" amdgpu-rx9060xt
wait $idle
equals "a job that holds the card and does not use it is stopped" 124 $?
matches "and its row says so" stalled "$(cut -f15 "$XDG_STATE_HOME"/pgpu/*/log.tsv | tail -n 1)"

pgpu run -q -p clip --as gpu --name gpu -- sh -c "$(gate gpu)" & busy=$!
reached gpu
pid=$(main_of gpu)
draws "$pid" amdgpu-rx9060xt
# Its engines run on: each figure grows, until the end.
while [ ! -e gpu-end ]; do
	for file in "$tree/proc/$pid/fdinfo"/*; do
		awk '/^drm-engine-gfx/ { $2 += 1000000 } { print }' "$file" >"$SANDBOX/next" && cp "$SANDBOX/next" "$file"
	done
done &
engines=$!
a_stall
a_stall
check "a job whose engines run is not stopped, silent as it is" alive "$pid"
: >gpu-end
wait $engines
open_gate gpu
wait $busy
equals "and ends by itself" 0 $?

# On the KFD, which does not tell how much is computed.
rm -rf "$tree/sys" && cp -r "$REPO/tests/fixtures/kfd/sys" "$tree/sys"
pgpu run -q -p clip --as gpu --name gpu -- sh -c "$(gate gpu)" & compute=$!
reached gpu
pid=$(main_of gpu)
cp -r "$REPO/tests/fixtures/kfd/proc/7001" "$tree/proc/$pid"
sed -i "s/^[0-9]* /$pid /" "$tree/proc/$pid/stat"
cp -r "$tree/sys/class/kfd/kfd/proc/7001" "$tree/sys/class/kfd/kfd/proc/$pid"
a_stall
a_stall
check "a job on the KFD whose use cannot be read is not idle" alive "$pid"
open_gate gpu
wait $compute
unset PGPU_PROCFS PGPU_SYSFS

# --- outside of its cell ---
tree=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts)
conf $'lanes = 4\nstall-after = "'$after$'"\ngrace = "1s"'
if pgpu status | grep -q 'none: children may escape' || [ ! -w "$tree/cgroup.procs" ]; then
	skip "what left the cell is progress" "nothing can leave a cell here"
else
	pgpu run -q -p clip --as out -- sh -c "python3 -c '
import os, time
open(\"$tree/cgroup.procs\", \"w\").write(str(os.getpid()))
while not os.path.exists(\"end\"):
	print(end=\"x\", flush=True)
	time.sleep(0.2)' >beside & echo \$! >outside; wait; exit 4" & left=$!
	until_true test -s beside
	a_stall
	a_stall
	: >end
	wait $left
	equals "what left the cell, with the job's mark, is progress" 4 $?
fi
finish
