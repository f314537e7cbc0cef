#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# nice: who is later, or earlier, among the jobs of one session and class, and of nobody else.
. "$(dirname "$0")/lib.sh"
conf 'lanes = 1'

spool() { pgpu submit --name "$1" "${@:2}" -- sh -c "echo $1 >>$SANDBOX/work/order" >>ids; }
listed()
{
	pgpu queue --json | python3 -c '
import json, sys
print(*[job["name"] for job in json.load(sys.stdin) if job["state"] == "pending"])'
}

pgpu run -q -- sh -c "$(gate a)" &
reached a
spool late --as one --nice 10
spool first --as one
spool other --as two --nice -100
spool clip --as one -p clip
spool early --as one --nice=-1
spool second --as one
spool last --as one --nice 2147483645
# "late" came first of all, so its session goes first; what it gets goes to the least nice of it.
wanted='early other first second late clip last'
shown=$(listed)
names=$(find "$XDG_STATE_HOME"/pgpu/*/pending -type f -printf '%f\n' | grep ':n' | sed 's/^[0-9]*://' | sort | paste -sd ' ')
equals "the names say it" "render:one:0:n-1 render:one:0:n10 render:one:0:n2147483645 render:two:0:n-100" "$names"
open_gate a
wait
xargs pgpu wait <ids
equals "as the queue had shown it, they ran" "$shown" "$(paste -sd ' ' order)"
equals "the least nice of a class first, and no other session or class later for it" "$wanted" "$shown"

printf -- '---\nnice: -7\n---\n#!/bin/sh\ntrue\n' >nice.job
matches "a header's key" $'\nnice: -7\n' "$(pgpu submit --dry-run nice.job)"
matches "the option wins" $'\nnice: 3\n' "$(pgpu submit --dry-run --nice 3 nice.job)"
lacks "0 is not written" 'nice' "$(pgpu submit --dry-run --nice 0 -- true)"
for wrong in 2147483646 -2147483646 1.5 +1 x ''; do
	exits 2 "no nice: '$wrong'" pgpu submit --nice "$wrong" -- true
done
matches "and why" '^pgpu: submit: nice: ' "$(cat "$err")"
id=$(pgpu submit -H --nice 4 -- true)
matches "show" $'\nnice       4\n' "$(pgpu show "$id")"$'\n'
matches "in JSON" '"nice":4' "$(pgpu show --json "$id")"
finish
