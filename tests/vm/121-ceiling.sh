#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The ceiling that the kernel keeps, and what is said of it.
# scenes: manager ssh
. "$(dirname "$0")/../cli/lib.sh"

if ! pgpu status | grep -q '^cells: memory ceiling'; then
	skip "a ceiling that the kernel keeps" "$(pgpu status | tail -n 1)"
	finish
fi

# hog MIB: a shell that takes memory, one word at a time, and stays.
cat >hog <<'EOF'
#!/usr/bin/python3
import os, sys
memory = bytearray(int(sys.argv[1]) << 20)
for at in range(0, len(memory), 4096):
    memory[at] = 1
os.read(os.pipe()[0], 1)
EOF
chmod +x hog
command -v python3 >/dev/null || printf '%s\n' '#!/bin/sh' "exec awk -v size=\$1 'BEGIN { while (i++ < size * 16) a[i] = sprintf(\"%65536s\", i); while (1) { getline < \"/dev/zero\" } }'" >hog

outcome_of() { pgpu log | tail -n 1 | awk '{ print $NF }'; }
line='was ended at its memory ceiling of 60M \(peak (59\.|60)[0-9.]*M'

pgpu run -q -m 60M -- sh -c "$(gate neighbour)" &
neighbour=$!
reached neighbour
exits 137 "a job above its ceiling ends" pgpu run -m 60M -- ./hog 120
matches "with ceiling and peak in one line" "^pgpu: job [0-9]+ $line\)\$" "$(cat "$err")"
equals "as oom" oom "$(outcome_of)"
exits 137 "a worker that is killed while its parent returns 0 is an oom" pgpu run -q -m 60M -- sh -c './hog 120; exit 0'
equals "and is logged as one" oom "$(outcome_of)"
exits 137 "C077 all of the job ends, and nothing goes on" pgpu run -q -m 60M -- sh -c './hog 120 & wait; echo after >after; sleep 1000'
if [ -e after ]; then not_ok "C077 really"; else ok "C077 really"; fi
id=$(pgpu submit -m 60M -- ./hog 120)
exits 137 "a spooled one too" pgpu wait "$id"
matches "with the line as its reason" "\"state\":\"oom\",\"reason\":\"job $id $line\)\"" "$(pgpu show --json "$id")"

# C071: files in memory are the job's, and what is left of them is told; the page cache is not.
exits 137 "C071 files in /dev/shm count" pgpu run -m 60M -- dd if=/dev/zero of="/dev/shm/pgpu-test-$$" bs=1M count=120 status=none
matches "C071 and are named" "$line, [0-9.]+M of it in shared memory that is still there\)" "$(cat "$err")"
rm -f "/dev/shm/pgpu-test-$$"
dd if=/dev/zero of=big bs=1M count=150 status=none
exits 0 "C071 a file that is read does not" pgpu run -q -m 60M -- sh -c 'cat big >/dev/null'

# A cgroup that the job makes inside its cell: its kills are the job's, at a ceiling of its own they are not pgpu's.
# shellcheck disable=SC2016 # the job's shell reads it
nested='cell=$(awk "\$3 == \"cgroup2\" { print \$2; exit }" /proc/mounts)$(sed -n s/^0:://p /proc/self/cgroup)
mkdir "$cell/inner" "$cell/rest" && echo $$ >"$cell/rest/cgroup.procs" && echo +memory >"$cell/cgroup.subtree_control"'
exits 137 "what is killed in a cgroup of the job's own counts" \
	pgpu run -q -m 60M -- sh -c "$nested; (echo \$\$ >\$cell/inner/cgroup.procs; exec ./hog 120); exit 0"
equals "as oom" oom "$(outcome_of)"
exits 3 "a kill at a ceiling of the job's own making is not its end" pgpu run -m 100M -- \
	sh -c "$nested; echo 20M >\$cell/inner/memory.max; echo 0 >\$cell/inner/memory.swap.max
	sh -c 'echo \$\$ >\$0/inner/cgroup.procs; exec ./hog 60' \$cell; exit 3"
equals "it has failed" failed "$(outcome_of)"
matches "and a line says why" 'killed at a memory ceiling of its own making' "$(cat "$err")"

# Around the cell, in the scope it lies in, there is less than its ceiling.
scope=$(pgpu status | sed -n 's/^cells: memory ceiling.* in //p')
if echo 200M >"$scope/memory.max" && echo 0 >"$scope/memory.swap.max"; then
	exits 137 "a job dies since there is less than its ceiling around it" pgpu run -m 500M -- ./hog 300
	equals "it has failed" failed "$(outcome_of)"
	matches "and its ceiling is not blamed" 'as memory ran out around it, not at its ceiling' "$(cat "$err")"
	echo max >"$scope/memory.max"
else
	skip "a job dies since there is less than its ceiling around it" "the scope's limit cannot be set"
fi

open_gate neighbour
wait $neighbour
equals "the neighbour lives" 0 $?
finish
