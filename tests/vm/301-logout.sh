#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# A user logs out while a spooled job runs and another waits, lingering or not: the queue is worked off all the same.
# scenes: root
. "$(dirname "$0")/lib.sh"
cp "$BUILD/pgpu" "$SANDBOX" && chmod 755 "$SANDBOX" || exit 1

# log_out USER PLACE: the scene, with a job whose cgroup is to match PLACE.
log_out()
{
	local first second pid
	gate_pipes "$1"
	chmod 666 "$SANDBOX/$1".*
	login "$1" "mkdir -p .config/pgpu && echo 'lanes = 1' >.config/pgpu/pgpu.conf"
	first=$(login "$1" "pgpu submit -- sh -c 'echo \$\$ >pid; $(gate "$1")'")
	second=$(login "$1" "pgpu submit -- sh -c 'exit 3'")
	reached "$1"
	ok "C023 $1: a submit over ssh returns while its job runs"
	until_true no_session "$1"
	pid=$(cat "/home/$1/pid")
	check "$1: the job runs when its user has logged out" alive "$pid"
	matches "$1: where it should" "$2" "$(sed -n 's/^0:://p' "/proc/$pid/cgroup")"
	open_gate "$1"
	exits 0 "$1: it ends as it likes" login "$1" "pgpu wait $first"
	exits 3 "$1: and so does the one behind it" login "$1" "pgpu wait $second"
	matches "$1: neither was started twice" '"restarts":0.*"restarts":0' "$(login "$1" "pgpu show --json $first $second" | paste -s)"
}

log_out other '/session-[0-9a-z]+\.scope$'
log_out pgpu '/user@1000\.service/app\.slice/pgpu\.[0-9-]+\.scope/pgpu-[0-9a-f-]+$'
finish
