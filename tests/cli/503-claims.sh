#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Between a claim and a start, and where a file cannot be written or read, no spooled job is lost and the line goes on.
. "$(dirname "$0")/lib.sh"
conf 'lanes = 1'

queue_folder() { echo "$XDG_STATE_HOME"/pgpu/*; }

# shellcheck disable=SC2317 # until_true calls it
traced() { grep -q '^TracerPid:[[:space:]]*[1-9]' "/proc/$1/status"; }

# A log that cannot be written costs rows, not jobs.
pgpu run -q -- sh -c "$(gate log)" &
reached log
for job in 1 2 3; do pgpu submit --no-requeue -- sh -c "echo $job >>$SANDBOX/ran" >/dev/null; done
rm "$(queue_folder)/log.tsv" && mkdir "$(queue_folder)/log.tsv"
open_gate log
wait 2>/dev/null
until_true eval '[ "$(ls "$(queue_folder)/ended" | wc -l)" = 3 ]'
equals "each ran once, in order, without a log" "1 2 3" "$(paste -sd ' ' "$SANDBOX/ran")"
exits 0 "rescue goes on without a log" pgpu rescue
rmdir "$(queue_folder)/log.tsv"

# A list that runs out of memory sets no record aside.
{ echo '#!/bin/sh'; head -c 40000000 /dev/zero | tr '\0' '#'; } >big.sh
pgpu run -q -- sh -c "$(gate big)" &
reached big
id=$(pgpu submit big.sh)
if [ -n "$sanitizer" ]; then
	skip "nothing is set aside for want of memory" "$sanitizer has terabytes of address space"
else
	(ulimit -v 60000; pgpu queue; pgpu show "$id") >/dev/null 2>&1
	equals "nothing is set aside for want of memory" "" "$(ls "$(queue_folder)/bad" 2>/dev/null)"
fi
open_gate big
wait
exits 0 "and the job runs" pgpu wait "$id"

# A FIFO where a lane, a role or the counter should be is refused, not waited for.
for name in lane-0 standby next; do
	place=$(echo "$(queue_folder)"/boot-*)/$name
	mv "$place" "$SANDBOX/kept" && mkfifo "$place"
	for words in queue 'submit --dry-run -- true' 'run -q --no-wait -- true'; do
		# shellcheck disable=SC2086 # a list of words
		timeout 20 pgpu $words >/dev/null 2>&1
		lacks "a FIFO as $name does not block ${words%% *}" '^124$' $?
	done
	rm "$place" && mv "$SANDBOX/kept" "$place"
done

if ! strace -o /dev/null true 2>/dev/null; then
	skip "kills at a claim" "strace cannot trace here"
	finish
fi

# The watcher is killed as it claims: at the text of the lane, at the rename to running/.
for call in pwrite64 renameat; do
	pgpu run -q -- sh -c "$(gate $call)" &
	reached $call
	id=$(pgpu submit -- true)
	for pid in $(sandbox_pids); do grep -qsz '^worker$' "/proc/$pid/cmdline" && worker=$pid; done
	strace -o /dev/null -p "$worker" -e trace=$call -e inject=$call:signal=KILL:when=1 2>/dev/null &
	until_true traced "$worker"
	open_gate $call
	exits 0 "a job whose worker was killed in $call of its claim still runs" pgpu wait "$id"
	wait
done

# The submit is killed when it has given the lane to a worker that does not exist yet.
strace -o /dev/null -e trace=pipe2 -e inject=pipe2:signal=KILL:when=1 pgpu submit -- true >"$SANDBOX/id" 2>/dev/null
pgpu queue >/dev/null
equals "the next call starts what a killed submit left" "" "$(ls "$(queue_folder)/pending")"
exits 0 "and it ends" pgpu wait "$(cat "$SANDBOX/id")"

# A worker is killed when its lane names the job and before the claim, and another claims the job and offers its lane before
# that is cleared: a ticket names it then, and no lane.
kill_all
wait 2>/dev/null
rm -rf "$XDG_STATE_HOME/pgpu"
conf 'lanes = 1'
id=$(pgpu submit -q -p clip --as away -- sh -c "$(gate away); pgpu turn; $(gate back)")
reached away
boot=$(echo "$XDG_STATE_HOME"/pgpu/*/boot-*)
sed '/^\(cell\|mark\|main\|socket\) /d' "$boot/lane-0" >"$SANDBOX/claim"
pgpu run -q -p clip --as first --name first -- sh -c "$(gate first)" &
until_true queue_shows 'PD .*first'
open_gate away
reached first
until_true eval 'ls "$boot"/tickets/"$id":*:turn'
sed 's/^owner [0-9]* [0-9]*/owner 1 1/' "$SANDBOX/claim" >"$boot/lane-1"
exits 0 "a lane that a dead worker left over a job that is frozen meanwhile is cleared" pgpu rescue
equals "and it is" "state free" "$(grep '^state' "$boot/lane-1")"
matches "and the job is nobody's to give back" "/running/$id:clip:away:0\$" "$(echo "$XDG_STATE_HOME"/pgpu/*/*/"$id":*)"
open_gate first
reached back
open_gate back
exits 0 "it goes on to its end" pgpu wait "$id"
finish
