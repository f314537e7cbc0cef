#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Where a job's output goes: names, missing folders, what is appended and what is emptied; and how it is followed.
. "$(dirname "$0")/lib.sh"
conf 'lanes = 1'

# ended ID…: waits for spooled jobs, whatever their code.
ended() { pgpu wait "$@" >"$SANDBOX/waited" 2>&1; }

# --- names ----------------------------------------------------------------------------------------------------------
id=$(pgpu submit -J night.run -o 'out/%x/%5j-%A-%a-%u-%3r-%%.log' -- echo hi)
ended "$id"
user=$(id -un)
equals "letters and padding" hi "$(cat "out/night.run/$(printf %05d "$id")-$id--$user-000-%.log" 2>&1)"
equals "as show says" "$PWD/out/night.run/$(printf %05d "$id")-$id--$user-000-%.log" \
	"$(pgpu show "$id" --json | python3 -c 'import json, sys; print(json.load(sys.stdin)["output"])')"
exits 2 "a letter that is none" pgpu submit -o '%4q' -- true
equals "is named with its number" "pgpu: submit: output: unknown '%4q' (%j %A %a %x %u %r, %% for a %)" "$(cat "$err")"
mkdir "my run's" && cd "my run's" || exit 1
id=$(pgpu submit -o "a b '\$x'/%j.out" -- echo hi)
ended "$id"
equals "C085 blanks and quotes, in folders that are made too" hi "$(cat "a b '\$x'/$id.out" 2>&1)"
cd .. || exit 1

# --- missing folders ------------------------------------------------------------------------------------------------
exits 0 "C009 a missing folder is taken" pgpu submit -o 'logs/run1/%j.out' -- echo hi
id=$(cat "$out")
ended "$id"
equals "C009 and made at the start" hi "$(cat "logs/run1/$id.out" 2>&1)"
(umask 027 && pgpu submit -o 'dark/er/%j.out' -- true >"$SANDBOX/id")
ended "$(cat "$SANDBOX/id")"
equals "with the umask of the submit" '750 750 640' "$(stat -c %a dark dark/er "dark/er/$(cat "$SANDBOX/id").out" | xargs)"
: >file
exits 2 "C009 a file where the folder should be" pgpu submit -o 'file/%j.out' -- true
matches "C009 and says so" "'.*/work/file' is not a folder" "$(cat "$err")"
held=$(pgpu submit -H -o 'later/a/%j.out' -- true)
: >later
pgpu release "$held"
exits 127 "C009 one that came in between" pgpu wait "$held"
matches "C009 is the reason" "cannot make folder $PWD/later: Not a directory" "$(pgpu show "$held")"
mkdir real && ln -s real kept && ln -s nowhere lost
id=$(pgpu submit -o 'kept/in/%j.out' -- echo hi)
ended "$id"
equals "a folder that is a link is the user's" hi "$(cat "real/in/$id.out" 2>&1)"
held=$(pgpu submit -o 'lost/%j.out' -- true)
exits 127 "a link to nothing is not made into a folder" pgpu wait "$held"
check "nor is what it points to" test ! -e nowhere
ln -s "$PWD/file" link.out
id=$(pgpu submit -o link.out -- true)
exits 127 "an output that is a link" pgpu wait "$id"
equals "is not written through" 0 "$(stat -c %s file)"

# --- one file for several jobs --------------------------------------------------------------------------------------
one=$(pgpu submit -o out.log -- echo one)
two=$(pgpu submit -o out.log -- echo two)
ended "$one" "$two"
equals "C027 a second job appends" $'one\ntwo' "$(cat out.log)"
three=$(pgpu submit -o out.log --open-mode append -- echo three)
ended "$three"
equals "C027 so does one that says so" $'one\ntwo\nthree' "$(cat out.log)"
four=$(pgpu submit -o out.log --open-mode truncate -- sh -c 'echo four; echo more >&2')
ended "$four"
equals "one that asks for it empties the file, once" $'four\nmore' "$(cat out.log)"
pgpu requeue "$four" && ended "$four"
equals "a restart of it appends" $'four\nmore\nfour\nmore' "$(cat out.log)"
printf -- '---\noutput: head.log\nerror: head.err\nopen-mode: truncate\n---\n#!/bin/sh\necho new; echo bad >&2\n' >head.yaml
echo old >head.log && echo old >head.err
five=$(pgpu submit head.yaml)
ended "$five"
equals "the key empties both files" 'new bad' "$(cat head.log head.err | xargs)"
exits 0 "a device has nothing to lose" pgpu submit -W -o /dev/null --open-mode truncate -- echo hi
exits 2 "another word" pgpu submit --open-mode write -- true
equals "is told" "pgpu: submit: open-mode: 'write' is neither append nor truncate" "$(cat "$err")"
printf -- 'output: head.log\nopen-mode: append\nopen-mode: append\ncommand: "true"\n' >twice.yaml
exits 2 "nor is it given twice" pgpu submit twice.yaml

