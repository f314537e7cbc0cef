#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# A job that is away in a turn takes no memory; but its ceiling may be lowered from outside, and then the kernel kills it.
# scenes: manager
# shellcheck disable=SC2317 # until_true calls some of these
. "$(dirname "$0")/lib.sh"
need_cells "a ceiling that is lowered while its job is away"

id_of() { pgpu queue --json | python3 -c 'import json, sys; print(*[job["id"] for job in json.load(sys.stdin) if job["name"] == sys.argv[1]])' "$1"; }
is_state() { pgpu show --json "$1" | grep -q "\"state\":\"$2\""; }
rows() { awk -F '\t' -v id="$1" '$2 == id { print $NF ":" $(NF - 1) }' "$XDG_STATE_HOME"/pgpu/*/log.tsv | paste -sd ' '; }

conf 'lanes = 1'
mkfifo here open
cat >large <<'END'
import subprocess
own = b"x" * (64 << 20)
open("here", "w").write("here")
open("open").read()
subprocess.run(["pgpu", "turn"])
END
for how in run submit; do
	if [ $how = run ]; then
		pgpu run -p clip --as large --name large -m 200M -- python3 large 2>said & large=$!
	else
		pgpu submit -q -p clip --as large -J large -m 200M -- python3 large >said
	fi
	timeout 60 cat here >"$SANDBOX/reached"
	id=$(id_of large)
	cell=$(cells)
	pgpu run -q -p clip --as first --name first -- sh -c "$(gate "first-$how")" & first=$!
	until_true queue_shows 'PD .*first'
	echo go >open
	reached "first-$how"
	until_true is_state "$id" frozen
	echo 32M >"$cell/memory.max"
	if [ $how = run ]; then
		wait "$large"
		equals "$how: a job that is killed at its ceiling while it is away ends at once" 137 $?
	else
		exits 137 "$how: a job that is killed at its ceiling while it is away ends at once" pgpu wait "$id"
	fi
	equals "$how: and its row says why" 'turn: oom:137' "$(rows "$id")"
	check "$how: its cell is gone" test ! -e "$cell"
	equals "$how: who has its lane keeps it" running "$(pgpu queue --json | python3 -c 'import json, sys; print(*[job["state"] for job in json.load(sys.stdin)])')"
	open_gate "first-$how"
	wait $first
done
finish
