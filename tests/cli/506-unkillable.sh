#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# C127: a process that SIGKILL does not end keeps its lane and no other. The v1 freezer makes one: what is frozen there
# dies only when it is thawed.
. "$(dirname "$0")/lib.sh"

tree=$(awk '$3 == "cgroup" && $4 ~ /(^|,)freezer(,|$)/ { print $2; exit }' /proc/mounts)
own_tree=
if [ -z "$tree" ] && own_tree=$(mktemp -d /tmp/pgpu-test-freezer.XXXXXX) &&
	mount -t cgroup -o freezer none "$own_tree" 2>/dev/null; then
	tree=$own_tree
fi
ice=$tree/pgpu-test-$$
if [ -z "$tree" ] || ! mkdir "$ice" 2>/dev/null; then
	skip "an unkillable process" "no v1 freezer to make one with"
	[ -z "$own_tree" ] || { umount "$own_tree" 2>/dev/null; rmdir "$own_tree"; }
	finish
fi

state() { echo "$1" >"$ice/freezer.state"; }
# shellcheck disable=SC2317 # until_true calls it
is_frozen() { grep -q FROZEN "$ice/freezer.state"; }
# shellcheck disable=SC2317 # the trap calls it
melt()
{
	state THAWED
	leave
	rmdir "$ice"
	[ -z "$own_tree" ] || { umount "$own_tree" && rmdir "$own_tree"; }
}
trap melt EXIT

# shellcheck disable=SC2317 # until_true calls it
cells_gone()
{
	local mount queue
	mount=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts)
	for queue in "$XDG_STATE_HOME"/pgpu/*; do
		[ -z "$(find "$mount" -type d -name "pgpu-$(printf %x "$(stat -c %i "$queue")")-*" 2>/dev/null)" ] || return 1
	done
}

# start_frozen: a spooled job that nothing can kill; its id in $id, its process in $pid.
start_frozen()
{
	id=$(pgpu submit --no-requeue -- sh -c "$(gate "$name"); exec sleep 1000")
	reached "$name"
	pid=$(main_of "$id")
	echo "$pid" >"$ice/cgroup.procs"
	state FROZEN
	until_true is_frozen
}

for cells in auto off; do
	conf $'lanes = 2\ngrace = "0"\n'"cells = \"$cells\""
	name=cancelled-$cells
	start_frozen
	exits 0 "cells = $cells: a job that cannot be killed is cancelled" pgpu cancel --no-wait "$id"
	until_true queue_shows "^ *$id CG .* on lane [01], blocked by unkillable pid $pid\$"
	matches "cells = $cells: its lane says so" "lane [01]: job $id .* completing .*, blocked by unkillable pid $pid" "$(pgpu status)"
	matches "cells = $cells: in JSON too" "\"id\":\"$id\",\"state\":\"completing\",\"reason\":\"blocked by unkillable pid $pid\"" "$(pgpu queue --json)"
	exits 0 "cells = $cells: the other lane works" pgpu run -q --no-wait -- true
	pgpu run -q -- sh -c "$(gate "other-$cells")" &
	reached "other-$cells"
	exits 75 "cells = $cells: the blocked one is not handed on" pgpu run -q --no-wait -- true
	open_gate "other-$cells"
	wait $!
	state THAWED
	exits 143 "cells = $cells: it ends when it can" pgpu wait "$id"
	until_true cells_gone
	check "cells = $cells: and the lane is free" pgpu run -q --no-wait -- true

	name=orphan-$cells
	start_frozen
	kill -KILL "$(sed -n 's/^PPid:[[:space:]]*//p' "/proc/$pid/status")"
	until_true queue_shows "^ *$id CG .* on lane [01], blocked by unkillable pid $pid\$"
	exits 0 "cells = $cells: what a dead worker left blocks no other lane" pgpu run -q --no-wait -- true
	state THAWED
	until_true eval 'pgpu show --json $id | grep -q lost'
	exits 125 "cells = $cells: it is cleared when it can be" pgpu wait "$id"
	until_true cells_gone
	ok "cells = $cells: nothing of it is left"
done
finish
