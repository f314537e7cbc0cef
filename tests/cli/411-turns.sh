#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Turns that a job offers: who goes first, what the job is told, and what may happen while it is away; with cells and without.
# shellcheck disable=SC2317 # until_true calls some of these
. "$(dirname "$0")/lib.sh"
cp "$REPO/examples/turns/turns.py" .
# ask.py MESSAGE…: asks all of it before its supervisor can answer anything, then prints the answers.
cat >ask.py <<'END'
import os, signal, socket, sys
supervisor = int(os.environ["GPU_QUEUE_PID"])
os.kill(supervisor, signal.SIGSTOP)
callers = [socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) for message in sys.argv[1:]]
for caller, message in zip(callers, sys.argv[1:]):
	caller.connect(os.environ["GPU_QUEUE_TURN"])
	caller.send(message.encode())
os.kill(supervisor, signal.SIGCONT)
print(*[caller.recv(256).decode() for caller in callers])
END

# --- outside, and with nobody waiting ---
exits 0 "outside a job a turn does nothing" pgpu turn
equals "and says nothing" '' "$(cat "$out" "$err")"
exits 0 "nor where the variable names nothing" env GPU_QUEUE_TURN="$SANDBOX/none" pgpu turn
exits 2 "a word too many is refused" pgpu turn now
matches "by name" "turn: .*'now'" "$(cat "$err")"
exits 0 "nobody waits: it goes on at once" pgpu run -q -- sh -c 'pgpu turn && pgpu turn'
equals "and says nothing" '' "$(cat "$out" "$err")"
exits 0 "by the socket too" pgpu run -q -- python3 -c 'import turns; print(turns.take(), turns.take())'
equals "away for no time" '0 0' "$(cat "$out")"
equals "which is no row of the log" 0 "$(cut -f14- "$XDG_STATE_HOME"/pgpu/*/log.tsv | grep -c turn)"

