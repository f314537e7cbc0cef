#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Blocking and spooled jobs in one line: the contract's order, never more jobs than lanes, each job once, and the queue goes on
# by itself after the last call (I1, I3, I5, C089).
. "$(dirname "$0")/lib.sh"

# note WHAT: text of a job that notes WHAT in the file `order`, one write, whole lines.
note() { printf 'echo %s >> %s/work/order' "$1" "$SANDBOX"; }
spool() { pgpu submit --name "$1" "${@:2}" -- sh -c "$(note "$1")" || not_ok "submit $*"; }
block()
{
	pgpu run --name "$1" "${@:2}" -- sh -c "$(note "$1")" 2>"$SANDBOX/$1.err" &
	until_true queue_shows "$1"
}

conf 'lanes = 1'
pgpu run -- sh -c "$(gate a)" &
reached a
{
	spool search -p search --as s1
	spool render1 -p render --as s1
	spool render2 -p render --as s1
	spool other -p clip --as s2
} >ids
block now -p interactive --as s1
block test -p test --as s3
wanted=$(pgpu queue --json | python3 -c '
import json, sys
print(*[job["name"] for job in json.load(sys.stdin) if job["state"] == "pending"])')
open_gate a
wait
# shellcheck disable=SC2046 # ids as words
pgpu wait $(cat ids)
# `now` comes first by its rank, and its session is then the one served last.
equals "the line's order is rank, then session, then arrival" 'now other test render1 render2 search' "$(paste -sd ' ' order)"
equals "and queue had shown it" "$wanted" "$(paste -sd ' ' order)"

# Every job notes its begin and its end; between them stand never more than `lanes` others.
for lanes in 1 2 3; do
	conf "lanes = $lanes"
	: >order
	: >ids
	for ((job = 1; job <= 25; job++)); do
		pgpu submit -- sh -c "echo + >>$PWD/order; echo - >>$PWD/order" >>ids
		pgpu run -q -- sh -c "echo + >>$PWD/order; echo - >>$PWD/order" &
	done
	wait
	xargs pgpu wait <ids
	equals "$lanes lanes: 50 jobs, each once" '50 50' "$(grep -c + order) $(grep -c -- - order)"
	most=$(awk '{ now += $1 == "+" ? 1 : -1; if (now > most) most = now } END { print most }' order)
	check "$lanes lanes: never more than $lanes at a time ($most)" test "$most" -le $lanes
done

# The queue left alone: no call of pgpu after the last submit; the last job opens its own gate for us.
conf 'lanes = 1'
: >order
pgpu submit -- sh -c "$(gate first)" >ids
reached first
for ((job = 1; job <= 50; job++)); do
	pgpu submit --as "t$((job % 3))" -- sh -c "$(note "$job")" >>ids
done
pgpu submit -p search --as z -- sh -c "$(gate last)" >>ids
open_gate first
reached last
equals "50 spooled jobs all ran with the queue left alone" 50 "$(sort -n order | uniq -c | awk '$1 == 1' | wc -l)"
equals "in turns of their sessions" '1 2 0' "$(head -n 3 order | awk '{ print $1 % 3 }' | paste -sd ' ')"
equals "and in order within each" '' "$(for session in 0 1 2; do
	awk -v s=$session '$1 % 3 == s' order | sort -nc 2>&1
done)"
open_gate last
xargs pgpu wait <ids
equals "and all ended well" '' "$(pgpu queue --all --json | python3 -c '
import json, sys
print(*[job["id"] for job in json.load(sys.stdin) if job["state"] not in ("completed",)])')"

# A run that has waited long enough takes the better rank (turns-as-after-wait), and goes before who has not.
conf $'lanes = 1\nclass "old" { rank = 5  budget = "1m"  turns-as = "top"  turns-as-after-wait = "0.001s" }
class "top" { rank = 1  budget = "1m" }\nclass "mid" { rank = 3  budget = "1m" }'
: >order
pgpu run -q -- sh -c "$(gate holder)" &
reached holder
pgpu run -q -p old -J old -- sh -c 'echo old >>order' &
until_true queue_shows 'PD .* old '
pgpu run -q -p mid -J mid -- sh -c 'echo mid >>order' &
until_true queue_shows 'PD .* mid '
open_gate holder
wait
equals "one that has waited long enough goes before a better rank" 'old mid' "$(paste -sd ' ' order)"
finish
