#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# systemd gives a place for cells, once a login; a job starts straight into its cell there, and neither asks nor moves.
# scenes: manager ssh root
. "$(dirname "$0")/lib.sh"

own() { sed -n 's/^0:://p' /proc/self/cgroup; }
cell='/pgpu\.[0-9-]+\.scope/pgpu-[0-9a-f-]+$'

matches "the login is in a scope of ours, one step below its top" '/pgpu\.[0-9-]+\.scope/callers$' "$(own)"
matches "cells with all they can do" '"cells":\{"available":true,"memory":true,"freezer":true,"processes":true,"vram":(true|false),"reason":null\}' "$(pgpu status --json)"
matches "a job runs in its cell" "$cell" "$(pgpu run -q -- sed -n 's/^0:://p' /proc/self/cgroup)"
id=$(pgpu submit -o spooled.out -- sed -n 's/^0:://p' /proc/self/cgroup) && pgpu wait "$id"
matches "a spooled job too" "$cell" "$(cat spooled.out)"
# shellcheck disable=SC2016 # the job's own shell
equals "the cell has its limits" "67108864 0 1" "$(pgpu run -q -m 64M -- sh -c \
	'cd "/sys/fs/cgroup$(sed -n s/^0:://p /proc/self/cgroup)" && echo $(cat memory.max memory.swap.max memory.oom.group)')"

strace -f -o trace -e trace=execve,openat pgpu run -q -- true
equals "C095 a later start asks nobody" "" "$(grep busctl trace)"
equals "C095 and moves no process" "" "$(grep 'cgroup.procs' trace)"

# Whoever was first was killed before the place was furnished: the next job does it.
scope=/sys/fs/cgroup$(own) scope=${scope%/callers}
echo '-memory' >"$scope/cgroup.subtree_control"
exits 0 "a job where the place is half made" pgpu run -q -- true
matches "makes it whole" 'memory' "$(cat "$scope/cgroup.subtree_control")"

# Another login: several first jobs at the same moment.
setsid -w bash -c 'for i in 1 2 3; do pgpu run -q -- sed -n "s/^0:://p" /proc/self/cgroup >"first.$i" & done; wait'
for i in 1 2 3; do matches "first job $i of a new session has a cell" "$cell" "$(cat "first.$i")"; done
equals "a login leaves no scope with nothing in it" "" \
	"$(find /sys/fs/cgroup -name 'pgpu.*.scope' -exec grep -l 'populated 0' {}/cgroup.events \; 2>/dev/null)"
equals "and no note" "" "$(find "$XDG_RUNTIME_DIR/pgpu" -name "asked-*")"
finish
