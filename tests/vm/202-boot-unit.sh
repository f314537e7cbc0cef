#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# With the installed unit the queue goes on after a power cut without any call of pgpu.
# scenes: host
# shellcheck disable=SC2016 # for the machine's shell
. "$(dirname "$0")/lib.sh"
machine=$REPO/tests/vm/machine
stage=$SANDBOX/stage disk=$SANDBOX/disk
make -s -C "$REPO" install BUILD="$BUILD" PREFIX=/usr/local DESTDIR="$stage" || exit 1

exits 0 "two jobs are spooled, and the power goes" "$machine" run --disk "$disk" --cut-on 'cut here' --src "$stage" -- bash -c '
	sudo cp -r usr /
	cd && mkdir -p .config/pgpu && echo "lanes = 1" >.config/pgpu/pgpu.conf && mkfifo begun ended
	systemctl --user daemon-reload && systemctl --user enable --now pgpu-rescue.timer
	pgpu submit -- sh -c "echo first >>ran; [ \$(grep -c first ran) -gt 1 ] || { echo >begun; sleep 1000; }"
	read -r _ <begun
	pgpu submit -- sh -c "echo second >>ran; echo >ended"
	sync
	echo cut here
	sleep 1000'
exits 0 "after the boot they run by themselves" "$machine" run --disk "$disk" --timeout 300 --src "$stage" -- bash -c '
	cd; read -r _ <ended
	pgpu wait 1 2 && pgpu show --json 1 2 && pgpu run -q -- sed -n s/^0:://p /proc/self/cgroup
	systemctl --user show -p Result pgpu-rescue.service'
matches "the one that ran is restarted once, the other not" '"restarts":1.*"restarts":0' "$(paste -s "$out")"
matches "the unit ended well" 'Result=success' "$(cat "$out")"
finish
