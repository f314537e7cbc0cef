#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The power goes while one job runs and two wait: after the boot each is there, and rescue makes the queue go on.
# scenes: host
# shellcheck disable=SC2016 # for the machine's shell
. "$(dirname "$0")/lib.sh"
machine=$REPO/tests/vm/machine
stage=$SANDBOX/stage disk=$SANDBOX/disk
mkdir -p "$stage/build" && cp "$BUILD/pgpu" "$stage/build/" || exit 1

# boot OPTION VALUE SHELL-TEXT: boots from the disk, as the machine's OPTION says, and does what the text says.
# shellcheck disable=SC2317 # exits calls it
boot()
{
	"$machine" run --disk "$disk" "$1" "$2" --src "$stage" -- bash -c "PATH=\$PWD/build:\$PATH; cd; $3"
}

exits 0 "three jobs are spooled, and the power goes" boot --cut-on 'cut here' '
	mkdir -p .config/pgpu && echo "lanes = 1" >.config/pgpu/pgpu.conf && mkfifo begun
	pgpu submit --name first -- sh -c "echo first >>ran; echo >begun; [ \$(grep -c first ran) -gt 1 ] || sleep 1000"
	read -r _ <begun
	pgpu submit --name second -- sh -c "echo second >>ran"
	pgpu submit --name third -- sh -c "echo third >>ran"
	sync ran . .config .config/pgpu .config/pgpu/pgpu.conf # the files of the test; the queue sees to its own
	echo cut here
	sleep 1000'
equals "and their ids were told" "1 2 3" "$(grep -E '^[0-9]+$' "$out" | paste -sd ' ')"

# The first call after the boot looks at the records as they lie on disk, before anything of pgpu has run.
exits 0 "the machine boots again" boot --timeout 600 '
	ls .local/state/pgpu/*/pending .local/state/pgpu/*/running
	cat begun >/dev/null &
	pgpu rescue
	pgpu wait 1 2 3
	echo "waited: $?"
	pgpu show --json 1 2 3
	echo "ran: $(paste -sd " " ran)"
	find /sys/fs/cgroup -name "pgpu-*"'
said=$(cat "$out")
for job in 1 2 3; do
	matches "job $job is still there, and ends well" "\"id\":\"$job\"[^}]*\"state\":\"completed\"" "$said"
done
matches "the running one has begun twice" '"id":"1"[^}]*"restarts":1' "$said"
matches "the waiting ones once" '"id":"2"[^}]*"restarts":0.*"id":"3"[^}]*"restarts":0' "$said"
matches "in their order" 'ran: first first second third' "$said"
matches "and the queue goes on after rescue" 'waited: 0' "$said"
lacks "no cgroup is left" '/sys/fs/cgroup/' "$said"
finish
