#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# A ceiling of memory where the kernel does not keep it, and verdicts by evidence. The kernel's own: tests/vm/2xx.
. "$(dirname "$0")/lib.sh"

# hog.py own|shared|forked MIB [GATE]: takes memory; with a gate it passes it, else it stays.
cat >hog.py <<'EOF'
import mmap, os, sys
how, size = sys.argv[1], int(sys.argv[2]) << 20
memory = mmap.mmap(-1, size) if how == "shared" else bytearray(size)
for at in range(0, size, 4096):
    memory[at] = 1
until, mine = os.pipe()  # the children stay until their parent has passed the gate
children = 4 if how == "forked" else 0
for _ in range(children):
    if os.fork() == 0:
        os.close(mine)
        os.read(until, 1)
        os._exit(0)
if len(sys.argv) > 3:
    open(sys.argv[3], "w").write("here\n")
    open(sys.argv[4]).read()
    os.close(mine)
    for _ in range(children):
        os.wait()
else:
    os.read(os.pipe()[0], 1)
EOF

outcome_of() { pgpu log --json | python3 -c 'import json, sys; print([row["outcome"] for row in json.load(sys.stdin)][-1])'; }
gated() { gate_pipes "$1"; echo "$SANDBOX/$1.here" "$SANDBOX/$1.open"; }
missing='the memory ceiling is watched, not enforced by the kernel; processes not limited'

for cells in auto off; do
	conf "lanes = 3"$'\n'"cells = \"$cells\""
	rm -f "$XDG_RUNTIME_DIR"/pgpu/said-*
	said=$(pgpu status | tail -n 1)
	if [[ $said = *'cells: memory ceiling'* ]]; then
		skip "cells = $cells: a watched ceiling" "the kernel keeps it here"
		continue
	elif [[ $said = *'cells: none'* ]]; then
		[ $cells = off ] || { skip "cells = $cells: a cell without its controller" "no cell can be made here"; continue; }
		missing="children may escape; SIGSTOP stands in for the freezer; $missing"
		matches "cells = $cells: status says what is missing, and why" "^cells: none: $missing: ." "$said"
		exits 0 "cells = $cells: the job starts all the same" pgpu run -- true
		matches "cells = $cells: and a line says so" "^pgpu: no cell: $missing: [^:]*\$" "$(cat "$err")"
	else
		matches "cells = $cells: status says what is missing, and why" "^cells: freezer and kill; $missing: ." "$said"
		exits 0 "cells = $cells: the job starts all the same" pgpu run -- true
		matches "cells = $cells: and a line says so" "^pgpu: $missing: [^:]*\$" "$(cat "$err")"
	fi
	exits 0 "cells = $cells: a second time" pgpu run -- true
	equals "cells = $cells: it does not" "" "$(cat "$err")"

	# Two that stay below: one takes half its ceiling, the other shares one half between five processes.
	# shellcheck disable=SC2046 # a list of words
	pgpu run -q -m 100M -- python3 hog.py own 50 $(gated "below-$cells") &
	below=$!
	# shellcheck disable=SC2046 # a list of words
	pgpu run -q -m 100M -- python3 hog.py forked 50 $(gated "forked-$cells") &
	forked=$!
	reached "below-$cells"
	reached "forked-$cells"

	line='was ended at its memory ceiling of 100M \(peak [0-9.]+[MG]'
	exits 137 "cells = $cells: a job above its ceiling ends" pgpu run -m 100M -- python3 hog.py own 200
	matches "cells = $cells: with a line" "^pgpu: job [0-9]+ $line; watched, not enforced by the kernel\)\$" "$(cat "$err")"
	equals "cells = $cells: as oom" oom "$(outcome_of)"
	exits 137 "cells = $cells: so does one whose child took it, in a session of its own" \
		pgpu run -m 100M -- sh -c 'setsid python3 hog.py own 200 & echo $! >child; exec sleep 1000'
	if alive "$(cat child)"; then not_ok "cells = $cells: and the child"; else ok "cells = $cells: and the child"; fi
	exits 137 "cells = $cells: what two took is added up" \
		pgpu run -q -m 100M -- sh -c 'python3 hog.py own 70 & exec python3 hog.py own 70'
	exits 137 "cells = $cells: shared memory counts" pgpu run -m 100M -- python3 hog.py shared 200
	matches "cells = $cells: and is named" "$line, [0-9.]+M of it in shared memory; watched" "$(cat "$err")"
	id=$(pgpu submit -m 100M -- python3 hog.py own 200)
	exits 137 "cells = $cells: a spooled one too" pgpu wait "$id"
	matches "cells = $cells: with the line as its reason" "\"state\":\"oom\",\"reason\":\"job $id $line;" "$(pgpu show --json "$id")"
	# The log's row, which has it, is written once the lane is handed on.
	until_true eval "pgpu show --json $id | grep -qE '\"peak_memory_bytes\":[0-9]{9}'"
	matches "cells = $cells: and the peak" '"peak_memory_bytes":[0-9]{9}' "$(pgpu show --json "$id")"

	open_gate "below-$cells"
	open_gate "forked-$cells"
	wait $below
	equals "cells = $cells: its neighbour below the ceiling lives" 0 $?
	wait $forked
	equals "cells = $cells: so does one that shares what it took" 0 $?
	wait
done

conf 'lanes = 2'
exits 137 "a job that ends with 137 by itself" pgpu run -q -- sh -c 'exit 137'
equals "has failed" failed "$(outcome_of)"
# shellcheck disable=SC2016 # the job's shell reads it
exits 137 "one that kills itself" pgpu run -q -- sh -c 'kill -KILL $$'
equals "has failed as well" failed "$(outcome_of)"
exits 124 "one that ends with 124 by itself" pgpu run -q -- sh -c 'exit 124'
equals "has failed too" failed "$(outcome_of)"

matches "oom has letters of its own, and its column stands" $'^ *[0-9]+ OOM render       *work ' "$(pgpu queue --all --state OOM --class render | tail -n 1)"
equals "the state oom is its letters" "$(pgpu queue --all --state OOM)" "$(pgpu queue --all --state oom)"

matches "the guard against fork bombs is in the configuration" 'processes = 16384' "$(pgpu conf)"
for value in 0 4194305 many '"64"x'; do
	echo "processes = $value" >bad.conf
	exits 2 "processes = $value is refused" pgpu conf --check bad.conf
done
finish
