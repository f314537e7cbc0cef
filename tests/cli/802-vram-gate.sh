#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Jobs that ask for the card's memory start only while it has that much free. The card is a tree in place of /sys.
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
# holder PID NAME GIGABYTES: a process that has so much of the card.
holder()
{
	mkdir -p "$tree/proc/$1/fdinfo"
	printf '%s\n' "$2" >"$tree/proc/$1/comm"
	printf '%s (x) S 1 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 500 0 0\n' "$1" >"$tree/proc/$1/stat"
	printf 'drm-driver:\tamdgpu\ndrm-client-id:\t%s\ndrm-pdev:\t0000:03:00.0\ndrm-memory-vram:\t%s MiB\n' "$1" $(($3 * 1024)) >"$tree/proc/$1/fdinfo/3"
}
# starts NAME OPTIONS…: a run of that name and session that stands at its gate.
starts() { begins "$@"; reached "$1"; }
begins()
{
	local name=$1
	shift
	pgpu run -q -p clip --as "$name" --name "$name" "$@" -- sh -c "$(gate "$name")" &
	declare -g "pid_$name=$!"
}
ends() { open_gate "$1"; local pid=pid_$1; wait "${!pid}"; }
states() { pgpu queue --json | python3 -c 'import json, sys
print(*sorted(job["name"] + ":" + (job["reason"] or job["state"]) for job in json.load(sys.stdin)))'; }
are() { [ "$(states)" = "$*" ]; }

used 2
conf 'lanes = 2'
exits 2 "more than the card has is refused" pgpu submit --vram 20G -- true
matches "with both figures" '^pgpu: .*vram: 20G is more than the card has, 16G$' "$(cat "$err")"
exits 2 "to run too" pgpu run --vram 17G -- true
exits 2 "a bare number is refused" pgpu run --vram 12 -- true
exits 0 "what is free is given" pgpu run -q --no-wait --vram 14G -- true
exits 75 "what is not is not, without waiting" pgpu run -q --no-wait --vram 15G -- true

# --- it waits for the bytes, and for nothing else ---
used 15
holder 2147483001 llama-server 12
begins large --vram 4G
until_true are large:vram
matches "the reason has the numbers and who holds the rest" 'PD .* needs 4\.0G of VRAM, 1\.0G free; 12G by 2147483001 llama-server' "$(pgpu queue)"
matches "the JSON has what it asks for" '"reason":"vram".*"vram_bytes":4294967296' "$(pgpu queue --json)"
exits 0 "one that asks for none goes past it" pgpu run -q --max-wait 60s -- true
exits 0 "a spooled one too" pgpu submit -q -W -- true
spooled=$(pgpu submit -q -p clip --as spooled -J spooled --vram 3G -- sh -c "$(gate spooled)")
until_true are large:vram spooled:vram
used 2
rm -r "$tree/proc/2147483001"
reached large
reached spooled
ok "when the bytes are free both start by themselves"
ends large
open_gate spooled
exits 0 "and end" pgpu wait "$spooled"
exits 0 "show keeps what was asked for" pgpu show --json "$spooled"
matches "as bytes" '"vram_bytes":3221225472' "$(cat "$out")"

# --- what a running job was promised and does not hold yet ---
starts first --vram 10G
begins second --vram 6G
until_true are first:running second:vram
matches "a promise is not free" 'needs 6\.0G of VRAM, 4\.0G free' "$(pgpu queue)"
used 12
holder "$(main_of first)" first 10
matches "what it holds then is not counted twice" 'needs 6\.0G of VRAM, 4\.0G free' "$(pgpu queue)"
rm -r "$tree/proc"/[0-9]*
used 2
ends first
reached second
ok "when that job has ended the other starts"
ends second

# --- patience ---
conf $'lanes = 2\nvram-patience = "0"'
starts first --vram 10G
begins patient --vram 6G
until_true are first:running patient:vram
begins late
until_true are first:running late:lane patient:vram
ok "a lane is kept for who waits for what our own jobs hold"
ends first
reached patient
reached late
ok "and then all go on"
ends patient
ends late
used 15
begins patient --vram 6G
until_true are patient:vram
starts late
ok "no lane is kept for what foreign processes hold"
ends late
used 2
reached patient
ends patient

# --- where nothing can be told ---
rm "$card/mem_info_vram_used"
exits 0 "a card that does not tell holds nobody back" pgpu run -q --no-wait --vram 6G -- true
export PGPU_SYSFS=$SANDBOX/none
exits 0 "nor does none" pgpu run -q --no-wait --vram 600G -- true
finish
