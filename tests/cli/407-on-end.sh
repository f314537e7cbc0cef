#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# on-end: what a job names for its end is run once, after any end, and holds nobody up.
. "$(dirname "$0")/lib.sh"
conf 'lanes = 1'

# note: prints a shell line that notes an end in ends.ID, in one write.
note() { printf 'echo "$PGPU_JOB_ID $PGPU_JOB_NAME $PGPU_JOB_OUTCOME $PGPU_JOB_EXIT_CODE $PGPU_JOB_CLASS $PGPU_JOB_SESSION $PGPU_RESTART_COUNT" >>"ends.$PGPU_JOB_ID"'; }
# job NAME KEYS SCRIPT: a job file whose on-end notes its end.
job() { printf -- '---\nas: me\nclass: render\n%b\non-end: |\n  %s\n---\n#!/bin/sh\n%s\n' "$2" "$(note)" "$3" >"$1.yaml"; }
# told ID: waits until its end was noted, and prints it.
told() { until_true test -s "ends.$1" && cat "ends.$1"; }

# --- every end ------------------------------------------------------------------------------------------------------
job good 'requeue: true' 'exit 0'
job bad 'requeue: true' 'exit 3'
job long 'limit: 1s' 'sleep 1000'
job none 'output: file/x' 'exit 0'
good=$(pgpu submit good.yaml) bad=$(pgpu submit bad.yaml)
equals "completed" "$good good completed 0 render me 0" "$(told "$good")"
equals "failed" "$bad bad failed 3 render me 0" "$(told "$bad")"
long=$(pgpu submit long.yaml)
none=$(pgpu submit -H none.yaml); : >file; pgpu release "$none"
equals "timeout" "$long long timeout 124 render me 0" "$(told "$long")"
equals "could not start" "$none none failed 127 render me 0" "$(told "$none")"
job holds 'requeue: true' "$(gate a)"
holds=$(pgpu submit holds.yaml)
reached a
waits=$(pgpu submit good.yaml)
pgpu cancel "$waits" >"$out"
equals "cancelled while it waits" "$waits good cancelled 143 render me 0" "$(told "$waits")"
some=$(pgpu submit good.yaml bad.yaml)
# shellcheck disable=SC2086 # a list of ids
pgpu cancel $some >"$out"
for id in $some; do matches "each of several" "^$id (good|bad) cancelled 143 render me 0$" "$(told "$id")"; done
pgpu cancel "$holds" >"$out"
equals "cancelled while it runs" "$holds holds cancelled 143 render me 0" "$(told "$holds")"
job caller 'requeue: true' 'pgpu cancel $(cat other) >/dev/null'
other=$(pgpu submit -H good.yaml)
echo "$other" >other
caller=$(pgpu submit caller.yaml)
equals "cancelled by another job" "$other good cancelled 143 render me 0" "$(told "$other")"
equals "whose own end comes as well" "$caller caller completed 0 render me 0" "$(told "$caller")"

ok_one=$(pgpu submit -H good.yaml)
never=$(pgpu submit --after "afterok:$ok_one" bad.yaml)
pgpu cancel "$ok_one" >"$out"
equals "ended for what it waited for" "$never bad cancelled 125 render me 0" "$(told "$never")"

# --- a restart is no end --------------------------------------------------------------------------------------------
job again 'requeue: true' "$(gate b)"
again=$(pgpu submit again.yaml)
reached b
pgpu requeue "$again"
reached b
check "not at a restart" test ! -e "ends.$again"
open_gate b
equals "once, at the end" "$again again completed 0 render me 1" "$(told "$again")"
pgpu requeue "$again"
reached b
open_gate b
until_true grep -q ' 2$' "ends.$again"
equals "and at the end of another life" "$again again completed 0 render me 2" "$(tail -n 1 "ends.$again")"
job lost 'requeue: false' "echo \$GPU_QUEUE_PID >holder; $(gate c)"
lost=$(pgpu submit lost.yaml)
reached c
kill -KILL "$(cat holder)"
equals "lost: whoever clears up runs it" "$lost lost lost 125 render me 0" "$(told "$lost")"
job back 'requeue: true' "echo \$GPU_QUEUE_PID >holder; $(gate d)"
back=$(pgpu submit back.yaml)
reached d
kill -KILL "$(cat holder)"
reached d
check "not of one that goes back in line" test ! -e "ends.$back"
open_gate d
equals "but of its end" "$back back completed 0 render me 1" "$(told "$back")"
equals "once" 1 "$(wc -l <"ends.$back")"

