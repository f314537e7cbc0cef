#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# --dedupe: a key is in line once, whoever submits at the same moment and whoever is killed, and blocks nobody for ever.
. "$(dirname "$0")/lib.sh"
conf 'lanes = 1'

queue_folder() { dirname "$(find "$XDG_STATE_HOME" -name counter)"; }
# Every record of a job that waits or runs.
records() { find "$(queue_folder)"/{pending,running} -type f -name '[0-9]*' 2>/dev/null | wc -l; }

pgpu submit -- sh -c "$(gate a)" >id
reached a
exits 0 "a job with a key" pgpu submit --dedupe nightly -J first -- true
first=$(cat "$out")
equals "says nothing else" '' "$(cat "$err")"
exits 0 "the same key again" pgpu submit --dedupe nightly -J second -- true
equals "prints the id of the job that has it" "$first" "$(cat "$out")"
equals "and says so" "pgpu: job $first has the key 'nightly' already" "$(cat "$err")"
exits 0 "quietly" pgpu submit -q --dedupe nightly -- true
equals "quietly, indeed" "$first/" "$(cat "$out")/$(cat "$err")"
equals "nothing was spooled beside it" 2 "$(records)"
printf -- '---\ndedupe: nightly\n---\n#!/bin/sh\ntrue\n' >nightly.yaml
equals "a header's key is the same" "$first" "$(pgpu submit -q nightly.yaml)"
printf -- '---\ndedupe: "../../x y/ü"\n---\n#!/bin/sh\ntrue\n' >odd.yaml
pgpu submit odd.yaml nightly.yaml odd.yaml >ids 2>"$err"
equals "several files, two of one key" "2 1 2" "$(sort -u ids | wc -l) $(grep -cx "$first" ids) $(sort ids | uniq -c | awk '{ print $1 }' | sort -n | tail -n 1)"
check "a key is no path" test -e "$(queue_folder)/dedupe/..%2f..%2fx%20y%2f%c3%bc" -o -e "$(queue_folder)/dedupe/%2e.%2f..%2fx%20y%2f%c3%bc"
exits 0 "a dry run takes no key" pgpu submit --dry-run --dedupe other -- true
equals "a dry run takes no key, indeed" '' "$(find "$(queue_folder)/dedupe" -name other)"
equals "--json has the same id" "$first" "$(pgpu submit -q --json nightly.yaml | python3 -c 'import json, sys; print(json.load(sys.stdin)[0]["id"])')"
exits 2 "a key that is too long" pgpu submit --dedupe "$(printf 'x%.0s' {1..81})" -- true
equals "says so" "pgpu: submit: dedupe: longer than 80 bytes" "$(cat "$err")"

# Whatever ends the job gives the key back.
pgpu hold "$first" 2>"$err"
equals "a held job has its key" "$first" "$(pgpu submit -q nightly.yaml)"
pgpu cancel "$first" >"$out"
second=$(pgpu submit nightly.yaml 2>"$err")
check "a cancelled one has not" test "$second" -gt "$first"
open_gate a
pgpu wait "$second"
third=$(pgpu submit --dedupe nightly -- sh -c "$(gate b)" 2>"$err")
check "nor one that has ended" test "$third" -gt "$second"
reached b
equals "one that runs has it" "$third" "$(pgpu submit -q nightly.yaml)"
exits 0 "submit --wait waits for it" timeout 60 sh -c "pgpu submit -q --wait nightly.yaml & echo go >'$SANDBOX/b.open'; wait \$!"

# Fifty at once.
pgpu submit -- sh -c "$(gate c)" >id
reached c
before=$(records)
for i in {1..50}; do pgpu submit -q --dedupe crowd -J "c$i" -- true >"many.$i" & pids[i]=$!; done
wait "${pids[@]}"
equals "fifty at once spool one" $((before + 1)) "$(records)"
equals "and print its id" 1 "$(cat many.* | sort -u | wc -l)"
equals "all of them" 50 "$(cat many.* | wc -l)"

# Killed at each of its writes: the key blocks nobody, and is never there twice.
if command -v strace >/dev/null && strace -o /dev/null true 2>/dev/null; then
	exec 3>&2 2>"$SANDBOX/killed" # the shell names each that was killed
	for step in fsync:1 fsync:2 fsync:3 renameat2:1 fsync:4 write:1; do
		call=${step%:*} nth=${step#*:}
		strace -qq -o "$SANDBOX/trace" -e trace="$call" -e inject="$call:signal=KILL:when=$nth" \
			pgpu submit --dedupe "killed $step" -- true >killed 2>&1 || :
		exits 0 "after a kill at $step the key is free or has its job" pgpu submit -q --dedupe "killed $step" -- true
		equals "after a kill at $step there is one" 1 "$(grep -lF "killed $step" "$(queue_folder)"/pending/* 2>/dev/null | wc -l)"
	done
	exec 2>&3
else
	skip "kills at each write" "no strace here"
fi
printf 'nonsense' >"$(queue_folder)/dedupe/damaged"
exits 0 "a damaged file holds nothing" pgpu submit --dedupe damaged -- true
printf '999999\n' >"$(queue_folder)/dedupe/gone"
exits 0 "an id without a record holds nothing" pgpu submit --dedupe gone -- true

# A submit that is stopped in its middle holds up its own key alone.
exits 0 "others pass a key that is locked" flock "$(queue_folder)/dedupe/crowd" timeout 20 pgpu submit --dedupe apart -- true
open_gate c

# Old files of jobs that are over go with what else is not kept.
pgpu submit --dedupe alive -- sh -c "$(gate d)" >id
reached d
touch -d '3 days ago' "$(queue_folder)"/dedupe/{nightly,alive}
rm -f "$(queue_folder)/pruned"
pgpu rescue >"$out" 2>"$err"
equals "the file of a key whose job is over goes" "alive" "$(cd "$(queue_folder)/dedupe" && ls -d nightly alive 2>/dev/null)"
exits 0 "the key is free" pgpu submit --dedupe nightly -- true
open_gate d
finish
