#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Arrays: one record however many tasks; each task started once, whatever is killed; cap, order, what is left out;
# orders to a task, some, or all.
. "$(dirname "$0")/lib.sh"
conf 'lanes = 2'
spool=$(echo "$XDG_STATE_HOME"/pgpu/*)
records() { (cd "$spool" && find pending running -type f | sort | paste -sd ' '); }
field() { pgpu show --json "$1" | python3 -c 'import json, sys; print(json.load(sys.stdin)[sys.argv[1]])' "$2"; }
tasks() { pgpu show --json "$1" | python3 -c 'import json, sys; print(*[f"{state}:{count}" for state, count in json.load(sys.stdin)["tasks"].items()])'; }

# --- what a task sees, and what is left of the array ---
a=$(pgpu submit -q -J strip -a 1,5,9-20:2 -- sh -c 'echo "$PGPU_JOB_ID $PGPU_ARRAY_JOB_ID $PGPU_ARRAY_TASK_ID $PGPU_ARRAY_TASK_COUNT $PGPU_ARRAY_TASK_MIN $PGPU_ARRAY_TASK_MAX $PGPU_JOB_NAME" >>seen')
exits 0 "an array ends when all of its tasks have" pgpu wait "$a"
equals "each was run once, and told who it is" "$(for task in 1 5 9 11 13 15 17 19; do echo "${a}_$task $a $task 8 1 19 strip"; done)" "$(sort -t_ -k2n seen)"
equals "each has an output of its own" "$(for task in 1 5 9 11 13 15 17 19; do echo "pgpu-${a}_$task.out"; done | sort)" "$(ls pgpu-"$a"*)"
equals "show counts them" "pending:0 running:0 completed:8" "$(tasks "$a")"
matches "the log knows each" "${a}_19 +render " "$(pgpu log)"
equals "nothing is left in line" "" "$(records)"
equals "nor of the tasks" "" "$(ls "$spool/tasks")"
exits 0 "one task alone can be shown" pgpu show "${a}_5"
exits 1 "one that it has not cannot" pgpu show "${a}_6"
exits 1 "its output is that of its tasks" pgpu output "$a"
equals "and one is named" "pgpu: cannot print the output of job $a: each task has its own (${a}_1)" "$(cat "$err")"
fails=$(pgpu submit -q -a 3-6 -- sh -c 'exit $((PGPU_ARRAY_TASK_ID > 4 ? PGPU_ARRAY_TASK_ID : 0))')
exits 5 "wait has the first code that is not 0" pgpu wait "$fails"
exits 0 "of several tasks that of the last" pgpu wait "${fails}_[5,4]"
equals "and counts" "pending:0 running:0 completed:2 failed:2" "$(tasks "$fails")"

# --- one record, a cap, and the lists ---
b=$(pgpu submit -q -a 1-100000%1 -- sh -c "$(gate capped)")
reached capped
equals "one record however many" "pending/$b:render:work:0:t1 running/${b}_1:render:work:0" "$(records)"
matches "queue folds those that wait" "${b}_\[2-100000%1\] PD .*as many of its tasks run as may at once, 1" "$(pgpu queue)"
equals "in JSON" "${b}_[2-100000%1] array 1-100000%1" "$(pgpu queue --json | python3 -c 'import json, sys; print(*[(job["id"], job["reason"], job["array"]) for job in json.load(sys.stdin)][1])')"
equals "status counts them" 99999 "$(pgpu status --json | python3 -c 'import json, sys; print(json.load(sys.stdin)["waiting"])')"
exits 0 "others start beside it" pgpu run -q --no-wait -- true
exits 0 "of the same session and class too" pgpu submit -q -W -- true
exits 0 "some of them are cancelled" pgpu cancel "${b}_[10-15,90001]"
equals "those" "cancelled 143" "$(field "${b}_12" state) $(field "${b}_12" exit_code)"
exits 0 "one is held" pgpu hold "${b}_2"
matches "it stands by itself" "${b}_2 PD .*pgpu release ${b}_2" "$(pgpu queue)"
matches "and the others go on without them" "${b}_\[3-9,16-90000,90002-100000%1\]" "$(pgpu queue)"
open_gate capped
reached capped
matches "the next one runs" "${b}_3 R " "$(pgpu queue)"
exits 0 "requeued, it comes back by itself" pgpu requeue "${b}_3"
reached capped
matches "first" "${b}_3 R " "$(pgpu queue)"
equals "with its count" 1 "$(field "${b}_3" restarts)"
exits 0 "several are listed" pgpu queue "${b}_[1-3,77]" --json
equals "each in its row" "${b}_3 ${b}_[4-9,16-90000,90002-100000%1] ${b}_2 ${b}_1" "$(python3 -c 'import json, sys; print(*[job["id"] for job in json.load(sys.stdin)])' <"$out")"
exits 0 "and shown" pgpu show "${b}_[2,77]"
equals "each" "${b}_2 ${b}_77" "$(sed -n 's/^job  *//p' "$out" | paste -sd ' ')"
exits 1 "one that it has not is not listed" pgpu queue "${b}_100001"
exits 1 "one that waits with the others is not changed alone" pgpu update "${b}_77" nice=1
equals "it is said how" "pgpu: cannot update job ${b}_77: it waits as one with its array; hold it first, or update the array" "$(cat "$err")"
exits 0 "one that stands by itself is" pgpu update "${b}_2" nice=1 name=late
exits 0 "without another place in line, too" pgpu update "${b}_2" budget=7m
equals "as it was told" "1 late 420.0 1500.0" "$(field "${b}_2" nice) $(field "${b}_2" name) $(field "${b}_2" budget_s) $(field "${b}_3" budget_s)"
exits 0 "all are held" pgpu hold "$b"
matches "also those that stand by themselves" "${b}_2 PD .*pgpu release" "$(pgpu queue)"
exits 0 "all are cancelled" pgpu cancel "$b"
equals "each of them" "pending:0 running:0 completed:1 cancelled:99999" "$(tasks "$b")"
exits 143 "and wait knows it" pgpu wait "$b"
equals "nothing is left in line" "" "$(records)"
exits 1 "cancelled again they have ended" pgpu cancel "$b"
exits 2 "a range that is none" pgpu cancel "${b}_[5"
matches "is named" "cancel: '${b}_\[5' is not a job id" "$(cat "$err")"

# --- order, and what is there already ---
conf 'lanes = 1'
mkdir frames
for frame in 03 05; do echo there >"frames/$frame.png"; done
: >frames/07.png
cat >strip.yaml <<'EOF'
array: 0-24
order: sparse
skip-existing: frames/0%a.png
class: test
command: echo "$PGPU_ARRAY_TASK_ID" >>order
EOF
c=$(pgpu submit -q strip.yaml)
exits 0 "a sparse array" pgpu wait "$c"
equals "has every tenth first, and leaves out what is there and not empty" "0 10 20 1 2 4 6 7 8 9 11 12 13 14 15 16 17 18 19 21 22 23 24" "$(paste -sd ' ' order)"
equals "that has completed" "completed 0" "$(field "${c}_3" state) $(field "${c}_3" exit_code)"
matches "and says why" "left out: .*/frames/03.png is there" "$(pgpu show "${c}_3")"

# --- dependencies ---
d=$(pgpu submit -q -H -a 0-3 -- sh -c 'exit $((PGPU_ARRAY_TASK_ID == 2))')
all=$(pgpu submit -q -d "afterok:$d" -- true)
any=$(pgpu submit -q -d "afterany:$d" -- sh -c 'echo any >>after')
one=$(pgpu submit -q -d "afterok:${d}_1" -- sh -c 'echo one >>after')
each=$(pgpu submit -q -a 0-3 -d "aftercorr:$d" -- sh -c 'echo "each $PGPU_ARRAY_TASK_ID" >>after')
matches "who waits for a task says so" "$one PD .*waits for job ${d}_1 to complete" "$(pgpu queue)"
exits 0 "released" pgpu release "$d"
exits 125 "afterok of an array of which one fails" pgpu wait "$all"
exits 0 "afterany of it" pgpu wait "$any"
exits 0 "afterok of a task" pgpu wait "$one"
exits 125 "aftercorr" pgpu wait "$each"
equals "task by task" "any each 0 each 1 each 3 one" "$(sort after | paste -sd ' ')"

waits=$(pgpu submit -q -H -a 1-3 -- true)
exits 2 "a task that an array has not" pgpu submit -q -d "afterok:${waits}_7" -- true
equals "is named" "pgpu: after: array $waits has no task 7" "$(cat "$err")"
pgpu cancel "$waits" >"$out"
exits 2 "aftercorr of very many is refused" pgpu submit -q -a 0-1000 -d "aftercorr:$d" -- true

# --- kills ---
conf 'lanes = 2'
e=$(pgpu submit -q -a 1-40 -- sh -c 'echo "$PGPU_ARRAY_TASK_ID $PGPU_RESTART_COUNT" >>once; kill -KILL "$GPU_QUEUE_PID"; sleep 1000')
until_true sh -c '[ "$(wc -l <once)" -ge 6 ]'
pgpu cancel "$e" >/dev/null
equals "no task is started twice without its count" "" "$(sort once | uniq -d)"
if command -v strace >/dev/null && strace -o /dev/null true 2>/dev/null; then
	# The steps of taking a task, each with its caller killed before it: which byte, link, which byte, and of the
	# last one the array's record and the file of its tasks.
	for at in pwrite64:1:1-2 linkat:1:1-2 pwrite64:2:1-2 pwrite64:1:1 linkat:1:1 pwrite64:2:1 unlinkat:1:1 unlinkat:2:1; do
		conf 'lanes = 1'
		IFS=: read -r call when list <<<"$at"
		f=$(pgpu submit -q -H -a "$list" -- sh -c 'echo "$PGPU_ARRAY_TASK_ID $PGPU_RESTART_COUNT" >>killed')
		then=$(pgpu submit -q -d "afterok:$f" -- true)
		: >killed
		{ strace -f -o trace -e "trace=$call" -e "inject=$call:signal=KILL:when=$when" pgpu hold "${f}_1"; } >/dev/null 2>&1
		equals "killed at $at" 137 $?
		pgpu release "$f" >/dev/null 2>&1
		pgpu release "${f}_1" >/dev/null 2>&1
		exits 0 "killed at $at: it ends" timeout 30 pgpu wait "$f"
		exits 0 "killed at $at: and what waits for it" timeout 30 pgpu wait "$then"
		equals "killed at $at: each task once" "$([ "$list" = 1 ] || echo '2 0')" "$(sort killed | grep -v '^1 0$')"
		equals "killed at $at: nothing is left in line" "" "$(records)"
	done
	# As many names as a file may have.
	many=$(pgpu submit -q -H -a 1-2 -- sh -c 'echo "$PGPU_ARRAY_TASK_ID" >>many')
	before=$(cat "$spool/pending/$many:"*)
	old=$(stat -c %i-%Y "$spool/pending/$many:"*)
	exits 0 "a file with too many names" strace -o /dev/null -e trace=linkat -e inject=linkat:error=EMLINK:when=1 pgpu hold "${many}_1"
	equals "the array goes on with another one" "$before" "$(cat "$spool/pending/$many:"*)"
	equals "as old" "no ${old#*-}" "$([ "$(stat -c %i "$spool/pending/$many:"*)" = "${old%-*}" ] && echo yes || echo no) $(stat -c %Y "$spool/pending/$many:"*)"
	pgpu release "$many"
	exits 0 "to its end" pgpu wait "$many"
	equals "with each task" "1 2" "$(sort many | paste -sd ' ')"
else
	skip "a kill at each step of taking a task" "no strace here"
fi
rm -f "$spool/tasks"/*
g=$(pgpu submit -q -H -a 1-3 -- sh -c 'echo "$PGPU_ARRAY_TASK_ID" >>lost')
rm "$spool/tasks/$g"
pgpu release "$g"
exits 0 "without the file of its tasks it is made again" pgpu wait "$g"
equals "from the records" "1 2 3" "$(sort lost | paste -sd ' ')"

# --- refused ---
for list in 5-1 1-1000001 1,1 1-3,2 0-9%0 '0-9%' a ''; do
	exits 2 "an array of '$list' is refused" pgpu submit -a "$list" -- true
done
matches "with what one is" "array: .*1-250, 0-99%4, 1,5,9-20:2|a value is missing" "$(cat "$err")"
printf 'order: sparse\ncommand: "true"\n' >order.yaml
exits 2 "an order without an array" pgpu submit order.yaml
matches "with its place" "order.yaml:1:8: order: only the tasks of an array have one" "$(cat "$err")"
finish
