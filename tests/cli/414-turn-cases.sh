#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# What a turn must not do to a job: be a signal, cost it a connection, or leave another one waiting for its lock unexplained.
# shellcheck disable=SC2317 # until_true calls some of these
. "$(dirname "$0")/lib.sh"
cp "$REPO/examples/turns/turns.py" .

id_of() { pgpu queue --json | python3 -c 'import json, sys; print(*[job["id"] for job in json.load(sys.stdin) if job["name"] == sys.argv[1]])' "$1"; }
is_state() { pgpu show --json "$1" | grep -q "\"state\":\"$2\""; }

# A server outside of the job sends back what it hears.
cat >server.py <<'END'
import os, socket
with socket.create_server(('127.0.0.1', 0)) as server:
    with open('port.new', 'w') as file:
        file.write(str(server.getsockname()[1]))
    os.rename('port.new', 'port')
    while True:
        link, _ = server.accept()
        while said := link.recv(100):
            link.sendall(said)
END
cat >watchful.py <<'END'
import signal, socket, sys, turns
seen = []
for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP, signal.SIGCHLD}:
    signal.signal(number, lambda number, _: seen.append(signal.Signals(number).name))
link = socket.create_connection(('127.0.0.1', int(open('port').read())))
def beat(text):
    link.sendall(text)
    return link.recv(100) == text
beats = [beat(b'before')]
open(sys.argv[1], 'w').write('here')
open(sys.argv[2]).read()
signal.setitimer(signal.ITIMER_REAL, 1000)
away = turns.take()
left = signal.getitimer(signal.ITIMER_REAL)[0]
beats.append(beat(b'after'))
print('away', away > 0, 'beats', all(beats), 'timer', 0 < left < 1000, 'signals', *sorted(seen))
END
python3 server.py & server=$!
until_true test -e port

for cells in auto off; do
	if [ $cells = auto ] && ! pgpu status --json | grep -q '"available": *true'; then
		skip "C145 with cells" "no cgroup v2 that we may use"
		continue
	fi
	with="cells = $cells"
	conf "lanes = 1"$'\n'"cells = \"$cells\""
	gate_pipes "beat-$cells"
	pgpu run -q -p clip --as beat --name beat -- python3 watchful.py "$SANDBOX/beat-$cells.here" "$SANDBOX/beat-$cells.open" >beats & beat=$!
	reached "beat-$cells"
	id=$(id_of beat)
	pgpu run -q -p clip --as first --name first -- sh -c "$(gate "first-$cells")" & first=$!
	until_true queue_shows 'PD .*first'
	open_gate "beat-$cells"
	reached "first-$cells"
	until_true is_state "$id" frozen
	open_gate "first-$cells"
	wait $first $beat
	equals "C145 $with: a job that was away ends by itself" 0 $?
	# Without a freezer it is stopped, and continued: that it sees.
	if [ $cells = auto ]; then signals='signals'; else signals='signals SIGCONT'; fi
	equals "C145 $with: it is told so, its connection and its timer live, and it had no signal" \
		"away True beats True timer True $signals" "$(cat beats)"
done
kill $server

# --- C091: the lock of a job that is away ---
conf $'lanes = 1\nstall-after = "'$((3 * slow))$'s"\nclass "holds" { rank = 1 budget = "1h" stall-after = "0" }'
pgpu run -q -p holds --as holds --name holds -- sh -c "exec 9>lock; flock 9; $(gate holds); pgpu turn; exit 4" & holds=$!
reached holds
id=$(id_of holds)
pgpu run -p clip --as wants --name wants -- flock lock true 2>said & wants=$!
until_true queue_shows 'PD .*wants'
open_gate holds
wait $wants
equals "C091 a job that waits for the lock of a frozen one is stopped" 124 $?
matches "C091 and its reason names the frozen one" "no progress for .*nothing read or written; job $id is frozen and keeps its locks\)" "$(cat said)"
wait $holds
equals "C091 which goes on then" 4 $?
check "C091 and gives its lock back" flock -n lock true
# --- a job asks for a turn and dies before it is heard: its worker's next job is not the one that asked ---
conf 'lanes = 1'
cat >ask.py <<'END'
import os, socket
lines = [socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) for _ in range(3)]
for line in lines:
    line.connect(os.environ["GPU_QUEUE_TURN"])
    line.send(b"turn")
END
for cells in auto off; do
	conf "lanes = 1
cells = \"$cells\""
	asks=$(pgpu submit -q -p clip --as one -- sh -c "$(gate "asks-$cells"); exec python3 ask.py")
	reached "asks-$cells"
	next=$(pgpu submit -q -p clip --as two -- sh -c "$(gate "next-$cells")")
	pgpu run -q -p clip --as one --name behind -- true & behind=$!
	until_true queue_shows behind
	worker=$(sed -n 's/^owner \([0-9]*\) .*/\1/p' "$XDG_STATE_HOME"/pgpu/*/boot-*/lane-0)
	main=$(main_of "$asks")
	kill -STOP "$worker"
	open_gate "asks-$cells"
	until_true eval "! alive $main"
	kill -CONT "$worker"
	reached "next-$cells"
	open_gate "next-$cells"
	exits 0 "cells = $cells: what a dead job asked for is not its worker's next one's" pgpu wait "$asks" "$next"
	wait $behind
	equals "cells = $cells: which keeps its lane" "" "$(pgpu log --json | python3 -c '
import json, sys
print(*[row["outcome"] for row in json.load(sys.stdin) if row["job"] == sys.argv[1] and row["outcome"] != "completed"])' "$next")"
done
finish