rows() { awk -F '\t' -v id="$1" '$2 == id { print $NF ":" $(NF - 1) }' "$XDG_STATE_HOME"/pgpu/*/log.tsv | paste -sd ' '; }
owner_of() { sed -n 's/^owner \([0-9]*\) .*/\1/p' "$XDG_STATE_HOME"/pgpu/*/boot-*/tickets/"$1":*; }
is_state() { pgpu show --json "$1" | grep -q "\"state\":\"$2\""; }
gone() { ! alive "$1"; }
id_of() { pgpu queue --json | python3 -c 'import json, sys; print(*[job["id"] for job in json.load(sys.stdin) if job["name"] == sys.argv[1]])' "$1"; }
# asks NAME: a job that tells the gate NAME when it has begun, offers a turn when that opens, and ends with 7.
asks() { printf '%s; pgpu turn; %s; exit 7' "$(gate "$1")" "$(gate "$1-back")"; }

# away NAME: the job NAME offers a turn and is away; "first" has its lane and stands at its gate.
away()
{
	local name=$1
	shift
	pgpu run -q -p clip --as "$name" --name "$name" "$@" -- sh -c "$(asks "$name")" & wrapper=$!
	reached "$name"
	id=$(id_of "$name")
	main=$(main_of "$id")
	pgpu run -q -p clip --as first --name first -- sh -c "$(gate first)" & first=$!
	until_true queue_shows 'PD .*first'
	open_gate "$name"
	reached first
	until_true is_state "$id" frozen
}
back() { open_gate first; wait $first; reached "$1-back"; open_gate "$1-back"; }

for cells in auto off; do
	conf "lanes = 1"$'\n'"cells = \"$cells\""
	with="cells = $cells"

	# --- one after the other ---
	loop='for i in 1 2 3 4 5 6 7 8 9 10; do echo $0 >>order; pgpu turn; done'
	hold() { pgpu run -q -- sh -c "$(gate "$1")" & holder=$!; reached "$1"; }
	rm -f order
	hold "one-$cells"
	pgpu run -q -p clip --as a -- sh -c "$loop" a & a=$!
	until_true queue_shows 'PD .* a '
	pgpu run -q -p clip --as b -- sh -c "$loop" b & b=$!
	until_true queue_shows 'PD .* b '
	open_gate "one-$cells"
	wait $holder $a && wait $b
	equals "$with: two jobs that take turns alternate" "$(printf 'a\nb\n%.0s' 1 2 3 4 5 6 7 8 9 10 | paste -sd ' ')" "$(paste -sd ' ' order)"
	rm -f order
	hold "two-$cells"
	pgpu submit -q -p clip --as a -- sh -c "$loop" a >ids
	pgpu submit -q -p clip --as b -- sh -c "$loop" b >>ids
	open_gate "two-$cells"
	# shellcheck disable=SC2046 # two ids
	exits 0 "$with: spooled ones too" pgpu wait $(cat ids)
	equals "$with: alternate" "$(printf 'a\nb\n%.0s' 1 2 3 4 5 6 7 8 9 10 | paste -sd ' ')" "$(paste -sd ' ' order)"
	wait

	# --- two hundred of them, by the socket ---
	rm -f order
	passes='import os, sys, turns
order = os.open("order", os.O_WRONLY | os.O_APPEND | os.O_CREAT)
for i in range(100):
	os.write(order, sys.argv[1].encode() + b"\n")
	turns.take()'
	hold "many-$cells"
	pgpu run -q -p clip --as a -- python3 -c "$passes" a & a=$!
	until_true queue_shows 'PD .* a '
	pgpu run -q -p clip --as b -- python3 -c "$passes" b & b=$!
	until_true queue_shows 'PD .* b '
	open_gate "many-$cells"
	wait $holder $a && wait $b
	equals "$with: over 200 turns two loops share the lane within 10 %" fair "$(awk '{ passes[$1]++ }
		passes[$1] == 100 && !done { done = 1; fewer = passes["a"] < passes["b"] ? passes["a"] : passes["b"] }
		END { print (NR == 200 && fewer >= 90 ? "fair" : NR " passes, " fewer) }' order)"

	# --- what one sees ---
	away sees
	matches "$with: it is shown as S, and why" "$id S .*sees .*frozen; 1 of 1 lanes busy, 0 ahead" "$(pgpu queue)"
	matches "$with: in JSON" '"state":"frozen","reason":"lane"' "$(pgpu queue --json "$id")"
	if [ "$cells" = off ]; then
		matches "$with: it is stopped" '^T' "$(sed 's/.*) //' "/proc/$main/stat")"
	fi
	back sees
	wait $wrapper
	equals "$with: it ends with its own code" 7 $?
	equals "$with: each of its holds is a row" 'turn: failed:7' "$(rows "$id")"

	# --- who does not go first ---
	pgpu run -q -p clip --as me --name me -- sh -c "$(asks me)" & wrapper=$!
	reached me
	pgpu run -q -p truth --as other --name worse -- true & worse=$!
	until_true queue_shows 'PD .*worse'
	open_gate me
	reached me-back
	ok "$with: for a job of a worse rank there is no turn"
	open_gate me-back
	wait $wrapper
	equals "$with: one row" failed:7 "$(rows "$(pgpu queue --all --json | python3 -c 'import json, sys; print([job["id"] for job in json.load(sys.stdin) if job["name"] == "me"][-1])')")"
	wait $worse

	# --- several askers, one turn ---
	pgpu run -q -p clip --as many --name many -- sh -c "$(gate many); python3 ask.py turn turn turn" >many-out & wrapper=$!
	reached many
	id=$(id_of many)
	pgpu run -q -p clip --as first --name first -- sh -c "$(gate first)" & first=$!
	until_true queue_shows 'PD .*first'
	open_gate many
	reached first
	open_gate first
	wait $first
	wait $wrapper
	equals "$with: askers of one job, and all go on" 0 $?
	equals "$with: with one turn" 'turn: completed:0' "$(rows "$id")"
	matches "$with: and one answer" '^ok ([0-9]+) ok \1 ok \1$' "$(cat many-out)"

	# --- the counter ---
	pgpu run -q -p clip --as count --name count -- sh -c "$(gate count); python3 -c 'import os, turns
before = int(open(os.environ[\"GPU_QUEUE_FROZEN\"]).read())
away = turns.take()
print(before, away > 0, int(open(os.environ[\"GPU_QUEUE_FROZEN\"]).read()) == away)'" >count-out & wrapper=$!
	reached count
	pgpu run -q -p clip --as first --name first -- true & first=$!
	until_true queue_shows 'PD .*first'
	open_gate count
	wait $first; wait $wrapper
	equals "$with: the answer and the counter say how long it was away" '0 True True' "$(cat count-out)"

	# --- what ends it while it is away ---
	away cancelled
	exits 0 "$with: a job that is away is cancelled" pgpu cancel "$id"
	wait $wrapper
	equals "$with: 143" 143 $?
	check "$with: and gone" gone "$main"
	equals "$with: with both rows" 'turn: cancelled:143' "$(rows "$id")"
	open_gate first; wait $first

	away killed
	kill -KILL $wrapper
	wait $wrapper 2>/dev/null
	until_true gone "$main"
	ok "$with: the job of a wrapper that is killed while it is away ends by itself"
	open_gate first; wait $first
	until_true pgpu show "$id"
	matches "$with: as lost" 'lost:125$' "$(rows "$id")"

	away told
	kill -TERM $wrapper
	wait $wrapper
	equals "$with: SIGTERM to its wrapper thaws and ends it" 143 $?
	open_gate first; wait $first

	pgpu run -q -p clip --as usr --name usr -- bash -c "trap 'echo got >got' USR1; $(gate usr); pgpu turn; $(gate usr-back)" & wrapper=$!
	reached usr
	id=$(id_of usr)
	pgpu run -q -p clip --as first --name first -- sh -c "$(gate first)" & first=$!
	until_true queue_shows 'PD .*first'
	open_gate usr
	reached first
	until_true is_state "$id" frozen
	kill -USR1 $wrapper
	rm -f got
	open_gate first; wait $first
	reached usr-back; open_gate usr-back
	wait $wrapper
	equals "$with: SIGUSR1 reaches it when it is back" got "$(cat got)"

	# --- a spooled one whose worker is killed ---
	id=$(pgpu submit -q -p clip --as spool -J spool -- sh -c "$(asks spool)")
	reached spool
	main=$(main_of "$id")
	pgpu run -q -p clip --as first --name first -- sh -c "$(gate first)" & first=$!
	until_true queue_shows 'PD .*first'
	open_gate spool
	reached first
	until_true is_state "$id" frozen
	kill -KILL "$(owner_of "$id")"
	until_true gone "$main"
	until_true is_state "$id" pending
	ok "$with: a worker that is killed while its job is away: the job is back in line"
	open_gate first; wait $first
	reached spool; open_gate spool; reached spool-back; open_gate spool-back
	exits 7 "$with: and runs again" pgpu wait "$id"
	matches "$with: with one restart" '"restarts":1' "$(pgpu show --json "$id")"

	# --- its supervisor is stopped ---
	pgpu run -q -p clip --as still --name still -- sh -c "$(gate still); pgpu turn; exit 6" & wrapper=$!
	reached still
	kill -STOP $wrapper
	open_gate still
	wait $wrapper
	equals "$with: who asks continues a supervisor that is stopped" 6 $?

	away passed
	kill -STOP $wrapper
	open_gate first
	wait $first
	until_true test -e "$(echo "$XDG_STATE_HOME"/pgpu/*/boot-*/tickets)/$id:clip:passed:frozen"
	matches "$with: one that does not take its lane in time is still a frozen job" "$id S .*passed .*frozen; its process is stopped" "$(pgpu queue)"
	kill -CONT $wrapper
	reached passed-back
	ok "$with: and goes on when its supervisor does"
	open_gate passed-back
	wait $wrapper

	away passed
	kill -STOP $wrapper
	open_gate first
	wait $first
	until_true test -e "$(echo "$XDG_STATE_HOME"/pgpu/*/boot-*/tickets)/$id:clip:passed:frozen"
	kill -KILL $wrapper
	wait $wrapper 2>/dev/null
	pgpu run -q -- true
	pgpu queue >/dev/null
	check "$with: killed meanwhile, its job is ended by the next call" gone "$main"

	# --- questions while it is away, and many at once ---
	away busy
	socket=$(sed -n 's/^socket //p' "$XDG_STATE_HOME"/pgpu/*/boot-*/tickets/"$id":*)
	matches "$with: a question is answered while the job is away" '^id [0-9]+$' "$(python3 -c 'import socket, sys
queue = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
queue.connect(sys.argv[1])
queue.send(b"id 1")
print(queue.recv(256).decode())' "$socket")"
	back busy
	wait $wrapper
	# shellcheck disable=SC2046 # a list of words
	pgpu run -q -- python3 ask.py $(yes settle | head -n 200) >many-out
	equals "$with: of many questions at once each is answered" 200 "$(grep -o ok many-out | wc -l)"

	# --- a ticket that cannot be made ---
	pgpu run -p clip --as full --name full -- sh -c "$(asks full)" 2>said & wrapper=$!
	reached full
	id=$(id_of full)
	mkdir "$(echo "$XDG_STATE_HOME"/pgpu/*/boot-*/tickets)/$id:clip:full:turn"
	pgpu run -q -p clip --as first --name first -- true & first=$!
	until_true queue_shows 'PD .*first'
	open_gate full
	reached full-back
	matches "$with: a job that cannot stand in line keeps its lane and goes on" 'cannot make ticket.*
.*it keeps its lane' "$(cat said)"
	rmdir "$XDG_STATE_HOME"/pgpu/*/boot-*/tickets/*:turn
	open_gate full-back
	wait $wrapper
	equals "$with: to its end" 7 $?
	wait $first

	# --- submit in between ---
	id=$(pgpu submit -q -p clip --as spool -J spool -- sh -c "$(asks spool2)")
	reached spool2
	other=$(pgpu submit -q -p clip --as else -J else -- sh -c "$(gate else)")
	open_gate spool2
	reached else
	until_true is_state "$id" frozen
	pgpu cancel -q "$id" >/dev/null 2>&1 || pgpu cancel "$id" >/dev/null
	exits 143 "$with: a spooled job that is away is cancelled" pgpu wait "$id"
	open_gate else
	exits 0 "$with: and the other ends" pgpu wait "$other"
done

# --- Ctrl-Z and fg of a run whose job is away: the SIGCONT of fg is sent to the job, too, where it has no cell ---
conf $'lanes = 1\ncells = "off"'
coproc TERMINAL { python3 "$REPO/tests/cli/terminal.py"; }
say() { echo "$*" >&"${TERMINAL[1]}"; read -r answer <&"${TERMINAL[0]}"; }
gate_pipes away; gate_pipes away-back
say type "pgpu run -q -p clip --as away --name away -- sh -c '$(asks away)'"
reached away
id=$(id_of away)
main=$(main_of "$id")
pgpu run -q -p clip --as first --name first -- sh -c "$(gate first)" & first=$!
until_true queue_shows 'PD .*first'
open_gate away
reached first
until_true is_state "$id" frozen
say key '\x1a'
say show Stopped
say type fg
until_true test -e "$(echo "$XDG_STATE_HOME"/pgpu/*/boot-*/tickets)/$id:clip:away:turn"
stopped() { [[ $(sed 's/.*) //' "/proc/$1/stat") = T* ]]; }
until_true stopped "$main"
ok "after Ctrl-Z and fg a job that is away stays stopped"
open_gate first
wait $first
reached away-back
open_gate away-back
say type 'echo code $?'
say show '^code [0-9]+'
equals "and goes on when it has a lane" 'yes code 7' "$answer"
finish
