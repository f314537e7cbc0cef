#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Boots of systemd with the older trees of cgroups: beside the v1 ones an empty v2 tree (hybrid), or none (legacy). A
# job runs, and what is missing is said.
# scenes: hybrid legacy
. "$(dirname "$0")/lib.sh"
rm -f "$XDG_RUNTIME_DIR"/pgpu/said-*
watched='the memory ceiling is watched, not enforced by the kernel; processes not limited'

check "memory is of a v1 tree" [ -e /sys/fs/cgroup/memory/memory.limit_in_bytes ]
exits 3 "a job runs" pgpu run -- sh -c 'exit 3'
if [ "$SCENE" = hybrid ]; then
	matches "with a line that says what is missing, and why" \
		"^pgpu: $watched: the memory controller is not enabled in /sys/fs/cgroup/unified/" "$(cat "$err")"
	matches "status says the same" "^cells: freezer and kill; $watched: the memory controller" "$(pgpu status | tail -n 1)"
	matches "it has a cell in the v2 tree" '^/user\.slice/.*/pgpu\.[0-9-]+\.scope/pgpu-[0-9a-f-]+$' \
		"$(pgpu run -q -- sed -n 's/^0:://p' /proc/self/cgroup)"
else
	missing="children may escape; SIGSTOP stands in for the freezer; $watched"
	matches "with a line that says what is missing, and why" "^pgpu: no cell: $missing: no cgroup v2 is mounted here\$" "$(cat "$err")"
	matches "status says the same" "^cells: none: $missing: no cgroup v2" "$(pgpu status | tail -n 1)"
fi
exits 0 "a second job" pgpu run -- true
equals "does not say it again" "" "$(cat "$err")"
exits 137 "a job above its ceiling ends" pgpu run -m 64M -- python3 -c 'import time; kept = bytearray(200 << 20); time.sleep(1000)'
matches "by the watch, and that is said" 'at its memory ceiling of 64M .*; watched, not enforced by the kernel' "$(cat "$err")"
mkfifo ready
exits 0 "a job leaves a daemon" pgpu run -q -- sh -c 'setsid sh -c "sleep 1000 & echo \$! >ready; wait" & read -r pid <ready; echo $pid >pid'
gone "which is ended" "$(cat pid)"
id=$(pgpu submit -- sh -c 'exit 5')
exits 5 "a spooled job runs" pgpu wait "$id"
equals "nothing is left of them" "" "$(cells)"
finish
