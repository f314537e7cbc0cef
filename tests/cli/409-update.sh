#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The header of a job that waits is changed: all of it or nothing, whoever is killed at whatever step.
. "$(dirname "$0")/lib.sh"
conf 'lanes = 1 memory = "1G" ram = "8G"'

folder() { echo "$XDG_STATE_HOME"/pgpu/*/"$1"; }
# spooled: the records that wait, by name.
spooled() { find "$(folder pending)" -type f -name '[0-9]*' -printf '%f\n' | sort; }
hidden() { find "$(folder pending)" -type f -name '.*' -printf '%f\n'; }
# header ID: what it is, in one line.
header()
{
	pgpu show --json "$1" | python3 -c '
import json, sys
job = json.load(sys.stdin)
print(job["class"], job["session"], job["name"], int(job["budget_s"]), int(job["limit_s"]), job["memory_bytes"] >> 30, (job["vram_bytes"] or 0) >> 30, job["nice"])'
}

pgpu run -q -- sh -c "$(gate a)" &
reached a
# shellcheck disable=SC2016 # the job's shell reads it
note='echo "$PGPU_JOB_NAME" >>'$SANDBOX/ran
id=$(pgpu submit -J old -- sh -c "$note")
equals "a job as it was submitted" "render work old 1500 3000 1 0 0" "$(header "$id")"
exits 0 "several keys at once" pgpu update "$id" class=truth as='fi lm' name=new memory=2G vram=3G nice=-4
equals "silently" "" "$(cat "$out" "$err")"
equals "all of it is so, and the new class's times" "truth fi_lm new 3600 7200 2 3 -4" "$(header "$id")"
equals "the record's name says so, once" "$id:truth:fi_lm:0:m2G:v3G:n-4" "$(spooled)"
equals "nothing is left beside it" "" "$(hidden)"
exits 0 "a budget takes its limit along" pgpu update "$id" budget=10m
equals "twice of it" "truth fi_lm new 600 1200 2 3 -4" "$(header "$id")"
exits 0 "a limit of its own" pgpu update "$id" limit=15m budget=10m
exits 0 "stays" pgpu update "$id" budget=5m nice=0
equals "what it is" "truth fi_lm new 300 900 2 3 0" "$(header "$id")"
exits 0 "another class" pgpu update "$id" class=clip
equals "leaves what was asked for" "clip fi_lm new 300 900 2 3 0" "$(header "$id")"
matches "what it runs stays" 'PGPU_JOB_NAME' "$(pgpu show --json "$id")"
waited=$(stat -c %y "$(folder pending)/$id:"*)
exits 0 "a held one" pgpu hold "$id"
exits 0 "is changed" pgpu update "$id" class=render session=work
matches "and held" "^$id:render:work:0:m2G:v3G:h$" "$(spooled)"
equals "since when it waits is what it was" "$waited" "$(stat -c %y "$(folder pending)/$id:"*)"
pgpu release "$id"

# --- refused --------------------------------------------------------------------------------------------------------
before=$(header "$id")
refused()
{
	exits "$1" "refused: ${*:3}" pgpu update "$id" "${@:3}"
	matches "and why" "$2" "$(cat "$err")"
}
refused 2 "^pgpu: cannot update job $id: class: unknown class 'rendr', did you mean 'render'" nice=3 class=rendr
refused 2 "^pgpu: cannot update job $id: memory: 9.0G is above ram, 8.0G" nice=3 memory=9G
refused 2 "^pgpu: update: budget: '30' is 30s or 30m" nice=3 budget=30
refused 2 "^pgpu: update: 'bugdet' is no key that can be changed, did you mean 'budget'" bugdet=3m
refused 2 "^pgpu: update: 'command' is no key that can be changed" command=false
refused 2 "^pgpu: update: nice: it is given twice" nice=3 nice=4
refused 2 "^pgpu: update: session: it is given twice" as=3 session=4
refused 2 "^pgpu: update: either nice or first" first=true nice=4
refused 2 "^pgpu: update: 'nice' is not KEY=VALUE" nice
refused 2 "^pgpu: update: first: 'yes' is not true or false" first=yes
refused 2 "^pgpu: update: name: a value is missing" name=
exits 2 "no key" pgpu update "$id"
exits 2 "no id" pgpu update
exits 2 "a word for an id" pgpu update twelve nice=3
exits 1 "an id that never was" pgpu update 4711 nice=3
equals "says so" "pgpu: cannot update job 4711: no such id" "$(cat "$err")"
run=$(pgpu queue --json | python3 -c 'import json, sys; print(json.load(sys.stdin)[0]["id"])')
exits 1 "a run" pgpu update "$run" nice=3
equals "says so, too" "pgpu: cannot update job $run: it is no spooled job that waits" "$(cat "$err")"
conf 'lanes = '
exits 2 "a broken configuration" pgpu update "$id" nice=3
conf 'lanes = 1 memory = "1G" ram = "8G"'
equals "nothing was changed by any of these" "$before" "$(header "$id")"
equals "nor left" "" "$(hidden)"

# --- first ----------------------------------------------------------------------------------------------------------
second=$(pgpu submit -J second -- sh -c "$note")
held=$(pgpu submit -J held -H --nice -3 -- sh -c "$note")
third=$(pgpu submit -J third -- sh -c "$note")
exits 0 "put first" pgpu update "$third" first=true
matches "by one less than the lowest, a held one's" ":n-4$" "$(spooled | grep "^$third:")"
exits 0 "it is first already" pgpu update "$third" first=true
matches "so it stays" ":n-4$" "$(spooled | grep "^$third:")"
pgpu update "$held" nice=-2147483645
exits 1 "nothing is below the lowest" pgpu update "$second" first=true
matches "and why" 'none can be less nice' "$(cat "$err")"
pgpu cancel "$held" >/dev/null
pgpu update "$id" vram=1K
open_gate a
wait
exits 0 "all run" pgpu wait "$id" "$second" "$third"
equals "in that order, under the new names" $'third\nnew\nsecond' "$(cat "$SANDBOX/ran")"
exits 1 "one that has ended is not changed" pgpu update "$id" nice=3
equals "and why" "pgpu: cannot update job $id: it has ended" "$(cat "$err")"
id=$(pgpu submit -- sh -c "$(gate r)")
reached r
exits 1 "nor one that runs" pgpu update "$id" nice=3
equals "and why" "pgpu: cannot update job $id: it runs" "$(cat "$err")"
open_gate r
pgpu wait "$id"
id=$(pgpu submit -H -- true)
exits 1 "nor from inside a job" pgpu run -q -- pgpu update "$id" nice=3
equals "and why" "pgpu: cannot update job $id from inside a job" "$(cat "$err")"
pgpu cancel "$id" >/dev/null

# A job that waits for more than the machine has is let go by an update alone.
printf 'lanes = 1\nresident = 1\nclass "big" { rank = 9 budget = "1m" }\n' >"$XDG_CONFIG_HOME/pgpu/pgpu.conf"
id=$(pgpu submit -- sh -c "$(gate b)")
reached b
other=$(pgpu submit -p big -- sh -c 'echo other >>two')
late=$(pgpu submit -- sh -c 'echo last >>two')
exits 0 "moved to a better class" pgpu update "$other" class=interactive
open_gate b
pgpu wait "$id" "$other" "$late"
equals "it runs before the other" $'other\nlast' "$(cat two)"

# begin and after: later, never mind, and at once.
id=$(pgpu submit -H -- true)
exits 0 "a time" pgpu update "$id" begin=now+2h
matches "the record's name says it" ":b[0-9]+:h$" "$(spooled)"
exits 0 "that is not touched by another key" pgpu update "$id" nice=1
matches "stays" ":n1:b[0-9]+:h$" "$(spooled)"
exits 2 "one that is over" pgpu update "$id" begin=2020-01-01
exits 0 "none" pgpu update "$id" begin=now
equals "is none" "$id:render:work:0:n1:h" "$(spooled)"
other=$(pgpu submit -H -- true)
exits 0 "another job" pgpu update "$id" after="afterok:$other"
matches "is waited for" "^$id:render:work:0:n1:a:h" "$(spooled)"
exits 2 "but not itself" pgpu update "$id" after="afterany:$id"
equals "says so" "pgpu: cannot update job $id: after: it would wait for itself" "$(cat "$err")"
between=$(pgpu submit -q -d "afterok:$id" -- true)
exits 2 "nor itself through another" pgpu update "$other" after="afterany:$between"
equals "says so as well" "pgpu: cannot update job $other: after: it would wait for itself" "$(cat "$err")"
pgpu cancel "$between" >/dev/null
strip=$(pgpu submit -q -H -a 1-3 -- true)
exits 2 "nor an array for its task" pgpu update "$strip" after="afterok:${strip}_2"
pgpu cancel "$strip" >/dev/null
exits 2 "nor one that never was" pgpu update "$id" after=afterok:4711
pgpu release "$id"
matches "it waits" "$id PD .*waits for job $other to complete" "$(pgpu queue)"
exits 0 "for one that has ended" pgpu update "$id" after="afterany:$late"
exits 0 "it waits no longer" pgpu wait "$id"
id=$(pgpu submit -d "afterok:$other" -- true)
exits 0 "nor for none" pgpu update "$id" after=none
exits 0 "it runs" pgpu wait "$id"
id=$(pgpu submit -H -J same -- true)
single=$(pgpu submit -J same -d singleton -- true)
exits 0 "a namesake gets another name" pgpu update "$id" name=other
exits 0 "and who waited for it runs" pgpu wait "$single"
pgpu cancel "$id" "$other" >/dev/null

# --- against claims and each other ----------------------------------------------------------------------------------
conf 'lanes = 2 memory = "1G" ram = "8G"'
jobs=()
for ((round = 0; round < 12; round++)); do
	id=$(pgpu submit -J old -- true)
	jobs+=("$id")
	pgpu update "$id" class=truth as=other name=one >/dev/null 2>&1 &
	pgpu update "$id" class=search as=third name=two >/dev/null 2>&1 &
done
wait
mixed=
for id in "${jobs[@]}"; do
	pgpu wait "$id"
	ran=$(header "$id") logged=$(pgpu log | awk -v id="$id" '$2 == id { print $3, $4, $5 }')
	case $ran in
	"render work old 1500 3000 "* | "truth other one 3600 7200 "* | "search third two 3600 7200 "*) ;;
	*) mixed+=" $ran" ;;
	esac
	[[ $ran = "$logged "* ]] || mixed+=" $ran/$logged"
done
equals "each ran with one header, whoever was faster" "" "$mixed"

# --- killed at each step --------------------------------------------------------------------------------------------
if ! strace -o /dev/null true 2>/dev/null; then
	skip "kills at each step" "strace cannot trace here"
	finish
fi
old="render work old 1500 3000 1 0 0" new="truth other new 3600 7200 1 0 5"
steps=0
# killed_in CALL N: an update of $id that is killed in its Nth.
killed_in()
{
	(strace -o /dev/null -e trace="$1" -e inject="$1:signal=KILL:when=$2" \
		pgpu update "$id" class=truth as=other name=new nice=5) >"$out" 2>&1
}
for call in openat fsync renameat2 flock utimensat; do
	for ((when = 1; when < 200; when++)); do
		id=$(pgpu submit -H -J old -- true)
		code=0
		killed_in $call $when || code=$?
		if [ $code -eq 0 ]; then
			[ $when -gt 1 ] || not_ok "update calls $call"
			equals "killed in none of its $((when - 1)) $call it is done" "$new" "$(header "$id")"
			pgpu cancel "$id" >/dev/null
			break
		fi
		[ $call = openat ] && [ $when -lt 10 ] && { pgpu cancel "$id" >/dev/null; continue; } # the loader's
		steps=$((steps + 1))
		found=$(header "$id") names=$(spooled)
		[ "$found" = "$old" ] || [ "$found" = "$new" ] || not_ok "killed in $call $when: no mix" "$found: $names"
		[ "$(wc -l <<<"$names")" = 1 ] || not_ok "killed in $call $when: one record" "$names"
		pgpu release "$id"
		pgpu wait "$id" || not_ok "killed in $call $when: it runs" "$(pgpu show "$id")"
		[ "$(header "$id")" = "$found" ] || not_ok "killed in $call $when: with that header" "$(header "$id")"
		logged=$(pgpu log | awk -v id="$id" '$2 == id { print $3, $4, $5 }')
		[[ $found = "$logged "* ]] || not_ok "killed in $call $when: and that in the log" "$logged"
	done
done
check "killed at many steps, and each time the job was there once and whole" [ $steps -ge 12 ]

# Of an array each task has the new header, also where the update was broken off.
id=$(pgpu submit -H -J old -a 1-2 -- true)
killed_in renameat2 2
pgpu release "$id"
exits 0 "the tasks of an array run" pgpu wait "$id"
for task in 1 2; do
	matches "with the new header" "^truth other new 3600 7200 " "$(header "${id}_$task")"
	equals "in the log as well" "truth other new" "$(pgpu log | awk -v id="${id}_$task" '$2 == id { print $3, $4, $5 }' | uniq)"
done

# One that was broken off is finished by the next, and by the sweep after a boot.
for by in update sweep; do
	id=$(pgpu submit -H -J old -- true)
	killed_in renameat2 2
	matches "broken off behind its decision" "^$id:truth:other:0:n5:u[0-9]+:h$" "$(spooled)"
	equals "it has its new header" "$new" "$(header "$id")"
	check "whose text is beside it" [ -n "$(hidden)" ]
	if [ $by = update ]; then
		exits 0 "the next update" pgpu update "$id" nice=5
	else
		rm "$XDG_STATE_HOME"/pgpu/*/boot-*/swept
		exits 0 "the sweep" pgpu rescue
	fi
	equals "puts it in its place" "$id:truth:other:0:n5:h" "$(spooled)"
	equals "for good" "$new" "$(header "$id")"
	equals "and nothing is left" "" "$(hidden | grep "\.$id\.")"
	pgpu cancel "$id" >/dev/null
done
finish
