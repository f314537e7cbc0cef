#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Jobs that are kept from starting, and let go.
. "$(dirname "$0")/lib.sh"
conf 'lanes = 1'

# spooled STATE: the records' names there, without what tells classes apart.
spooled() { find "$XDG_STATE_HOME"/pgpu/*/"$1" -type f -printf '%f\n' | sed 's/:render:work//' | sort; }

first=$(pgpu submit -H -- sh -c 'echo first >>order.txt')
equals "a held job's record says so" "$first:0:h" "$(spooled pending)"
matches "it waits, and why" "^ *$first PD .* pgpu release $first lets it go" "$(pgpu queue | grep "$first")"
matches "in JSON" '"state":"pending","reason":"held"' "$(pgpu queue --json)"
matches "status counts it" 'waiting: 1, 1 of them held' "$(pgpu status)"
equals "nobody watches for it" "" "$(sandbox_pids)"
second=$(pgpu submit -- sh -c 'echo second >>order.txt')
exits 0 "a later one goes first" pgpu wait "$second"
exits 0 "released" pgpu release "$first"
exits 0 "it runs" pgpu wait "$first"
equals "after the one that was not held" $'second\nfirst' "$(cat order.txt)"
exits 1 "an ended job is not held" pgpu hold "$first"
matches "and why" "^pgpu: cannot hold job $first: it has ended$" "$(cat "$err")"

a=$(pgpu submit -- sh -c "$(gate a)")
reached a
b=$(pgpu submit -- sh -c 'echo b >>two')
c=$(pgpu submit -- sh -c "echo c >>two; $(gate c)")
exits 1 "one of three cannot be held" pgpu hold "$b" "$a" "$b"
equals "the others are, and silently" "pgpu: cannot hold job $a: it runs" "$(cat "$out" "$err")"
equals "the name says so" "$b:0:h"$'\n'"$c:0" "$(spooled pending)"
matches "held ones come last" "$c.*$b" "$(pgpu queue | tr '\n' ' ')"
open_gate a
reached c
exits 0 "it goes back to its place" pgpu release "$b"
open_gate c
exits 0 "and runs" pgpu wait "$b"
equals "each once" $'c\nb' "$(cat two)"

pgpu run -q -- sh -c "$(gate r)" &
reached r
pgpu run -q -- true &
until_true queue_shows ' PD '
waits=$(pgpu queue --state PD | awk '/PD/ { print $1 }')
exits 1 "a run is not held" pgpu hold "$waits"
matches "and why" "it is no spooled job that waits" "$(cat "$err")"
open_gate r
wait
exits 1 "an unknown id" pgpu release 4711
matches "says so" "^pgpu: cannot release job 4711: no such id$" "$(cat "$err")"
exits 2 "no id at all" pgpu hold
exits 2 "a word" pgpu release 12 twelve
matches "is named" "release: .*twelve" "$(cat "$err")"

printf -- '---\nhold: true\n---\n#!/bin/sh\necho inside >inside\n' >held.yaml
id=$(pgpu submit held.yaml)
matches "a header's hold" "$id:0:h" "$(spooled pending)"
exits 0 "a job lets another go" pgpu run -q -- pgpu release "$id"
exits 0 "which starts by itself" pgpu wait "$id"
other=$(pgpu submit -H -- true)
exits 0 "and holds one" pgpu run -q -- sh -c "pgpu release $other && pgpu hold $other"
matches "that waits" "$other:0:h" "$(spooled pending)"
exits 0 "a held job is cancelled" pgpu cancel "$other"
matches "and has ended so" '"state":"cancelled"' "$(pgpu show --json "$other")"
printf 'hold: maybe\ncommand: true\n' >wrong.yaml
exits 2 "a word that is none" pgpu submit wrong.yaml
matches "with its place" "wrong.yaml:1:7: hold: 'maybe' is not true or false" "$(cat "$err")"

conf $'lanes = 1\nlost-limit = 2'
# shellcheck disable=SC2016 # the job's shell reads it
id=$(pgpu submit -- sh -c 'echo go >>starts; [ $PGPU_RESTART_COUNT = 2 ] || { kill -KILL $GPU_QUEUE_PID; read _; }')
until_true queue_shows 'its worker or the machine died 2 times'
matches "one that was lost too often is held" "$id:2:h" "$(spooled pending)"
exits 0 "a person lets it go" pgpu release "$id"
exits 0 "it ends as it should" pgpu wait "$id"
equals "after three starts" 3 "$(wc -l <starts)"
lacks "and nothing is said of the losses" "died" "$(pgpu show "$id")"
finish
