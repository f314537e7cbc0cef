#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# A lane goes on when the card's memory of the job before is free again. The card is a tree in place of /proc and /sys.
# shellcheck disable=SC2317,SC2154 # until_true calls some of these; `starts` sets pid_NAME
. "$(dirname "$0")/lib.sh"

tree=$SANDBOX/tree
card=$tree/sys/class/drm/card0/device
mkdir -p "$card" "$tree/proc"
printf 'DRIVER=amdgpu\nPCI_SLOT_NAME=0000:03:00.0\n' >"$card/uevent"
G=$((1 << 30))
echo $((16 * G)) >"$card/mem_info_vram_total"
used() { echo $(($1 * G)) >"$SANDBOX/used" && mv "$SANDBOX/used" "$card/mem_info_vram_used"; }
export PGPU_PROCFS=$tree/proc PGPU_SYSFS=$tree/sys
# holder PID NAME CLIENT GIGABYTES
holder()
{
	mkdir -p "$tree/proc/$1/fdinfo"
	printf '%s\n' "$2" >"$tree/proc/$1/comm"
	printf '%s (x) S 1 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 500 0 0\n' "$1" >"$tree/proc/$1/stat"
	printf 'drm-driver:\tamdgpu\ndrm-client-id:\t%s\ndrm-pdev:\t0000:03:00.0\ndrm-memory-vram:\t%s MiB\n' "$3" $(($4 * 1024)) >"$tree/proc/$1/fdinfo/3"
}
seen() { grep -q '^looked' "$XDG_STATE_HOME"/pgpu/*/boot-*/lane-0; }
# has NAME CLIENT GIGABYTES: the job on the lane has so much, and its watcher has seen it.
has() { holder "$(main_of "$1")" python3 "$2" "$3"; until_true seen; }
# job NAME CODE [free]: one that is gone from the made /proc when it ends, and whose memory is free then.
job()
{
	printf '%s; rm -r %s/proc/$$; %s exit %s' "$(gate "$1")" "$tree" "${3:+echo $G >$card/mem_info_vram_used;}" "$2"
}
starts() { pgpu run -J "$1" -- sh -c "$(job "$1" 3 "${2-}")" 2>"$SANDBOX/$1.err" & declare -g "pid_$1=$!"; reached "$1"; }
status_shows() { pgpu status | grep -qE -- "$1"; }

conf $'lanes = 1\nvram-settle = "1h"'
used 1

# --- C041: the next job waits for the bytes ---
starts first
used 5
has first 1 4
pgpu run -q -J second -- sh -c "$(gate second)" & second=$!
until_true queue_shows 'PD .* second'
open_gate first
until_true status_shows '^lane 0: job [0-9]+ first .* completing .*, has ended; 4\.0G of the card.s memory is not free yet$'
ok "C041 a job that has ended keeps its lane while its memory of the card is in use"
matches "queue says why" 'CG .* first .* on lane 0, has ended; 4\.0G' "$(pgpu queue)"
matches "in JSON too" '"state":"completing","reason":"has ended; 4\.0G' "$(pgpu queue --json)"
matches "and the next one waits" 'PD .* second' "$(pgpu queue)"
exits 75 "nobody goes past it" pgpu run -q --no-wait -- true
used 1
reached second
ok "C041 when the bytes are free the next one starts"
wait "$pid_first"
equals "the job's own code is kept" 3 $?
equals "and nothing is said" '' "$(cat "$SANDBOX/first.err")"
open_gate second
wait "$second"

