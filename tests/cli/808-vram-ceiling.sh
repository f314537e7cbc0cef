#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# A ceiling for the card's memory: the kernel's where it has one, else it is watched and said.
. "$(dirname "$0")/lib.sh"

tree=$SANDBOX/tree
card=$tree/sys/class/drm/card0/device
mkdir -p "$card" "$tree/proc"
printf 'DRIVER=amdgpu\nPCI_SLOT_NAME=0000:03:00.0\n' >"$card/uevent"
echo $((16 << 30)) >"$card/mem_info_vram_total"
echo $((1 << 30)) >"$card/mem_info_vram_used"
export PGPU_PROCFS=$tree/proc PGPU_SYSFS=$tree/sys
of() { python3 -c "import json, sys; s = json.load(sys.stdin); print($1)"; }
holder()
{
	mkdir -p "$tree/proc/$1/fdinfo"
	echo python3 >"$tree/proc/$1/comm"
	printf '%s (x) S 1 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 500 0 0\n' "$1" >"$tree/proc/$1/stat"
	printf 'drm-driver:\tamdgpu\ndrm-client-id:\t1\ndrm-pdev:\t0000:03:00.0\ndrm-memory-vram:\t%s MiB\n' "$2" >"$SANDBOX/fdinfo"
	mv "$SANDBOX/fdinfo" "$tree/proc/$1/fdinfo/3"
}

conf $'lanes = 2\nvram-settle = "0"\nclass "small" { rank = 1  budget = "1h"  vram-max = "2G" }'
exits 2 "a bare number is refused" pgpu run --vram-max 12 -- true
matches "by its key" '^pgpu: vram-max: ' "$(cat "$err")"
matches "a header's" 'vram-max: 3G' "$(printf -- '---\nvram-max: 3G\n---\n#!/bin/sh\n' | pgpu submit --dry-run -)"
matches "an option's wins" 'vram-max: 4G' "$(printf -- '---\nvram-max: 3G\n---\n#!/bin/sh\n' | pgpu submit --dry-run --vram-max 4G -)"
matches "and its class's" 'vram-max: 2G' "$(pgpu submit --dry-run -p small -- true)"
lacks "others have none" vram-max "$(pgpu submit --dry-run -- true)"
matches "the configuration prints it" 'vram-max = "2G"' "$(pgpu conf)"

enforced=$(pgpu status --json | of "s['cells']['vram']")
pgpu run --vram-max 1G -- sh -c "$(gate over)" 2>"$SANDBOX/over.err" & waiter=$!
reached over
job=$(main_of sh)
equals "the lane has the ceiling" 1073741824 "$(pgpu status --json | of "s['lanes'][0]['vram_max_bytes']")"
holder "$job" 512
until_true grep -q '^on-card 536870912' "$XDG_STATE_HOME"/pgpu/*/boot-*/lane-0
equals "below it nothing is said" '' "$(grep ceiling "$SANDBOX/over.err")"
matches "the lane's line has both" 'VRAM 512M of 1\.0G' "$(pgpu status)"
if [ "$enforced" = True ]; then
	cell=$(pgpu show --json "$(pgpu status --json | of "s['lanes'][0]['job']")" | of "s['cell']")
	matches "the kernel has it" '/vram[0-9]* 1073741824' "$(cat "$cell/dmem.max")"
	skip "a ceiling that is watched" "the kernel keeps it here"
else
	equals "status says that it is not enforced" "vram-max: watched, not enforced by the kernel: no dmem controller for cells" "$(pgpu status | grep ^vram-max)"
	holder "$job" 2048
	until_true grep -q '^on-card 2147483648' "$XDG_STATE_HOME"/pgpu/*/boot-*/lane-0
	holder "$job" 3072
	until_true grep -q '^on-card 3221225472' "$XDG_STATE_HOME"/pgpu/*/boot-*/lane-0
	matches "above it one line says so, once" '^pgpu: job [0-9]+ has 2\.0G of the card.s memory, above its ceiling of 1\.0G; watched, not enforced by the kernel$' "$(grep ceiling "$SANDBOX/over.err")"
fi
check "and nothing is stopped" alive "$job"
open_gate over
wait $waiter
equals "it ends by itself" 0 $?
conf 'lanes = 2'
pgpu run -q -- true
lacks "where nobody asks for one status has no word of it" vram-max "$(pgpu status)"
id=$(pgpu submit -q --vram-max 1G -- true)
exits 0 "a spooled job with a ceiling runs" pgpu wait "$id"
finish
