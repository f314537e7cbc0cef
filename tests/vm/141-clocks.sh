#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Run-time limits and clocks: somebody sets the clock while a job runs, forward and back, and the machine is suspended.
# scenes: manager
# shellcheck disable=SC2317 # until_true calls some of these
. "$(dirname "$0")/lib.sh"

figure() { pgpu show --json "$1" | python3 -c 'import json, sys; print(json.load(sys.stdin)[sys.argv[1]])' "$2"; }
last_of() { pgpu queue --all --json | python3 -c 'import json, sys; print([job["id"] for job in json.load(sys.stdin) if job["name"] == sys.argv[1]][-1])' "$1"; }
# below NAME LIMIT FIGURE: 0 or more, and less than LIMIT.
below() { check "$1" awk -v limit="$2" -v figure="$3" 'BEGIN { exit !(figure != "None" && figure >= 0 && figure < limit) }'; }
set_clock() { sudo date -s "$1" | cat >"$SANDBOX/date"; }

conf $'lanes = 2\nstall-after = "1h"\ngrace = "1s"'
now=$(date +%s)
monotonic=$(cut -d. -f1 /proc/uptime)
# The right time, by a clock that nobody sets.
right() { echo "@$((now + $(cut -d. -f1 /proc/uptime) - monotonic))"; }

for by in +2days -2days; do
	pgpu run -q --name "set$by" --budget 30m --limit 1h -- sh -c "$(gate "set$by"); exit 6" & run=$!
	reached "set$by"
	pgpu run -q --name "ends$by" --limit 8s -- sh -c "$(gate "ends$by"); exec sleep 10000" & ends=$!
	reached "ends$by"
	set_clock "$by"
	open_gate "ends$by"
	wait $ends
	equals "$by: a limit comes when it would have come" 124 $?
	open_gate "set$by"
	wait $run
	equals "$by: and one of an hour is not over" 6 $?
	below "$by: the row of the first says how long it ran" 3600 "$(figure "$(last_of "ends$by")" ran_s)"
	below "$by: and of the second" 3600 "$(figure "$(last_of "set$by")" ran_s)"
	set_clock "$(right)"
done

# --- C031: a suspended machine ---
# How many seconds it has been suspended so far.
suspended() { python3 -c 'import time; print(int(time.clock_gettime(time.CLOCK_BOOTTIME) - time.clock_gettime(time.CLOCK_MONOTONIC)))'; }
# suspend SECONDS: the clock on its board wakes it.
suspend() { sudo sh -c "echo +$1 >/sys/class/rtc/rtc0/wakealarm && echo mem >/sys/power/state"; }

conf $'lanes = 3\nstall-after = "50s"\ngrace = "1s"'
pgpu run -q --name goes-on --limit 50s -- sh -c "$(gate goes-on); exit 6" & run=$!
reached goes-on
pgpu run -q --name ends --limit 15s -- sleep 10000 & ends=$!
until_true queue_shows 'R .*ends'
dated=$(pgpu submit -q -b now+30s -- true)
if ! suspend 60 || [ "$(suspended)" -lt 55 ]; then
	skip "C031 a suspended machine" "it cannot be"
	finish
fi
exits 0 "C031 one whose time came meanwhile starts" timeout 60 pgpu wait "$dated"
open_gate goes-on
wait $run
equals "C031 a job sleeps through a suspension longer than its limit and stall-after" 6 $?
wait $ends
equals "C031 a limit goes on counting after it" 124 $?
below "C031 and the row has the time awake alone" 60 "$(figure "$(last_of goes-on)" ran_s)"
below "C031 of both" 60 "$(figure "$(last_of ends)" ran_s)"
finish