conf $'lanes = 1\nstanding-after = "0"'
printf -- 'name: serves\nas: me\nstanding: true\noutput: serves-%%r.log\ncommand: "echo served"\non-end: |\n  %s; cat "$PGPU_JOB_OUTPUT" >served\n' "$(note)" >serves.yaml
serves=$(pgpu submit serves.yaml)
equals "a standing job that is over" "$serves serves completed 0 render me 0" "$(told "$serves")"
until_true test -s served
equals "with the file of its last start" "served $PWD/serves-0.log" "$(cat served) $(pgpu show "$serves" --json | python3 -c 'import json, sys; print(json.load(sys.stdin)["output"])')"
printf -- 'name: serves\nas: me\nstanding: true\ncommand: "%s; exec sleep 1000"\non-end: |\n  %s\n' "$(gate s)" "$(note)" >serves.yaml
serves=$(pgpu submit serves.yaml)
reached s
exits 0 "one makes room" pgpu run -q -- true
reached s
check "which is no end" test ! -e "ends.$serves"
pgpu cancel "$serves" >"$out"
equals "a cancel is" "$serves serves cancelled 143 render me 1" "$(told "$serves")"
conf 'lanes = 1'

# --- what it gets ---------------------------------------------------------------------------------------------------
mkdir sub
cat >env.yaml <<-'YAML'
	workdir: sub
	output: 'o-%j-%r.log'
	env: { MINE: "a b", PGPU_JOB_OUTCOME: lie, GPU_QUEUE: lie, PGPU_PROGRESS: lie }
	command: [echo, hi]
	on-end: [sh, -c, 'env >env.new; pwd -P >>env.new; readlink /proc/$$/fd/0 /proc/$$/fd/1 /proc/$$/fd/2 | grep -c /dev/null >>env.new; umask >>env.new; cat "$PGPU_JOB_OUTPUT" >>env.new; mv env.new env', "0", "an \"odd' $word"]
	YAML
(umask 027 && THEIRS=yes pgpu submit env.yaml >"$SANDBOX/id")
id=$(cat "$SANDBOX/id")
until_true test -s sub/env
equals "in its folder, without a terminal, with its umask; and its output is there" "$(realpath sub) 3 0027 hi" "$(tail -n 4 sub/env | xargs)"
equals "the submitter's environment, the header's, and the end" \
	"MINE=a b PGPU_JOB_EXIT_CODE=0 PGPU_JOB_OUTCOME=completed PGPU_JOB_OUTPUT=$PWD/sub/o-$id-0.log THEIRS=yes" \
	"$(grep -E '^(MINE|THEIRS|PGPU_JOB_(OUTCOME|OUTPUT|EXIT_CODE)|GPU_QUEUE|PGPU_PROGRESS)=' sub/env | LC_ALL=C sort | paste -sd ' ')"
equals "nothing of it is in the output" hi "$(cat "sub/o-$id-0.log")"