# --- a spooled job: over, and on file, while the lane waits ---
id=$(pgpu submit -q -J night -- sh -c "$(job night 4)")
reached night
used 5
has night 2 4
open_gate night
exits 4 "a spooled job has ended" pgpu wait "$id"
check "while its lane waits" status_shows '^lane 0: job [0-9]+ night .* completing'
matches "which both lists have" "\"id\":\"$id\",\"state\":\"completing\"" "$(pgpu queue --json)"
exits 1 "it cannot be cancelled any more" pgpu cancel --no-wait "$id"
equals "and no order is left for its next start" '' "$(ls "$XDG_STATE_HOME"/pgpu/*/orders)"
worker=$(awk '$1 == "owner" { print $2 }' "$XDG_STATE_HOME"/pgpu/*/boot-*/lane-0)
kill -KILL "$worker"
exits 0 "its worker killed meanwhile: the lane goes on" pgpu run -q --max-wait 60s -- true
matches "and the job has ended once" '"state":"failed".*"restarts":0' "$(pgpu show --json "$id")"
used 1

# --- a bound, or none ---
conf $'lanes = 1\nvram-settle = "0.1s"'
starts bounded
used 5
has bounded 3 4
open_gate bounded
exits 0 "memory that does not come back holds nobody up for ever" pgpu run -q --max-wait 60s -- true
conf $'lanes = 1\nvram-settle = "0"'
starts off
has off 4 4
open_gate off
exits 0 "0: not waited for" pgpu run -q --max-wait 60s -- true
conf $'lanes = 1\nvram-settle = "1h"'
pgpu run -q -- true
exits 0 "a job that had nothing of the card leaves at once, however full that is" pgpu run -q --max-wait 60s -- true
starts broken
has broken 5 4
open_gate broken
until_true status_shows 'lane 0: job .* broken .* completing'
kill -TERM "$pid_broken"
wait "$pid_broken"
equals "a signal ends the wait, and the code is the job's" 3 $?
used 1

# --- who is left with the card ---
starts forked free
used 5
has forked 6 4
pgpu run -q -J behind -- sh -c "$(gate behind)" & behind=$!
until_true queue_shows 'PD .* behind'
holder 2147483001 $'loader\e[31m' 6 0
open_gate forked
until_true status_shows '^lane 0: job .* forked .* completing .*, has ended; process 2147483001 of it still has the card open$'
ok "C041 a process that has a client of the job's is waited for"
rm -r "$tree/proc/2147483001"
reached behind
ok "C041 and when it has gone the next one starts"
wait "$pid_forked"
matches "one line names it" '^pgpu: job [0-9]+ has ended; its process 2147483001 \(loader.\[31m\) still has the card open$' "$(cat "$SANDBOX/forked.err")"
open_gate behind
wait "$behind"
holder 2147483002 compositor 77 1
id=$(pgpu submit -q -J spooled -- sh -c "$(job spooled 0 free)")
reached spooled
used 5
has spooled 8 4
holder 2147483003 loader 8 0
open_gate spooled
exits 0 "of a spooled job" pgpu wait "$id"
matches "it is its reason" "\"state\":\"completed\",\"reason\":\"job $id has ended; its process 2147483003 \(loader\) still has the card open\"" "$(pgpu show --json "$id")"
rm -r "$tree/proc/2147483003"
exits 0 "others' clients hold nobody up" pgpu run -q --max-wait 60s -- true

# A process that left the cell and has another client is known by its mark.
top=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts)
if [[ $(pgpu status) = *'cells: none'* ]] || [ ! -w "$top/cgroup.procs" ]; then
	skip "a process that left the cell and opened the card anew" "no cells here, or not root"
else
	conf $'lanes = 1\nvram-settle = "0.1s"'
	pgpu run -J left -- sh -c "sh -c 'echo \$\$ >$top/cgroup.procs; echo \$\$ >$SANDBOX/left; exec sleep 600' & $(job left 0 free)" 2>"$SANDBOX/left.err" & waiter=$!
	reached left
	until_true test -s "$SANDBOX/left"
	has left 9 4
	left=$(cat "$SANDBOX/left")
	until_true grep -qx sleep "/proc/$left/comm"
	holder "$left" sleep 10 0
	open_gate left
	wait "$waiter"
	matches "a process that left the cell and opened the card anew is named" "its process $left \(sleep\) still has the card open" "$(cat "$SANDBOX/left.err")"
	kill -KILL "$left"
fi
finish
