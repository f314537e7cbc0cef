#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Lanes that are bound to cards, and jobs that ask for one: who gets which lane, and by which variables its programs use
# that card. The cards are trees in place of /proc and /sys (tests/fixtures, and made ones).
# shellcheck disable=SC2317 # until_true calls some of these
. "$(dirname "$0")/lib.sh"

tree=$SANDBOX/tree
G=$((1 << 30))
mkdir -p "$tree/proc"
# card N DRIVER ADDRESS GIGABYTES USED: cardN of the tree
card()
{
	local device=$tree/sys/class/drm/card$1/device
	mkdir -p "$device"
	printf 'DRIVER=%s\nPCI_SLOT_NAME=%s\n' "$2" "$3" >"$device/uevent"
	[ $# -lt 4 ] || echo $(($4 * G)) >"$device/mem_info_vram_total"
	[ $# -lt 5 ] || echo $(($5 * G)) >"$device/mem_info_vram_used"
}
# node N GPU_ID LOCATION UNIQUE_ID: a node of ROCm's topology
node()
{
	local folder=$tree/sys/class/kfd/kfd/topology/nodes/$1
	mkdir -p "$folder"
	echo "$2" >"$folder/gpu_id"
	printf 'location_id %s\ndomain 0\nunique_id %s\n' "$3" "$4" >"$folder/properties"
}
vars='ROCR_VISIBLE_DEVICES|HIP_VISIBLE_DEVICES|CUDA_VISIBLE_DEVICES|CUDA_DEVICE_ORDER|GPU_DEVICE_ORDINAL|ZE_[A-Z_]*|ONEAPI_DEVICE_SELECTOR|DRI_PRIME|MESA_VK_[A-Z_]*'
# sees OPTIONS…: the variables that a run's command sees, in one line.
sees() { pgpu run -q "$@" -- env | grep -E "^($vars)=" | sort | paste -sd' '; }
begins()
{
	local name=$1
	shift
	pgpu run -q -p clip --as "$name" --name "$name" "$@" -- sh -c "$(gate "$name")" &
	declare -g "pid_$name=$!"
}
starts() { begins "$@"; reached "$1"; }
ends() { open_gate "$1"; local pid=pid_$1; wait "${!pid}"; }
# of EXPRESSION: of the JSON on stdin, as python sees it
of() { python3 -c "import json, sys; s = json.load(sys.stdin); print($1)"; }
states() { pgpu queue --json | of '*sorted(j["name"] + ":" + (j["reason"] or j["state"]) for j in s)'; }
are() { [ "$(states)" = "$*" ]; }
where() { pgpu queue --json | of '*[str(j["lane"]) + " " + j["card"] for j in s if j["name"] == "'"$1"'"]'; }
# turned: the names of those whose hold ended by a turn, of class night
turned() { awk -F'\t' '$5 == "night" && $15 == "turn" { print $6; found = 1 } END { exit !found }' "$XDG_STATE_HOME"/pgpu/*/log.tsv; }

A=0000:03:00.0 B=0000:83:00.0
card 0 amdgpu $A 16 2
card 1 amdgpu $B 24 2
# ROCm counts in an order of its own.
node 0 0 0 0
node 1 51023 $((0x8300)) 0
node 2 15209 $((0x0300)) 0
export PGPU_PROCFS=$tree/proc PGPU_SYSFS=$tree/sys
bound=$'lane "left" { card = "0000:03:00.0" }\nlane "right" { card = "0000:83:00.0" }'

# --- without lane sections, and without a card -----------------------------------------------------------------------
export ROCR_VISIBLE_DEVICES=7 HIP_VISIBLE_DEVICES=1 CUDA_VISIBLE_DEVICES=2 DRI_PRIME=1
equals "a job without a card sees what its caller has" "CUDA_VISIBLE_DEVICES=2 DRI_PRIME=1 HIP_VISIBLE_DEVICES=1 ROCR_VISIBLE_DEVICES=7" "$(sees)"
export CUDA_DEVICE_ORDER=FASTEST_FIRST GPU_DEVICE_ORDINAL=0 ZE_AFFINITY_MASK=1 MESA_VK_DEVICE_SELECT=1002:7590! ONEAPI_DEVICE_SELECTOR=gpu
mesa() { echo "DRI_PRIME=pci-$1 MESA_VK_DEVICE_SELECT_FORCE_DEFAULT_DEVICE=1"; }
equals "C067 one that asks for a card gets its variables, in ROCm's own order, and none of the caller's" \
	"$(mesa 0000_03_00_0) ROCR_VISIBLE_DEVICES=1" "$(sees --card $A)"
equals "C067 the other card has the other index" "$(mesa 0000_83_00_0) ROCR_VISIBLE_DEVICES=0" "$(sees --card 83:00.0)"
equals "any is no card" "$(sees)" "$(sees --card any)"
exits 2 "a card that is not there is refused" pgpu run --card 0000:04:00.0 -- true
equals "with those that are" "pgpu: card: there is no card 0000:04:00.0; there are $A, $B" "$(cat "$err")"
exits 2 "to submit too" pgpu submit --card 0000:04:00.0 -- true
exits 2 "a number is refused" pgpu run --card card0 -- true
equals "with the address that it has now" "pgpu: card: 'card0' may be another card after the next boot; now it is $A" "$(cat "$err")"
printf '#!/bin/sh\n#PGPU card: 1\ntrue\n' >job.sh
exits 2 "in a job file too" pgpu submit job.sh
equals "with its place" "pgpu: job.sh:2:13: card: '1' may be another card after the next boot; now it is $B" "$(cat "$err")"
exits 2 "more memory than that card has is refused" pgpu run --card $A --vram 20G -- true
matches "with the figure of the card" '20G is more than the card has, 16G' "$(cat "$err")"
exits 0 "while another has it" pgpu run -q --no-wait --vram 20G -- true

# --- the variables of each vendor ------------------------------------------------------------------------------------
node 1 51023 $((0x8300)) 17817319312311057661
equals "C067 a unique id stays what it is" "$(mesa 0000_83_00_0) ROCR_VISIBLE_DEVICES=GPU-f743d583ac01fcfd" "$(sees --card $B)"
node 2 15209 $((0x0300)) 17817319312311057661
equals "one that two cards have is none" "$(mesa 0000_83_00_0) ROCR_VISIBLE_DEVICES=0" "$(sees --card $B)"
rm -r "$tree/sys/class/kfd/kfd/topology/nodes/1"
equals "a card that ROCm does not know has none of it" "$(mesa 0000_83_00_0) ROCR_VISIBLE_DEVICES=" "$(sees --card $B)"
rm -r "$tree/sys/class/kfd"
equals "where there is no ROCm, nothing is said to it" "$(mesa 0000_83_00_0)" "$(sees --card $B)"
card 2 i915 0000:00:02.0
card 3 xe 0000:04:00.0
card 4 nouveau 0000:05:00.0
equals "Intel's are counted in the order of their addresses" \
	"$(mesa 0000_04_00_0) ZE_AFFINITY_MASK=1 ZE_ENABLE_PCI_ID_DEVICE_ORDER=1" "$(sees --card 0000:04:00.0)"
equals "any other driver's is Mesa's business" "$(mesa 0000_05_00_0)" "$(sees --card 0000:05:00.0)"
mkdir -p "$tree/proc/driver/nvidia/gpus/0000:01:00.0" "$tree/proc/driver/nvidia/gpus/0000:82:00.0"
printf 'Model: \t\t NVIDIA X\nGPU UUID: \t GPU-9221d5d1-b60b-a624-bf14-0a1819cfda3b\n' >"$tree/proc/driver/nvidia/gpus/0000:01:00.0/information"
printf 'Model: \t\t NVIDIA X\nGPU UUID: \t GPU-????????-????-????-????-????????????\n' >"$tree/proc/driver/nvidia/gpus/0000:82:00.0/information"
equals "NVIDIA's have a UUID" "CUDA_DEVICE_ORDER=PCI_BUS_ID CUDA_VISIBLE_DEVICES=GPU-9221d5d1-b60b-a624-bf14-0a1819cfda3b" "$(sees --card 01:00.0)"
equals "or, not set up yet, a place" "CUDA_DEVICE_ORDER=PCI_BUS_ID CUDA_VISIBLE_DEVICES=1" "$(sees --card 82:00.0)"
unset CUDA_DEVICE_ORDER GPU_DEVICE_ORDINAL ZE_AFFINITY_MASK MESA_VK_DEVICE_SELECT ONEAPI_DEVICE_SELECTOR
unset ROCR_VISIBLE_DEVICES HIP_VISIBLE_DEVICES CUDA_VISIBLE_DEVICES DRI_PRIME
id=$(pgpu submit -q --card $A -o env.out -W -- env)
matches "a spooled job sees them too" 'DRI_PRIME=pci-0000_03_00_0' "$(cat env.out)"
equals "and show has the card" $A "$(pgpu show --json "$id" | of 's["card"]')"

# --- bound lanes -----------------------------------------------------------------------------------------------------
conf "$bound"$'\nlanes = 3'
exits 2 "lanes that do not agree with their sections are refused" pgpu run -- true
matches "with the line" "pgpu.conf:3: lanes: 3 is not the number of the lane sections, 2" "$(cat "$err")"
conf $'\nlane "left" { card = "0" }'
exits 2 "so is a number" pgpu run -- true
matches "with the address that it has now" "pgpu.conf:2: card: '0' may be another card after the next boot; now it is $A" "$(cat "$err")"
conf "$bound"
equals "status shows the card of each lane" "lane 0 on $A: free
lane 1 on $B: free" "$(pgpu status | grep ^lane)"
equals "in JSON too" "$A $B" "$(pgpu status --json | of '*(l["card"] for l in s["lanes"])')"
equals "a job gets the variables of its lane's card" "$(mesa 0000_03_00_0)" "$(sees)"
equals "or of the one it asks for" "$(mesa 0000_83_00_0)" "$(sees --card $B)"
exits 2 "a card without a lane is refused" pgpu run --card 0000:05:00.0 -- true
equals "with those that lanes are bound to" "pgpu: card: no lane is bound to card 0000:05:00.0; they are to $A, $B" "$(cat "$err")"

starts first --card $A
equals "it has the lane of its card" "0 $A" "$(where first)"
begins second --card $A
until_true are first:running second:card
matches "another waits for that lane" "PD .* waits for a lane on card $A" "$(pgpu queue)"
exits 0 "and holds nobody up" pgpu run -q --max-wait 60s -- true
exits 0 "not even in its own session" pgpu submit -q -W --as second -p clip --card $B -- true
exits 75 "without waiting for it: 75" pgpu run -q --no-wait --card $A -- true
starts third
equals "one for any card has the other lane" "1 $B" "$(where third)"
spooled=$(pgpu submit -q -p clip --as spooled -J spooled --card $A -- sh -c "$(gate spooled)")
until_true are first:running second:card spooled:card third:running
matches "the names carry the card" ":c0000-03-00.0" "$(ls "$XDG_STATE_HOME"/pgpu/*/pending)"
ends third
exits 0 "a lane of another card is not given to them" pgpu run -q --max-wait 60s -- true
until_true are first:running second:card spooled:card
ends first
reached spooled
equals "who comes first has it, a spooled one too" "0 $A" "$(where spooled)"
matches "and status has it" "lane 0 on $A: job $spooled " "$(pgpu status)"
open_gate spooled
reached second
equals "then the other" "0 $A" "$(where second)"
ends second
exits 0 "both end" pgpu wait "$spooled"

# --- C067: two jobs at once are told apart by their lanes, not by what is free in this moment --------------------------
starts one & starts two &
wait $!
until_true are one:running two:running
equals "C067 two that start at once have two cards, though neither has used any memory yet" "0000:03:00.0 0000:83:00.0" \
	"$(pgpu queue --json | of '*sorted(j["card"] for j in s)')"
open_gate one
open_gate two
until_true are

# --- the card's memory is that of the lane's card ---------------------------------------------------------------------
card 0 amdgpu $A 16 15
begins large --card $A --vram 4G
until_true are large:vram
matches "the lane's own card counts" "needs 4\.0G of VRAM, 1\.0G free on card $A" "$(pgpu queue)"
starts free --vram 4G
equals "one for any card goes where it finds the memory" "1 $B" "$(where free)"
begins late --vram 4G
until_true are free:running large:vram late:vram
ends free
reached late
equals "and waits for that lane" "1 $B" "$(where late)"
ends late
card 0 amdgpu $A 16 2
reached large
equals "when the bytes are free it starts by itself" "0 $A" "$(where large)"
ends large

# --- turns: a frozen job goes on on the card that its processes have ---------------------------------------------------
starts blocker --card $B
pgpu run -q -p clip --as turner --name turner -- sh -c "$(gate before); pgpu turn; $(gate after)" & turner=$!
reached before
equals "a job for any card runs on one" "0 $A" "$(where turner)"
begins asker --card $A
until_true are asker:card blocker:running turner:running
open_gate before
reached asker
until_true are asker:running blocker:running turner:card
matches "frozen, it waits for a lane of that card" "frozen; waits for a lane on card $A" "$(pgpu queue)"
ends blocker
until_true are asker:running turner:card
ok "and does not go on on another"
ends asker
reached after
equals "it has its own again" "0 $A" "$(where turner)"
open_gate after
wait $turner
pgpu run -q -p clip --as turner --name turner -- sh -c "$(gate before); pgpu turn; $(gate after)" & turner=$!
reached before
starts away --card $B
begins asker --card $B
until_true are asker:card away:running turner:running
open_gate before
reached after
ok "nobody steps aside for who waits for another card"
open_gate after
wait $turner
ends away
reached asker
ends asker

# --- a class that demands turns -----------------------------------------------------------------------------------------
conf "$bound"$'\nclass "night" { rank = 4  budget = "12h"  turns = "forced" }'
pgpu run -q -p night --as night --name dark --card $A -- sh -c "$(gate dark)" & dark=$!
reached dark
pgpu run -q -p night --as night --name deep --card $B -- sh -c "$(gate deep)" & deep=$!
reached deep
exits 0 "the job of the wanted card is frozen for a better one" pgpu run -q -p clip --max-wait 60s --card $B -- true
until_true turned
equals "and the other is not" "deep" "$(turned)"
open_gate dark
open_gate deep
wait $dark $deep

# --- what changes meanwhile ---------------------------------------------------------------------------------------------
conf "$bound"
rm -r "$tree/sys/class/drm/card1"
equals "a card that has gone is named" "lane 1 on $B (not there): free" "$(pgpu status | grep '^lane 1')"
starts there
pgpu run -- env >"$out" 2>"$err"
equals "a job for any card runs, and says so" "pgpu: card $B of this lane is not there: the job is given none" "$(cat "$err")"
ends there
card 1 amdgpu $B 24 2
starts there --card $B
job=$(pgpu submit -q --card $B -- true)
rm -r "$tree/sys/class/drm/card1"
ends there
exits 127 "one that asked for it does not start" pgpu wait "$job"
matches "and says why" "card $B is not there" "$(pgpu show "$job")"
card 1 amdgpu $B 24 2
starts there --card $B
job=$(pgpu submit -q -J moved --card $B -- true)
conf 'lane "left" { card = "0000:03:00.0" }'
until_true are moved:card there:running
matches "no lane is bound to its card any more" "no lane is bound to card $B" "$(pgpu queue)"
equals "it stays the card of the job that has it" "lane 1 on $B: job" "$(pgpu status | grep -o '^lane 1.*: job')"
ends there
conf 'lanes = 1'
exits 0 "with lanes for any card it starts" pgpu wait "$job"
finish