# --- it holds nobody up ---------------------------------------------------------------------------------------------
printf 'command: "true"\non-end: "%s"\n' "$(gate e | sed 's/"/\\"/g')" >slow.yaml
slow_end=$(pgpu submit slow.yaml)
reached e
exits 0 "the next job starts while it runs" pgpu submit -W -- true
exits 0 "a run too" pgpu run -q -- true
exits 0 "and the job has ended" pgpu wait "$slow_end"
open_gate e
conf $'lanes = 1\ncells = "off"'
slow_end=$(pgpu submit slow.yaml)
reached e
exits 0 "nor where there are no cells" pgpu submit -W -- true
printf 'command: "true"\non-end: "%s"\n' "$(gate f | sed 's/"/\\"/g')" >slow2.yaml
other=$(pgpu submit -H slow2.yaml)
echo "$other" >other
exits 0 "nor a job that cancels such a one" pgpu submit -W caller.yaml
reached f
open_gate e
open_gate f
conf 'lanes = 1'

# --- what goes wrong is its reason ----------------------------------------------------------------------------------
reason() { pgpu show "$1" | sed -n 's/^why *//p'; }
tells() { until_true sh -c "pgpu show $1 | grep -q '^why.*on-end'"; reason "$1"; }
printf 'command: "true"\non-end: "exit 7"\n' >fails.yaml
id=$(pgpu submit fails.yaml)
equals "a code" 'on-end: exit code 7' "$(tells "$id")"
exits 0 "that is not the job's" pgpu wait "$id"
printf 'command: "true"\non-end: "kill -9 $$"\n' >killed.yaml
equals "a signal" 'on-end: ended by signal 9' "$(tells "$(pgpu submit killed.yaml)")"
printf 'command: "true"\non-end: [none-such]\n' >missing.yaml
equals "a command that is not there" 'on-end: cannot start none-such: No such file or directory' "$(tells "$(pgpu submit missing.yaml)")"
printf 'command: none-such\non-end: [none-such]\n' >both.yaml
matches "behind the job's own" '^cannot start none-such.*; on-end: cannot start none-such' "$(tells "$(pgpu submit --dry-run both.yaml >"$out"; printf 'command: [none-such]\non-end: [none-such]\n' | pgpu submit -)")"

# --- the configuration's --------------------------------------------------------------------------------------------
conf "lanes = 1
on-end = { sh, \"-c\", 'echo \"general \$PGPU_JOB_ID\" >>general' }
class clip { on-end = { sh, \"-c\", \"echo clip >>clip.end\" } }
class bench { on-end = {} }"
id=$(pgpu submit -- true)
until_true test -s general
equals "the general one, quotes and all" "general $id" "$(cat general)"
clip=$(pgpu submit -p clip -- true)
until_true test -s clip.end
bench=$(pgpu submit -p bench -- true)
own=$(pgpu submit good.yaml)
printf 'command: "true"\non-end: []\n' >off.yaml
off=$(pgpu submit off.yaml)
pgpu wait "$clip" "$bench" "$own" "$off"
equals "a job's own" "$own good completed 0 render me 0" "$(told "$own")"
last=$(pgpu submit -- true)
until_true grep -q "general $last" general
equals "a class's, none of a class, a job's own or none: instead of it" "general $id general $last" "$(xargs <general)"
held=$(pgpu submit -H -- true)
conf 'lanes = 1'
pgpu release "$held"
until_true grep -q "general $held" general
equals "as it was at the submit" 3 "$(wc -l <general)"
pgpu run -q -- true
equals "none of a run" 3 "$(wc -l <general)"
equals "the record has it" 'on-end: ["/bin/sh", "-c", "exit 7"]' "$(pgpu submit --dry-run fails.yaml | grep ^on-end)"

# --- refused --------------------------------------------------------------------------------------------------------
while IFS='|' read -r name text why; do
	printf 'command: "true"\n%b\n' "$text" >refused.yaml
	exits 2 "$name" pgpu submit refused.yaml
	matches "$name: says so" "refused.yaml:2:[0-9]+: on-end: $why" "$(cat "$err")"
done <<'CASES'
a map|on-end: { a: b }|must be a shell line or a list, not a map
no value|on-end:|a value is missing
an empty command|on-end: [""]|its first word is empty
blanks|on-end: "  "|nothing but blanks
CASES
exits 2 "the command is pgpu's own" pgpu on-end 12
finish