# --- a file for each start ------------------------------------------------------------------------------------------
id=$(pgpu submit -o 'try-%r.log' -- sh -c 'echo try $PGPU_RESTART_COUNT')
ended "$id"
pgpu requeue "$id" && ended "$id"
equals "each start its own" $'try 0\ntry 1' "$(cat try-0.log try-1.log)"
equals "output prints the last one's" 'try 1' "$(pgpu output "$id")"

# --- output -f ------------------------------------------------------------------------------------------------------
id=$(pgpu submit -o 'new/f-%j.log' -- sh -c "echo start \$PGPU_RESTART_COUNT; $(gate a); echo end")
reached a
later=$(pgpu submit -o 'newer/%j.log' -- sh -c "echo began; $(gate b)")
pgpu output -f "$later" >pending-out 2>&1 & waits=$!
pgpu output -f "$id" >followed 2>&1 & follower=$!
until_true grep -q 'start 0' followed
pgpu requeue "$id"
reached a
check "-f goes on over a restart" alive "$follower"
open_gate a
wait $follower
equals "-f to the end of the last start" '0 start 0 start 1 end' "$? $(xargs <followed)"
check "-f of a job that waits waits for it" alive "$waits"
reached b
until_true grep -q began pending-out
open_gate b
wait $waits
equals "and ends with it" '0 began' "$? $(xargs <pending-out)"

id=$(pgpu submit -o 'r/%r/f.log' -- sh -c "echo start \$PGPU_RESTART_COUNT; $(gate c); echo end \$PGPU_RESTART_COUNT")
reached c
pgpu output -f "$id" >followed 2>&1 & follower=$!
until_true grep -q 'start 0' followed
pgpu requeue "$id"
reached c
until_true grep -q 'start 1' followed
open_gate c
wait $follower
equals "-f from file to file" '0 start 0 start 1 end 1' "$? $(xargs <followed)"

id=$(pgpu submit -H -o emptied.log --open-mode truncate -- sh -c "echo a longer line than the old one; $(gate d)")
echo old >emptied.log
pgpu output -f "$id" >followed 2>&1 & follower=$!
pgpu release "$id"
reached d
until_true grep -q longer followed
open_gate d
wait $follower
equals "-f of a file that is emptied first" '0 a longer line than the old one' "$? $(cat followed)"

held=$(pgpu submit -H -o never/%j.log -- true)
pgpu output -f "$held" >followed 2>&1 & follower=$!
pgpu cancel "$held" >"$out"
wait $follower
equals "-f of one that is cancelled while it waits" '0 ' "$? $(cat followed)"
exits 1 "output of what was never there" pgpu output "$held"

# --- wait for several: a run, a task, an array, spooled jobs, in whatever order they end ----------------------------
id_of() { pgpu queue --json | python3 -c 'import json, sys; print(*[job["id"] for job in json.load(sys.stdin) if job["name"] == sys.argv[1]])' "$1"; }
conf 'lanes = 3'
pgpu run -q -J blocking -- sh -c "$(gate f); exit 6" & blocking=$!
spooled=$(pgpu submit -q -J spooled -- sh -c "$(gate g); exit 5")
array=$(pgpu submit -q --array 1-3 -J tasks -- sh -c 'exit $((PGPU_ARRAY_TASK_ID == 2 ? 9 : 0))')
reached f
reached g
run=$(id_of blocking)
exits 1 "an id that is none is an error at once, though the others have not ended" pgpu wait "$spooled" 99999 "$run"
equals "and it is named" 'pgpu: cannot find job 99999: no such id' "$(cat "$err")"
pgpu wait "$run" "${array}_2" "$array" "$spooled" & waiter=$!
pgpu wait "$spooled" "$array" "$run" & other=$!
pgpu wait "$spooled" "$run" "$array" & third=$!
exits 9 "an array" pgpu wait "$array"
open_gate g
exits 5 "a spooled job" pgpu wait "$spooled"
check "who waits for all goes on while one has not ended" alive "$waiter"
open_gate f
wait $waiter
equals "the code is that of the last one named: a spooled job's" 5 $?
wait $other
equals "a run's" 6 $?
wait $third
equals "an array's" 9 $?
wait $blocking

