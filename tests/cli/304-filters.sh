#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Which jobs queue and cancel are about: filters that must all fit, signals instead of an end, and what would be done.
. "$(dirname "$0")/lib.sh"
conf 'lanes = 1'

# ids [OPTION…]: of what queue lists, on one line.
ids() { pgpu queue --json "$@" | python3 -c 'import json, sys; print(*sorted(int(job["id"]) for job in json.load(sys.stdin)))'; }

# A job that notes its signals and waits for its gate all the same; a shell would give up.
cat >notes.py <<'E'
import signal, sys
signal.signal(signal.SIGUSR1, lambda *_: open("usr1", "a").write("got\n"))
open(sys.argv[1] + ".here", "w").write("here\n")
open(sys.argv[1] + ".open").read()
E
gate_pipes a
running=$(pgpu submit --as film --class render -J front -- python3 notes.py "$SANDBOX/a")
reached a
film=$(pgpu submit --as film --class render -J frames -- true)
film_clip=$(pgpu submit --as film --class clip -J frames -- true)
web=$(pgpu submit --as web --class render -J frames -- true)
other=$(pgpu submit --as web --class render -J other -- true)

# queue
equals "queue by name" "$film $film_clip $web" "$(ids --name frames)"
equals "by name and session" "$film $film_clip" "$(ids -J frames --as film)"
equals "by name, session and class" "$film_clip" "$(ids -J frames --as film --class clip)"
equals "by state" "$running" "$(ids --state running)"
equals "by several states, words and letters" "$running $film" "$(ids --state R,pending --as film --class render)"
equals "by ids and a filter" "$film" "$(ids "$film" "$web" --as film)"
exits 2 "an unknown state among several" pgpu queue --state R,pendng
equals "the nearest right word" "pgpu: queue: unknown state 'pendng', did you mean 'pending'?" "$(cat "$err")"
exits 2 "an empty word is no state" pgpu queue --state R,
exits 2 "an unknown class" pgpu queue --class rendr
equals "the nearest right class" "pgpu: queue: unknown class 'rendr', did you mean 'render'?" "$(cat "$err")"

# What would be done.
before=$(pgpu queue --json | grep -o '"id":"[0-9]*"')
exits 0 "a dry run of all" pgpu cancel --dry-run --as film --class render
equals "says what would be done to each" "$film leaves the line: frames (render, film)
$running is ended: front (render, film)" "$(sort -rn "$out")"
exits 1 "a dry run of an id that is none" pgpu cancel --dry-run 999999 "$film"
equals "the other is told" "$film leaves the line: frames (render, film)" "$(cat "$out")"
equals "a dry run does nothing" "$before" "$(pgpu queue --json | grep -o '"id":"[0-9]*"')"

# Signals.
exits 0 "a signal for the running one" pgpu cancel --signal USR1 "$running"
equals "its id is printed" "$running" "$(cat "$out")"
exits 1 "no signal for one that waits" pgpu cancel --signal sigusr1 "$running" "$film"
equals "which is named" "pgpu: cannot signal job $film: it waits" "$(cat "$err")"
equals "the other gets it" "$running" "$(cat "$out")"
exits 0 "by filter and number, in a dry run" pgpu cancel -s 10 --state running --dry-run
equals "a dry run of a signal" "$running gets USR1: front (render, film)" "$(cat "$out")"
exits 2 "an unknown signal" pgpu cancel --signal USR3 "$running"
equals "the nearest right signal" "pgpu: cancel: --signal: unknown signal 'USR3', did you mean 'USR1'?" "$(cat "$err")"
exits 1 "no signal for a job that never was" pgpu cancel --signal USR1 999999
equals "it is said" "pgpu: cannot signal job 999999: no such id" "$(cat "$err")"
equals "the job runs on" "$running" "$(ids --state running)"

# Filters are ANDed, with ids too.
exits 0 "of the ids those that fit" pgpu cancel --as film --name frames "$running" "$film" "$web"
equals "of the ids those that fit, and no other" "$film" "$(cat "$out")"
exits 1 "an id that is none is an error all the same" pgpu cancel --as film 999999
equals "whatever the filter" "pgpu: cannot cancel job 999999: no such id" "$(cat "$err")"
exits 0 "by name and class" pgpu cancel --name frames --class clip
equals "by name and class, both" "$film_clip" "$(cat "$out")"
exits 0 "by state" pgpu cancel --state pending --as web
equals "those that wait" "$web $other" "$(sort -n "$out" | paste -sd ' ')"
exits 0 "a filter that nothing fits" pgpu cancel --name nobody
equals "cancels nothing" '' "$(cat "$out" "$err")"
exits 2 "ids beside --all" pgpu cancel --all "$running"
equals "is refused" "pgpu: cancel: either ids or --all" "$(cat "$err")"
exits 2 "a state that is none" pgpu cancel --state runnig
equals "the nearest right state" "pgpu: cancel: unknown state 'runnig', did you mean 'running'?" "$(cat "$err")"
equals "nothing else was cancelled" "$running" "$(ids)"

open_gate a
pgpu wait "$running"
equals "the job has ended by itself" 0 $?
check "and got its signals" grep -q got usr1

# A blocking run has its wrapper; from inside a job it works as well.
pgpu run --as film -J block -- sh -c "trap 'exit 7' TERM; $(gate b); exit 3" 2>/dev/null &
wrapper=$!
reached b
run=$(ids --name block)
exits 0 "a signal for a run" pgpu cancel -s TERM --name block
wait $wrapper
equals "its trap" 7 $?
check "a run is known by its name" test -n "$run"
conf 'lanes = 2'
pgpu run -J deaf -- sh -c "trap 'exit 9' USR2; $(gate c)" 2>/dev/null &
wrapper=$!
reached c
exits 0 "from inside a job" pgpu run -- pgpu cancel --signal USR2 --name deaf
wait $wrapper
equals "from inside a job, too" 9 $?

# Of an array a filter chooses task by task.
array=$(pgpu submit -J strip -a 1-5 -- sleep 1000)
until_true sh -c '[ "$(pgpu queue --state running | grep -c strip)" = 2 ]'
held=${array}_4
pgpu hold "$held"
exits 0 "a dry run by state" pgpu cancel --dry-run --state pending --name strip
equals "the tasks that wait, and those that stand by themselves" "$array leaves the line
$held leaves the line" "$(sed 's/:.*//' "$out" | sort)"
exits 0 "by state, of the array" pgpu cancel --state pending "$array"
equals "those" "$array $held" "$(sort "$out" | paste -sd ' ')"
equals "and not those that run" "${array}_1 ${array}_2" "$(pgpu queue --json --state running | grep -o '"id":"[^"]*"' | cut -d '"' -f 4 | sort | paste -sd ' ')"
exits 0 "by name" pgpu cancel --name strip
equals "they as well" "${array}_1 ${array}_2" "$(sort "$out" | paste -sd ' ')"

# --all is all: standing jobs as well.
standing=$(pgpu submit --standing --hold -J service -- true)
exits 0 "cancel --all" pgpu cancel --all
equals "takes standing jobs along" "$standing" "$(cat "$out")"
exits 0 "states may be written as Slurm does" pgpu queue --state PENDING,cd
finish
