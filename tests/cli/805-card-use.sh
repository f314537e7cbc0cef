#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# How much of the card each job has, as its watcher sees it: in `status`, `show` and the log. The card is a tree in place
# of /proc and /sys.
# shellcheck disable=SC2317 # until_true calls some of these
. "$(dirname "$0")/lib.sh"

tree=$SANDBOX/tree
card=$tree/sys/class/drm/card0/device
mkdir -p "$card" "$tree/proc"
printf 'DRIVER=amdgpu\nPCI_SLOT_NAME=0000:03:00.0\n' >"$card/uevent"
echo $((16 << 30)) >"$card/mem_info_vram_total"
echo $((1 << 30)) >"$card/mem_info_vram_used"
export PGPU_PROCFS=$tree/proc PGPU_SYSFS=$tree/sys

# holder PID CLIENT SECONDS [START]: a process that had so much of the card's time, and has 2 MiB of its memory.
holder()
{
	mkdir -p "$tree/proc/$1/fdinfo"
	printf 'python3\n' >"$tree/proc/$1/comm"
	printf '%s (x) S 1 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 %s 0 0\n' "$1" "${4-500}" >"$tree/proc/$1/stat"
	printf 'drm-driver:\tamdgpu\ndrm-client-id:\t%s\ndrm-pdev:\t0000:03:00.0\ndrm-memory-vram:\t2 MiB\ndrm-engine-gfx:\t%s000000000 ns\n' \
		"$2" "$3" >"$SANDBOX/fdinfo"
	mv "$SANDBOX/fdinfo" "$tree/proc/$1/fdinfo/3"
}
of() { python3 -c "import json, sys; s = json.load(sys.stdin); print($1)"; }
lane() { pgpu status --json | of "s['lanes'][0]['$1']"; }
lane_is() { [ "$(lane "$1")" = "$2" ]; }
shows() { [ "$(pgpu show --json "$id" | of "s['$1']")" = "$2" ]; }
# The columns gpu_s and outcome of a job's last row.
row() { awk -F '\t' -v id="$1" '$2 == id { row = $12 " " $15 } END { print row }' "$XDG_STATE_HOME"/pgpu/*/log.tsv; }
starts() { pgpu run -q -- sh -c "$(gate "$1")" & waiter=$!; reached "$1"; id=$(lane job) job=$(lane pid); }
ends() { open_gate "$1"; wait $waiter; }

# --- a job that uses the card ---
starts busy
equals "a job that holds no card uses none of it" 0 "$(lane gpu_percent)"
lacks "which is no news" GPU "$(pgpu status)"
seconds=5
holder "$job" 1 $seconds
until_true shows gpu_s 5.0
ok "what its client had before the first look counts"
busier() { seconds=$((seconds + 1000)); holder "$job" 1 "$seconds"; lane_is gpu_percent 100; }
until_true busier
ok "an engine that was never idle is at 100"
settled() { holder "$job" 1 "$seconds"; lane_is gpu_percent 0; }
until_true settled
ok "one that did nothing between two looks is at 0"
matches "the lane's line has it" '^lane 0: .*, VRAM 2\.0M, GPU 0%$' "$(pgpu status | grep ^lane.0)"
equals "with the time in all" "$seconds.0" "$(pgpu show --json "$id" | of "s['gpu_s']")"
matches "for people too" "GPU +[0-9hms]+" "$(pgpu show "$id")"
holder "$job" 1 3
until_true lane_is gpu_percent None
ok "a counter that went back: unknown, not 0"
rm -r "$tree/proc/$job"
ends busy
equals "and the larger value is kept, of a client that has gone too" "$seconds.000 completed" "$(row "$id")"
matches "in the log's JSON" "\"gpu_s\": *$seconds\\.0+," "$(pgpu log --json | tail -n 3)"

# --- what is not known ---
starts rocm
mkdir -p "$tree/sys/class/kfd/kfd/topology/nodes/1" "$tree/sys/class/kfd/kfd/proc/$job/queues/0"
echo 4660 >"$tree/sys/class/kfd/kfd/topology/nodes/1/gpu_id"
printf 'domain 0\nlocation_id 768\nsimd_count 32\n' >"$tree/sys/class/kfd/kfd/topology/nodes/1/properties"
echo $((1 << 20)) >"$tree/sys/class/kfd/kfd/proc/$job/vram_4660"
printf 4660 >"$tree/sys/class/kfd/kfd/proc/$job/queues/0/gpuid"
holder "$job" 7 4
until_true grep -q "^looked" "$XDG_STATE_HOME"/pgpu/*/boot-*/lane-0
equals "who computes through the KFD has an unknown share" None "$(lane gpu_percent)"
equals "and an unknown time" None "$(pgpu show --json "$id" | of "s['gpu_s']")"
rm -r "$tree/sys/class/kfd"
ends rocm
equals "for good" " completed" "$(row "$id")"
pgpu run -q -- true
equals "a job too short to be looked at: unknown" " completed" "$(tail -n 1 "$XDG_STATE_HOME"/pgpu/*/log.tsv | cut -f 12,15 --output-delimiter=' ')"
pgpu run -q -- sleep 2
equals "one that was looked at and held no card: none" "0.000 completed" "$(tail -n 1 "$XDG_STATE_HOME"/pgpu/*/log.tsv | cut -f 12,15 --output-delimiter=' ')"

# --- whose client it is ---
starts handed
holder "$waiter" 9 50 400
holder "$job" 9 50 500
sed 's/^drm-client-id:.*/drm-client-id:\t10/; s/50000000000/3000000000/' "$tree/proc/$job/fdinfo/3" >"$SANDBOX/own"
mv "$SANDBOX/own" "$tree/proc/$job/fdinfo/4"
until_true shows gpu_s 3.0
ends handed
rm -r "$tree/proc"/[0-9]*
equals "what the caller left open is not the job's, nor is its time" "3.000 completed" "$(row "$id")"
finish