# A record that is taken away while somebody waits for it: nothing else happens in the queue.
# shellcheck disable=SC2317 # until_true calls it
watches() { grep -q '^inotify' "/proc/$waiter/fdinfo/"*; }
id=$(pgpu submit -q -H -- true)
pgpu wait "$id" 2>away & waiter=$!
until_true watches
rm "$XDG_STATE_HOME"/pgpu/*/pending/"$id":*
wait $waiter
equals "a record that is taken away is waited for no more" "1 pgpu: cannot find job $id: it is gone" "$? $(cat away)"

if command -v strace >/dev/null && strace -o /dev/null true 2>/dev/null; then
	id=$(pgpu submit -q -- sh -c "$(gate unwatched); exit 4")
	reached unwatched
	strace -f -o trace -e trace=poll,inotify_add_watch -e inject=inotify_add_watch:error=ENOSPC pgpu wait "$id" & waiter=$!
	until_true grep -q '^[0-9 ]*poll(' trace
	open_gate unwatched
	wait $waiter
	equals "a user who may have no more watches waits all the same" 4 $?

	# Some kernels take 10 ms to close one: of many tasks each is looked at before the first is waited for.
	array=$(pgpu submit -q -H --array 0-99 -- true)
	exits 1 "many tasks, and an id that is none" strace -o looked -e trace=inotify_init1 pgpu wait "${array}_[0-99]" 99999
	equals "are looked at without inotify" 0 "$(grep -c '^inotify' looked)"
	pgpu cancel "$array" >"$out"

	# A run gives its lane up before its row is in the log.
	strace -f -o late -e trace=openat -P log.tsv -e inject=openat:delay_enter=$((3000000 * slow)) \
		pgpu run -q -J late -- sh -c "$(gate late); exit 6" & runner=$!
	reached late
	id=$(id_of late)
	open_gate late
	until_true grep -q log.tsv late
	exits 1 "between the two it is nowhere" pgpu show "$id"
	exits 6 "and is waited for" pgpu wait "$id"
	wait $runner
else
	skip "a user who may have no more watches waits all the same" "no strace here, or it may not trace"
	skip "a run whose row is late is waited for" "no strace here, or it may not trace"
fi
conf 'lanes = 1'

# One that never had a lane has no row at all.
pgpu run -q -- sh -c "$(gate lane); exit 0" & runner=$!
reached lane
pgpu run -q -J behind -- true 2>said & behind=$!
until_true queue_shows behind
id=$(id_of behind)
exits 0 "a run that waits is cancelled" timeout $((4 * slow)) pgpu cancel "$id"
wait $behind
exits 1 "and is not waited for without end" timeout 60 pgpu wait "$id"
equals "nor found" "pgpu: cannot find job $id: it is gone" "$(cat "$err")"
open_gate lane
wait $runner

# --- wait --any -----------------------------------------------------------------------------------------------------
slow_one=$(pgpu submit -o slow.log -- sh -c "$(gate e); exit 3")
reached e
waiting=$(pgpu submit -H -- true)
pgpu wait --any "$slow_one" "$waiting" >any 2>&1 & waiter=$!
pgpu cancel "$waiting" >"$out"
wait $waiter
equals "wait --any: the first to end, and its code" "143 $waiting" "$? $(cat any)"
exits 143 "wait --any: of one that has ended" pgpu wait --any "$slow_one" "$waiting"
equals "its id" "$waiting" "$(cat "$out")"
pgpu wait --any "$slow_one" >any 2>&1 & waiter=$!
open_gate e
wait $waiter
equals "wait --any: of one alone" "3 $slow_one" "$? $(cat any)"
exits 3 "wait --any: of several that have ended the first named" pgpu wait --any "$slow_one" "$waiting"
equals "and it alone is printed" "$slow_one" "$(cat "$out")"
exits 1 "wait --any: an id that is none" pgpu wait --any "$slow_one" 99999
equals "is an error all the same" 'pgpu: cannot find job 99999: no such id' "$(cat "$err")"
equals "and no id is printed" '' "$(cat "$out")"
exits 2 "wait --any without an id" pgpu wait --any
exits 1 "wait --any: an id that cannot be written" sh -c "pgpu wait --any $slow_one >/dev/full"
exits 2 "wait --any in a job for one that waits" pgpu run -q -- sh -c 'pgpu wait --any $(pgpu submit -H -- true)'
finish
