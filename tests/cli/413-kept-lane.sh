#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# A job that cannot be frozen in time keeps its lane and goes on: one of its processes sleeps in the kernel, on a file
# system that does not answer.
# shellcheck disable=SC2317 # until_true calls some of these
. "$(dirname "$0")/lib.sh"

if ! pgpu status --json | grep -q '"available": *true'; then
	skip "a job that cannot be frozen" "no cells: SIGSTOP needs no answer"
	finish
fi
mkdir "$SANDBOX/hung"
mkfifo "$SANDBOX/said" "$SANDBOX/end"
python3 "$REPO/tests/cli/hang.py" "$SANDBOX/hung" <"$SANDBOX/end" >"$SANDBOX/said" 2>"$SANDBOX/why" &
exec 9>"$SANDBOX/end"
if ! timeout 30 grep -q hung "$SANDBOX/said"; then
	skip "a job that cannot be frozen" "no file system can be mounted: $(cat "$SANDBOX/why")"
	finish
fi

rows() { awk -F '\t' -v id="$1" '$2 == id { print $NF ":" $(NF - 1) }' "$XDG_STATE_HOME"/pgpu/*/log.tsv | paste -sd ' '; }
states() { pgpu queue --json | python3 -c 'import json, sys
print(*sorted(job["name"] + ":" + job["state"] for job in json.load(sys.stdin)))'; }
id_of() { pgpu queue --json | python3 -c 'import json, sys; print(*[job["id"] for job in json.load(sys.stdin) if job["name"] == sys.argv[1]])' "$1"; }
sleeps_in_kernel() { [[ $(sed 's/.*) //' "/proc/$1/stat") = D* ]]; }
# What a job runs to have a process that does not freeze; its pid is in the file "stuck".
hangs="(: <'$SANDBOX/hung/file') & echo \$! >stuck"
until_hangs()
{
	until_true test -s stuck
	until_true sleeps_in_kernel "$(cat stuck)"
	rm stuck
}
cat >ask.py <<'END'
import os, socket
link = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
link.connect(os.environ['GPU_QUEUE_TURN'])
link.send(b'turn')
print(link.recv(256).decode())
END

# --- a turn that the job offers ---
conf 'lanes = 1'
pgpu run -p clip --as kept --name kept -- sh -c "$hangs; $(gate kept); python3 ask.py; pgpu turn; echo turn=\$?; $(gate kept-back); exit 7" >answers 2>said 9>&- & kept=$!
reached kept
until_hangs
id=$(id_of kept)
pgpu run -q -p clip --as other --name other -- true 9>&- & other=$!
until_true queue_shows 'PD .*other'
open_gate kept
reached kept-back
equals "a job that cannot be frozen goes on, and is told that it kept its lane" $'kept\nturn=0' "$(cat answers)"
equals "it has its lane, the other waits" 'kept:running other:pending' "$(states)"
equals "its wrapper says so, once a turn" "$(printf 'pgpu: the job could not be frozen; it keeps its lane\n%.0s' 1 2)" "$(grep frozen said)"
open_gate kept-back
wait $kept
equals "and it ends with its own code" 7 $?
equals "it had one hold" failed:7 "$(rows "$id")"
wait $other
equals "the other comes after it" 0 $?

# --- one that its class demands ---
conf $'lanes = 2\nclass "night" { rank = 5 budget = "1h" turns = "forced" }'
pgpu run -q --as clock --name clock -- sh -c "$(gate clock)" 9>&- & clock=$!
reached clock
pgpu run -p night --as kept --name kept -- sh -c "$hangs; $(gate kept)" 2>said 9>&- & kept=$!
reached kept
until_hangs
id=$(id_of kept)
pgpu run -q -p clip --as other --name other -- true 9>&- & other=$!
until_true grep -q 'could not be frozen' said
equals "a forced turn that fails leaves the lane where it is, too" 'clock:running kept:running other:pending' "$(states)"
# The other has the second lane, and leaves it to one that runs for longer than two tries take.
open_gate clock
wait $clock $other
exits 124 "for a while there is no other try" pgpu run -q -p clip --as third --limit 6s -- sh -c "pgpu submit -q -p clip --as fourth -J fourth -- true >fourth; exec sleep 1000"
equals "so that it runs, and is not half frozen" "pgpu: the job could not be frozen; it keeps its lane" "$(grep frozen said)"
exits 0 "what waits goes on the other lane" pgpu wait "$(cat fourth)"
open_gate kept
wait $kept
equals "it ends as it would have" 0 $?
equals "in one hold" completed:0 "$(rows "$id")"
exec 9>&-
finish
